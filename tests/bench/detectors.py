#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed with real detectors (panels, materials, noise, series), as tables in markdown.

usage: NANOBRAGG=program python3 tests/bench/detectors.py [--repeats 5] [--device cpu] [--folder DIR]
           [--bench PROGRAM] [--frames 16] [--only panels,materials,noise,series]

panels: 16.8 Mpixel as 256 panels (golden_data/detectors/geom/jf16m.geom) and as one of 4096 x 4096.
materials: with and without -background water:0.01.  noise: the stages at 4096 x 4096 (--bench: the program
tests/bench/bench).  series: frames per second of 16.8 Mpixel with counts, point
spread and compression, and the cost of each step.  Ratios are of medians; the runs alternate.
Times are those of the report: `rendering` is the render of one process, with the start of its memory.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GEOM = os.path.join(HERE, "..", "..", "golden_data", "detectors", "geom", "jf16m.geom")
SIMPLE = "-cell 100 100 100 90 90 90 -N 5 -default_F 100 -lambda 1 -oversample 1 -fluence 1e27".split()
HEAVY = ("-cell 70 80 90 75 85 95 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 -oversample 1 -mosaic 0.5 "
         "-mosaic_domains 100 -dispersion 1 -dispsteps 10 -fluence 1e27").split()
ONE = ["-detpixels", "4096", "-pixel", "0.075", "-distance", "120"]
MANY = ["-geom", GEOM]
NOTHING = ["-nonoise", "-noint", "-nopgm", "-quiet"]


def run(args, words, folder):
    """(wall time of the process in s, its report)."""
    start = time.monotonic()
    done = subprocess.run([args.program, *words, "-device", args.device, "-report", "r.json"], cwd=folder,
                          capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    with open(os.path.join(folder, "r.json"), encoding="utf-8") as stream:
        return wall, json.load(stream)


def pairs(args, rows, folder):
    """Compares two jobs for each row: (name, flags of one, of the other, limit of the
    ratio of rendering times, limit for process times or None)."""
    print("| case | rendering, s | rendering, s | ratio | wanted | process, s | process, s | ratio | wanted |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, first, second, limit, whole in rows:
        walls, renders = ([], []), ([], [])
        for i in range(args.repeats + 1):
            for k, words in enumerate((first, second)):
                wall, report = run(args, [*words, *NOTHING], folder)
                if i:  # the first pair is not counted
                    walls[k].append(wall)
                    renders[k].append(report["seconds"]["render"])
        r, w = ([statistics.median(x) for x in both] for both in (renders, walls))
        print(f"| {name} | {r[0]:.3f} | {r[1]:.3f} | {r[1] / r[0]:.3f} | {limit} | {w[0]:.3f} | {w[1]:.3f} | "
              f"{w[1] / w[0]:.3f} | {whole or ''} |", flush=True)


def series(args, folder):
    """Frames per second with counts, point spread and compression."""
    cases = (("photons as float32, not compressed", ["-nonoise", "-hdf5type", "float32", "-compress", "none"]),
             ("counts, not compressed", ["-compress", "none"]),
             ("counts and psf gauss, not compressed", ["-psf", "gauss", "-compress", "none"]),
             ("counts, psf gauss, calibration, read-out, not compressed",
              ["-psf", "gauss", "-calibration", "0.03", "-readout_noise", "3", "-adc", "40", "-compress", "none"]),
             ("counts, bslz4", ["-compress", "bslz4"]),
             ("counts and psf gauss, bslz4", ["-psf", "gauss", "-compress", "bslz4"]),
             ("counts and psf fibre, bslz4", ["-psf", "fibre", "-compress", "bslz4"]))
    print(f"| {args.frames} frames of 256 panels, 16.8 Mpixel | frames/s | s a frame | MB |")
    print("| --- | --- | --- | --- |")
    for name, words in cases:
        times = []
        for _ in range(max(1, args.repeats // 2)):
            base = [*SIMPLE, *MANY, "-background", "water:0.01", "-frames", str(args.frames), "-osc", "0.01", "-seed", "1",
                    "-quiet", "-hdf5", "run_master.h5", *words]
            wall, _ = run(args, base, folder)
            size = sum(os.path.getsize(os.path.join(folder, x)) for x in os.listdir(folder)) / 1e6
            times.append(wall)
            for x in os.listdir(folder):
                os.remove(os.path.join(folder, x))
        wall = statistics.median(times)
        print(f"| {name} | {args.frames / wall:.2f} | {wall / args.frames:.3f} | {size:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--bench")
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--only", default="panels,materials,noise,series")
    args = parser.parse_args()
    args.program = os.path.abspath(os.environ["NANOBRAGG"])
    only = args.only.split(",")
    folder = tempfile.mkdtemp(dir=args.folder)
    print(f"device {args.device}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {args.repeats} repeats\n")
    try:
        if "panels" in only:
            print("First of each pair: one panel; second: 256\n")
            pairs(args, [("simple", [*SIMPLE, *ONE], [*SIMPLE, *MANY], 1.15, None),
                         ("heavy", [*HEAVY, *ONE], [*HEAVY, *MANY], 1.03, None)], folder)
        if "materials" in only:
            water = ["-background", "water:0.01"]
            print("\nFirst of each pair: no background; second: water:0.01\n")
            pairs(args, [("simple", [*SIMPLE, *ONE], [*SIMPLE, *ONE, *water], 2, 2),
                         ("heavy", [*HEAVY, *ONE], [*HEAVY, *ONE, *water], 1.03, None)], folder)
        if "series" in only:
            print()
            series(args, folder)
    finally:
        shutil.rmtree(folder)
    if "noise" in only and args.bench:
        print("\nStages of the noise (first image, next; wanted at 4096 x 4096 on 2 cores: gain, calibration, read-out 0.5 s,"
              "\ngauss 0.5 s, fibre 8 s and 6 s; on an H200 50 ms)\n", flush=True)
        words = [args.bench, "noise", "-device", args.device, "-repeats", str(args.repeats)]
        return subprocess.run(words, check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
