#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renderers with nearly the same floats make nearly the same counts.

If floats a and b of two renderers differ in the last digits, counts may differ: by one in
up to 2 S + 5 sqrt(2 S) pixels (S: sum of |a - b|), by more in 1e-4 of the pixels. Each
instruction set is compared with the scalar renderer in double precision, for each golden
configuration, with its fluence and with 60000 photons in the brightest pixel.
NB_COUNTS_DEVICE=cuda compares a device too, also for images that mix several scenes or
have factors of pixels: in double precision the bytes are equal.
usage: NANOBRAGG=program [NB_SOURCE=folder] python3 tests/golden/test_counts.py
"""
import array
import csv
import os
import random
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

numpy = script.need("numpy")

GOLDEN = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data")
DEVICE = os.environ.get("NB_COUNTS_DEVICE", "cuda")
EDGE = 200
CRYSTAL = ("-cell 50 60 70 80 95 100 -misset 10 20 30 -N 12 -default_F 100 -lambda 1 -distance 100 -oversample 1 -gauss_xtal -mosaic 0.4 "
           "-mosaic_dom 5 -seed 3 -quiet -noint -nopgm")
FLAT = f"-detpixels {EDGE} -pixel 0.5"
WATER = "-background water:0.1"
SPHERE, BOX = "-absorb sphere:200 -absorb_mu 3", "-absorb box:100:200:50 -absorb_mu 2"
PLANES = "-transmission t.bin -add a.bin"
DETECTOR = "-flicker 0.1 -gain 1.5 -readout_noise 2 -calibration 0.02"
CASES = [
    ("one", f"{FLAT} {WATER}"),
    ("two", f"{FLAT} -crystals 2 {WATER}"),
    ("seven", f"{FLAT} -crystals 7 -water 0.01"),
    ("dry", f"{FLAT} -crystals 3"),
    ("twin", f"{FLAT} -twin -h,-k,l:0.3 {WATER}"),
    ("twins", f"{FLAT} -crystals 2 -twin -h,-k,l:0.3 -water 0.01"),
    ("structures", f"{FLAT} -crystals mix.txt {WATER}"),
    ("sphere", f"{FLAT} {SPHERE} {WATER}"),
    ("sphere-dry", f"{FLAT} {SPHERE}"),
    ("box", f"{FLAT} {BOX} {WATER} -osc 1 -phisteps 3"),
    ("transmission", f"{FLAT} -transmission t.bin {WATER}"),
    ("stop", f"{FLAT} -beamstop disc:8,bar:3:30:0.5 {WATER} -crystals 2"),
    ("all", f"-hkl {GOLDEN}/dense.hkl {FLAT} {WATER} {SPHERE} {PLANES} -beamstop disc:20 -crystals 2 -diffuse_sigma 0.3 -diffuse_gamma 3"),
    ("light", f"-hkl {GOLDEN}/dense.hkl {FLAT} {WATER} -diffuse_sigma 0.3 -diffuse_gamma 3 -crystals 2"),
    ("detector", f"{FLAT} {WATER} -crystals 2 {DETECTOR}"),
    ("spread", f"{FLAT} {WATER} {SPHERE} -crystals 2 {DETECTOR} -psf gauss -psf_fwhm 300"),
    ("roi", f"{FLAT} {WATER} {SPHERE} -crystals 2 -roi 10 150 20 190"),
]
FLUENCES = ("1e25", "1e28")


def make_files(folder):
    draw = random.Random(4)
    for name, low, high in (("t.bin", 0, 1.5), ("a.bin", -1, 20)):
        with open(os.path.join(folder, name), "wb") as stream:
            array.array("f", [0 if i < 3000 else draw.uniform(low, high) for i in range(EDGE * EDGE)]).tofile(stream)
    with open(os.path.join(folder, "mix.txt"), "w", encoding="ascii") as stream:
        stream.write(f'{{}}\n{{"hkl": "{GOLDEN}/dense.hkl", "cell": [40, 50, 60, 90, 90, 90]}}\n{{"default_F": 150, "N": 20}}\n')


class Counted:
    """counts and floats: arrays of pixels that a command line gives."""

    def __init__(self, *words):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            image, floats = os.path.join(folder, "n.img"), os.path.join(folder, "f.bin")
            script.run(*words, "-seed", "7", "-quiet", "-noint", "-nopgm", "-noisefile", image, "-floatfile", floats)
            self.floats = numpy.fromfile(floats, "f4").astype(float)
            self.counts = numpy.frombuffer(script.read(image)[-2 * self.floats.size:], "u2").astype(int)


class Apart:
    """Sums over pairs of images: pixels, different counts, differences of floats."""

    def __init__(self):
        self.pixels = self.one = self.more = self.sum = 0

    def add(self, a, b):
        off = abs(a.counts - b.counts)
        self.pixels += off.size
        self.one += int((off == 1).sum())
        self.more += int((off > 1).sum())
        self.sum += abs(a.floats - b.floats).sum()
        return self

    def judge(self, name, gain=1):
        """Test the sums against the limits. gain: ADU per photon."""
        print(f"# {name}: {self.one} of {self.pixels} pixels differ by one, {self.more} by more, the floats by {self.sum:.3g} photons")
        script.ok(name, self.pixels > 0 and self.one <= gain * (2 * self.sum + 5 * (2 * self.sum) ** 0.5) and
                  self.more <= 1e-4 * self.pixels)


def golden():
    """Yields (kind, flags) of the golden configurations without -compat, with their
    fluence ("own") and with 60000 photons in the brightest pixel ("bright"). Without
    NB_BIG: every fourth configuration."""
    with open(os.path.join(GOLDEN, "cases.tsv"), encoding="utf-8") as stream:
        rows = [row for row in csv.reader(stream, delimiter="\t") if row[0] != "id" and "-compat" not in row[7]]
    if not (script.BIG or "NB_COUNTS_DEVICE" in os.environ):
        rows = rows[::4]
    for row in rows:
        yield "own", row[7].split()
        if not re.search("-flux|-beamsize|-exposure", row[7]):
            old = re.search(r"-fluence (\S+)", row[7])
            fluence = (float(old[1]) if old else 125932015286227086360700780544) * 60000 / float(row[4])
            yield "bright", [*row[7].split(), "-fluence", f"{fluence:.15g}"]


def runs(*words):
    return script.run("-cell", "50", "-N", "2", "-default_F", "1", "-detpixels", "8", "-quiet", *words, "-floatfile", "probe.bin", status=None)


def count_golden(device):
    isas = [isa for isa in ("sse2", "avx2", "avx512", "neon") if "error" not in runs("-isa", isa)[1]]
    ways = {isa: ["-device", "cpu", "-isa", isa] for isa in isas}
    if device:
        ways[DEVICE] = ["-device", DEVICE]
    all_of = {}

    def one(case):
        kind, flags = case
        want = Counted(*flags, "-device", "cpu", "-isa", "scalar", "-precision", "double")
        found = [((way, kind), Counted(*flags, *words), want) for way, words in ways.items()]
        if device:
            same = Counted(*flags, "-device", DEVICE, "-precision", "double")
            script.ok(" ".join(["double", kind, *flags]), (same.floats == want.floats).all() and (same.counts == want.counts).all())
        return found

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(one, golden()):
            for name, a, b in found:
                all_of.setdefault(name, Apart()).add(a, b)
    for (way, kind), apart in all_of.items():
        apart.judge(f"golden-{way}-{kind}")
    if "avx512" in isas and "avx2" in isas:
        a, b = (Apart().add(Counted(*CRYSTAL.split(), *FLAT.split(), "-isa", isa), Counted(*CRYSTAL.split(), *FLAT.split(), "-isa", "avx512", "-threads", threads))
                for isa, threads in (("avx2", "1"), ("avx512", "3")))
        script.ok("avx2, avx512 and threads count alike", a.sum + b.sum + a.one + b.one == 0)


def count_mixed():
    """The device against the CPU for CASES: default, one thread, double precision."""
    for name, flags in CASES:
        for fluence in FLUENCES:
            for how in ([], ["-threads", "1"], ["-precision", "double"]):
                words = [*CRYSTAL.split(), *flags.split(), "-fluence", fluence, *how]
                apart = Apart().add(Counted(*words, "-device", DEVICE), Counted(*words, "-device", "cpu"))
                apart.judge("-".join([name, fluence, *how]), 4 if "-gain" in flags else 1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in os.listdir(GOLDEN):
            if name.endswith((".hkl", ".mat", ".txt")):
                os.symlink(os.path.join(GOLDEN, name), name)
        make_files(folder)
        why = runs("-device", DEVICE)[1]
        device = "error" not in why
        count_golden(device)
        if device:
            count_mixed()
        else:
            print(f"skip {script.SCRIPT} {DEVICE} # {why.strip().splitlines()[-1]}")
        os.chdir("/")
    return bool(script.FAILED)


if __name__ == "__main__":
    sys.exit(main())
