#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Amorphous backgrounds: scales and sums. -stolout and extract recover the table of F."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

numpy = script.need("numpy")

SOURCE = os.path.abspath(os.environ.get("NB_SOURCE", "."))
TABLES = os.path.join(SOURCE, "golden_data", "detectors", "tables")
PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
PLACE = ["-detpixels_f", "120", "-detpixels_s", "100", "-pixel", "0.8", "-distance", "60", "-lambda", "1.1",
         "-oversample", "1", "-fluence", "1e20", "-device", "cpu"]
CRYSTAL = ["-cell", "70", "-default_F", "50", "-N", "5", "-misset", "10", "20", "30"]
ALONE = ["-noint", "-nopgm", "-nonoise"]


def run(flags, folder):
    got = subprocess.run([PROGRAM, *flags], cwd=folder, capture_output=True, text=True)
    if got.returncode:
        raise SystemExit(f"not ok backgrounds\n# {' '.join(flags)}: {got.stderr}")
    return got


def image(flags, folder, place=None):
    run([*(place or PLACE), *flags, *ALONE, "-floatfile", "i.bin"], folder)
    return numpy.fromfile(os.path.join(folder, "i.bin"), "<f4").astype(float)


def table(path):
    return numpy.loadtxt(path, usecols=(0, 1), delimiter=None)


def same(name, a, b, tolerance):
    off = abs(a - b).max() / abs(b).max()
    script.ok(name, off <= tolerance, f"{off:.2e} apart")


def check_sums(folder):
    water = image(["-background", "water:0.2"], folder)
    air = image(["-background", "air:30"], folder)
    ice = image(["-background", "ice:0.1"], folder)
    same("twice the path", image(["-background", "water:0.4"], folder), 2 * water, 2e-7)
    same("three times the fluence", image(["-background", "water:0.2", "-fluence", "3e20"], folder), 3 * water, 2e-7)
    same("the sum of materials", image(["-background", "water:0.2,air:30,ice:0.1"], folder), water + air + ice, 3e-7)
    bright = ["-fluence", "1e24"]
    crystal = image([*CRYSTAL, *bright], folder)
    same("crystal and background", image([*CRYSTAL, *bright, "-background", "water:1e-6"], folder),
         crystal + image(["-background", "water:1e-6", *bright], folder), 1e-6)
    same("its part in mosaic domains", image([*CRYSTAL, *bright, "-background", "water:1", "-mosaic", "1",
                                              "-mosaic_domains", "7", "-phisteps", "3", "-osc", "1"], folder),
         image(["-background", "water:1", *bright], folder), 1e-6)
    same("blocks of the crystal leave it alone", image([*CRYSTAL, "-background", "water:1", "-blocks", "5"], folder),
         image(["-background", "water:1"], folder), 1e-6)
    every = ["-oversample_omega", "-oversample_polar", "-background", "water:0.2"]
    same("oversampling", image([*every, "-oversample", "4"], folder), image([*every, "-oversample", "8"], folder), 1e-3)
    flux = ["-flux", "1e12", "-exposure", "0.1", "-background", "water:0.2"]
    place = [flag for flag in PLACE if flag not in ("-fluence", "1e20")]
    same("a flux through another beam", image([*flux, "-beamsize", "0.05"], folder, place),
         image([*flux, "-beamsize", "0.1"], folder, place), 2e-7)
    named = image(["-background", "nanoice:0.2"], folder)
    typed = image(["-stol", os.path.join(TABLES, "nanoice.stol"), "-amorphous_thick", "0.2", "-density", "0.93"], folder)
    same("a named table is that of its file", named, typed, 1e-7)
    named = image(["-background", "vitreous:0.2"], folder)
    typed = image(["-stol", os.path.join(TABLES, "vitreous.stol"), "-amorphous_thick", "0.2", "-density", "1.07"], folder)
    same("so is that of frozen solvent", named, typed, 1e-7)
    for name, low, high in (("water", 3.05, 3.3), ("vitreous", 3.55, 3.7)):
        rows = table(os.path.join(TABLES, f"{name}.stol"))
        top = 0.5 / rows[rows[:, 1].argmax(), 0]
        script.ok(f"the ring of {name}", low < top < high, f"{top:.2f} A")
    masked = image(["-background", "water:0.2", "-roi", "10", "50", "20", "30"], folder).reshape(100, 120)
    inside = numpy.zeros_like(masked)
    inside[20:31, 10:51] = water.reshape(100, 120)[20:31, 10:51]
    script.ok("nothing outside of -roi", numpy.array_equal(masked, inside), "other pixels")


