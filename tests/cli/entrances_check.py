# SPDX-License-Identifier: MIT
"""A wrong cell, wavelength, distance, pixel, beam centre, sensor, mask or matrix gets one
question or is refused, at every entrance.

An entrance is a way to give a value. Each row of ASKED and REFUSED is given at five
entrances: flags of an image and of a series, a line of -jobs, keywords of a new Python
object, and set. Each row of OTHERS and IN_PYTHON has one entrance: an image header, a
file of a detector, of sources or of crystals, -vary, an array, or set_parameters.

usage: NANOBRAGG=program python3 tests/cli/entrances_check.py
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import PROGRAM, SCRIPT, in_folder, ok, read, run  # noqa: E402

SOURCE = os.environ.get("NB_SOURCE", os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
PACKAGE = os.path.join(os.environ.get("NB_BUILD", os.path.dirname(os.path.realpath(PROGRAM))), "python")
GOLDEN = os.path.join(SOURCE, "golden_data")
CTJ = GOLDEN + "/structure_factors/reflections/1CTJ.mtz"
BASE = {"cell": [70, 80, 90, 90, 90, 90], "N": 5, "default_F": 100, "detpixels": 16, "pixel": 1, "distance": 100, "oversample": 1, "seed": 1, "threads": 1}
FILE = {"distance": None, "pixel": None, "detpixels": None}
QUIET, OUTPUT = "-nopgm -noint -nofloat -nonoise".split(), ["-output", "o_%d.bin"]
CRYSTAL = "-default_F 100 -cell 70 80 90".split()


def put(path, text):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
    return path


def flags(words):
    """Flags of BASE and `words` (flag name: value); None removes a flag of BASE."""
    return [*QUIET, *(x for name, value in {**BASE, **words}.items() if value is not None
                      for x in ["-" + name, *([] if value is True else value if isinstance(value, list) else [value])])]


def lines(name, *objects):
    return put(name, "".join(json.dumps(o) + "\n" for o in objects))


def crystals(**words):
    return [*flags({}), "-crystals", lines("c.jsonl", {"N": 4}, words)]


def series(words, *more):
    return [*flags(words), "-stills", 2, "-orientations", "random", *more, *OUTPUT]


def header(path="a.img", **values):
    """Writes an SMV file with these header values, as if by another program."""
    data = read("good.img").replace(b"NANOBRAGG_", b"SOMEONES__")
    head, pixels = data[:1024], data[1024:]
    if "DISTANCE" in values:
        head = head.replace(b"CLOSE_DISTANCE", b"OTHER_DISTANCE")
    for name, value in values.items():
        head = re.sub(rb"(\n\w*" + name.encode() + rb")=[^;]*;", lambda m, v=value: m[1] + f"={v};".encode(), head)
    with open(path, "wb") as out:
        out.write(head.rstrip(b" ")[:1024].ljust(1024) + pixels)
    return [*QUIET, "-N", 5, "-oversample", 1, *CRYSTAL, "-img", path]


def centre(value):
    """SMV file with this beam centre in all keys that other programs use."""
    return header(**{name: value for name in ("CENTER_X", "CENTER_Y", "X_BEAM", "Y_BEAM", "XDS_ORGX", "XDS_ORGY")})


def geom(eV=12398, clen=0.1, res=1000):
    put("x.geom", f"photon_energy = {eV}\nadu_per_photon = 1\nclen = {clen}\nres = {res}\np/min_fs = 0\np/max_fs = 15\np/min_ss = 0\n"
        "p/max_ss = 15\np/corner_x = -8\np/corner_y = -8\np/fs = +1x\np/ss = +1y\n")
    return flags({**FILE, "geom": "x.geom"})


def expt(wavelength=1, unit=1):
    """Flags of a DIALS detector file whose lengths are multiplied by `unit`."""
    with open(GOLDEN + "/detectors/geom/flat3.expt", encoding="ascii") as text:
        found = json.load(text)
    found["beam"][0]["wavelength"] = wavelength
    for panel in found["detector"][0]["panels"]:
        for name in ("origin", "pixel_size", "thickness"):
            if name in panel:
                panel[name] = [unit * x for x in panel[name]] if isinstance(panel[name], list) else unit * panel[name]
    return flags({**FILE, "expt": put("x.expt", json.dumps(found))})


def stream(eV):
    put("x.stream", "CrystFEL stream format 2.3\n" + f"""----- Begin chunk -----
