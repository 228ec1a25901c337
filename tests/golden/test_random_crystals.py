#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random scenes: images of crystals add up in every renderer, a twin can be described by
either of its parts, and fast paths of the renderer keep their error bounds."""
import json
import os
import random
import sys
import tempfile

import test_frames as frames  # this module draws flags that may be combined

numpy, script = frames.numpy, frames.script
HKL = os.path.dirname(frames.HKL)
MODELS = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "structure_factors", "models")
EDGE = 24
ALONE = ["-device", "cpu", "-nodump", "-noint", "-nonoise", "-nopgm", "-fluence", "1e26", "-threads", 2]
FLAT = ["-detpixels", EDGE, "-distance", 100, "-pixel", 1.5]
CELLS = {"tet": [32, 32, 40], "ort": [28, 34, 40], "tri": [24, 30, 36, 80, 100, 95], "hex": [30, 30, 40, 90, 90, 120]}
RENDERERS = {"mixed": [], "scalar": ["-isa", "scalar"], "double": ["-precision", "double"],
             **{isa: ["-isa", isa] for isa in ("sse2", "avx2", "avx512", "neon")}}
MISSING = {isa for isa in ("sse2", "avx2", "avx512", "neon")
           if script.run("-cell", 50, "-N", 2, "-default_F", 1, "-detpixels", 4, "-isa", isa, "-show_config", "-device", "cpu", status=None)[1].count("error")}
WORST = {}


def worst(name, value):
    """Stores the largest value with this name in WORST; returns the value."""
    WORST[name] = max(WORST.get(name, 0), float(value))
    return value


def image(*flags):
    script.run(*ALONE, *flags, "-floatfile", "image.bin")
    return numpy.fromfile("image.bin", "f4").astype(float)


def truth(*flags):
    """The image, and rows of -truth: crystal, twin, h, k, l, fast, slow, intensity."""
    got = image(*flags, "-truth", "spots", "-truthfile", "spots.tsv")
    with open("spots.tsv", encoding="ascii") as f:
        next(f)
        first = next(f).split()[0] == "crystal"
        rows = [line.split() for line in f]
    rows = numpy.array([row[:8] if first else ["0", "0", *row[:6]] for row in rows], float)
    return got, rows.reshape(-1, 8)


def words(line):
    """The flags of a crystal."""
    return [word for name, value in line.items() for word in ("-" + name, *(value if isinstance(value, list) else [] if value is True else [value]))]


# --- crystals add ---

def panels(rng):
    """Writes a geometry of three tilted panels around the beam."""
    text, row = "photon_energy = 12000\nclen = 0\nres = 1000\n", 0
    for i in range(3):
        width, height = rng.randint(5, 16), rng.randint(5, 12)
        f = [1, rng.uniform(-0.2, 0.2), rng.uniform(-0.3, 0.3)]
        s = numpy.cross([rng.uniform(-0.3, 0.3), 0, 1], f)
        for name, v in (("fs", numpy.array(f) / numpy.linalg.norm(f)), ("ss", s / numpy.linalg.norm(s))):
            text += f"p{i}/{name} = {v[0]:+.17g}x {v[1]:+.17g}y {v[2]:+.17g}z\n"
        text += f"p{i}/corner_x = {rng.uniform(-15, 10):.6f}\np{i}/corner_y = {rng.uniform(-15, 10):.6f}\np{i}/coffset = {rng.uniform(0.04, 0.08):.6f}\n"
        text += f"p{i}/min_fs = 0\np{i}/max_fs = {width - 1}\np{i}/min_ss = {row}\np{i}/max_ss = {row + height - 1}\n"
        row += height
    with open("p.geom", "w", encoding="ascii") as f:
        f.write(text)
    return ["-geom", "p.geom"]


def sharp(rng):
    """Flags of a crystal with Gaussian spots, whose rendering -tolerance changes."""
    line = {name: value for name, value in crystal(rng).items() if name not in ("interpolate", "default_F", "round_xtal", "square_xtal", "tophat_spots", "Na", "Nb")}
    return {**line, "gauss_xtal": True, "nointerpolate": True, "N": rng.choice([12, 20]), "mosaic": 0.5, "mosaic_dom": 4}


def crystal(rng):
    """Flags of one crystal."""
    name = rng.choice(sorted(CELLS))
    line = {"hkl": os.path.join(HKL, name + ".hkl"), "cell": [x * rng.uniform(0.98, 1.02) if x < 60 else x for x in CELLS[name]],
            "misset": [rng.uniform(-180, 180) for _ in range(3)]}
    if name in ("tet", "hex"):
        line["cell"][1] = line["cell"][0]

    def maybe(part, **more):
        if rng.random() < part:
            line.update(more)
    maybe(0.5, N=rng.choice([2, 3, 5, 9]))
    maybe(0.3, Na=rng.randint(2, 6), Nb=rng.randint(3, 8))
    maybe(0.3, mosaic=rng.uniform(0.1, 1), mosaic_dom=rng.randint(2, 5))
    maybe(0.4, **{rng.choice(["gauss_xtal", "round_xtal", "tophat_spots", "square_xtal"]): True})
    maybe(0.3, Badd=rng.uniform(0, 20))
    maybe(0.3, Fscale=rng.uniform(0.5, 2))
    maybe(0.3, blocks=rng.choice([0.5, 3, 17]))
    maybe(0.2, default_F=rng.uniform(1, 30))
    maybe(0.2, interpolate=True)
    if rng.random() < 0.3:
        law = rng.choice(["k,h,-l", "-h,-k,l", "-h,-k,-l", "h+1/2l,-k,-l"])
        line["twin"] = f"{law}:{rng.uniform(0.1, 0.6):.3f}"
    if frames.DIFFUSE and rng.random() < 0.15:
        line.update(diffuse_sigma=0.3, diffuse_gamma=rng.uniform(1, 2))
    return line


def frame(rng):
    """Flags that all crystals share, and a value of -tolerance or 0."""
    flags = panels(rng) if rng.random() < 0.35 else [*FLAT, "-lambda", rng.uniform(0.8, 1.3)]
    if flags[0] != "-geom":
        flags += rng.choice([[], [], ["-beamstop", "disc:8,bar:3:30:0.5"], ["-transmission", "t.bin"], ["-add", "a.bin"], ["-curved_det"],
                             ["-detector_rotx", 10, "-twotheta", 12]])
        flags += rng.choice([[], [], ["-spectrum", "gauss", "-bandwidth", 1, "-wavelengths", 16], ["-divergence", 2, "-divsteps", 2],
                             ["-dispersion", 1, "-dispsteps", 3]])
    flags += rng.choice([[], ["-detector_thick", 450, "-detector_abs", 300, "-thicksteps", 3]])
    flags += rng.choice([[], ["-water", 0.03]])
    flags += rng.choice([[], [], ["-footprint", "gauss:2:4"]]) if "-curved_det" not in flags else []
    flags += rng.choice([[], ["-osc", 1, "-phisteps", 3]])
    flags += rng.choice([["-oversample", 1], ["-oversample", 2, "-oversample_polar", "-oversample_omega"]])
    flags += rng.choice([[], ["-polar", 0.7], ["-nopolar"]])
    part = rng.choice([0, 0, 10 ** -rng.uniform(2, 6)])
    return [*flags, "-fluence", "1e28"], part


def listed(one, many, least=1):
    """Largest difference between two lists of intensities, divided by the strongest intensity.
    A reflection that one list does not have counts with the intensity `least`, the limit of lists."""
    a, b = ({tuple(row[:4]): row[6] for row in rows} for rows in (one, many))
    off = max((abs(a.get(g, least) - b.get(g, least)) for g in set(a) | set(b)), default=0)
    return off / max(a.values(), default=1)


def check_set(i, rng, renderers):
    flags, part = frame(rng)
    lines = [sharp(rng) if part else crystal(rng) for _ in range(rng.randint(2, 5))]
    with open("lines.jsonl", "w", encoding="ascii") as f:
        f.write("".join(json.dumps(line) + "\n" for line in lines))
    told = f"\n# {' '.join(map(str, flags))}\n# {lines}"
    for name in renderers:
        how = [*flags, *RENDERERS[name], "-tolerance", 0]
        first = ["-hkl", os.path.join(HKL, "tet.hkl"), "-cell", *CELLS["tet"]]
        background = image(*first, *how, "-crystals", 0)
        alone = [truth(*how, *words(line)) for line in lines]
        both, rows = truth(*first, *how, "-crystals", "lines.jsonl")
        sums = sum(x for x, _ in alone) - (len(lines) - 1) * background
        off = worst("sum of crystals, " + name, numpy.abs(both - sums).max() / both.max())
        script.ok(f"set-{i}-{name}", off <= 1e-6 and both.max() > 0, f"{off:.3g}{told}")
        if "-water" not in flags:  # rounding of pixels with background leaves fewer digits for spots
            far = max(listed(numpy.delete(one, 0, 1), numpy.delete(rows[rows[:, 0] == m], 0, 1)) for m, (_, one) in enumerate(alone))
            script.ok(f"set-{i}-{name}-spots", worst("intensities of several crystals", far) <= 1e-6 and len(rows) > 0, f"{far:.3g}{told}")
        if part and name not in ("scalar", "double"):
            check_lack(f"set-{i}-{name}-tolerance", both, [*first, *how[:-2], "-crystals", "lines.jsonl"], part,
                       max(x.max() for x, _ in alone) * 2, told)


def lacking(*flags):
    """Returns the image, and from its report: the limit of the missing light as a fraction, the
    same limit in photons, and the text on the renderer."""
    got = image(*flags, "-report", "r.json")
    with open("r.json", encoding="utf-8") as f:
        said = json.load(f)
    return got, said.get("tolerance_reached", 0), said.get("photons_lacking", 0), said["renderer"]


def check_lack(name, whole, flags, part, brightest, told):
    """0 <= I - J <= E <= part x brightest; I: image, J: with -tolerance, E: reported."""
    got, reached, photons, _ = lacking(*flags, "-tolerance", part)
    low, high = ((whole - got).min() / whole.max(), ((whole - got).max() - photons) / whole.max())
    good = low >= -1e-6 and high <= 1e-6 and reached <= part and photons <= part * brightest
    worst("-tolerance: J above I", -low)
    worst("-tolerance: I - J above E", high)
    if photons:
        worst("-tolerance: part of E that is missing", (whole - got).max() / photons)
    script.ok(name, good, f"I - J {low:.3g} .. {(whole - got).max():.3g}, E {photons:.3g}, {reached:.3g} of {part:.3g}{told}")


def check_sets():
    names = [name for name in RENDERERS if name not in MISSING]
    for i in range(100 if frames.BIG else 5):
        check_set(i, random.Random(f"set {i}"), names if frames.BIG else [names[i % len(names)]])


def check_models():
    """The image of two crystals with F of different models is the sum of both images."""
    lines = [{"pdb": os.path.join(MODELS, "5e5z.pdb"), "N": 5}, {"pdb": os.path.join(MODELS, "1orc.pdb"), "N": 3, "misset": [20, 30, 40], "blocks": 4}]
    with open("lines.jsonl", "w", encoding="ascii") as f:
        f.write("".join(json.dumps(line) + "\n" for line in lines))
    flags = [*FLAT, "-dmin", 5, "-water", 0.03, "-oversample", 1]
    alone = [image(*flags, *words(line)) for line in lines]
    both, background = image(*flags, *words(lines[0]), "-crystals", "lines.jsonl"), image(*flags, *words(lines[0]), "-crystals", 0)
    off = worst("mixture of two -pdb", numpy.abs(both - sum(alone) + background).max() / both.max())
    lit = [float((x - background).max() / both.max()) for x in alone]
    script.ok("mixture-of-models", off <= 1e-6 and min(lit) > 0.01, f"{off:.3g}, parts of {lit}")


# --- twins ---

def reciprocal(cell):
    """Columns a*, b*, c* as in the program: a* along x, b* in the plane of x and y."""
    a, b, c, al, be, ga = [*cell[:3], *numpy.radians((*cell[3:], 90, 90, 90)[:3])]
    ca, cb, cg = numpy.cos([al, be, ga])
    G = numpy.array([[a * a, a * b * cg, a * c * cb], [a * b * cg, b * b, b * c * ca], [a * c * cb, b * c * ca, c * c]])
    return numpy.linalg.cholesky(numpy.linalg.inv(G)).T


def turned(A, T):
    """Returns the lattice Q A of the twin part of law T, and the obliquity in degrees. Q S is the
    polar decomposition of A T^-1 A^-1. The obliquity is the largest angle by which S turns a direction."""
    u, stretch, v = numpy.linalg.svd(A @ numpy.linalg.inv(T) @ numpy.linalg.inv(A))
    return u @ v @ A, numpy.degrees(numpy.arcsin((stretch[0] - stretch[2]) / (stretch[0] + stretch[2])))


def about(v, deg):
    """Matrix of a rotation about a vector."""
    v = numpy.array(v) / numpy.linalg.norm(v)
    K = numpy.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return numpy.eye(3) + numpy.sin(numpy.radians(deg)) * K + (1 - numpy.cos(numpy.radians(deg))) * K @ K


def law_of(T):
    return ",".join("".join(f"{x:+.17f}{letter}" for x, letter in zip(row, "hkl") if x) for row in T)


def oriented(name, A):
    """Writes a file for -mat with these axes (wavelength 1 A); returns its flags."""
    with open(name, "w", encoding="ascii") as f:
        f.write("\n".join(" ".join(f"{x:.17g}" for x in row) for row in A) + "\n")
    return ["-mat", name]


LAWS = [[[0, 1, 0], [1, 0, 0], [0, 0, -1]], [[1, 0, 0.5], [0, -1, 0], [0, 0, -1]], [[-1, 0, 0], [0, -1, 0], [1, 0, 1]], [[-1, 0, 0], [0, -1, 0], [0, 0, -1]],
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[1, 1, 0], [0, -1, 0], [0, 0, -1]], [[1, 0, 0], [0, -1, 0], [0, 0, -1]], [[1 / 3, 2 / 3, 0], [4 / 3, -1 / 3, 0], [0, 0, -1]]]


# List of F, cell, and laws that keep the lattice. Turns by 120 or 90 degrees show if a
# law is mistaken for its inverse.
ON_ONE_LATTICE = [("tet", [32, 32, 40, 90, 90, 90], [LAWS[0], LAWS[3], LAWS[6], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]]),
                  ("hex", [30, 30, 40, 90, 90, 120], [LAWS[0], LAWS[3], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]]),
                  ("tri", [30, 30, 30, 90, 90, 90], [LAWS[0], LAWS[4], LAWS[4], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]])]


def scene(rng, shapes=("-square_xtal", "-round_xtal", "-gauss_xtal", "-tophat_spots")):
    return [*FLAT, "-lambda", 1, rng.choice(shapes), "-oversample", 1, "-N", rng.choice([3, 5, 8]), "-nointerpolate",
            *rng.choice([[], ["-mosaic", 0.3, "-mosaic_dom", 3], ["-mosaic", 0.2, "-mosaic_dom", 4, "-mosaic_model", "gauss"]]), *rng.choice([[], ["-water", 0.03]])]


def check_other_side(i, rng):
    """A twin of A, law T and fraction x equals that of Q A, T^-1 and 1 - x."""
    T = numpy.array(rng.choice(LAWS), float)
    if rng.random() < 0.5:
        T = T @ numpy.array(rng.choice(LAWS), float)
    name = rng.choice(sorted(CELLS))
    cell = [rng.uniform(0.9, 1.1) * x for x in CELLS[name]]
    x, flags = rng.uniform(0.05, 0.95), ["-hkl", os.path.join(HKL, name + ".hkl"), *scene(rng)]
    A = about([rng.gauss(0, 1) for _ in range(3)], rng.uniform(0, 180)) @ reciprocal(cell)
    B, oblique = turned(A, T)
    both = image(*flags, *oriented("A.mat", A), "-twin", f"{law_of(T)}:{x:.17g}")
    other = image(*flags, *oriented("B.mat", B), "-twin", f"{law_of(numpy.linalg.inv(T))}:{1 - x:.17g}")
    off = worst("twin from its other side", numpy.abs(both - other).max() / both.max())
    script.ok(f"other-side-{i}", off <= 1e-6 and both.max() > 0, f"{off:.3g}: {law_of(T)} {' '.join(map(str, flags))}")
    check_obliquity(f"obliquity-{i}", flags + ["-mat", "A.mat"], T, oblique)
    return numpy.abs(both - image(*flags, *oriented("A.mat", A))).max() > 0.01 * both.max()


def check_obliquity(name, flags, T, want):
    if numpy.allclose(T, numpy.eye(3)):
        return
    text = script.run(*ALONE, *flags, "-twin", f"{law_of(T)}:0.3", "-floatfile", "image.bin")
    got = float("".join(text).split("with an obliquity of ")[1].split()[0])
    script.ok(name, abs(got - want) <= 6e-3 * want + 1e-6, f"{got} deg, not {want}")


def check_table(i, rng):
    """A twin with one lattice (rendered with one table of F) is the sum of its parts, and
    equals a twin with a slightly longer cell, which has two lattices."""
    name, cell, laws = rng.choice(ON_ONE_LATTICE) if i else ON_ONE_LATTICE[2]
    law = numpy.array(rng.choice(laws) if i else LAWS[4], float)
    flags = ["-hkl", os.path.join(HKL, name + ".hkl"), *scene(rng, ("-square_xtal", "-round_xtal", "-gauss_xtal"))]
    x, A = rng.uniform(0.05, 0.95), reciprocal(cell)
    twin = ["-twin", f"{law_of(law)}:{x:.17g}"]
    listing = [*flags, "-fluence", "1e28", "-truth_min", 1e-3]
    both, rows = truth(*listing, "-cell", *cell, *twin)
    alone = [truth(*listing, "-cell", *cell), truth(*listing, *oriented("A.mat", turned(A, law)[0]))]
    parts = (1 - x) * alone[0][0] + x * alone[1][0]
    off = worst("twin by a table and two runs", numpy.abs(both - parts).max() / both.max())
    script.ok(f"table-{i}", off <= 1e-6, f"{off:.3g} {law_of(law)} {' '.join(map(str, flags))}")
    for part, share in enumerate((1 - x, x)):
        want, got = alone[part][1], rows[rows[:, 1] == part]
        want[:, [1, 7]] = numpy.stack([numpy.full(len(want), part), want[:, 7] * share], axis=1)
        far = listed(numpy.delete(want, 0, 1), numpy.delete(got, 0, 1), 1e-3)
        script.ok(f"table-{i}-spots-{part}", "-water" in flags or (worst("intensities of a twin", far) <= 1e-6 and len(got) > 0), f"{far:.3g} {' '.join(map(str, flags))}")
    if numpy.array_equal(law, LAWS[0]):
        longer = image(*listing, "-cell", cell[0], cell[1] * (1 + 4e-9), *cell[2:], *twin)
        off = worst("twin by a table and two lattices", numpy.abs(both - longer).max() / both.max())
        script.ok(f"lattices-{i}", 0 < off <= 1e-6, f"{off:.3g} {' '.join(map(str, flags))}")


def check_twins():
    n = 100 if frames.BIG else 4
    seen = sum(check_other_side(i, random.Random(f"side {i}")) for i in range(n))
    script.ok("other-side-differs", seen >= n / 2, f"{seen} of {n} twins differ from their first part")
    for i in range(n):
        check_table(i, random.Random(f"table {i}"))
    # Friedel's obliquity (two-fold axis to normal of its net): beta - 90 for a, atan(b/a) - atan(a/b) for a + b
    two = [([30, 40, 50, 90, beta, 90], numpy.diag([1.0, -1, -1]), beta - 90) for beta in (90.02, 90.04, 91)]
    two.append(([59.06, 68.45, 30.52, 90, 90, 90], numpy.array(LAWS[0], float), numpy.degrees(2 * numpy.arctan(68.45 / 59.06)) - 90))
    for cell, T, friedel in two:
        script.ok(f"friedel-{friedel:.3g}", abs(turned(reciprocal(cell), T)[1] - friedel) < 1e-9, f"{turned(reciprocal(cell), T)[1]}")
        check_obliquity(f"obliquity-{friedel:.3g}", ["-hkl", os.path.join(HKL, "tri.hkl"), *scene(random.Random(1)), "-cell", *cell], T, turned(reciprocal(cell), T)[1])


# --- fast paths ---

SPECTRA = ["gauss -bandwidth 1 -wavelengths 20", "tophat -bandwidth 2 -wavelengths 16", "twocolour -bandwidth 0.3 -split 2:0.4 -wavelengths 10",
           "sase -bandwidth 0.4 -pulse_length 8 -wavelengths 30", "seeded -bandwidth 0.5 -pulse_length 10 -line 0.05 -wavelengths 15"]
LIGHT = ["-diffuse_sigma 0.3 -diffuse_gamma 2", "-diffuse_sigma 0.2 0.3 0.4 -diffuse_gamma 2 -diffuse_halo gauss", "-diffuse_sigma 0.3 -diffuse_gamma 1.5 -diffuse_F unperturbed"]
NUMBERS = ["N:lognormal:30%", "cell:normal:0.3%", "Badd:uniform:0:20", "Fscale:gamma:3", "rot_x:normal:3", "rot_z:uniform:-2:2", "fluence:gamma:4", "distance:uniform:99:101",
           "blocks:choice:1:2:5", "polar:uniform:0.2:0.9"]
# PATHS: limits of errors (maxrel, rel6, sum, 1 - corr) for each fast path; LINES: name of
# the path in the report.
MIXED = (1e-6, 1e-4, 1e-6, 1e-11)
PATHS = {"spots": MIXED, "tiles": MIXED, "fixed": MIXED, "tricubic": MIXED, "double": (2e-7, 1e-5, 1e-6, 1e-12), "simple": MIXED}
LINES = {"spots": "from its reflections", "tiles": "in blocks of rays", "double": "double precision"}


def whole(rng, path):
    """Random flags with all physics that a path renders: (crystals and beam, factors of
    pixels and other light, renderer)."""
    light = [*rng.choice(LIGHT).split()] if frames.DIFFUSE else []
    factors = [*light, "-absorb", "sphere:200", "-absorb_mu", rng.uniform(0.5, 4), "-beamstop", rng.choice(["disc:3,bar:2:30:0.5", "bar:1:90"]),
               "-transmission", "t.bin", "-add", "a.bin"]
    flags = ["-hkl", os.path.join(HKL, "tet.hkl"), "-seed", rng.randrange(1000), "-misset", "random", "-water", 0.03, "-crystals", rng.randint(2, 3),
             "-twin", rng.choice(["k,h,-l:0.3", "-h,-k,l:0.2;k,h,-l:0.1", "h+1/2l,-k,-l:0.4"]), "-dose", rng.choice([1, 3]),
             *rng.choice([[], ["-damage_half", 8], ["-damage_cell", 0.2]])]
    laws, more, edge = rng.sample(NUMBERS, 3), [], 1.5
    cell, steps, own = [32, 32, 40], ["-osc", 0.5, "-phisteps", 2], []
    if path != "simple":
        flags += ["-spectrum", *rng.choice(SPECTRA).split()]
    if path == "spots":
        own = [rng.choice(["-gauss_xtal", "-tophat_spots"]), "-N", rng.choice([16, 30]), "-nointerpolate", "-oversample", 2, "-mosaic", 0.4, "-mosaic_dom", 6]
        more = rng.choice([[], ["-tolerance", 10 ** -rng.uniform(2, 8)], ["-tolerance_photons", 10 ** rng.uniform(-3, 1)]])
    elif path == "tiles":
        cell, edge, steps = [150, 150, 200], rng.choice([0.07, 0.1]), ["-osc", 0.1, "-phisteps", 1]
        own = [*rng.choice([["-square_xtal", "-mosaic_dom", 100], ["-round_xtal", "-mosaic_dom", 40]]), "-mosaic", 1, "-N", 30, "-nointerpolate", "-oversample", 4]
        more = rng.choice([["-tolerance", 10 ** -rng.uniform(1.5, 4)], ["-tolerance_photons", 10 ** rng.uniform(0, 2)]])
        flags += ["-fluence", "1e28"]
        factors[factors.index("-beamstop") + 1] = "disc:0.3,bar:0.1:30:0.5"
    elif path == "simple":
        own, steps = ["-N", rng.choice([3, 5, 8]), "-nointerpolate", "-oversample", 1], ["-osc", 0.5, "-phisteps", 1]
    else:
        shape = "-square_xtal" if path == "fixed" else rng.choice(["-square_xtal", "-round_xtal", "-gauss_xtal"])
        own = [shape, "-N", rng.choice([3, 5, 8]), "-interpolate" if path == "tricubic" else "-nointerpolate", "-oversample", 2, "-mosaic", 0.4, "-mosaic_dom", 4 if frames.BIG else 2]
        more = {"double": ["-precision", "double"]}.get(path, [])
        laws += ["default_F:uniform:0:5"]
    if path == "tiles":
        factors += ["-roi", 6, 17, 6, 17]  # a tolerance refers to the whole detector
    flags += [*own, "-cell", *cell, "-detpixels", EDGE, "-distance", 100, "-pixel", edge, "-vary", ",".join(laws), "-frames", 2, *steps, "-only_frame", rng.randrange(2)]
    return flags, factors, more


def fast(rng, path, more):
    """Adds to `more` the flag of an instruction set of this machine with fast paths."""
    sets = [name for name in ("sse2", "avx2", "avx512", "neon") if name not in MISSING]
    return [*more, *(["-isa", rng.choice(sets)] if sets and path != "double" else [])]


def compare(name, got, want, allowed):
    """Tests the four errors of docs/physics.md, section 21, against `allowed`."""
    dim = want > 1e-6 * want.max()
    found = (numpy.abs(got - want).max() / want.max(), (numpy.abs(got - want)[dim] / want[dim]).max(), abs(got.sum() / want.sum() - 1),
             1 - numpy.corrcoef(got, want)[0, 1])
    for what, value in zip(("maxrel", "rel6", "sum", "1 - corr"), found):
        worst(f"{name}: {what}", value)
    return all(limit is None or value <= limit for value, limit in zip(found, allowed)), found


def check_scene(i, rng, path):
    """Compares a fast path with the scalar renderer; returns 1 if the path was used."""
    flags, factors, more = whole(rng, path)
    more = fast(rng, path, more)
    want = image(*flags, *factors, "-isa", "scalar")
    got, reached, photons, line = lacking(*flags, *factors, *more)
    told = f"{line}\n# {' '.join(map(str, [*flags, *factors, *more]))}"
    if "-tolerance" not in more and "-tolerance_photons" not in more:
        good, found = compare(path, got, want, PATHS[path])
        script.ok(f"scene-{path}-{i}", good and want.max() > 0, f"{found} {told}")
    else:
        bright = image(*flags, "-precision", "double").max()
        top = max(bright, want.max())
        low, high = (want - got).min() / top, ((want - got).max() - photons) / top
        worst(f"{path}: J above I", -low)
        worst(f"{path}: I - J above E", high)
        size = float(more[more.index("-tolerance") + 1]) * bright if "-tolerance" in more else float(more[more.index("-tolerance_photons") + 1])
        if photons:
            worst(f"{path}: part of E that is missing", (want - got).max() / photons)
            worst(f"{path}: part of the tolerance that is E", photons / (2 * size))
        script.ok(f"scene-{path}-{i}", low >= -1e-6 and high <= 1e-6 and photons <= 2 * size * (1 + 1e-6) and not ("-tolerance" in more and reached > float(more[1])),
                  f"I - J {low:.3g} .. {(want - got).max():.3g}, E {photons:.3g} <= {2 * size:.3g}, {reached:.3g} {told}")
    return LINES.get(path, "cpu") in line or (path == "tiles" and photons > 0)


def check_scenes():
    taken = dict.fromkeys(PATHS, 0)
    n = 210 if frames.BIG else 7
    for i in range(n):
        path = sorted(PATHS)[i % len(PATHS)]
        taken[path] += check_scene(i, random.Random(f"scene {i}"), path)
    print(f"# scenes by path: {taken}")
    script.ok("paths", min(taken.values()) >= n // len(PATHS) // 2, f"{taken}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        frames.make_files()
        check_sets()
        check_models()
        check_twins()
        check_scenes()
        os.chdir("/")
    for name in sorted(WORST):
        print(f"# largest {name}: {WORST[name]:.3g}")
    sys.exit(bool(script.FAILED))


if __name__ == "__main__":
    main()
