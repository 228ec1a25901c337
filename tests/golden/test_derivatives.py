#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Derivatives equal planes made by other formulas (golden_data/derivatives/README.md).

A plane has the derivative of each pixel by one parameter; it agrees to 1e-9 of its
largest value (scalar, double precision) or 5e-6 (default; sharp-N300: 2e-5).  A pullback
is the sum of pattern times plane to 1e-12.  NB_DERIVE_DEVICE=cuda tests a device.
"""
import array
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.environ["NANOBRAGG"]
SOURCE = os.environ.get("NB_SOURCE", ".")
DATA = os.path.join(SOURCE, "golden_data", "derivatives")
DEVICE = os.environ.get("NB_DERIVE_DEVICE", "cpu")
MODES = {"scalar": ("-isa scalar", 1e-9), "double": ("-precision double", 1e-9), "default": ("", 5e-6)}


def cases():
    with open(os.path.join(DATA, "cases.tsv")) as lines:
        head = next(lines).rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"))) for line in lines]


def numbers(path):
    values = array.array("d")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def run(case, flags):
    words = case["args"].split() + flags.split() + ["-device", DEVICE, "-noint", "-nopgm", "-nonoise", "-nofloat",
                                                    "-derivatives", case["names"]]
    done = subprocess.run([PROGRAM] + words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr.strip() if done.returncode else None


def worst(case, reference, planes):
    """Largest error of all planes as a fraction of the plane's maximum, and its name."""
    n, found = int(case["fast"]) * int(case["slow"]), (0.0, "")
    names = case["names"].split(",")
    if len(planes) != n * len(names):
        return math.inf, "size"
    for i, name in enumerate(names):
        ours, theirs = planes[i * n:(i + 1) * n], reference[(i + 1) * n:(i + 2) * n]
        largest = max(abs(x) for x in theirs)
        off = max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(ours, theirs)) / largest
        found = max(found, (off, name))
    return found


def check_planes(case, reference, mode):
    flags, limit = MODES[mode]
    limit = 2e-5 if case["id"] == "sharp-N300" and limit > 1e-9 else limit
    error = run(case, flags + " -derivfile planes.f64 -derivtype float64")
    off, name = (math.inf, error) if error else worst(case, reference, numbers("planes.f64"))
    print(f"{'ok' if off <= limit else 'not ok'} derivatives-{case['id']}-{mode}"
          + ("" if off <= limit else f" # {name} is {off:.3g} of the largest value off"))
    return off <= limit


def check_pullback(case, mode):
    """Compares -pullback with the planes in the file that check_planes left."""
    n, names = int(case["fast"]) * int(case["slow"]), case["names"].split(",")
    pattern = array.array("d", (math.sin(0.7 * i) + 0.3 for i in range(n)))
    with open("pattern.f64", "wb") as file:
        file.write(pattern.tobytes())
    error = run(case, MODES[mode][0] + " -pullback pattern.f64 -gradfile gradient.json")
    if error:
        print(f"not ok pullback-{case['id']} # {error}")
        return False
    with open("gradient.json") as file:
        gradient = json.load(file)["gradient"]
    planes, good = numbers("planes.f64"), list(gradient) == names
    for i, name in enumerate(names):
        terms = [a * b for a, b in zip(pattern, planes[i * n:(i + 1) * n])]
        scale = sum(abs(x) for x in terms)
        good = good and abs(math.fsum(terms) - gradient[name]) <= 1e-12 * scale
    print(f"{'ok' if good else 'not ok'} pullback-{case['id']}")
    return good


def main():
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(DATA, "a.mat"), folder)
        shutil.copy(os.path.join(SOURCE, "golden_data", "dense.hkl"), folder)
        os.chdir(folder)
        for case in cases():
            reference = numbers(os.path.join(DATA, case["id"] + ".f64"))
            for mode in os.environ.get("NB_DERIVE_MODES", "default double scalar").split():
                passed = check_planes(case, reference, mode) and passed
            if "NB_DERIVE_MODES" not in os.environ or DEVICE != "cpu":
                passed = check_pullback(case, mode) and passed
    return 0 if passed else 1


if __name__ == "__main__":
    DATA, SOURCE = os.path.abspath(DATA), os.path.abspath(SOURCE)
    sys.exit(main())