photon_energy_eV = {eV}
--- Begin crystal
astar = +0.1 +0.0 +0.0 nm^-1
bstar = +0.0 +0.1 +0.0 nm^-1
cstar = +0.0 +0.0 +0.1 nm^-1
--- End crystal
----- End chunk -----
""" * 2)
    return [*flags({}), "-stills", 2, "-orientations", "x.stream", *OUTPUT]


METRES, KEV, LONG, UNIT = "in metres?", "in keV?", "is it an energy in eV?", "is it in another unit?"
OUTSIDE, CELL = "outside of the detector: is it in pixels?", "a cell edge of 7e-09 A is very short: is it in metres?"
OTHER, NM, FLAT = "but F(h k l) stays that of", [7e-9, 8e-9, 9e-9, 90, 90, 90], [70, 80, 90, 20, 20, 150]
RANGE, DARK, LEFT = "the value must be at least 1e-06 and at most 1000000 (A)", "every pixel is masked", "the matrix is left-handed"
MTZ, MAT = {"default_F": None, "cell": None, "mtz": CTJ}, {"cell": None, "mat": "good.mat"}

# Values that get a question: flags, text of the note, changes of BASE (None removes one).
ASKED = [({"lambda": 12398}, LONG, {}), ({"lambda": 0.1}, "in nm", {}), ({"energy": 12.398}, KEV, {}),
         ({"sourcefile": "nm.src"}, "in nm?", {}), ({"spectrum": "keV.txt"}, KEV, {}),
         ({"distance": 0.1}, METRES, {}), ({"close_distance": 0.1}, METRES, {"distance": None}),
         ({"pixel": 0.0001}, METRES, {}), ({"pixel": 100}, "in um?", {}), ({"beamsize": 50}, "in um?", {}),
         ({"Xbeam": 16, "Ybeam": 16}, OUTSIDE, {"detpixels": 32, "pixel": 0.1}),
         ({"xds": True, "ORGX": 17200, "ORGY": 17200}, "is it in mm or um?", {}),
         ({"detector_thick": 0.3, "detector_abs": 200}, "in mm?", {}), ({"detector_thick": 0.3, "sensor": "Si"}, "in mm?", {}),
         ({"cell": NM}, CELL, {}), ({"mat": "m.mat"}, CELL, MAT), ({"mat": "left.mat"}, LEFT, MAT),
         ({"cell": [70, 80, 90, 90, 90, 90]}, OTHER, MTZ), ({"mat": "good.mat"}, OTHER, MTZ), ({"mask": "dark.img"}, DARK, {}),
         ({"img": "odd.img"}, METRES, {"distance": None})]

# Values that are refused: flags, text of the one error line, changes of BASE.
REFUSED = [({"lambda": 1e-10}, RANGE, {}), ({"sourcefile": "A.src"}, "A.src:1: wavelength 1 m", {}), ({"distance": -1}, "distance", {}),
           ({"pixel": -1}, "pixel", {}), ({"detector_thick": -1}, "detector_thick", {}),
           ({"detector_thick": 300, "sensor": "Xx"}, "-sensor", {}), ({"cell": FLAT}, "cell", {}),
           ({"mat": "flat.mat"}, "flat.mat", {}), ({"mask": "few.bin"}, "few.bin", {}), ({"mask": "small.img"}, "-mask has 8 x 8 pixels", {})]

# Values that get a question at one entrance: name, command line (made when called), note.
OTHERS = [("lambda-img", lambda: header(WAVELENGTH=12398), LONG), ("lambda-expt", lambda: expt(12398), LONG),
          ("lambda-nm-img", lambda: header(WAVELENGTH=0.1), "in nm"), ("lambda-nm-expt", lambda: expt(0.1), "in nm"),
          ("energy-geom", lambda: geom(eV=12.398), "is very long"), ("energy-stream", lambda: stream(9.4), "frame 1: -lambda"),
          ("energy-spectra", lambda: series({}, "-spectra", put("s.txt", "1 1 1.1 1\n9400 1 9500 1\n")), "frame 2: -spectra"),
          ("lambda-nm-spectra", lambda: series({}, "-spectra", put("s.txt", "0.1 1 0.11 1\n0.1 1 0.11 1\n")), "are they in nm?"),
          ("lambda-drawn", lambda: series({}, "-vary", "lambda:uniform:130:140"), "frame 1: -lambda"),
          ("distance-img", lambda: header(DISTANCE=0.1), METRES), ("close_distance-img", lambda: header(CLOSE_DISTANCE=0.1), METRES),
          ("distance-drawn", lambda: series({}, "-vary", "distance:uniform:0.1:0.2"), "frame 1: -distance"),
          ("distance-geom", lambda: geom(clen=100), "-distance 100000 mm is very large: " + UNIT), ("pixel-geom", lambda: geom(res=0.1), "-pixel 10000 mm is very large: " + UNIT),
          ("distance-expt", lambda: expt(unit=1e-3), "-distance 0.06 mm is very small: " + UNIT),
          ("pixel-img", lambda: header(PIXEL_SIZE=0.0001), METRES), ("pixel-um-img", lambda: header(PIXEL_SIZE=100), "in um?"),
          ("centre-img", lambda: centre(160), OUTSIDE),
          ("cell-crystals", lambda: crystals(cell=NM), "c.jsonl:2: " + CELL), ("mat-crystals", lambda: crystals(mat="left.mat"), "c.jsonl:2: left.mat"),
          ("cell-of-list", lambda: [*flags({}), "-crystals", json.dumps([{"N": 4}, {"cell": NM}])], "crystal 2: " + CELL),
          ("cell-of-crystals-of-jobs", lambda: [*flags({}), "-jobs", lines("j.jsonl", {"phi": 1}, {"crystals": [{"N": 4}, {"cell": NM}]}), *OUTPUT],
           "j.jsonl:2: crystal 2: " + CELL),
          ("mask-of-a-series", lambda: series({"mask": "dark.img"}), "nothing reached the detector: " + DARK)]
OTHERS_REFUSED = [("lambda-img", lambda: header(WAVELENGTH="1e-10"), RANGE), ("lambda-expt", lambda: expt(1e-10), "wavelength"),
                  ("lambda-crystals", lambda: crystals(**{"lambda": 1}), "not one of a single crystal"),
                  ("distance-crystals", lambda: crystals(distance=90), "not one of a single crystal"),
                  ("cell-crystals", lambda: crystals(cell=FLAT), "c.jsonl:2: -cell"), ("Badd-crystals", lambda: crystals(Badd=5), "c.jsonl:2: -Badd 5 needs")]

PYTHON = """
import json, sys
import numpy as np
import nanobragg as nb
BASE, CALLS = json.load(sys.stdin)
NONE = np.zeros((16, 16), bool)
def new(base, **words):
    return nb.Simulation(**{name: value for name, value in {**BASE, **base, **words}.items() if value is not None})
