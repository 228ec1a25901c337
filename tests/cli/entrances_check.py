# SPDX-License-Identifier: MIT
"""A wrong cell, wavelength, distance, pixel, beam centre, sensor or mask is asked about or refused, whichever way it comes in:
flags, headers, files of a detector, of sources and of lines, keywords and arrays of Python.

usage: NANOBRAGG=program python3 tests/cli/entrances_check.py
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, PROGRAM, SCRIPT, ok, read, run  # noqa: E402

SOURCE = os.environ.get("NB_SOURCE", os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
PACKAGE = os.path.join(os.environ.get("NB_BUILD", os.path.dirname(os.path.realpath(PROGRAM))), "python")
GOLDEN = os.path.join(SOURCE, "golden_data")
CTJ = GOLDEN + "/structure_factors/reflections/1CTJ.mtz"
QUIET = "-nopgm -noint -nofloat -nonoise -oversample 1 -seed 1 -threads 1 -N 5".split()
CRYSTAL, DETECTOR = "-default_F 100 -cell 70 80 90".split(), "-detpixels 16 -pixel 1 -distance 100".split()
X = [*QUIET, *CRYSTAL, *DETECTOR]
SMALL = [*QUIET, *CRYSTAL, "-detpixels", 32, "-pixel", 0.1, "-distance", 100]
MTZ = [*QUIET, *DETECTOR, "-mtz", CTJ]
OUTPUT = ["-output", "o_%d.bin"]


def put(path, text):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
    return path


def lines(name, *objects):
    return put(name, "".join(json.dumps(o) + "\n" for o in objects))


def jobs(**words):
    """The second frame has these words."""
    return ["-jobs", lines("j.jsonl", {"phi": 1}, words), *OUTPUT]


def crystals(**words):
    return ["-crystals", lines("c.jsonl", {"N": 4}, words)]


def header(**values):
    """An SMV file as another program writes it, with these values."""
    data = read("good.img").replace(b"NANOBRAGG_", b"SOMEONES__")
    head, pixels = data[:1024], data[1024:]
    if "DISTANCE" in values:
        head = head.replace(b"CLOSE_DISTANCE", b"OTHER_DISTANCE")
    for name, value in values.items():
        head = re.sub(rb"(\n\w*" + name.encode() + rb")=[^;]*;", lambda m, v=value: m[1] + f"={v};".encode(), head)
    with open("a.img", "wb") as out:
        out.write(head.rstrip(b" ")[:1024].ljust(1024) + pixels)
    return [*QUIET, *CRYSTAL, "-img", "a.img"]


def centre(value):
    """What programs say of the beam's centre."""
    return header(**{name: value for name in ("CENTER_X", "CENTER_Y", "X_BEAM", "Y_BEAM", "XDS_ORGX", "XDS_ORGY")})


def geom(eV=12398, clen=0.1):
    put("x.geom", f"photon_energy = {eV}\nadu_per_photon = 1\nclen = {clen}\nres = 1000\np/min_fs = 0\np/max_fs = 15\np/min_ss = 0\n"
        "p/max_ss = 15\np/corner_x = -8\np/corner_y = -8\np/fs = +1x\np/ss = +1y\n")
    return [*QUIET, *CRYSTAL, "-geom", "x.geom"]


def expt(wavelength):
    with open(GOLDEN + "/detectors/geom/flat3.expt", encoding="ascii") as text:
        found = json.load(text)
    found["beam"][0]["wavelength"] = wavelength
    return [*QUIET, *CRYSTAL, "-expt", put("x.expt", json.dumps(found))]


METRES, KEV, LONG = "in metres?", "in keV?", "is it an energy in eV?"
OUTSIDE, CELL = "outside of the detector: is it in pixels?", "a cell edge of 7e-09 A is very short: is it in metres?"
OTHER, NM = "but F(h k l) stays that of", [7e-9, 8e-9, 9e-9, 90, 90, 90]
RANGE = "the value must be at least 1e-06 and at most 1000000 (A)"