def check_ways(folder):
    """Every instruction set and shape of the crystal gives the background and crystal of
    double precision."""
    flags = ["-background", "water:1e-6,ice:1e-6", "-fluence", "1e24", "-detector_thick", "300", "-detector_abs",
             "200", "-polar", "0.9", "-dispersion", "2", "-dispsteps", "3", "-detector_rotx", "20"]
    right = image([*CRYSTAL, *flags, "-isa", "scalar", "-precision", "double"], folder)
    for isa in ("sse2", "avx2", "avx512"):
        if subprocess.run([PROGRAM, "-isa", isa, *PLACE, *CRYSTAL, "-show_config"], capture_output=True).returncode:
            print(f"skip background {isa} # not in this machine")
            continue
        same(f"with {isa}", image([*CRYSTAL, *flags, "-isa", isa], folder), right, 1e-6)
    for shape in ("-gauss_xtal", "-round_xtal", "-tophat_spots"):
        double = image([*CRYSTAL, *flags, shape, "-isa", "scalar", "-precision", "double"], folder)
        same(f"with {shape}", image([*CRYSTAL, *flags, shape], folder), double, 1e-6)
    one, two = (image([*CRYSTAL, *flags, "-threads", n], folder) for n in ("1", "5"))
    script.ok("background on any number of threads", numpy.array_equal(one, two), "other bytes")


def check_truth(folder):
    """Photons of spots, of background and not listed in -truth add up to the image."""
    flags = [*CRYSTAL, "-fluence", "1e24", "-background", "water:1e-6"]
    pixels = image([*flags, "-truth", "spots", "-truthfile", "t.txt", "-truth_min", "1e-6"], folder)
    with open(os.path.join(folder, "t.txt"), encoding="utf-8") as stream:
        head = stream.readline()
    said = float(head.split("background ")[1].split(",")[0])
    water = image(["-fluence", "1e24", "-background", "water:1e-6"], folder).sum()
    script.ok("the background that -truth says", abs(said / water - 1) < 1e-5, f"{said} and {water}")
    rest = float(head.split("not listed ")[1].split(";")[0].split()[0])
    listed = numpy.loadtxt(os.path.join(folder, "t.txt"), comments="#", usecols=5, ndmin=1, skiprows=2).sum()
    script.ok("all photons of -truth", abs((said + rest + listed) / pixels.sum() - 1) < 1e-5,
              f"{said} + {rest} + {listed} is not {pixels.sum()}")


def check_table(name, got, wanted, least, part, sigmas):
    """F of bins with `least` pixels or more equals `wanted` to part F + sigmas sigma."""
    rows = got[got[:, 3] >= least]
    F = numpy.interp(rows[:, 0], wanted[:, 0], wanted[:, 1])
    off = abs(rows[:, 1] - F) - sigmas * rows[:, 2]
    script.ok(name, len(rows) > 20 and (off <= part * abs(F)).all(),
              f"{len(rows)} bins, worst {(off / abs(F)).max() if len(rows) else 0:.4f}")


