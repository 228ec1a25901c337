#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts of images that mix several scenes, or have factors, by a device: those of the CPU, to the last one.

Crystals, twins whose lattices are apart, absorption, factors and light of files, alone and together, with the stages of a detector, a region of interest, several
structures.  Where there is no device, all is skipped.
usage: NANOBRAGG=program [NB_SOURCE=folder] python3 tests/golden/test_mixed.py      (NB_MIXED_DEVICE=cuda)
"""
import array
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

GOLDEN = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data")
DEVICE = os.environ.get("NB_MIXED_DEVICE", "cuda")
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


def counts(name, flags, *how):
    """Bytes of the counts behind the header, and the floats."""
    script.run(*CRYSTAL.split(), *flags.split(), *how, "-noisefile", name + ".img", "-floatfile", name + ".bin")
    floats = array.array("f", script.read(name + ".bin"))
    return script.read(name + ".img")[-2 * len(floats):], floats


def check(name, flags):
    """On the device, on one thread, and in double."""
    for how in ([], ["-threads", "1"], ["-precision", "double"]):
        ours, floats = counts("ours", flags, "-device", DEVICE, *how)
        theirs, want = counts("theirs", flags, "-device", "cpu", *how)
        a, b = array.array("H", ours), array.array("H", theirs)
        apart = sum(x != y for x, y in zip(a, b))
        most = max(want)
        off = max(abs(x - y) for x, y in zip(floats, want)) / most
        script.ok("-".join([name, *how]), apart == 0 and off < 4e-6 and most > 0,
                  f"{apart} of {len(a)} counts differ, floats by {off:.2g} of the brightest ({most:.4g}), the mean count is {sum(b) / len(b):.4g}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _, why = script.run(*CRYSTAL.split(), "-detpixels", "8", "-nonoise", "-floatfile", "x.bin", "-device", DEVICE, status=None)
        if DEVICE != "cpu" and not os.path.exists("x.bin"):
            print(f"skip {script.SCRIPT} # {why.strip().splitlines()[-1]}")
            return 0
        make_files(folder)
        for name, flags in CASES:
            for fluence in FLUENCES:
                check(f"{name}-{fluence}", f"{flags} -fluence {fluence}")
        os.chdir("/")
    return bool(script.FAILED)


if __name__ == "__main__":
    sys.exit(main())
