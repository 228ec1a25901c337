# SPDX-License-Identifier: MIT
"""Structure factors from models and reflection files: `nanobragg sf` against reference tables that
two other programs agree on (golden_data/structure_factors), and images made with them.
tests/unit/test_factors_theorems.c tests theorems on structure factors.

NB_BIG=1 runs every case with each method and number of threads.
usage: NANOBRAGG=program python3 tests/cli/sf_check.py
"""
import cmath
import csv
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from mtz import read_mtz  # noqa: E402
from script import FAILED, PROGRAM, floats, ok, read, run  # noqa: E402

DATA = os.environ.get("NB_FACTOR_DATA") or os.path.join(HERE, "..", "..", "golden_data",
                                                        "structure_factors")
BIG = os.environ.get("NB_BIG")
LARGE = 120000  # cases with more reflections (P1) run once
NO_FILES = ["-noint", "-nonoise", "-nopgm", "-quiet"]


def sf(*args, folder=DATA, status=0):
    done = subprocess.run([PROGRAM, "sf", *map(str, args)], cwd=folder, capture_output=True,
                          text=True, check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"sf {args}: {done.returncode}: {done.stderr[-300:]}")
    return done.stdout, done.stderr


def has(what):
    """True if this build, or this machine, has a library."""
    text = run("-version")[0].lower()
    return any(what in line and " no" not in line for line in text.splitlines())


def table_of(path):
    """{(h, k, l): F} of an MTZ file, with Friedel mates; complex if it has phases."""
    head, rows = read_mtz(path)
    names = {name: i for i, name in enumerate(head["columns"])}
    out = {}
    for row in rows:
        h = tuple(int(x) for x in row[:3])
        for sign, label in ((1, "(+)"), (-1, "(-)")):
            F = row[names["F" + label]]
            if math.isnan(F):
                continue
            if "PHI" + label in names:
                F = cmath.rect(F, math.radians(row[names["PHI" + label]]))
            out[tuple(sign * x for x in h)] = F
    return out


def reference(name):
    out = {}
    with gzip.open(os.path.join(DATA, "ref", name), "rt") as stream:
        for line in stream:
            words = line.split()
            if not words or not words[0].lstrip("-").isdigit():
                continue
            v = [float(x) for x in words[3:]]
            out[tuple(map(int, words[:3]))] = complex(*v) if len(v) == 2 else v[0]
    return out


def errors(got, want):
    """rms and largest error at the reflections of `want`, relative to the rms of F."""
    missing = [h for h in want if h not in got]
    if missing:
        raise AssertionError(f"{len(missing)} reflections are missing, as {missing[0]}")
    norm = sum(abs(F) ** 2 for F in want.values())
    off = [abs(got[h] - F) ** 2 for h, F in want.items()]
    return math.sqrt(sum(off) / norm), math.sqrt(max(off) / (norm / len(want)))


def check_case(row, more, out, name):
    sf(*row["flags"].split(), *more, "-quiet", "-dump_mtz", out)
    got, want = table_of(out), reference(row["ref"])
    if row["kind"] == "A":
        got = {h: abs(F) for h, F in got.items()}
    rms, worst = errors(got, want)
    good = len(got) == int(row["P1"]) and rms <= float(row["rms"]) and worst <= float(row["max"])
    ok(name, good, f"{len(got)} reflections (not {row['P1']}), rms {rms:.2g}, max {worst:.2g}")
    return read(out)