def check_stolout(folder):
    water = os.path.join(TABLES, "water.stol")
    place = ["-detpixels_f", "600", "-detpixels_s", "500", "-pixel", "0.16", "-distance", "60", "-lambda", "1.1",
             "-oversample", "1", "-device", "cpu", "-polar", "0.8"]
    flags = ["-stol", water, "-fluence", "3e13", "-amorphous_thick", "0.5"]
    sensor = ["-detector_thick", "320", "-detector_abs", "250"]
    run([*place, *flags, *ALONE, "-floatfile", "w.bin"], folder)
    run([*place, *flags, "-stolout", "w.stol", "-stolimage", "w.bin"], folder)
    check_table("-stolout of an image without noise", numpy.loadtxt(os.path.join(folder, "w.stol")), table(water),
                100, 0.002, 0)
    dim = image([*flags, *sensor], folder, place).mean()
    flags[3] = str(3e13 / dim)
    run([*place, *flags, *sensor, *CRYSTAL, "-default_F", "3000", "-noisefile", "n.img", "-seed", "3", "-nofloat",
         "-noint", "-nopgm"], folder)
    run([*flags, *sensor, "-polar", "0.8", "-img", "n.img", "-stolout", "n.stol"], folder)
    check_table("-stolout of one photon a pixel under Bragg spots", numpy.loadtxt(os.path.join(folder, "n.stol")),
                table(water), 500, 0.01, 3)
    again = image(["-stol", "n.stol"], folder)
    script.ok("-stol reads what -stolout wrote", numpy.isfinite(again).all() and again.max() > 0, "no image")
    run([*place[:-2], "-molecules", "1e15", "-stolout", "m.stol", "-stolstep", "0.01", "-stolimage", "w.bin"], folder)
    bins = numpy.loadtxt(os.path.join(folder, "m.stol"))
    script.ok("-stolstep", abs(bins[:, 0] / 0.01 - numpy.round(bins[:, 0] / 0.01)).max() < 1e-6, "other steps")
    script.ok("every pixel is in a bin", bins[:, 3].sum() <= 300000 and bins[:, 3].sum() > 290000, str(bins[:, 3].sum()))


def check_extract(folder):
    """From a frame with spots and a ring of ice, `extract` recovers the table of water.
    The table gives the background in another geometry."""
    water = table(os.path.join(TABLES, "water.stol"))
    beam = ["-flux", "1e12", "-exposure", "0.02", "-beamsize", "0.05", "-lambda", "1"]
    shape = ["-detpixels", "700", "-pixel", "0.25"]
    flags = [*beam, *shape, "-distance", "200", "-device", "cpu", "-cell", "79.1", "79.1", "37.9", "90", "90", "90", "-hkl",
             os.path.join(SOURCE, "golden_data", "lysozyme_P1.hkl"), "-dump", "/dev/null", "-misset", "10", "20", "30", "-N", "30",
             "-gauss_xtal", "-mosaic", "0.3", "-mosaic_model", "gauss", "-mosaic_domains", "10", "-oversample", "1", "-osc", "0.5",
             "-phisteps", "4", "-crystal_volume", "125000", "-background", "water:0.05,ice:0.001", "-seed", "1", "-adc", "0"]
    run([*flags, *ALONE[:2], "-nofloat", "-noisefile", "f.img"], folder)
    seen = ["-img", "f.img", *beam, "-adc", "0", "-amorphous_thick", "0.05"]
    said = run(["extract", "f.img", "smooth.stol", *seen], folder)
    run(["extract", "f.img", "rings.stol", *seen, "-stolrings"], folder)
    run([*seen, "-stolout", "raw.stol", "-stolimage", "f.img"], folder)
    smooth, rings, raw = (numpy.loadtxt(os.path.join(folder, f"{name}.stol")) for name in ("smooth", "rings", "raw"))
    ratio = {name: dict(zip(rows[:, 0].round(4), (rows[:, 1] / numpy.interp(rows[:, 0], water[:, 0], water[:, 1])) ** 2))
             for name, rows in (("smooth", smooth), ("rings", rings), ("raw", raw))}
    middle = [x for x in ratio["smooth"] if 0.05 <= x <= 0.24]
    worst = {name: max(abs(ratio[name][x] - 1) for x in middle) for name in ratio}
    script.ok("extract finds the water", len(middle) > 90 and worst["smooth"] < 0.03, str(worst))
    script.ok("extract leaves out ice, unless it is to stay", worst["rings"] > 0.3 and worst["raw"] > 0.3, str(worst))
    script.ok("extract says how to use its table", "-stol smooth.stol" in said.stdout, said.stdout)
    far = ["-distance", "150", "-detector_rotx", "10", "-polar", "0.5", *shape, *beam, "-oversample", "1", "-device", "cpu"]
    made = image(["-stol", "smooth.stol", "-amorphous_thick", "0.05"], folder, far).reshape(700, 700)[150:550, 150:550]
    right = image(["-background", "water:0.05"], folder, far).reshape(700, 700)[150:550, 150:550]
    off = abs(made / right - 1)
    script.ok("its table in another geometry", numpy.median(off) < 0.01 and off.max() < 0.05, f"{numpy.median(off)} {off.max()}")


