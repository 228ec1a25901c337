# SPDX-License-Identifier: MIT
"""-resume keeps what is whole and the same, makes again what is damaged, refuses what has changed.

usage: NANOBRAGG=program python3 tests/cli/resume_check.py
"""
import glob
import os
import shutil
import sys
import tempfile

from series_check import FAILED, ROTATION, ok, read, run

LOUD = [flag for flag in ROTATION if flag != "-quiet"]


def kept(out):
    """How many frames the report says were kept."""
    words = out.split(" of them kept from before")
    return int(words[0].split()[-1]) if len(words) > 1 else 0


def data_files():
    return {name: (os.stat(name).st_ino, read(name)) for name in sorted(glob.glob("l_data_*.h5"))}


def jobs_without_effect():
    """Flags of a job that do nothing for its frame are named, once."""
    with open("j.jsonl", "w", encoding="ascii") as out:
        out.write('{"floatfile": "x.bin", "phi": 1}\n{"threads": 2, "time": "json"}')
    said = run(*[f for f in ROTATION if f not in ("-osc", "0.3")], "-detpixels", 8, "-jobs", "j.jsonl",
               "-output", "j_%d.bin")[1]
    ok("jobs-without-effect", said.count("\n") == 1 and
       "floatfile, threads, time in -jobs j.jsonl do nothing" in said, said)


def lists_are_kept(h5py):
    """Whole data files with reflections stay; one whose lists or attributes are damaged does not."""
    flags = LOUD + ["-frames", 7, "-frames_per_file", 3, "-truth", "spots", "-gauss_xtal", "-oversample", 1, "-detpixels", 40,
                    "-mosaic", 0, "-hdf5", "l_master.h5"]
    run(*flags)
    before = data_files()
    out = run(*flags, "-resume")[0]
    ok("resume-keeps-files-with-lists", kept(out) == 7 and data_files() == before, out)

    def add_one(place):
        def change(h5):
            h5["/entry/simulation/reflections/" + place][1] += 1
        return change

    def attribute(place, name):
        def change(h5):
            h5[place].attrs.modify(name, h5[place].attrs[name] + 1)
        return change

    def row(h5):
        table = h5["/entry/simulation/reflections/table"]
        line = table[2]
        line["intensity"] *= 1.001
        table[2] = line

    damages = {"background": add_one("background"), "unassigned": add_one("unassigned"),
               "first": add_one("first"), "count": add_one("count"), "row": row,
               "seed": attribute("/entry", "seed"),
               "frames_per_file": attribute("/entry", "frames_per_file"),
               "image_nr_low": attribute("/entry/data/data", "image_nr_low"),
               "image_nr_high": attribute("/entry/data/data", "image_nr_high")}
    wrong = []
    for name, damage in damages.items():
        with h5py.File("l_data_000002.h5", "r+") as h5:
            damage(h5)
        out = run(*flags, "-resume")[0]
        if kept(out) != 4 or {n: d for n, (_, d) in data_files().items()} != \
                {n: d for n, (_, d) in before.items()}:
            wrong.append((name, kept(out)))
    ok("damaged-lists-are-made-again", not wrong, wrong)


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        import h5py
    except ImportError as missing:
        print(f"skip series resume-hdf5 # {missing}")
        h5py = None
    jobs_without_effect()
    if h5py:
        lists_are_kept(h5py)
    os.chdir("/")
    shutil.rmtree(folder)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
