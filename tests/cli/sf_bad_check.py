# SPDX-License-Identifier: MIT
"""Models and reflection files that must be refused: exit status 2, one error line, no
output. Damaged files are tested in tests/unit/test_gemmi_bad.c.

usage: NANOBRAGG=program python3 tests/cli/sf_bad_check.py
"""
import gzip
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from script import FAILED, PROGRAM, ok, read, run  # noqa: E402

DATA = os.environ.get("NB_FACTOR_DATA") or os.path.join(HERE, "..", "..", "golden_data",
                                                        "structure_factors")
MODEL = os.path.join(DATA, "models", "made-special.pdb")
SMALL = os.path.join(DATA, "models", "made-small.cif")
MMCIF = os.path.join(DATA, "models", "made-p1121.cif")
PAIRS = os.path.join(DATA, "reflections", "made-pairs.mtz")
SF_CIF = os.path.join(DATA, "reflections", "1dur-sf.cif")
OTHER = "sse2" if platform.machine() == "aarch64" else "neon"  # -isa of another processor

CRYST = "CRYST1   20.000   24.000   28.000  90.00  90.00  90.00 P 21 21 21    4\n"
ATOM = "ATOM      1  CA  ALA A   1      11.000  12.000  13.000  1.00 20.00           C  \n"


def write(name, text):
    with open(name, "wb" if isinstance(text, bytes) else "w") as out:
        out.write(text)
    return name


def refuse(name, args, words, sub=True, status=2):
    before = sorted(os.listdir("."))
    done = subprocess.run([PROGRAM, *(["sf"] if sub else []), *map(str, args)],
                          capture_output=True, text=True, check=False)
    lines = [x for x in done.stderr.splitlines() if not x.startswith("nanobragg: note: ")]
    good = (done.returncode == status and len(lines) == 1 and lines[0].startswith("nanobragg: error: ")
            and all(w.lower() in lines[0].lower() for w in words)
            and sorted(os.listdir(".")) == before)
    ok(name, good, (done.returncode, words, done.stderr[-400:], sorted(os.listdir("."))[:5]))


def swap(text, old, new):
    assert old in text
    return text.replace(old, new)