# Questions: quantity and entrance, the command line (made when its turn comes), what a note says.
ASKED = [("lambda", lambda: [*X, "-lambda", 12398], LONG),
         ("lambda-of-a-series", lambda: [*X, "-lambda", 12398, "-frames", 2, "-osc", 1, *OUTPUT], LONG),
         ("lambda-img", lambda: header(WAVELENGTH=12398), LONG),
         ("lambda-expt", lambda: expt(12398), LONG),
         ("lambda-nm", lambda: [*X, "-lambda", 0.1], "in nm"),
         ("lambda-nm-img", lambda: header(WAVELENGTH=0.1), "in nm"),
         ("lambda-nm-expt", lambda: expt(0.1), "in nm"),
         ("lambda-nm-sourcefile", lambda: [*X, "-sourcefile", put("s.src", "-10 0 0 1 1e-11\n")], "in nm?"),
         ("energy", lambda: [*X, "-energy", 12.398], KEV),
         ("energy-geom", lambda: geom(eV=12.398), "is very long"),
         ("energy-spectrum", lambda: [*X, "-spectrum", put("s.spec", "12.0 1\n12.4 3\n12.8 1\n")], "is very long"),
         ("distance", lambda: [*X, "-distance", 0.1], METRES),
         ("distance-of-a-series", lambda: [*X, "-distance", 0.1, "-frames", 2, "-osc", 1, *OUTPUT], METRES),
         ("close_distance", lambda: [*QUIET, *CRYSTAL, "-detpixels", 16, "-close_distance", 0.1], METRES),
         ("distance-img", lambda: header(DISTANCE=0.1), METRES),
         ("close_distance-img", lambda: header(CLOSE_DISTANCE=0.1), METRES),
         ("pixel", lambda: [*X, "-pixel", 0.0001], METRES),
         ("pixel-img", lambda: header(PIXEL_SIZE=0.0001), METRES),
         ("pixel-um", lambda: [*X, "-pixel", 100], "in um?"),
         ("pixel-um-img", lambda: header(PIXEL_SIZE=100), "in um?"),
         ("centre", lambda: [*SMALL, "-Xbeam", 16, "-Ybeam", 16], OUTSIDE),
         ("centre-of-a-series", lambda: [*SMALL, "-Xbeam", 16, "-Ybeam", 16, "-frames", 2, "-osc", 1, *OUTPUT], OUTSIDE),
         ("centre-img", lambda: centre(160), OUTSIDE),
         ("sensor-thick", lambda: [*X, "-detector_thick", 0.3, "-detector_abs", 200], "in mm?"),
         ("sensor-thick-of-a-material", lambda: [*X, "-detector_thick", 0.3, "-sensor", "Si"], "in mm?"),
         ("cell", lambda: [*QUIET, *DETECTOR, "-default_F", 1, "-cell", *NM], CELL),
         ("cell-mat", lambda: [*QUIET, *DETECTOR, "-default_F", 1, "-mat", put("m.mat", "1.428571428571e8 0 0\n0 1e8 0\n0 0 1e8\n")], CELL),
         ("cell-of-F", lambda: [*MTZ, "-cell", 70, 80, 90], OTHER),
         ("cell-of-F-mat", lambda: [*MTZ, "-mat", put("m.mat", "0.0125 0 0\n0 0.011 0\n0 0 0.012\n")], OTHER),
         ("cell-of-F-jobs", lambda: [*MTZ, *jobs(cell=[70, 80, 90, 90, 90, 90])], OTHER),
         ("mask", lambda: [*X, "-mask", "dark.img"], "every pixel is masked")]

