#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames per second of a series and of a loop over another program, as a table in markdown.

usage: NANOBRAGG=program [PEER=program] python3 tests/bench/series.py [--frames 1000] [--repeats 3]
           [--memory 10000 [--pixels 256 1024]] [--device cpu] [--folder DIR]

Frames of 1024 x 1024 pixels, one step each, with noise, into HDF5 in a separate folder.  PEER has
nanoBragg's command line; it makes one noise image per process, ten for each run of this program, in
alternation.  --memory N: compares the peak memory of N frames with that of 100.
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peak import measure  # noqa: E402

IMAGE = "-cell 100 100 100 90 90 90 -N 5 -lambda 6.2 -distance 100 -oversample 1 -default_F 100".split()
PEER_FLAGS = ["-nopgm", "-floatfile", "/dev/null", "-intfile", "/dev/null"]
PEER_FRAMES = 10


def series(args, frames, compress, pixels=1024, files=()):
    folder = tempfile.mkdtemp(dir=args.folder)
    try:
        words = [os.path.abspath(os.environ["NANOBRAGG"]), *IMAGE, "-detpixels", str(pixels),
                 "-frames", str(frames), "-osc", "0.01", "-seed", "1", "-quiet", "-device",
                 args.device, "-hdf5", "run_master.h5", "-compress", compress, *files]
        return measure(words, folder)
    finally:
        shutil.rmtree(folder)


def peer(args):
    folder = tempfile.mkdtemp(dir=args.folder)
    words = [os.path.abspath(os.environ["PEER"]), *IMAGE, "-detpixels", "1024", *PEER_FLAGS]
    try:
        return sum(measure(words, folder)[0] for _ in range(PEER_FRAMES)) / PEER_FRAMES
    finally:
        shutil.rmtree(folder)


def throughput(args):
    rows = {"bslz4": [], "gzip": []}
    loop = []
    for _ in range(args.repeats):
        for compress, row in rows.items():
            if "PEER" in os.environ:
                loop.append(peer(args))
            row.append(series(args, args.frames, compress))
    one = statistics.median(loop) if loop else None
    print(f"{args.frames} frames, median of {args.repeats}, load {os.getloadavg()[0]:.1f}\n")
    print("| | frames/s | (all runs) | processor ms a frame | peak MiB | times the loop |")
    print("| --- | --- | --- | --- | --- | --- |")
    if one:
        print(f"| loop over PEER | {1 / one:.2f} | {' '.join(f'{1 / t:.2f}' for t in loop)} | | | 1 |")
    for compress, row in rows.items():
        rates = [args.frames / seconds for seconds, _, _ in row]
        rate = statistics.median(rates)
        cost = statistics.median(used for _, used, _ in row) / args.frames * 1e3
        factor = f"{rate * one:.1f}" if one else ""
        print(f"| {compress} | {rate:.1f} | {' '.join(f'{r:.1f}' for r in rates)} | {cost:.2f} | "
              f"{max(peak for _, _, peak in row) / 1024:.1f} | {factor} |")


def memory(args):
    print("\n| pixels | MiB with 100 frames | frames | MiB | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for pixels in args.pixels:
        few = series(args, 100, "bslz4", pixels)[2] / 1024
        many = series(args, args.memory, "bslz4", pixels)[2] / 1024
        print(f"| {pixels} x {pixels} | {few:.2f} | {args.memory} | {many:.2f} | {many / few:.3f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--pixels", type=int, nargs="*", default=[256, 1024])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", default=None)
    args = parser.parse_args()
    if args.frames:
        throughput(args)
    if args.memory:
        memory(args)


if __name__ == "__main__":
    main()
