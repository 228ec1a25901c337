#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The automatic number of wavelengths is large enough; draws flags of series for
test_typed.py and test_random_crystals.py."""
import json
import math
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

numpy, BIG = script.need("numpy"), script.BIG
HKL = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "experiments", "hkl", "tet.hkl")
EDGE = 24
BASE = ["-hkl", HKL, "-cell", 32, 32, 40, "-detpixels", EDGE, "-distance", 100, "-pixel", 1.5, "-fluence", "1e26", "-device", "cpu", "-nodump", "-nointerpolate"]
DIFFUSE = "fftw yes" in " ".join(script.run("-version")[0].lower().split())
# flags that may be combined: draw() takes at most one row of each list
CHOICES = [
    ["-spectrum gauss -bandwidth 1 -wavelengths 20", "-spectrum tophat -bandwidth 2 -wavelengths 16", "-spectrum twocolour -bandwidth 0.3 -split 2:0.4 -wavelengths 16",
     "-spectrum sase -bandwidth 0.4 -pulse_length 8 -wavelengths 30", "-spectrum seeded -bandwidth 0.5 -pulse_length 10 -line 0.05 -wavelengths 20"],
    ["-twin k,h,-l:0.3", "-twin -h,-k,l:0.2;k,h,-l:0.1"],
    ["-diffuse_sigma 0.3 -diffuse_gamma 2", "-diffuse_sigma 0.2 0.3 0.4 -diffuse_gamma 2 -diffuse_halo gauss", "-diffuse_sigma 0.3 -diffuse_gamma 3 -diffuse_F unperturbed"],
    ["-absorb sphere:200 -absorb_mu 3", "-absorb box:100:200:50 -absorb_mu 2"],
    ["-beamstop disc:8,bar:3:30:0.5", "-beamstop bar:4:90"], ["-transmission t.bin"], ["-add a.bin"], ["-water 1"], ["-footprint gauss:2:4"],
    ["-mosaic 0.5 -mosaic_dom 3", "-mosaic_blocks blocks.txt"], ["-gauss_xtal", "-round_xtal", "-tophat_spots"],
    ["-oversample 2", "-phisteps 3"]]
LAWS = ["N:lognormal:30%", "cell:normal:0.3%", "Badd:uniform:0:20", "Fscale:gamma:3", "rot_x:normal:3", "rot_z:uniform:-2:2", "fluence:gamma:4", "distance:uniform:99:101",
        "blocks:choice:1:2:5", "polar:uniform:0.2:0.9", "default_F:uniform:0:5"]
TURNED, STILLS = ["-dose 2", "-dose 1 -damage_half 8", "-dose 3 -damage_cell 0.2"], ["crystals:poisson:1.2", "crystals:choice:0:1:2", "lambda:normal:0.5%"]


def draw(rng):
    """Random flags of a series of two frames."""
    flags, laws = [], rng.sample(LAWS, rng.randrange(5))
    for choice in CHOICES:
        diffuse = "diffuse" in choice[0]  # tables of diffuse light take long
        if rng.random() < (0.15 if diffuse else 0.4) and (DIFFUSE or not diffuse):
            flags += rng.choice(choice).split()
    turned = rng.random() < 0.5
    if "-absorb" in flags and ("-twin" in flags or not turned):  # -absorb with a box needs a single crystal
        flags[flags.index("-absorb") + 1] = "sphere:200"
    if turned:
        flags += ["-frames", 2, "-osc", 1]
        flags += rng.choice(TURNED).split() if rng.random() < 0.5 else []
        flags += ["-crystals", 2] if "box" not in " ".join(map(str, flags)) and rng.random() < 0.3 else []
    else:
        flags += ["-stills", 2, "-orientations", "random"]
        laws += [rng.choice(STILLS)]
    if "-oversample" not in flags:
        flags += ["-oversample", 1]
    return [*flags, "-N", rng.choice([3, 5, 8]), "-seed", rng.randrange(1000), *(["-vary", ",".join(laws)] if laws else [])]


def make_files():
    """Writes the files that flags of CHOICES name."""
    numpy.random.default_rng(1).uniform(0, 2, EDGE * EDGE).astype("f4").tofile("t.bin")
    numpy.random.default_rng(2).uniform(0, 9, EDGE * EDGE).astype("f4").tofile("a.bin")
    with open("blocks.txt", "w", encoding="ascii") as f:
        f.write("0 0 0 1\n0.5 0 0 2\n0 0.3 0.1 1\n")


def spots(*flags):
    """{(h, k, l): photons} of a still, and the photons of its image."""
    script.run("-default_F", 100, *flags, "-device", "cpu", "-nodump", "-floatfile", "image.bin", "-truth", "spots",
               "-truthfile", "spots.tsv", "-noint", "-nonoise", "-nopgm")
    rows = numpy.loadtxt("spots.tsv", skiprows=2, ndmin=2)
    return {tuple(row[:3]): row[5] for row in rows}, numpy.fromfile("image.bin", "f4").sum(dtype=float)


PATCH = ["-distance", 50, "-detpixels", 16, "-pixel", 1, "-Xbeam", -25, "-Ybeam", -5]


def rule_scene(rng, lowest, highest):
    """Flags of a random crystal and spectrum, the width of a spot in mm, and the width of
    the spectrum as a fraction of the wavelength. N is from lowest to highest."""
    cell = [rng.uniform(30, 60) for _ in range(3)]
    wave, N = rng.uniform(0.9, 1.4), int(lowest * (highest / lowest) ** rng.uniform(0, 1))
    kind, width = rng.choice([("gauss", 3), ("tophat", 1)]), rng.uniform(0.1, 5)
    flags = ["-cell", *cell, "-lambda", wave, "-misset", *(rng.uniform(-90, 90) for _ in range(3)), "-N", N,
             rng.choice(["-gauss_xtal", "-square_xtal", "-round_xtal"]), "-spectrum", kind[0], "-bandwidth", width]
    return flags, 50 * wave / (N * max(cell)), kind[1] * width / 100


def check_photons(name, flags, n, reflections, sums):
    """Photons with n wavelengths and with 4 n agree: of reflections to 2 % (rms), of the
    image to 0.2 %."""
    few, many = (numpy.array(x) for x in reflections)
    off = numpy.sqrt(numpy.mean((few - many) ** 2) / numpy.mean(many ** 2))
    print(f"# {name}: {n} wavelengths, {len(few)} reflections, {off:.2g}, image {sums[0] / sums[1] - 1:.2g}: {' '.join(map(str, flags))}")
    script.ok(name, off <= 0.02, f"{off:.3g}")
    script.ok(name + "-image", abs(sums[0] / sums[1] - 1) <= 2e-3, f"{sums[0] / sums[1] - 1:.3g}")


def check_rule():
    """The automatic number of wavelengths is enough for images."""
    rng = random.Random(3)
    for i in range(20 if BIG else 4):
        flags, across, _ = rule_scene(rng, 5, 40 if BIG else 20)
        flags += [*PATCH, "-oversample", math.ceil(2 / across)]  # at least two rays per width of a spot
        n = json.loads(script.run(*flags, "-default_F", 1, "-show_config", "-device", "cpu")[0])["beam"]["sources"]
        (few, sum_few), (many, sum_many) = spots(*flags), spots(*flags, "-wavelengths", 4 * n)
        lit = sorted(set(few) | set(many))
        check_photons(f"rule-{i}", flags, n, [[x.get(g, 0) for g in lit] for x in (few, many)], (sum_few, sum_many))


def reflected(report, width):
    """Places (fast, slow; mm from the primary beam) where reflected beams meet the
    detector, from Laue's equations for each reflection."""
    crystal, detector, wave = report["crystal"], report["detector"], report["beam"]["wavelength_A"]
    A = numpy.array([crystal[x + "_star_per_A"] for x in "abc"])
    limits = [math.ceil(1.2 / wave / numpy.linalg.norm(x)) for x in A]
    q = numpy.stack(numpy.meshgrid(*(numpy.arange(-m, m + 1) for m in limits)), -1).reshape(-1, 3) @ A
    beam = numpy.array(report["beam"]["beam_vector"])
    q = q[q @ beam < 0]
    k = -(q * q).sum(axis=1) / (2 * q @ beam)
    lit = numpy.abs(k * wave - 1) < width / 2 * (1 + 2 / report["beam"]["sources"])
    out = k[lit, None] * beam + q[lit]
    ahead = out @ beam
    out = out[ahead > 0] * (detector["distance_mm"] / ahead[ahead > 0])[:, None]
    fast, slow = out @ detector["fdet_vector"], out @ detector["sdet_vector"]
    first = numpy.array([-detector["Fbeam_mm"], -detector["Sbeam_mm"]])
    at = numpy.stack([fast, slow], axis=1)
    return at[((at > first) & (at < first + 16)).all(axis=1)]