# Refusals: their one line.
REFUSED = [("lambda", lambda: [*X, "-lambda", "1e-10"], RANGE), ("lambda-jobs", lambda: [*X, *jobs(**{"lambda": 1e-10})], RANGE),
           ("lambda-img", lambda: header(WAVELENGTH="1e-10"), RANGE), ("lambda-expt", lambda: expt(1e-10), "wavelength"),
           ("lambda-sourcefile", lambda: [*X, "-sourcefile", put("s.src", "-10 0 0 1 1.0\n")], "s.src:1: wavelength 1 m"),
           ("lambda-sourcefile-jobs", lambda: [*X, *jobs(sourcefile=put("s.src", "-10 0 0 1 1.0\n"))], "s.src:1: wavelength 1 m"),
           ("lambda-crystals", lambda: [*X, *crystals(**{"lambda": 1})], "not one of a single crystal"),
           ("distance", lambda: [*X, "-distance", -1], "-distance"), ("distance-jobs", lambda: [*X, *jobs(distance=-1)], "distance"),
           ("distance-crystals", lambda: [*X, *crystals(distance=90)], "not one of a single crystal"),
           ("pixel", lambda: [*X, "-pixel", -1], "-pixel"), ("pixel-jobs", lambda: [*X, *jobs(pixel=-1)], "pixel"),
           ("thick", lambda: [*X, "-detector_thick", -1], "-detector_thick"),
           ("thick-jobs", lambda: [*X, *jobs(detector_thick=-1)], "detector_thick"),
           ("sensor", lambda: [*X, "-detector_thick", 300, "-sensor", "Xx"], "-sensor"),
           ("sensor-jobs", lambda: [*X, "-detector_thick", 300, *jobs(sensor="Xx")], "-sensor"),
           ("cell", lambda: [*X, "-cell", 70, 80, 90, 20, 20, 150], "cell"),
           ("cell-jobs", lambda: [*X, *jobs(cell=[70, 80, 90, 20, 20, 150])], "cell"),
           ("cell-crystals", lambda: [*X, *crystals(cell=[70, 80, 90, 20, 20, 150])], "cell"),
           ("cell-mat", lambda: [*QUIET, *DETECTOR, "-default_F", 1, "-mat", put("m.mat", "1 0 0\n1 0 0\n0 0 1\n")], "m.mat"),
           ("cell-mat-jobs", lambda: [*X, *jobs(mat=put("m.mat", "1 0 0\n1 0 0\n0 0 1\n"))], "m.mat"),
           ("mask", lambda: [*X, "-mask", put("few.bin", "0" * 400)], "few.bin"),
           ("mask-jobs", lambda: [*X, *jobs(mask=put("few.bin", "0" * 400))], "few.bin")]

PYTHON = """
import sys
import numpy as np
import nanobragg as nb
BASE = dict(cell=(70, 80, 90), N=5, default_F=100, detpixels=16, pixel=1, distance=100, oversample=1, seed=1, threads=1)
NONE = np.zeros((16, 16), bool)
SMALL, CTJ = dict(detpixels=32, pixel=.1), sys.argv[1]
def new(**words):
    nb.Simulation(**{name: value for name, value in {**BASE, **words}.items() if value is not None})
def changed(base={}, **words):
    nb.Simulation(**{**BASE, **base}).set(**words)
def moved(**values):
    nb.Simulation(**BASE).set_parameters(values)
for call in sys.stdin.read().splitlines():
    print(f"<{call}>", file=sys.stderr, flush=True)
    try:
        eval(call)
    except ValueError as error:
        print(f"ValueError: {error}", file=sys.stderr, flush=True)
"""
IN_PYTHON = [("new(wavelength=12398)", LONG), ("new(energy=12.398)", KEV), ("new(sources=([.1], [1]))", "in nm?"),
             ("new(distance=.1)", METRES), ("new(pixel=.0001)", METRES), ("new(**SMALL, Xbeam=16, Ybeam=16)", OUTSIDE),
             ("new(detector_thick=.3, detector_abs=200)", "in mm?"), ("new(cell=(7e-9, 8e-9, 9e-9))", CELL),
             ("new(cell=None, matrix=np.diag([1.428571428571e8, 1e8, 1e8]))", CELL),
             ("new(default_F=None, mtz=CTJ)", OTHER),
             ("new(wavelength=1e-10)", "ValueError: -lambda"), ("changed(wavelength=1e-10)", "ValueError: -lambda"),
             ("moved(**{'lambda': 1e-10})", "ValueError: "), ("new(sources=([1e-10], [1]))", "ValueError: sources[0]"),
             ("changed(sources=([1e-10], [1]))", "ValueError: sources[0]"),
             ("new(distance=-1)", "ValueError: -distance"), ("changed(distance=-1)", "ValueError: -distance"),
             ("moved(distance=-1)", "ValueError: "), ("new(pixel=-1)", "ValueError: -pixel"),
             ("changed(pixel=-1)", "ValueError: -pixel"), ("new(detector_thick=-1)", "ValueError: -detector_thick"),
             ("changed(detector_thick=-1)", "ValueError: -detector_thick"), ("new(cell=(7, 8, 9, 20, 20, 150))", "ValueError: "),
             ("changed(cell=(7, 8, 9, 20, 20, 150))", "ValueError: "), ("moved(cell_al=150, cell_be=150)", "ValueError: "),
             ("new(mask=NONE[1:])", "-mask has 16 x 15 pixels"), ("changed(mask=NONE[1:])", "-mask has 16 x 15 pixels")]