def cases(fftw):
    with open(os.path.join(DATA, "cases.tsv"), encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    ok("there-are-cases", len(rows) > 35)
    for row in rows:
        out = os.path.abspath("case.mtz")
        check_case(row, [], out, row["id"])
        for method in ["direct"] + (["fft"] if fftw else []):
            if not BIG and (row["kind"] == "A" or int(row["P1"]) > LARGE):
                continue
            one = check_case(row, ["-sf_method", method, "-threads", 1], out,
                             f"{row['id']}-{method}")
            if BIG or row["id"] in ("m01-5e5z", "m23-solvent"):
                two = check_case(row, ["-sf_method", method, "-threads", 2], out,
                                 f"{row['id']}-{method}-2-threads")
                ok(f"{row['id']}-{method}-equal-bytes", one == two)


# --- the dump ---

def dumps():
    model = os.path.join(DATA, "models", "made-hydrogens.pdb")
    flags = ["-pdb", model, "-lambda", 1.1, "-dmin", 2.5]
    sf(*flags, "-dump_mtz", os.path.abspath("a.mtz"), "-dump_hkl", os.path.abspath("a.hkl"))
    head, rows = read_mtz("a.mtz")
    want = ["H", "K", "L", "FMEAN", "F(+)", "F(-)", "PHI(+)", "PHI(-)"]
    ok("dump-columns", head["columns"] == want and "".join(head["types"]) == "HHHFGGPP",
       head["columns"])
    hkl = [tuple(map(int, row[:3])) for row in rows]
    upper = all(l > 0 or l == 0 and (h > 0 or h == 0 and k >= 0) for h, k, l in hkl)
    ok("dump-rows-are-sorted-and-of-one-hemisphere", upper and hkl == sorted(hkl))
    ok("dump-wavelength", abs(max(head["wavelength"].values()) - 1.1) < 1e-6, head)
    ok("dump-is-P1", head["symmetry"] in (["X,  Y,  Z"], ["X,Y,Z"], ["x,y,z"]), head)
    got = table_of("a.mtz")
    text = {}
    with open("a.hkl", encoding="ascii") as stream:
        for line in stream:
            h, k, l, F = line.split()
            text[int(h), int(k), int(l)] = float(F)
    worst = max(abs(abs(got[h]) - text[h]) for h in text) if text.keys() == got.keys() else 1e9
    ok("dump-hkl-has-the-same", worst < 1e-4 * max(text.values()), worst)
    sf("-mtz", os.path.abspath("a.mtz"), "-dump_mtz", os.path.abspath("b.mtz"))
    again = table_of("b.mtz")
    ok("mtz-of-a-dump-is-the-same-table", again.keys() <= got.keys() and
       all(abs(abs(got[h]) - abs(F)) <= 2e-7 * abs(got[h]) for h, F in again.items()))


# --- images ---

def maxrel(a, b, floor=1e-6):
    """Largest |a - b| / b where b is above `floor` times the maximum of b."""
    top = max(b)
    return max(abs(x - y) / y for x, y in zip(a, b) if y > floor * top)


BEAM = ["-N", 8, "-distance", 60, "-detpixels", 200, "-pixel", 0.4, "-precision", "double",
        "-misset", 10, 20, 30, *NO_FILES]


def image(*flags, name="i.bin"):
    run(*flags, *BEAM, "-floatfile", name)
    return floats(name)


def images():
    model = os.path.join(DATA, "models", "made-hydrogens.pdb")
    source = ["-pdb", model, "-lambda", 1.1]
    own = image(*source)
    ok("no-cache-appears", not os.path.exists("Fdump.bin"), os.listdir("."))
    ok("spots-in-the-corner", max(own[:200 * 20]) > 1e-7 * max(own))
    run(*source, *BEAM, "-nofloat", "-dump_mtz", "d.mtz", "-dump_hkl", "d.hkl")
    cell = json.loads(run(*source, "-N", 8, "-show_config")[0])["structure_factors"]["cell"]
    for flags, name in ((["-mtz", "d.mtz"], "mtz"), (["-hkl", "d.hkl", "-cell", *cell], "hkl")):
        again = image(*flags, "-lambda", 1.1)
        worst = maxrel(again, own)
        ok(f"image-of-the-dump-{name}", worst < 1e-4, worst)
    with open("p.hkl", "w", encoding="ascii") as out:
        out.write("1 2 3 100\n2 0 0 50\n-2 0 0 40\n")
    run("sf", "-hkl", "p.hkl", "-cell", 40, 50, 60, "-dump_mtz", "p.mtz", "-quiet")
    run("sf", "-mtz", "p.mtz", "-dump_hkl", "q.hkl", "-quiet")
    with open("q.hkl", encoding="ascii") as lines:
        ok("a-mate-that-is-missing-stays-so", sorted(lines) == ["-2 0 0 40\n", "1 2 3 100\n", "2 0 0 50\n"])
    twice = image(*source, "-Fscale", 2)
    ok("Fscale-quadruples-the-image", maxrel(twice, [4 * x for x in own]) < 1e-5)
    wider = [1.03 * x for x in cell[:3]] + cell[3:]
    text = run(*source, "-cell", *wider, *BEAM, "-floatfile", "w.bin", "-dump_hkl", "w.hkl")[1]
    ok("a-typed-cell-is-noticed", "F(h k l) stays that of" in text, text)
    with open("w.hkl", encoding="ascii") as w, open("d.hkl", encoding="ascii") as d:
        moved, first = ({tuple(line.split()[:3]): float(line.split()[3]) for line in f}
                        for f in (w, d))
    largest = max(first.values())
    ok("a-typed-cell-leaves-F", all(abs(moved[h] - F) <= 2e-6 * largest for h, F in first.items() if h in moved))
    ok("a-typed-cell-moves-spots", maxrel(floats("w.bin"), own) > 0.1)
    run(*source, *BEAM, "-nofloat", "-dump", "typed.bin")
    ok("dump-is-written-when-typed", os.path.exists("typed.bin"))
    again = image("-dump", "typed.bin", "-cell", *cell, "-lambda", 1.1)
    ok("image-of-the-cache", maxrel(again, own) < 1e-9, maxrel(again, own))


def write_sources(path, lines):
    with open(path, "w", encoding="ascii") as out:
        for wavelength, weight in lines:
            out.write(f"-10 0 0 {weight} {wavelength}e-10\n")


def spectrum():
    """A spectrum across the K edge of copper (1.3806 A) gives the mean of its lines."""
    model = ["-pdb", os.path.join(DATA, "models", "4oz7.pdb"), "-dmin", 3]
    lines = [(1.370, 1), (1.3805, 3), (1.392, 2)]
    single = [image(*model, "-lambda", l, name=f"s{i}.bin") for i, (l, _) in enumerate(lines)]
    write_sources("three.src", lines)
    three = [*model, "-lambda", 1.38, "-sourcefile", "three.src"]
    mean = [sum(w * s[i] for (_, w), s in zip(lines, single)) / 6 for i in range(len(single[0]))]
    together = image(*three, "-anomalous_tol", 0)
    ok("spectrum-is-the-mean-of-its-wavelengths", maxrel(together, mean) < 2e-5,
       maxrel(together, mean))
    run(*three, "-anomalous_tol", 0, *("mixed" if x == "double" else x for x in BEAM), "-floatfile", "v.bin")
    worst = maxrel(floats("v.bin"), mean, 1e-3)
    ok("spectrum-mixed", worst < 2e-5, worst)
    at_mean = image(*three, "-anomalous", "mean")
    ok("mean-differs", maxrel(at_mean, mean, 1e-3) > 1e-3, maxrel(at_mean, mean, 1e-3))
    default = image(*three)
    ok("default-tolerance-is-near", maxrel(default, mean, 1e-3) < 2e-2, maxrel(default, mean, 1e-3))
    tables = json.loads(run(*three, "-anomalous_tol", 0, "-show_config")[0])["structure_factors"]
    ok("three-tables", tables["tables"] == 3, tables["tables"])


# --- lists of structure factors: the program understands each kind of row ---

REFLN = """data_x
_cell.length_a 40
_cell.length_b 50
_cell.length_c 60
_cell.angle_alpha 90
_cell.angle_beta 90
_cell.angle_gamma 90
_symmetry.space_group_name_H-M 'P 21 21 21'
loop_
"""


def refln(tags, *rows):
    return REFLN + "".join(f"_refln.{tag}\n" for tag in tags.split()) + "\n".join(rows) + "\n"


SETS = "wavelength_id index_h index_k index_l F_meas_au"
LISTS = (  # name, text of the file, flags, {h k l: F, None if absent}, texts of the notes
    ("status-x-is-missing",
     refln("index_h index_k index_l status F_meas_au", "1 1 1 o 100", "1 1 2 f 50", "1 1 3 x 0",
           "2 1 1 < 3", "2 1 2 h 4", "2 1 3 l 5", "2 2 2 - 0"), "-cif",
     {(1, 1, 1): 100, (1, 1, 2): 50, (1, 1, 3): None, (2, 1, 1): 3, (2, 1, 2): 4, (2, 1, 3): 5,
      (2, 2, 2): 0}, ["1 reflections of status x"]),
    ("status-x-of-F-calc",
     refln("index_h index_k index_l status F_calc", "1 1 1 o 100", "1 1 2 x 50"), "-cif",
     {(1, 1, 2): 50}, []),
    ("wavelengths-are-not-averaged",
     refln(SETS, "1 1 1 1 101", "1 1 1 2 102", "2 1 1 1 201", "2 1 1 3 203"), "-cif",
     {(1, 1, 1): 101, (1, 1, 2): 102, (1, 1, 3): None}, ["2 data sets", "wavelength_id 1"]),
    ("crystals-the-first-with-a-value",
     refln(SETS.replace("wavelength", "crystal"), "1 1 1 1 ?", "2 1 1 1 201"), "-cif",
     {(1, 1, 1): 201}, []),
    ("blocks", refln("index_h index_k index_l F_meas_au", "1 1 1 5") +
     refln("index_h index_k index_l F_meas_au", "1 1 1 7").replace("data_x", "data_y"), "-cif",
     {(1, 1, 1): 5}, ["2 data blocks"]),
    ("intensities-have-their-mean-before-the-root",
     refln("index_h index_k index_l intensity_meas", "1 1 1 100", "1 1 1 120", "-1 -1 1 80",
           "1 1 1 -20", "1 1 2 50"), "-cif", {(1, 1, 1): 70 ** 0.5}, []),
    ("pair-with-gaps",
     refln("index_h index_k index_l F_meas_au pdbx_F_plus pdbx_F_minus", "1 1 1 10 ? ?", "1 2 3 20 21 19",
           "2 2 3 30 ? 32", "2 2 4 40 ? ?"), "-cif",
     {(1, 1, 1): 10, (-1, -1, -1): 10, (1, 2, 3): 21, (2, 2, 3): 32, (2, 2, 4): 40},
     ["where they have no value F_meas_au"]),
    ("pair-of-intensities-with-gaps",
     refln("index_h index_k index_l intensity_meas pdbx_I_plus pdbx_I_minus", "1 1 1 100 ? ?", "1 2 3 20 25 16"),
     "-cif", {(1, 1, 1): 10, (1, 2, 3): 5}, ["where they have no value intensity_meas"]),
    ("bijvoet-classes-of-a-list", "13 3 2 121\n-13 -3 -2 111\n5 1 1 50\n",
     "-cell 48.2 48.2 37.4 90 90 90 -sg P43212 -hkl",
     {(-13, -3, 2): 121, (13, 3, -2): 111, (13, 3, 2): 121, (-13, -3, -2): 111, (-5, -1, -1): 50},
     []),
    ("bijvoet-classes-of-a-file",
     refln("index_h index_k index_l F_squared_meas", "1 2 3 100", "-1 -2 -3 64"), "-cif",
     {(-1, -2, 3): 10, (1, 2, -3): 8}, []),
    ("000-is-not-filled", "1 0 0 10\n2 0 0 20\n3 0 0 5\n",
     "-cell 40 40 40 90 90 90 -sg P222 -fill shell -dmin 8 -hkl", {(0, 0, 1): 10, (0, 0, 0): None},
     []),
    ("000-is-typed", "1 0 0 10\n2 0 0 20\n3 0 0 5\n",
     "-cell 40 40 40 90 90 90 -sg P222 -fill shell -dmin 8 -F000 7 -hkl", {(0, 0, 0): 7}, []),
)


def table_text(path):
    with open(path, encoding="ascii") as stream:
        rows = [line.split() for line in stream]
    return {tuple(map(int, row[:3])): float(row[3]) for row in rows}


def small(cell, symmetry, tags, *rows, more=""):
    names = ("length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma")
    return ("data_m\n" + "".join(f"_cell_{n} {x}\n" for n, x in zip(names, cell)) + symmetry + "\n" + more +
            "\nloop_\n" + "".join(f"_atom_site_{t}\n" for t in ("label fract_x fract_y fract_z " + tags).split()) +
            "\n".join(rows) + "\n")


SYMBOL = "_symmetry_space_group_name_H-M "
OPERATORS = "loop_\n_symmetry_equiv_pos_as_xyz\n"
MIRROR = OPERATORS + "'x, y, z'\n'x, -y, z'"
CUBE = (5.43, 5.43, 5.43, 90, 90, 90)
OBLIQUE_C = (6.1, 7.2, 8.3, 90, 90, 101.5)
SALT = (5.64, 5.64, 5.64, 90, 90, 90)
MODELS = (  # name, file, {h k l: F from an independent sum, to 1e-3}, texts of the notes
    ("disorder-about-a-mirror",
     small((8, 9, 10, 90, 95, 90), MIRROR, "U_iso_or_equiv occupancy site_symmetry_order disorder_group",
           "C1 0.3 0.25 0.1 0.03 1 1 .", "Cl1 0.1 0.02 0.7 0.03 0.5 1 -1"), {(0, 1, 1): 15.854}, []),
    ("unique-axis-of-the-cell", small(OBLIQUE_C, SYMBOL + "'P 2/m'", "U_iso_or_equiv", "O1 0.11 0.23 0.37 0.01"),
     {(2, -2, 1): 0.92318}, ["P 1 1 2/m"]),
    ("unique-axis-of-a-number",
     small(OBLIQUE_C, "_symmetry_Int_Tables_number 10", "U_iso_or_equiv", "O1 0.11 0.23 0.37 0.01"),
     {(2, -2, 1): 0.92318}, ["P 1 1 2/m"]),
    ("a-full-symbol-keeps-its-axis",
     small(OBLIQUE_C, SYMBOL + "'P 1 2/m 1'", "U_iso_or_equiv", "O1 0.11 0.23 0.37 0.01"), {}, ["has not the symmetry"]),
    ("origin-by-formula-units",
     small(CUBE, SYMBOL + "'F d -3 m'", "U_iso_or_equiv", "Si1 0.125 0.125 0.125 0.005",
           more="_cell_formula_units_Z 8\n_chemical_formula_sum Si\n"), {(2, 2, 2): 0}, ["origin 2", "formula units"]),
    ("origin-by-multiplicity",
     small(CUBE, SYMBOL + "'F d -3 m'", "U_iso_or_equiv symmetry_multiplicity", "Si1 0.125 0.125 0.125 0.005 8"),
     {(2, 2, 2): 0}, ["origin 2"]),
    ("origin-1-by-formula-units",
     small(CUBE, SYMBOL + "'F d -3 m'", "U_iso_or_equiv", "Si1 0 0 0 0.005",
           more="_cell_formula_units_Z 8\n_chemical_formula_sum Si\n"), {(2, 2, 2): 0}, ["origin 1"]),
    ("origin-open", small(CUBE, SYMBOL + "'F d -3 m'", "U_iso_or_equiv", "Si1 0 0 0 0.005"), {(2, 2, 2): 0},
     ["two origins", "origin 1"]),
    ("origin-of-ICSD", small(CUBE, SYMBOL + "'F d -3 m Z'", "U_iso_or_equiv", "Si1 0.125 0.125 0.125 0.005"),
     {(2, 2, 2): 0}, []),
    ("operators-contradict-the-symbol",
     small(SALT, SYMBOL + "'F 4/m -3 2/m'\n" + OPERATORS + "x,y,z", "B_iso_or_equiv", "Na 0 0 0 1", "Cl .5 .5 .5 1"),
     {}, ["P 1", "F m -3 m", "operators"]),
    ("operators-of-another-setting",
     small(OBLIQUE_C, SYMBOL + "'P 2/m'\n" + OPERATORS + "x,y,z\n-x,-y,z\n-x,-y,-z\nx,y,-z", "U_iso_or_equiv",
           "O1 0.11 0.23 0.37 0.01"), {(2, -2, 1): 0.92318}, []),
)


def models():
    for name, text, want, words in MODELS:
        with open("model.cif", "w", encoding="ascii") as out:
            out.write(text)
        err = check_list(name, "model.cif", "-dmin 1.2 -lambda 1 -cif", want, words, 1e-3)
        if not words:
            ok(name + "-without-a-note", "note" not in err, err)


def check_list(name, path, flags, want, words, near=1e-6):
    err = sf(*flags.split(), path, "-dump_hkl", "list.hkl", folder=".")[1]
    got = table_text("list.hkl")
    wrong = {h: got.get(h) for h, F in want.items()
             if (h in got if F is None else not abs(got.get(h, -1) - F) <= near * F + 1e-9)}
    unsaid = [w for w in words if w not in err]
    ok(name, not wrong and not unsaid, (wrong, unsaid, err))
    return err


def lists():
    for name, text, flags, want, words in LISTS:
        with open("list.txt", "w", encoding="ascii") as out:
            out.write(text)
        check_list(name, "list.txt", flags, want, words)
    # a merged file with a column of unmerged files (M_ISYM): the file is merged, because
    # NCOL has 0 batches and each index occurs once
    model = os.path.join(DATA, "models", "made-hydrogens.pdb")
    sf("-pdb", model, "-dmin", 6, "-quiet", "-dump_mtz", os.path.abspath("merged.mtz"))
    data = read("merged.mtz")
    marked = data.replace(b"COLUMN PHI(-)                         P", b"COLUMN M_ISYM                         Y")
    with open("marked.mtz", "wb") as out:
        out.write(marked)
    first = next(iter(read_mtz("merged.mtz")[1]))
    check_list("merged-mtz-with-M_ISYM", "marked.mtz", "-mtz",
               {tuple(int(x) for x in first[:3]): first[4]}, [])
    with open("twice.mtz", "wb") as out:
        out.write(marked[:80 + 8 * 4] + marked[80:92] + marked[80 + 11 * 4:])
    err = sf("-mtz", os.path.abspath("twice.mtz"), status=2)[1]
    ok("mtz-with-M_ISYM-and-an-index-twice", "not merged" in err and marked != data, err)


def data_sets():
    """The cell of an MTZ file is the cell of the data set with the column of F."""
    sf("-pdb", os.path.join(DATA, "models", "made-hydrogens.pdb"), "-dmin", 6, "-quiet", "-dump_mtz", os.path.abspath("set.mtz"))
    data = read("set.mtz")
    start, end = re.search(rb"DCELL +1 +(\d+)\.", data).span(1)
    with open("set.mtz", "wb") as out:
        out.write(data[:start] + b"99999"[:end - start] + data[end:])
    text = sf("-mtz", os.path.abspath("set.mtz"))[0]
    ok("mtz-cell-of-the-data-set", "cell 99" in text and read("set.mtz") != data, text)


REMARK = "REMARK   3   ATOM RECORD CONTAINS %s\nCRYST1   30.000   40.000   50.000  90.00  90.00  90.00 P 21 21 21    4\n" \
    "ATOM      1  N   ALA A   1       3.000   4.000   5.000  1.00 10.00           N\nEND\n"


def residual_B():
    """A note warns if the B factors of a model lack the contribution of TLS groups."""
    for name, words, said in (("residual", "RESIDUAL B FACTORS ONLY", True), ("sum", "SUM OF TLS AND RESIDUAL B FACTORS", False)):
        with open("tls.pdb", "w", encoding="ascii") as out:
            out.write(REMARK % words)
        err = sf("-pdb", os.path.abspath("tls.pdb"), "-dmin", 5)[1]
        ok("tls-" + name, ("its B factors are residual" in err) == said, err)


def finite():
    """A value of F that is not finite is refused, and not written to a file."""
    with open("far.hkl", "w", encoding="ascii") as out:
        out.write("1 0 0 10\n60 0 0 20\n")
    err = sf("-hkl", os.path.abspath("far.hkl"), "-cell", 30, 40, 50, 90, 90, 90, "-sg", "P222", "-Badd", -1000, "-dump", os.path.abspath("far.bin"),
             status=2)[1]
    ok("F-is-finite", "-Badd -1000" in err and not os.path.exists("far.bin"), err)


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        if not has("gemmi"):
            print("skip sf # built without gemmi")
            return 0
        cases(has("fftw"))
        dumps()
        lists()
        data_sets()
        residual_B()
        finite()
        models()
        images()
        spectrum()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return 1 if FAILED else 0


sys.exit(main())
