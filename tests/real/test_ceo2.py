#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rings of the powder CeO2 as measured (golden_data/real/ceo2): their angles and areas."""
import os
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skip ceo2 # python3-numpy is not installed")
    sys.exit(0)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, ok, run  # noqa: E402

DATA = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "real", "ceo2")
FAST, SLOW, PIXEL, DISTANCE, CENTRE = 1475, 1679, 0.172, 739.77871569, (775.328, 807.576)  # pixels, mm
ENERGY, EDGE = 61332.3, 5.41165  # eV, A
FLAGS = ["-cif", f"{DATA}/ceo2.cif", "-energy", ENERGY, "-N", 110, "-gauss_xtal", "-mosaic_model", "uniform",
         "-mosaic", 180, "-mosaic_dom", 40000, "-distance", DISTANCE, "-detpixels_x", FAST, "-detpixels_y", SLOW,
         "-pixel", PIXEL, "-xds", "-ORGX", CENTRE[0] + 0.5, "-ORGY", CENTRE[1] + 0.5, "-oversample", 1,
         "-polar", 0.99, "-fluence", 1e24, "-blocks", 1e9, "-seed", 1, "-noint", "-nonoise", "-nopgm", "-quiet"]
RINGS = (3, 4, 8, 11, 12, 16, 19, 20, 24, 27, 32, 35, 36, 40)  # h^2 + k^2 + l^2
HALF = 0.035  # degrees of 2 theta on each side of a ring


def profile_of(image, angles):
    """The mean of the image at these 2 theta, in equal steps."""
    slow, fast = numpy.indices(image.shape)
    radius = PIXEL * numpy.hypot(fast + 0.5 - CENTRE[0], slow + 0.5 - CENTRE[1])
    bins = numpy.rint((numpy.degrees(numpy.arctan2(radius, DISTANCE)) - angles[0]) / (angles[1] - angles[0])).astype(int)
    kept = (bins >= 0) & (bins < len(angles))
    counts = numpy.bincount(bins[kept], minlength=len(angles))
    return numpy.bincount(bins[kept], weights=image[kept], minlength=len(angles)) / counts


def ring(angle, angles, profile):
    """Centre of mass and area above the background beside the ring."""
    off = abs(angles - angle)
    inside = off < HALF
    height = profile[inside] - numpy.median(profile[(off > 1.3 * HALF) & (off < 2 * HALF)])
    return (height * angles[inside]).sum() / height.sum(), height.sum()


def compare(folder):
    angles, measured = numpy.loadtxt(f"{DATA}/ceo2_profile.tsv", usecols=(0, 1), unpack=True)
    path = os.path.join(folder, "ceo2.bin")
    run(*FLAGS, "-floatfile", path)
    simulated = profile_of(numpy.fromfile(path, "<f4").reshape(SLOW, FAST).astype(float), angles)
    two_theta = [2 * numpy.degrees(numpy.arcsin(12398.419843 / ENERGY / 2 * n ** 0.5 / EDGE)) for n in RINGS]
    real, model = (numpy.array([ring(t, angles, p) for t in two_theta]) for p in (measured, simulated))
    off = (real[:, 0] - model[:, 0]) / two_theta * 1e6
    rms, area = (off ** 2).mean() ** 0.5, numpy.corrcoef(numpy.log(real[:, 1]), numpy.log(model[:, 1]))[0, 1]
    print(f"# {len(RINGS)} rings: rms {rms:.0f} ppm, largest {abs(off).max():.0f} ppm; areas cc(log) {area:.4f}")
    ok("each ring within 100 ppm", abs(off).max() <= 100, off.round())
    ok("rings within 65 ppm rms", rms <= 65, rms)
    ok("areas of the rings", area >= 0.997, area)


with tempfile.TemporaryDirectory() as scratch:
    compare(scratch)
sys.exit(1 if FAILED else 0)
