# SPDX-License-Identifier: MIT
"""-truth spots lists background, pixels and sigma of each reflection; -truth and the
report give the mean orientation of the drawn mosaic domains.

usage: NANOBRAGG=program python3 tests/cli/truth_check.py
"""
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import in_folder, need, ok, run  # noqa: E402

numpy = need("numpy")

EDGE = 300
X = ["-default_F", 100, "-cell", 40, "-N", 12, "-gauss_xtal", "-misset", 10, 20, 30, "-detpixels", EDGE, "-pixel", 0.2,
     "-distance", 80, "-fluence", 1e23, "-beamsize", 0.01, "-blocks", 1e5, "-nonoise", "-noint", "-nopgm", "-oversample", 4]
MOSAIC = ["-mosaic", 0.1, "-mosaic_model", "gauss", "-mosaic_dom", 25]


def image():
    return numpy.fromfile("floatimage.bin", "<f4").astype(float).reshape(EDGE, EDGE)


def spots(*flags):
    run(*X, *flags, "-truth", "spots")
    return numpy.genfromtxt("spots.tsv", skip_header=1, names=True)


def statistics():
    got = spots()
    alone = image()
    ok("pure-counting", numpy.allclose(got["sigma"], numpy.sqrt(got["intensity"]), rtol=1e-4) and
       not got["background"].any(), got["sigma"])
    length = numpy.sqrt(got["h"] ** 2 + got["k"] ** 2 + got["l"] ** 2)
    ok("spacing", numpy.allclose(got["d"] * length, 40 * (length > 0), rtol=1e-5), got["d"])
    got = spots("-background", "water:0.001")
    water = image() - alone
    one = got[numpy.argmax(got["intensity"])]
    f, s = int(one["fast"]), int(one["slow"])
    near = (slice(s - 4, s + 5), slice(f - 4, f + 5))
    part, under = alone[near], water[near]
    ok("alone", abs(part.sum() / one["intensity"] - 1) < 1e-3, one)
    ok("background", abs(one["background"] / under.mean() - 1) < 0.01, (one, under.mean()))
    ok("pixels", abs(one["pixels"] / (part.sum() ** 2 / (part ** 2).sum()) - 1) < 1e-3, one)
    want = part.sum() / math.sqrt((part ** 2 / (part + under)).sum())
    ok("sigma", abs(one["sigma"] / want - 1) < 1e-3 and want > 1.01 * math.sqrt(part.sum()), (one, want))


def drawn():
    text = run(*X, *MOSAIC)[0]
    turned = re.search(r"their mean is turned by (\S+) deg", text)
    ok("turned", turned and 0.005 < float(turned[1]) < 0.08, text)
    try:
        import h5py
        run(*X, *MOSAIC, "-stills", 1, "-hdf5", "d.h5", "-truth", "spots")
    except (ImportError, AssertionError) as missing:
        print(f"skip truth hdf5 # {missing}")
        return
    with h5py.File("d.h5") as file:
        A, mean = (file["/entry/simulation/" + name][0] for name in ("A", "A_drawn"))
        table = file["/entry/simulation/reflections/table"]
        names, units = table.dtype.names, len(table.attrs["units"])
    turn = mean @ numpy.linalg.inv(A)
    angle = math.degrees(math.acos(min(1, (numpy.trace(turn) - 1) / 2)))
    ok("A_drawn", numpy.allclose(turn @ turn.T, numpy.eye(3), atol=1e-9) and turned and
       abs(angle - float(turned[1])) < 1e-3, (angle, turned))
    ok("columns", names[-4:] == ("d", "background", "pixels", "sigma") and units == len(names), names)
    text = run(*X, "-mosaic", 180, "-mosaic_model", "uniform", "-mosaic_dom", 500)[0]
    ok("powder-has-no-mean", "turned by" not in text and "nan" not in text, text)


CELL = (50, 60, 70, 80, 95, 100)
SERIES = ("-cell", *CELL, "-default_F", 100, "-N", 5, "-fluence", 1e26, "-distance", 120, "-detpixels", 32, "-pixel", 3, "-seed", 3)