def flags():
    for name, args, words in (
            ("no-source", ["-dmin", 2], ["-pdb", "-mtz", "-hkl"]),
            ("model-without-dmin", ["-pdb", MODEL], ["-dmin"]),
            ("dmin-zero", ["-pdb", MODEL, "-dmin", 0], ["-dmin"]),
            ("isa-of-another", ["-pdb", MODEL, "-dmin", 3, "-isa", OTHER], ["-isa " + OTHER, "-isa auto"]),
            ("dmin-negative", ["-pdb", MODEL, "-dmin", -1], ["-dmin"]),
            ("dmin-beyond-f0", ["-pdb", MODEL, "-dmin", 0.2], ["-dmin"]),
            ("hkl-and-model", ["-pdb", MODEL, "-dmin", 2, "-hkl", "good.hkl"], ["-hkl", "-pdb"]),
            ("hkl-and-mtz", ["-mtz", PAIRS, "-hkl", "good.hkl"], ["-hkl", "-mtz"]),
            ("two-models", ["-pdb", MODEL, "-cif", MMCIF, "-dmin", 2], ["-pdb", "-cif"]),
            ("two-lists", ["-mtz", PAIRS, "-cif", SF_CIF], ["-mtz", "-cif"]),
            ("two-lists-fill", ["-mtz", PAIRS, "-cif", SF_CIF, "-fill", "model"], ["-cif"]),
            ("three-files", ["-pdb", MODEL, "-mtz", PAIRS, "-cif", SF_CIF], ["-pdb", "-cif", "-mtz"]),
            ("model-and-list", ["-pdb", MODEL, "-mtz", PAIRS], ["-pdb", "-mtz", "-fill model"]),
            ("fill-without-model", ["-mtz", PAIRS, "-fill", "model"], ["-fill model", "model"]),
            ("scale-without-model", ["-mtz", PAIRS, "-Fscale", "model"], ["-Fscale model"]),
            ("F000-without-model", ["-mtz", PAIRS, "-F000", "calc"], ["-F000 calc"]),
            ("ksol-without-model", ["-mtz", PAIRS, "-ksol", 0.4], ["-ksol"]),
            ("bsol-of-reflections", ["-cif", SF_CIF, "-bsol", 40], ["-bsol"]),
            ("anomalous-without-model", ["-mtz", PAIRS, "-anomalous", "off"], ["-anomalous"]),
            ("fprime-without-model", ["-mtz", PAIRS, "-fprime", "Fe:1:1"], ["-fprime"]),
            ("label-without-list", ["-pdb", MODEL, "-dmin", 2, "-mtzlabel", "F"], ["-mtzlabel"]),
            ("ksol-negative", ["-pdb", MODEL, "-dmin", 2, "-ksol", -0.1], ["-ksol"]),
            ("bsol-negative", ["-pdb", MODEL, "-dmin", 2, "-bsol", -1], ["-bsol"]),
            ("Fscale-zero", ["-pdb", MODEL, "-dmin", 2, "-Fscale", 0], ["-Fscale"]),
            ("model-number", ["-pdb", MODEL, "-dmin", 2, "-model", 7], ["7"]),
            ("fprime-two-parts", ["-pdb", MODEL, "-dmin", 2, "-fprime", "Zn:-8"], ["-fprime"]),
            ("fprime-element", ["-pdb", MODEL, "-dmin", 2, "-fprime", "Xx:-8:2"], ["-fprime", "Xx"]),
            ("fprime-twice", ["-pdb", MODEL, "-dmin", 2, "-fprime", "Zn:1:2,zn:1:2"], ["-fprime"]),
            ("sg-unknown", ["-pdb", MODEL, "-dmin", 2, "-sg", "P 99 x"], ["-sg", "symbol", "1 to 230"]),
            ("label-missing", ["-mtz", PAIRS, "-mtzlabel", "NOTHERE"], ["NOTHERE", "F(+)"]),
            ("label-of-wrong-type", ["-mtz", PAIRS, "-mtzlabel", "SIGF(+)"], ["SIGF(+)"]),
            ("three-labels", ["-mtz", PAIRS, "-mtzlabel", "A,B,C"], ["-mtzlabel"]),
            ("file-is-not-there", ["-pdb", "nothing.pdb", "-dmin", 2], ["nothing.pdb"]),
            ("folder-as-file", ["-pdb", ".", "-dmin", 2], ["-pdb"]),
            ("dump-over-input", ["-pdb", "copy.pdb", "-dmin", 2, "-dump_mtz", "copy.pdb"],
             ["-dump_mtz", "-pdb"]),
            ("two-dumps-one-name", ["-pdb", MODEL, "-dmin", 2, "-dump_mtz", "x", "-dump_hkl", "x"],
             ["-dump_mtz", "-dump_hkl"])):
        refuse(name, args, words)
    refuse("no-folder", ["-pdb", MODEL, "-dmin", 2, "-dump_mtz", "no/x.mtz"], ["no/x.mtz"], status=1)
    refuse("sg-alone", ["-sg", "P 21"], ["-sg"], sub=False)
    refuse("dump-without-source", ["-default_F", 1, "-cell", 50, "-dump_mtz", "x.mtz"],
           ["-dump_mtz"], sub=False)


def kinds():
    for name, args, words in (
            ("mtz-to-pdb", ["-pdb", PAIRS], ["MTZ", "give it to -mtz"]),
            ("mtz-to-cif", ["-cif", PAIRS], ["MTZ", "give it to -mtz"]),
            ("mtz-to-hkl", ["-hkl", PAIRS, "-cell", 50], ["MTZ", "give it to -mtz"]),
            ("pdb-to-hkl", ["-hkl", MODEL, "-cell", 50], ["PDB", "give it to -pdb"]),
            ("cif-to-hkl", ["-hkl", MMCIF, "-cell", 50], ["mmCIF", "give it to -pdb"]),
            ("pdb-to-mtz", ["-mtz", MODEL], ["PDB", "give it to -pdb"]),
            ("pdb-to-cif", ["-cif", MODEL, "-dmin", 2], ["PDB", "give it to -pdb"]),
            ("small-to-pdb", ["-pdb", SMALL, "-dmin", 2], ["small-molecule", "give it to -cif"]),
            ("sf-cif-to-pdb", ["-pdb", SF_CIF, "-dmin", 2], ["reflections", "-mtz"]),
            ("list-to-mtz", ["-mtz", "good.hkl"], ["list", "give it to -hkl"]),
            ("list-to-pdb", ["-pdb", "good.hkl", "-dmin", 2], ["list", "give it to -hkl"]),
            ("xds-to-hkl", ["-hkl", "xds.hkl", "-cell", 50], ["XDS", "-mtz"]),
            ("shelx-to-hkl", ["-hkl", "shelx.hkl", "-cell", 50], ["SHELX", "HKLF 4", "-mtz"]),
            ("xds-to-mtz", ["-mtz", "xds.hkl"], ["XDS", "convert it to MTZ"]),
            ("model-to-mtz", ["-mtz", MMCIF], ["mmCIF", "-pdb or -cif"])):
        refuse(name, args, words)
        if "-hkl" in args:
            refuse(name + "-image", args + ["-N", 5, "-detpixels", 8], words, sub=False)