def check_formulas(folder):
    """Near the beam all electrons of a formula unit scatter together; far off each atom for itself."""
    quartz = image(["-background", "quartz:0.02"], folder)
    same("quartz is SiO2", quartz, image(["-background", "SiO2:2.2:0.02"], folder), 1e-12)
    points = numpy.arange(0, 100) * 0.05
    with open(os.path.join(folder, "same.stol"), "w", encoding="ascii") as f:
        f.writelines(f"{x} {numpy.sqrt(14 ** 2 + 2 * 8 ** 2)}\n" for x in points)
    near = ["-distance", "60000", *PLACE[:6], *PLACE[8:]]
    mass = 28.0855 + 2 * 15.9994
    same("its forward scattering is that of 30 electrons in three atoms",
         image(["-background", "quartz:0.02"], folder, near),
         image(["-stol", "same.stol", "-amorphous_thick", "0.02", "-density", "2.2", "-MW", str(mass)], folder, near), 2e-3)
    falls = quartz.reshape(100, 120)
    script.ok("its scattering falls with the angle", falls[50, 60] > 1.5 * falls[5, 5] > 0, str(falls[5, 5]))


def check_words(folder):
    flags = [*CRYSTAL, "-background", "water:0.01"]
    same("an attenuator is a smaller fluence", image([*flags, "-attenuator", "0.25"], folder),
         image([*flags, "-fluence", "2.5e19"], folder), 1e-12)
    same("-crystal_size is a volume", image([*CRYSTAL, "-crystal_size", "50", "20", "10"], folder),
         image([*CRYSTAL, "-crystal_volume", "10000"], folder), 1e-12)
    same("one edge is a cube", image([*CRYSTAL, "-crystal_size", "20"], folder),
         image([*CRYSTAL, "-crystal_volume", "8000"], folder), 1e-12)
    draws = [*PLACE, *CRYSTAL, "-stills", "400", "-orientations", "random", "-seed", "5", "-draws", "d.txt"]
    run([*draws, "-hitrate", "0.3", "-jitter_fluence", "10", "-attenuator", "0.5"], folder)
    hits = numpy.loadtxt(os.path.join(folder, "d.txt"), skiprows=1)[:, 3]
    run([*draws, "-vary", "crystals:hit:0.3"], folder)
    also = numpy.loadtxt(os.path.join(folder, "d.txt"), skiprows=1)[:, 3]
    script.ok("-hitrate is a law of -vary crystals", (hits == also).all() and set(hits) == {0, 1}, str(set(hits)))
    script.ok("its probability", abs(hits.mean() - 0.3) < 4 * numpy.sqrt(0.21 / 400), str(hits.mean()))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_sums(folder)
        check_formulas(folder)
        check_words(folder)
        check_ways(folder)
        check_truth(folder)
        check_stolout(folder)
        check_extract(folder)


main()
sys.exit(1 if script.FAILED else 0)
