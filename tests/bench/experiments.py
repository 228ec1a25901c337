#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Costs of spectra, draws, crystals, diffuse light, damage and shadows, as a table in markdown.

usage: python3 tests/bench/experiments.py [--program build/nanobragg] [--device cpu] [--repeats 11] [--threads 1]
           [--frames 40] [--fluence 1e24] [--folder DIR] [--only NAME,...]

Each row compares a job with a base job; they run in alternation in new processes, with the order reversed each turn.
Seconds are the median of the repeats; a ratio, or a difference, is the median over the turns, with its standard
error, because another program slows both jobs of a turn.  On a CPU the figure is processor time (user and system), on a
device the clock.  A ratio is of whole processes.  "more a frame" is the difference of two series of different length,
which excludes the start and work that is done once.

The fluence is that of the series.  With 1e24 every pixel has a million photons of the water and is clipped: a few
photons then change neither the noise nor the bytes, and a ratio is that of the work.  With 1e18 a pixel has one photon.
"""
import argparse
import csv
import datetime
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peak import measure  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "..", "golden_data", "structure_factors", "models", "1aki.pdb")
TETRAGONAL = os.path.join(HERE, "..", "..", "golden_data", "lysozyme_P1.hkl")
CELL = "-cell 79.1 79.1 37.9 90 90 90".split()
STILL = "-lambda 1.3 -distance 100 -pixel 0.1 -seed 1 -oversample 1 -N 20 -gauss_xtal -noprogress -quiet".split()
FLAT = [*CELL, "-default_F", "100", *STILL]
PDB = ["-pdb", MODEL, *STILL]
SIMPLE = "-cell 100 100 100 90 90 90 -N 5 -lambda 6.2 -distance 100 -oversample 1 -default_F 100 -noprogress -quiet".split()
IMAGE = "-nopgm -noint -nonoise -floatfile f.bin".split()
STILL_1A = "-lambda 1 -distance 160 -pixel 0.1".split()
SERIES = []  # flags of every series; Bench sets the fluence
LIGHT = "-diffuse_sigma 0.4 -diffuse_gamma 10".split()
SASE = "-spectrum sase -bandwidth 0.2 -pulse_length 20 -wavelengths 100".split()
TEN = ("N:uniform:15:25,fluence:gamma:8,crystal_volume:lognormal:20%,mosaic:lognormal:20%,distance:normal:0.1%,"
       "Xbeam:normal:0.05,Ybeam:normal:0.05,polar:normal:0.01,lambda:normal:0.05%,cell:normal:0.1%")


def middle(values):
    """Returns (median of the values, its standard error from the median absolute
    deviation)."""
    median = statistics.median(values)
    apart = statistics.median(abs(v - median) for v in values)
    return median, 1.253 * 1.483 * apart / len(values) ** 0.5


def shots(count, water=True):
    flags = ["-stills", count, "-orientations", "random", "-detpixels", 1024, "-hdf5", "run.h5", "-compress", "bslz4"]
    return flags + SERIES + (["-water", "100"] if water else [])


class Bench:
    def __init__(self, args):
        self.args, self.rows = args, []
        SERIES[:] = ["-fluence", args.fluence]
        self.program = os.path.abspath(args.program)
        os.environ["OMP_NUM_THREADS"] = str(args.threads)

    def once(self, flags):
        for name in os.listdir("."):
            if name.startswith("run"):
                os.remove(name)
        seconds, used, peak = measure([self.program, *map(str, flags), "-device", self.args.device, "-threads", self.args.threads])
        return (used if self.args.device == "cpu" else seconds), peak

    def turns(self, *jobs):
        """[(seconds of each job)] for each turn, in which every job runs once."""
        all_turns = []
        for turn in range(self.args.repeats):
            order = range(len(jobs)) if turn % 2 else reversed(range(len(jobs)))
            seconds = {k: self.once(jobs[k])[0] for k in order}
            all_turns.append(tuple(seconds[k] for k in range(len(jobs))))
        return all_turns

    def ratio(self, name, base, job, wanted, per=1):
        turns = self.turns(base, job)
        value, error = middle([after / (per * before) for before, after in turns])
        before, after = (statistics.median(column) for column in zip(*turns))
        self.say(name, f"{before:.3f}", f"{after:.3f}", f"{value:.3f} ± {error:.3f}", f"{wanted}")

    def more(self, name, base, job, counts, wanted):
        """Milliseconds per frame that the job needs in addition to the base job. Both are
        functions of the number of frames."""
        few, many = counts
        turns = self.turns(base(few), base(many), job(few), job(many))
        each = [(1e3 * (b - a) / (many - few), 1e3 * (d - c) / (many - few)) for a, b, c, d in turns]
        value, error = middle([light - plain for plain, light in each])
        plain, light = (statistics.median(column) for column in zip(*each))
        self.say(name, f"{plain:.1f} ms a frame", f"{light:.1f} ms", f"{value:+.2f} ± {error:.2f} ms", wanted)

    def extra(self, name, base, job, wanted):
        turns = self.turns(base, job)
        value, error = middle([after - before for before, after in turns])
        before, after = (statistics.median(column) for column in zip(*turns))
        self.say(name, f"{before:.3f}", f"{after:.3f}", f"{value:+.3f} ± {error:.3f} s", wanted)

    def say(self, *cells):
        self.rows.append(cells)
        print("| " + " | ".join(cells) + " |", flush=True)


def spectra(bench):
    """Compares -spectrum sase with -spectra and the spectra of its master file."""
    n = bench.args.frames
    common = [*FLAT, *shots(n)]
    bench.once([*common, *SASE])
    shutil.copy("run.h5", "spectra.h5")
    bench.ratio("`-spectrum sase`, 100 wavelengths, against `-spectra`", [*common, "-spectra", "spectra.h5"], [*common, *SASE],
                1.03)


def vary(bench):
    """Compares ten numbers that -vary draws with the same numbers in lines of -jobs."""
    n = bench.args.frames
    common = [*FLAT, *shots(n), "-crystal_volume", "1e-3", "-mosaic", "0.05", "-mosaic_dom", "4", "-polar", "0.9"]
    bench.once([*common, "-vary", TEN, "-draws", "draws.txt"])
    with open("draws.txt", encoding="utf-8") as stream:
        rows = list(csv.DictReader((line.lstrip("# ") for line in stream), delimiter="\t"))
    with open("jobs.txt", "w", encoding="utf-8") as stream:
        for row in rows:
            flags = {}
            for name in row:
                if name not in ("frame", "crystal", "seed", "spectrum_factor", "dose"):
                    words = row[name].replace(",", " ").split()
                    flags[name] = float(words[0]) if len(words) == 1 else [float(w) for w in words]
            stream.write(json.dumps(flags) + "\n")
    bench.ratio("`-vary` of ten names, against `-jobs`", [*common, "-jobs", "jobs.txt"], [*common, "-vary", TEN], 1.02)


def crystals(bench):
    n = bench.args.frames
    common = [*FLAT, *IMAGE, "-detpixels", "1024", "-mosaic", "0.3", "-mosaic_dom", "50"]
    for k in (4, 16):
        bench.ratio(f"{k} crystals in an image, against {k} images", [*common, "-misset", "10", "20", "30"],
                    [*common, "-misset", "10", "20", "30", "-crystals", k], 1.03, per=k)
    bench.more("a second crystal in a still with water and counts, each further frame", lambda n: [*FLAT, *shots(n)],
               lambda n: [*FLAT, *shots(n), "-crystals", 2], (1, n), "as much as the first")


def badd(bench):
    with open("large.hkl", "w", encoding="utf-8") as stream:
        draw = random.Random(1)
        lines = [f"{h} {k} {l} {draw.uniform(1, 200):.2f}\n" for h in range(-50, 51) for k in range(-50, 51) for l in range(-49, 50)]
        stream.writelines(lines)
    common = ["-hkl", "large.hkl", *CELL, *STILL, *shots(20)]
    bench.ratio("`Badd` that varies, 1e6 reflections, against a fixed one", [*common, "-Badd", "5"],
                [*common, "-vary", "Badd:uniform:2:8"], 1.15)


def twin(bench):
    n = bench.args.frames
    common = ["-hkl", TETRAGONAL, *CELL, *STILL, *shots(n)]
    bench.ratio("merohedral twin, against none", common, [*common, "-twin", "k,h,-l:0.3"], 1.05)


def light_of(more):
    """Flags of series without and with diffuse light, as functions of frame numbers."""
    common = [*PDB, *STILL_1A, "-fluence", "1e24", "-detpixels", "1024", "-orientations", "random", "-hdf5", "run.h5", "-N", "10"]
    return lambda n: [*common, "-stills", n, *more], lambda n: [*common, "-stills", n, *LIGHT, *more]


def light(bench):
    plain, lit = light_of([])
    bench.extra("diffuse light to 2 A, the table and one frame", plain(1), lit(1), "+4 s (CPU), +0.5 (H200)")
    bench.more("diffuse light, each further frame", plain, lit, (1, 41) if bench.args.device == "cpu" else (1, 401),
               "+10 ms (CPU), +0.3 (H200)")


def diffuse(bench):
    bench.more("diffuse light, cell and `Badd` vary", *light_of(["-vary", "cell:normal:0.3%,Badd:uniform:0:10"]), (10, 110),
               "+30 ms (CPU)")
    large = [*PDB, *STILL_1A, "-detpixels", "4096", "-pixel", "0.025", "-fluence", "1e24", "-N", "10", "-misset", "10", "20", "30",
             "-hdf5", "run.h5", "-compress", "bslz4"]
    heavy = ["-mosaic", "0.5", "-mosaic_dom", "100", "-dispersion", "1", "-dispsteps", "10", "-square_xtal"]
    for name, flags, wanted in (("one step", [], "+200 ms (CPU)"), ("1000 steps", heavy, "1.03 times")):
        if not flags or bench.args.device != "cpu":
            bench.more(f"4096 x 4096, {name}, each further frame", lambda n, f=flags: [*large, *f, "-stills", n],
                       lambda n, f=flags: [*large, *f, *LIGHT, "-stills", n], (1, 5), wanted)


def shadows(bench):
    with open("t.bin", "wb") as stream:
        import array
        draw = random.Random(2)
        array.array("f", [draw.uniform(0.5, 1) for _ in range(1024 * 1024)]).tofile(stream)
    n = bench.args.frames
    common = [*FLAT, *shots(n)]
    for name, flags in (("`-beamstop disc:6,bar:1.5:90`", ["-beamstop", "disc:6,bar:1.5:90"]),
                        ("`-transmission` of a file", ["-transmission", "t.bin"]), ("`-add` of a file", ["-add", "t.bin"]),
                        ("`-absorb sphere:200`", ["-absorb", "sphere:200", "-absorb_mu", "1"])):
        bench.ratio(name, common, [*common, *flags], 1.02)
    for name, flags, wanted in (("half of the pixels behind a `-beamstop`", ["-beamstop", "disc:81.7"], 0.6), ("all of them", ["-beamstop", "disc:1000"], 0.6)):
        bench.ratio(name, common, [*common, *flags], wanted)

    def plain(n):
        return [*FLAT, *shots(n, water=False)]

    bench.more("`-absorb box:200:100:50`, each further frame", plain,
               lambda n: [*plain(n), "-absorb", "box:200:100:50", "-absorb_mu", "1"], (1, 21), "+20 ms (CPU)")


CASES = {f.__name__: f for f in (spectra, vary, crystals, badd, twin, light, diffuse, shadows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/nanobragg")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--fluence", default="1e24")
    parser.add_argument("--folder")
    parser.add_argument("--only", default=",".join(CASES))
    bench = Bench(parser.parse_args())
    folder = tempfile.mkdtemp(dir=bench.args.folder)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
          f"{datetime.date.today()}, {bench.args.device}, {bench.args.repeats} turns, fluence {bench.args.fluence}\n")
    print("| job | without | with | | wanted |\n| --- | --- | --- | --- | --- |")
    try:
        os.chdir(folder)
        for name in bench.args.only.split(","):
            CASES[name](bench)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
