#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Noise on the CPU, as tables in markdown: counts of 1000 HDF5 frames, and a background with a long table of F.

usage: NANOBRAGG=program [NOISIFY=program] [NONBRAGG=program] python3 tests/bench/noise.py [--frames 1000]
           [--repeats 3] [--folder DIR] [--only frames|background]

NOISIFY and NONBRAGG: programs with command lines like noisify and nonBragg, in alternation
with this one. Numbers are the best of the repeats.  Processor time: user plus system time.
"""
import argparse
import math
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peak import measure  # noqa: E402

SIZE = 1024
PIXELS = SIZE * SIZE
SCENE = "-cell 79.1 79.1 37.9 90 90 90 -N 20 -default_F 100 -lambda 1 -distance 150 -pixel 0.1 -oversample 1".split()
LIGHT = "-fluence 5e17 -background water:2 -beamsize 0.05".split()
CHAIN = "-gain 1.3 -readout_noise 3 -calibration 0.02 -adc 30".split()
ROWS = 10000
MEANS = (75, 1000, 37660)
PLACE = f"-lambda 1 -distance 1000 -pixel 0.1 -detpixels {SIZE} -oversample 1 -density 1 -MW 18 -beamsize 0.1".split()
QUIET = ["-quiet", "-noprogress"]
ALONE = ["-nofloat", "-noint", "-nopgm"]
PEER_FRAMES = 5


def program(name):
    return os.path.abspath(os.environ[name]) if name in os.environ else None


def best(runs):
    """(least seconds, least processor seconds, largest peak) of results of measure()."""
    return tuple(f(column) for f, column in zip((min, min, max), zip(*runs)))


def frames_table(args, folder):
    ours, noisify = program("NANOBRAGG"), program("NOISIFY")
    rows, words = {}, {}
    measure([ours, *SCENE, *LIGHT, "-detpixels", SIZE, "-frames", args.frames, "-osc", "0.01", "-phisteps", 1, "-seed", 1,
             "-hdf5", "photons.h5", "-hdf5type", "float32", "-compress", "bslz4", *QUIET], folder)
    measure([ours, *SCENE, *LIGHT, "-detpixels", SIZE, "-floatfile", "one.bin", "-nonoise", "-noint", "-nopgm", *QUIET], folder)
    for kind in ("counts", "whole chain"):
        chain = CHAIN if kind != "counts" else []
        for compress in ("bslz4", "gzip"):
            words[f"nanobragg noise, {kind}, {compress}"] = (args.frames, [
                ours, "noise", "photons.h5", "out.h5", *chain, "-seed", 1, "-compress", compress, *QUIET])
        if noisify:
            flags = [w for pair in zip(chain[::2], chain[1::2]) for w in pair] or ["-readout_noise", 0]
            plain = [] if "-calibration" in flags else ["-calibration", 0]
            words[f"noisify, {kind}, a process a frame"] = (1, [
                noisify, "-floatfile", "one.bin", "-noisefile", "noisy.img", "-intfile", "/dev/null", "-nopgm", "-pixel", 0.1,
                *flags, *plain])
    for _ in range(args.repeats):
        for name, (frames, line) in words.items():
            for _ in range(PEER_FRAMES if frames == 1 else 1):
                rows.setdefault(name, []).append(measure(line, folder))
    print(f"\n{args.frames} frames of {SIZE} x {SIZE}, best of {args.repeats}, load {os.getloadavg()[0]:.1f}\n")
    print("| | frames/s | processor ms a frame | peak MiB |\n| --- | --- | --- | --- |")
    for name, runs in rows.items():
        seconds, used, peak = best(runs)
        frames = words[name][0]
        print(f"| {name} | {frames / seconds:.1f} | {1e3 * used / frames:.1f} | {peak / 1024:.0f} |")


def write_table(path):
    """Writes F that falls off smoothly from 10 to 8 electrons, in steps of 1e-4 1/A."""
    with open(path, "w", encoding="ascii") as out:
        for i in range(ROWS):
            s = 1e-4 * i
            out.write(f"{s:.5f} {8 + 2 * math.exp(-20 * s * s):.6f}\n")


def mean_of(folder):
    """Mean of the pixels of photons.bin."""
    import array

    pixels = array.array("f")
    with open(os.path.join(folder, "photons.bin"), "rb") as stream:
        pixels.frombytes(stream.read())
    return sum(pixels) / len(pixels)


def background_table(args, folder):
    ours, noisify, nonbragg = map(program, ("NANOBRAGG", "NOISIFY", "NONBRAGG"))
    write_table(os.path.join(folder, "long.stol"))
    scene = ["-stol", "long.stol", *PLACE]
    measure([ours, *scene, "-amorphous_thick", 1, "-fluence", 1e24, "-floatfile", "photons.bin", "-nonoise", "-noint",
             "-nopgm", *QUIET], folder)
    unit = mean_of(folder) / 1e24
    noise, job = {}, {}
    for mean in MEANS:
        light = ["-fluence", f"{mean / unit:.6g}"]
        full = [ours, *scene, "-amorphous_thick", 1, *light, "-seed", 1, *QUIET]
        measure([*full, "-floatfile", "photons.bin", "-nonoise", "-noint", "-nopgm"], folder)
        pairs = {"nanobragg": ([*full, *ALONE, "-noisefile", "n.img"], [*full, *ALONE, "-nonoise"])}
        jobs = {"nanobragg": [*full, "-floatfile", "f.bin", "-intfile", "i.img", "-pgmfile", "p.pgm", "-noisefile", "n.img"]}
        if nonbragg:
            theirs = [nonbragg, *scene, "-thick", 1, *light, "-noprogress", "-intfile", "i2.img", "-floatfile", "f2.bin"]
            pairs["nonBragg"] = ([*theirs, "-nopgm", "-noisefile", "n2.img"], [*theirs, "-nopgm", "-nonoise"])
            jobs["nonBragg"] = [*theirs, "-pgmfile", "p2.pgm", "-noisefile", "n2.img"]
        if noisify:
            base = [noisify, "-floatfile", "photons.bin", "-intfile", "/dev/null", "-nopgm", "-pixel", 0.1, "-calibration", 0,
                    "-readout_noise", 0]
            pairs["noisify"] = ([*base, "-noisefile", "n3.img"], [*base, "-nonoise"])
        for _ in range(args.repeats):
            for name, (with_noise, without) in pairs.items():
                noise.setdefault((name, mean), []).append((measure(with_noise, folder), measure(without, folder)))
            for name, line in jobs.items():
                job.setdefault((name, mean), []).append(measure(line, folder))
    print(f"\nNoise over a background of {ROWS} rows, {SIZE} x {SIZE} pixels, best of {args.repeats}, load "
          f"{os.getloadavg()[0]:.1f}\n")
    print("| ns of processor a pixel | " + " | ".join(f"mean {m}" for m in MEANS) + " |\n| --- | --- | --- | --- |")
    for name in dict.fromkeys(n for n, _ in noise):
        cells = []
        for mean in MEANS:
            runs = noise[name, mean]
            cells.append(1e9 * (min(a[1] for a, _ in runs) - min(b[1] for _, b in runs)) / PIXELS)
        print(f"| {name} | " + " | ".join(f"{c:.0f}" for c in cells) + " |")
    print("\n| the whole job, four files: seconds (processor seconds) | " + " | ".join(f"mean {m}" for m in MEANS) +
          " |\n| --- | --- | --- | --- |")
    for name in dict.fromkeys(n for n, _ in job):
        cells = (best(job[name, mean]) for mean in MEANS)
        print(f"| {name} | " + " | ".join(f"{c[0]:.3f} ({c[1]:.3f})" for c in cells) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--only", default="frames background")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(dir=args.folder)
    try:
        if "background" in args.only:
            background_table(args, folder)
        if "frames" in args.only:
            frames_table(args, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
