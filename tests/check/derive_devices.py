# SPDX-License-Identifier: MIT
"""Compares the derivatives that a device computes with those of the scalar engine: scenes
with files (panels, tables of F, a table for each wavelength), and Gaussian crystals with
one ray per pixel. Then checks theorems (equations) that hold for any renderer.
NB_DERIVE_DEVICE=cuda tests the GPU; without it the CPU's fast kernels are tested.
usage: NANOBRAGG=program NB_SOURCE=folder python3 tests/check/derive_devices.py
"""
import array
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("NANOBRAGG", "nanobragg")
GOLDEN = os.path.abspath(os.path.join(os.environ.get("NB_SOURCE", "."), "golden_data"))
DEVICE = os.environ.get("NB_DERIVE_DEVICE", "cpu")
LIMITS = {"mixed": 5e-6, "double": 1e-9}
EDGE = 100
# three sources in the direction of the beam, with wavelengths on both sides of the K edge of iron
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
    # A turn about the sample keeps water's light: its terms cancel, the crystal's remain.
    # 509 um of water would leave an error of 1.1e-7 of the crystal's terms in double.
    ("turned-water", "tilt", f"{CRYSTAL} {FLAT} -xds -detector_rotx -37.4 -gauss_xtal -default_F 100 -nopolar -water 50"),
    ("table-for-each-wavelength", TYPED.replace("mosaic,", "").replace("lambda,", ""),
     f"{QUIET} -pdb {GOLDEN}/structure_factors/models/1dur.pdb -sourcefile SOURCES -dmin 4 -anomalous_tol 0 "
     f"-misset 20 30 40 -N 5 -default_F 3 -oversample 1 -distance 100 -detpixels {EDGE} -pixel 1.5"),
]


def planes(flags, names, *how):
    """Returns (values of all planes one after the other, ""), or (None, reason) if the program refuses."""
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
    """Number of planes for these names."""
    groups = {"rot": 3, "cell": 6, "N": 3, "beam": 2, "tilt": 4, "shift": 3}
    return sum(groups.get(name, 1) for name in names.split(","))


def worst(ours, truth, count):
    """Largest difference of `count` planes, each relative to the plane's largest value."""
    pixels, largest = len(truth) // count, 0.0
    for p in range(count):
        a, b = ours[p * pixels:(p + 1) * pixels], truth[p * pixels:(p + 1) * pixels]
        top = max(max(map(abs, b)), 1e-25)
        largest = max(largest, max(abs(x - y) if x == x else float("inf") for x, y in zip(a, b)) / top)
    return largest


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


def rows(flags, names, precision):
    """Dict from each name to its plane."""
    values, why = planes(flags, ",".join(names), "-device", DEVICE, "-precision", precision)
    if values is None:
        raise RuntimeError(why)
    pixels = len(values) // len(names)
    return {name: values[k * pixels:(k + 1) * pixels] for k, name in enumerate(names)}


def zero(*terms):
    """Largest |sum of terms| in a pixel / largest |term|; a term is factor x plane."""
    largest = max(abs(factor) * max(map(abs, plane)) for factor, plane in terms)
    return max(abs(sum(pixel)) for pixel in zip(*([f * x for x in plane] for f, plane in terms))) / largest


TURNED = f"{QUIET} -mosflm -lambda 1 -cell 50 60 70 80 95 100 -misset 10 20 30 -N 6 -default_F 50 -nopolar"


def turned_together(precision, ways):
    """Crystal and detector turn about the beam together: the image stays the same."""
    d = rows(f"{TURNED} {FLAT} {ways}", ["rot_x", "detector_rotx"], precision)
    return zero((1, d["rot_x"]), (1, d["detector_rotx"]))


def longer_edges(precision, ways):
    """Cell and wavelength grow by the same factor: the image stays the same."""
    d = rows(f"{CRYSTAL} {FLAT} -default_F 50 {ways}", ["cell_a", "cell_b", "cell_c", "lambda"], precision)
    return zero((50, d["cell_a"]), (60, d["cell_b"]), (70, d["cell_c"]), (1, d["lambda"]))


def brighter(precision, ways):
    """F dI/dF = 2 I = 2 fluence dI/dfluence, without water."""
    d = rows(f"{CRYSTAL} {FLAT} -fluence 1e26 -default_F 50 {ways}", ["default_F", "fluence"], precision)
    return zero((50, d["default_F"]), (-2e26, d["fluence"]))


def misset_angles(precision, ways):
    """Planes of misset angles are combinations of the planes of rotations: about z, about
    R_z y and about R_z R_y x."""
    d = rows(f"{CRYSTAL} {FLAT} -default_F 50 {ways}",
             ["rot_x", "rot_y", "rot_z", "misset_x", "misset_y", "misset_z"], precision)
    y, z = math.radians(20), math.radians(30)
    axes = {"misset_z": (0, 0, 1), "misset_y": (-math.sin(z), math.cos(z), 0),
            "misset_x": (math.cos(y) * math.cos(z), math.cos(y) * math.sin(z), -math.sin(y))}
    return max(zero((-1, d[name]), *zip(axis, (d["rot_x"], d["rot_y"], d["rot_z"])))
               for name, axis in axes.items())


def region(precision, ways):
    """Planes of a region of interest equal that part of the planes of the whole image."""
    names, largest = ["rot_y", "cell_b", "N_c", "distance"], 0.0
    whole = rows(f"{CRYSTAL} {FLAT} -default_F 50 {ways}", names, precision)
    part = rows(f"{CRYSTAL} {FLAT} -default_F 50 -roi 11 70 20 55 {ways}", names, precision)
    for name in names:
        inside = [x if 11 <= i % EDGE <= 70 and 20 <= i // EDGE <= 55 else 0 for i, x in enumerate(whole[name])]
        largest = max(largest, zero((1, part[name]), (-1, inside)))
    return largest


def two_sources(precision, ways):
    """The planes of two sources are the weighted mean of the planes of each source. The
    first source sets the polarization, here 0."""
    names, sums = ["rot_x", "cell_a", "N_b", "Xbeam"], {}
    lines = ["-10 0 0 {} 1e-10", "-10 0.5 0.3 {} 1.2e-10"]
    for name, text in (("both", lines[0].format(1) + "\n" + lines[1].format(3)), ("first", lines[0].format(1)),
                       ("second", lines[1].format(1))):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as stream:
            stream.write(text + "\n")
            stream.flush()
            sums[name] = rows(f"{CRYSTAL} {FLAT} -default_F 50 -nopolar -sourcefile {stream.name} {ways}", names,
                              precision)
    return max(zero((-1, sums["both"][name]), (0.25, sums["first"][name]), (0.75, sums["second"][name]))
               for name in names)


THEOREMS = [turned_together, longer_edges, brighter, misset_angles, region, two_sources]


def prove(theorem):
    failed = 0
    for precision, limit in LIMITS.items():
        for what, ways in (("one-ray", ""), ("rays", "-oversample 2")):  # two kinds of kernels
            off, why = float("inf"), ""
            try:
                off = theorem(precision, ways)
            except RuntimeError as error:
                why = str(error)
            name = f"{theorem.__name__.replace('_', '-')}-{what}-{precision}"
            good = off <= 2 * limit  # a theorem compares several planes, so its limit is twice as large
            failed += not good
            print(f"{'ok' if good else 'not ok'} derive-devices-{name} # {off:.2g} {why}")
    return failed


def main():
    return sum(check(*case) for case in CASES) + sum(map(prove, THEOREMS)) > 0


if __name__ == "__main__":
    sys.exit(main())