def rotation(angles):
    """Matrix of rotations about x, then y, then z, by three angles in degrees."""
    matrix = numpy.eye(3)
    for axis, angle in enumerate(numpy.radians(angles)):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        step = numpy.eye(3)
        step[i, i] = step[j, j] = math.cos(angle)
        step[i, j], step[j, i] = -math.sin(angle), math.sin(angle)
        matrix = step @ matrix
    return matrix


def lattices():
    """Cell and misset in a master file agree with A, for frames and for crystals."""
    try:
        import h5py
        run(*SERIES, "-orientations", "random", "-stills", 3, "-jitter_cell", 2, "-hdf5", "j.h5")
    except (ImportError, AssertionError) as missing:
        print(f"skip truth cell # {missing}")
        return
    lines = [(10, 20, 30), (170, -80, -100), (20, 90, 50), (20, -90, 50)]
    with open("lines.txt", "w", encoding="ascii") as file:
        file.writelines("%g %g %g\n" % line for line in lines)
    run(*SERIES, "-orientations", "lines.txt", "-stills", 4, "-hdf5", "l.h5")
    run(*SERIES, "-misset", 10, 20, 30, "-frames", 2, "-osc", 0.1, "-crystals", 3, "-dose", 2, "-damage_cell", 1, "-hdf5", "c.h5")
    for name, group in (("j", ""), ("l", ""), ("c", ""), ("c", "/crystals")):
        with h5py.File(name + ".h5") as file:
            truth = file["/entry/simulation" + group]
            A, U, cell, misset = (truth[key][...] for key in ("A", "U", "cell", "misset"))
            units = list(truth["cell"].attrs["units"]), truth["misset"].attrs["units"], truth["misset"].attrs["about"]
        real = numpy.linalg.inv(A)
        ok("cell " + name + group, numpy.allclose(cell[:, :3], numpy.linalg.norm(real, axis=2), rtol=1e-12) and
           numpy.allclose(cell[:, 3:], CELL[3:], rtol=1e-12) and units[0] == [b"angstrom"] * 3 + [b"deg"] * 3, cell)
        ok("misset " + name + group, abs(U - [rotation(row) for row in misset]).max() < 1e-12 and
           units[1] == b"deg" and b"about x, then y, then z" in units[2], misset)
        if name == "l":
            ok("misset as typed", numpy.allclose(misset[:1], lines[:1], rtol=1e-12), misset)
        if name == "c":
            ok("dose" + group, numpy.allclose(cell[[0, -1], 0], [50.5, 51.5], rtol=1e-12), cell)


def darwin():
    """Intensities are fluence r_e^2 lambda^3 F^2 cells Lorentz / cell volume / rotated angle (C. G. Darwin 1922)."""
    flags = ["-cell", 40, 45, 50, "-N", 60, "-gauss_xtal", "-misset", 10, 20, 30, "-default_F", 100, "-distance", 150, "-detpixels", 500,
             "-pixel", 0.25, "-fluence", 1e24, "-nopolar", "-osc", 8, "-dmin", 2.9, "-truth", "spots", "-truth_min", 1e-9, "-nonoise", "-noint", "-nopgm"]
    for name, fudge, want in (("gauss", 1, 0.9844), ("darwin", "darwin", 1)):
        text = run(*flags, "-fudge", fudge)[0]
        ok(f"darwin-said-{name}", f"intensities are {want:.4f} of Darwin's" in text, text)
        got = numpy.genfromtxt("spots.tsv", skip_header=1, names=True)
        y, z = 62.75 - 0.25 * got["slow"], 0.25 * got["fast"] - 62.75  # positions in mm; the spindle is along z
        far = numpy.sqrt(150 ** 2 + y ** 2 + z ** 2)
        formula = 1e24 * 2.8179403e-15 ** 2 * 1e-30 * 100 ** 2 * 60 ** 3 / 9e-26 / math.radians(8) * far / abs(y)
        whole = (abs(y) / far > 0.15) & (got["phi"] > 1) & (got["phi"] < 7) & (got["d"] > 3)
        ratio = (got["intensity"] / formula)[whole]
        ok(f"darwin-{name}", len(ratio) >= 200 and abs(ratio / want - 1).max() < 0.002, (len(ratio), ratio.min(), ratio.max()))


def main():
    statistics()
    darwin()
    drawn()
    lattices()


in_folder(main)