def contents():
    pdb = CRYST + ATOM
    for name, text, words in (
            ("empty", "", ["empty"]),
            ("binary", bytes(range(256)) * 20, ["-pdb"]),
            ("no-cell", ATOM, ["-cell"]),
            ("dummy-cell", swap(swap(CRYST, "20.000   24.000   28.000", " 1.000    1.000    1.000"),
                                "P 21 21 21", "P 1       ") + ATOM, ["-cell"]),
            ("flat-cell", swap(CRYST, " 90.00  90.00  90.00", "170.00  90.00  10.00") + ATOM, []),
            ("blank-cell", swap(CRYST, "   20.000   24.000   28.000", " " * 27) + ATOM, ["-cell"]),
            ("unknown-group", swap(CRYST, "P 21 21 21", "P 21 99 21") + ATOM, []),
            ("unknown-element", CRYST + ATOM + swap(swap(ATOM, "    1  CA ", "    2  XX "),
                                                    "          C  ", "          X  "), ["2"]),
            ("tiny-cell", swap(CRYST, "   28.000", " 1.0e-150") + ATOM, ["cell"]),
            ("occupancy", CRYST + swap(ATOM, "  1.00 20.00", " -1.00 20.00"), ["occupancy"]),
            ("B", CRYST + swap(ATOM, "  1.00 20.00", "  1.00-20.00"), ["B"])):
        refuse("pdb-" + name, ["-pdb", write(name + ".pdb", text), "-dmin", 2], [f"{name}.pdb", *words])
    write("ok.pdb", pdb)
    ok("the-pdb-behind-them-is-fine", run("sf", "-pdb", "ok.pdb", "-dmin", 3, "-quiet")[0] == "")
    data = gzip.compress(read(MODEL))
    refuse("gzip-cut", ["-pdb", write("cut.pdb.gz", data[:len(data) // 2]), "-dmin", 2], ["cut.pdb.gz"])
    cif = read(MMCIF).decode()
    refuse("cif-that-does-not-parse", ["-cif", write("bad.cif", cif + "\nloop_\n'x\n"), "-dmin", 2],
           ["bad.cif"])
    refuse("cif-with-neither", ["-cif", write("neither.cif", "data_x\n_cell.length_a 10\n"), "-dmin", 2],
           ["neither.cif"])
    mtz = read(PAIRS)
    refuse("mtz-cut", ["-mtz", write("cut.mtz", mtz[:len(mtz) // 2])], ["cut.mtz"])
    wild = bytearray(mtz)
    wild[80:84] = struct.pack("<f", 9000)  # h of the first row
    wild[84:88] = struct.pack("<f", 900)
    refuse("mtz-wild-index", ["-mtz", write("wild.mtz", bytes(wild))], ["wild.mtz", "damaged"])
    refuse("mtz-without-END", ["-mtz", write("noend.mtz", mtz.replace(b"END ", b"XXX "))], ["noend.mtz"])
    for name, text in (("words", "Fe seven 1 2\n"), ("three", "Fe 7112 1\n"), ("nothing", "# no\n"),
                       ("symbol", "Xx 7112 1 2\n")):
        refuse("table-" + name, ["-pdb", MODEL, "-dmin", 2, "-fprime_table", write(name + ".txt", text)],
               [name + ".txt"])


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        if "gemmi: no" in run("-version")[0]:
            print("skip sf_bad # built without gemmi")
            return 0
        write("good.hkl", "1 0 0 50\n0 1 0 20\n0 0 1 30\n")
        write("xds.hkl", "!FORMAT=XDS_ASCII    MERGE=TRUE    FRIEDEL'S_LAW=TRUE\n!END_OF_HEADER\n"
              "1 0 0 5.0E+01 2.0E+00\n!END_OF_DATA\n")
        write("shelx.hkl", "   1   0   0  234.50   12.10   1\n  -1 -12   3   34.50    2.10   1\n"
              "   0   0   0    0.00    0.00   0\n")
        shutil.copy(MODEL, "copy.pdb")
        flags()
        kinds()
        contents()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return 1 if FAILED else 0


sys.exit(main())
