# SPDX-License-Identifier: MIT
"""Derivatives by a device against the scalar engine where a scene needs files: panels, tables of F, a table for
each wavelength; and of Gaussian crystals with one ray to a pixel.

NB_DERIVE_DEVICE=cuda: that device; else the CPU's fast kernels.
usage: NANOBRAGG=program NB_SOURCE=folder python3 tests/check/derive_devices.py
"""
import array
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("NANOBRAGG", "nanobragg")
GOLDEN = os.path.abspath(os.path.join(os.environ.get("NB_SOURCE", "."), "golden_data"))
DEVICE = os.environ.get("NB_DERIVE_DEVICE", "cpu")
LIMITS = {"mixed": 5e-6, "double": 1e-9}
EDGE = 100
# against the beam, one wavelength on each side of the K edge of iron
SOURCES = "-10 0 0 1 1.741e-10\n-10 0 0 2 1.75e-10\n-10 0 0 3 1.73e-10\n"

QUIET = "-noint -nopgm -nonoise -nofloat -quiet"
CRYSTAL = f"{QUIET} -lambda 1 -cell 50 60 70 80 95 100 -misset 10 20 30 -N 6 -oversample 1"
FLAT = f"-distance 100 -detpixels {EDGE} -pixel 0.8"
PLACED = "rot,cell,N,shift,rot_fast,rot_slow,lambda,fluence"
TYPED = "rot,cell,N,mosaic,phi,lambda,distance,beam,tilt,shift,polar,fluence"
CASES = [
    ("eight-panels", PLACED, f"{CRYSTAL} -geom {GOLDEN}/detectors/geom/cspad8.geom -distance 100 -default_F 100"),
    ("four-panels", PLACED, f"{CRYSTAL} -geom {GOLDEN}/detectors/geom/quad.geom -default_F 100 -oversample 2 "
     "-mosaic 0.3 -mosaic_domains 3"),
    ("table", TYPED, f"{CRYSTAL} {FLAT} -hkl {GOLDEN}/dense.hkl -dump /dev/null -mosaic 0.3 -mosaic_domains 4"),
    ("gaussian", TYPED.replace("mosaic", "fudge"), f"{CRYSTAL} {FLAT} -gauss_xtal -default_F 50"),
    ("table-for-each-wavelength", TYPED.replace("mosaic,", "").replace("lambda,", ""),
     f"{QUIET} -pdb {GOLDEN}/structure_factors/models/1dur.pdb -sourcefile SOURCES -dmin 4 -anomalous_tol 0 "
     f"-misset 20 30 40 -N 5 -default_F 3 -oversample 1 -distance 100 -detpixels {EDGE} -pixel 1.5"),
]


def planes(flags, names, *how):
    """All planes one after the other, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "SOURCES"), "w", encoding="ascii") as stream:
            stream.write(SOURCES)
        out = os.path.join(folder, "planes.bin")
        command = [os.path.abspath(PROGRAM), *flags.split(), *how, "-derivatives", names, "-derivfile", out,
                   "-derivtype", "float64"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return None, done.stderr.strip().split("\n")[-1]
        values = array.array("d")
        with open(out, "rb") as stream:
            values.frombytes(stream.read())
        return values, ""


def count_of(names):
    """How many planes these names are."""
    groups = {"rot": 3, "cell": 6, "N": 3, "beam": 2, "tilt": 4, "shift": 3}
    return sum(groups.get(name, 1) for name in names.split(","))


def worst(ours, truth, count):
    """The largest difference, of each plane's largest value."""
    pixels, most = len(truth) // count, 0.0
    for p in range(count):
        a, b = ours[p * pixels:(p + 1) * pixels], truth[p * pixels:(p + 1) * pixels]
        top = max(max(map(abs, b)), 1e-25)
        most = max(most, max(abs(x - y) if x == x else float("inf") for x, y in zip(a, b)) / top)
    return most


def check(name, names, flags):
    truth, why = planes(flags, names, "-device", "cpu", "-precision", "double", "-isa", "scalar")
    if truth is None and "gemmi" in why:
        print(f"skip derive-devices-{name} # {why}")
        return 0
    failed = 0
    for precision, limit in LIMITS.items():
        ours = None
        if truth is not None:
            ours, why = planes(flags, names, "-device", DEVICE, "-precision", precision)
        off = float("inf")
        if ours is not None and len(ours) == len(truth) and len(truth) % count_of(names) == 0:
            off = worst(ours, truth, count_of(names))
        failed += not off <= limit
        print(f"{'ok' if off <= limit else 'not ok'} derive-devices-{name}-{precision} # {off:.2g} {why}")
    return failed


def main():
    return sum(check(*case) for case in CASES) > 0


if __name__ == "__main__":
    sys.exit(main())