NEEDS = {"-mtz": "gemmi", "mtz=": "gemmi", "-sensor": "xraylib", "sensor=": "xraylib"}


def absent(words, libraries):
    """The library that these words need and this build has not."""
    text = " ".join(map(str, words))
    return next((library for word, library in NEEDS.items() if word in text and library not in libraries), None)


def notes(error):
    return [line for line in error.splitlines() if line.startswith("nanobragg: note: ")]


def main():
    libraries = [line.split()[0] for line in run("-version")[0].splitlines() if line.split()[1:2] == ["yes"]]
    if "cJSON" not in libraries:
        print(f"skip {SCRIPT} # no cJSON in this build, which reads lines and -expt")
        return 0
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    run("-nofloat", "-nopgm", "-noint", "-oversample", 1, "-seed", 1, "-N", 5, *CRYSTAL, *DETECTOR, "-noisefile", "good.img")
    with open("dark.img", "wb") as out:
        out.write(read("good.img")[:1024] + bytes(512))
    said = notes(run(*X)[1] + run(*header())[1] + run(*geom())[1] + run(*expt(1))[1])
    ok("nothing-is-asked-of-good-ones", not any(re.search(r"\b(is it|are they|are its)\b", line) or OTHER in line for line in said), said)
    for name, words, text in ASKED:
        made = words()
        if absent(made, libraries):
            print(f"skip {SCRIPT} asked-{name} # no {absent(made, libraries)} in this build")
            continue
        error = run(*made)[1]
        ok("asked-" + name, any(text in line for line in notes(error)), error)
    for name in [name for name in os.listdir() if name.startswith("o_")]:
        os.remove(name)
    for name, words, text in REFUSED:
        error = run(*words(), status=2)[1]  # without xraylib -sensor is refused for another reason
        last = [line for line in error.splitlines() if line.startswith("nanobragg: error: ")]
        ok("refused-" + name, len(last) == 1 and text in last[0] and not [f for f in os.listdir() if f.startswith("o_")], error)
    if os.path.exists(PACKAGE + "/nanobragg/_nanobragg.abi3.so"):
        done = subprocess.run([sys.executable, "-c", PYTHON, CTJ], input="\n".join(call for call, _ in IN_PYTHON), capture_output=True,
                              text=True, check=False, env={**os.environ, "PYTHONPATH": PACKAGE})
        parts = dict(part.split(">\n", 1) for part in re.split(r"^<", done.stderr, flags=re.M)[1:])
        for call, text in IN_PYTHON:
            if absent([call], libraries):
                continue
            ok("python-" + call, text in parts.get(call, ""), parts.get(call, done.stderr))
    else:
        print(f"skip {SCRIPT} python # the package was not built")
    os.chdir("/")
    shutil.rmtree(folder)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