def check_rule_of_large_crystals():
    """The automatic number of wavelengths is enough for large crystals: images of a small
    detector around each spot."""
    rng, edge = random.Random(4), 48
    for i in range(20 if BIG else 1):
        flags, across, width = rule_scene(rng, 41, 300 if BIG else 100)
        flags += ["-default_F", 100, "-oversample", 1, "-device", "cpu"]
        report = json.loads(script.run(*flags, *PATCH, "-show_config")[0])
        n, pixel = report["beam"]["sources"], across / 2
        places = sorted(reflected(report, width).tolist(), key=lambda at: -math.hypot(*at))
        photons = [[], []]
        for fast, slow in places[:25 if BIG else 6]:  # reflections far from the beam need the finest steps
            corner = [-x + (edge - 1) / 2 * pixel for x in (slow, fast)]
            for of, wavelengths in zip(photons, (n, 4 * n)):
                script.run(*flags, "-distance", 50, "-detpixels", edge, "-pixel", pixel, "-Xbeam", corner[0], "-Ybeam", corner[1],
                           "-wavelengths", wavelengths, "-nodump", "-floatfile", "image.bin", "-noint", "-nonoise", "-nopgm")
                of.append(numpy.fromfile("image.bin", "f4").sum(dtype=float))
        check_photons(f"rule-large-{i}", flags, n, photons, [sum(x) for x in photons])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_rule()
        check_rule_of_large_crystals()
        os.chdir("/")
    sys.exit(bool(script.FAILED))


if __name__ == "__main__":
    main()