def changed(base, **words):
    new(base).set(**words)
def moved(**values):
    new({}).set_parameters(values)
for call in CALLS:
    print(f"<{call}>", file=sys.stderr, flush=True)
    try:
        eval(call)
    except ValueError as error:
        print(f"ValueError: {error}", file=sys.stderr, flush=True)
"""
IN_PYTHON = [(f"{how}({{}}, {words})", text) for how in ("new", "changed") for words, text in (
    ("sources=([.1], [1])", "in nm?"), ("matrix=np.diag([1/70, -1/80, 1/90])", LEFT), ("mask=NONE", DARK),
    ("sources=([1e-9], [1])", "ValueError: sources[0]: wavelength 1e-09 A must be from 1e-06 to 10000 A: is it in metres?"),
    ("mask=NONE[1:]", "-mask has 16 x 15 pixels"))] + [
        ("moved(distance=.1)", METRES), ("moved(**{'lambda': 12398})", LONG), ("moved(cell_a=7e-9)", CELL),
        ("moved(**{'lambda': 1e-10})", "ValueError: "), ("moved(distance=-1)", "ValueError: "), ("moved(cell_al=150, cell_be=150)", "ValueError: "),
        ("new({}, distance=.1).set(phi=1)", METRES)]
NEEDS = {"mtz": "gemmi", "sensor": "xraylib"}


def absent(words, libraries):
    """A library that these flags need and this build does not have, or None."""
    return next((library for word, library in NEEDS.items() if word in words and library not in libraries), None)


def notes(error):
    return [line for line in error.splitlines() if line.startswith("nanobragg: note: ")]


def asked(name, error, text):
    dark = "reached the detector"  # a note on a dark image repeats the question
    ok("asked-" + name, sum(text in line and (dark in text) == (dark in line) for line in notes(error)) == 1, error)


def refused(name, words, *texts):
    """The program prints one error line, and a series leaves no frame."""
    error = run(*words, status=2)[1]  # without xraylib -sensor is refused for another reason
    last = [line for line in error.splitlines() if line.startswith("nanobragg: error: ")]
    ok("refused-" + name, len(last) == 1 and all(text in last[0] for text in texts) and not [f for f in os.listdir() if f.startswith("o_")], error)


def files():
    """Writes the files that the rows name."""
    run(*flags({}), "-noisefile", "good.img")
    with open("dark.img", "wb") as out:
        out.write(read("good.img")[:1024] + bytes(512))
    run(*flags({"detpixels": 8}), "-noisefile", "small.img")
    header("odd.img", DISTANCE=0.1)
    put("few.bin", "0" * 400)
    put("nm.src", "-10 0 0 1 1e-11\n")
    put("A.src", "-10 0 0 1 1.0\n")
    put("keV.txt", "12.0 1\n12.4 3\n12.8 1\n")
    for name, rows in (("good", ("0.0125 0 0", "0 0.011 0", "0 0 0.012")), ("left", ("0.0125 0 0", "0 -0.011 0", "0 0 0.012")),
                       ("flat", ("1 0 0", "1 0 0", "0 0 1")), ("m", ("1.428571428571e8 0 0", "0 1e8 0", "0 0 1e8"))):
        put(name + ".mat", "\n".join(rows) + "\n")


def crossed(rows, libraries):
    """Yields each row with its name, if this build supports it."""
    for words, text, base in rows:
        name = "-".join(f"{w}-{os.path.basename(str(v))}" for w, v in {**base, **words}.items() if v is not None)
        if absent({**words, **base}, libraries):
            print(f"skip {SCRIPT} {name} # no {absent({**words, **base}, libraries)} in this build")
        else:
            yield name, words, text, base


def job(words, base, *more):
    """Flags of a run of -jobs: line 1 sets phi, line 2 `words`, more lines follow."""
    return [*flags(base), "-jobs", lines("j.jsonl", {"phi": 1}, words, *more), *OUTPUT]


def in_python(calls):
    if not os.path.exists(PACKAGE + "/nanobragg/_nanobragg.abi3.so"):
        print(f"skip {SCRIPT} python # the package was not built")
        return
    done = subprocess.run([sys.executable, "-c", PYTHON], input=json.dumps([BASE, [call for call, _ in calls]]), capture_output=True,
                          text=True, check=False, env={**os.environ, "PYTHONPATH": PACKAGE})
    parts = dict(part.split(">\n", 1) for part in re.split(r"^<", done.stderr, flags=re.M)[1:])
    for call, text in calls:
        ok("python-" + call, parts.get(call, "").count(text) == 1, parts.get(call, done.stderr))


def main():
    libraries = [line.split()[0] for line in run("-version")[0].splitlines() if line.split()[1:2] == ["yes"]]
    if "cJSON" not in libraries:
        print(f"skip {SCRIPT} # no cJSON in this build, which reads lines and -expt")
        return 0
    files()
    said = notes("".join(run(*words)[1] for words in (flags({}), header(), geom(), expt(), stream(12398), job({"phi": 2}, {}))))
    ok("nothing-is-asked-of-good-ones", not any(re.search(r"\b(is it|are they|are its)\b", line) or OTHER in line for line in said), said)
    calls = list(IN_PYTHON)
    for name, words, text, base in crossed(ASKED, libraries):
        asked(name, run(*flags({**base, **words}))[1], text)
        asked(name + "-series", run(*series({**base, **words}))[1], text)
        error = run(*job(words, base, words))[1]
        asked(name + "-jobs", error, text)
        ok("named-" + name, any("-jobs j.jsonl:2: " in line and text in line for line in notes(error)), error)
        calls += [(f"new({base}, **{words})", text), (f"changed({base}, **{words})", text)]
    for name, words, text in OTHERS:
        asked(name, run(*words())[1], text)
    for name in [name for name in os.listdir() if name.startswith("o_")]:
        os.remove(name)
    for name, words, text, base in crossed(REFUSED, libraries):
        refused(name, flags({**base, **words}), text)
        refused(name + "-series", series({**base, **words}), text)
        refused(name + "-jobs", job(words, base), "-jobs j.jsonl:2: ", text)
        calls += [(f"new({base}, **{words})", text), (f"changed({base}, **{words})", text)]
    for name, words, text in OTHERS_REFUSED:
        refused(name, words(), text)
    in_python(calls)


in_folder(main)
