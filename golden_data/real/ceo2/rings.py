# SPDX-License-Identifier: MIT
"""Rings of CeO2: a simulated image against the measured profile.

usage: python3 rings.py IMAGE [STRIPS]
  IMAGE   floats of the detector below
  STRIPS  floats to write, 1170 x 122 pixels for nanobragg view: measured, simulated and their difference against 2 theta
"""
import os
import sys

import numpy

FAST, SLOW, PIXEL, DISTANCE, CENTRE = 1475, 1679, 0.172, 739.77871569, (775.328, 807.576)  # pixels, mm; 0: a corner
ENERGY, EDGE = 61332.3, 5.41165  # eV, A
RINGS = (3, 4, 8, 11, 12, 16, 19, 20, 24, 27, 32, 35, 36, 40)  # h^2 + k^2 + l^2
HALF = 0.035  # degrees of 2 theta on each side of a ring


def measured():
    """2 theta in equal steps (degrees), mean counts."""
    here = os.path.dirname(os.path.abspath(__file__))
    return numpy.loadtxt(os.path.join(here, "ceo2_profile.tsv"), usecols=(0, 1), unpack=True)


def profile_of(image, angles):
    """The mean of the image at these angles."""
    slow, fast = numpy.indices(image.shape)
    radius = PIXEL * numpy.hypot(fast + 0.5 - CENTRE[0], slow + 0.5 - CENTRE[1])
    bins = numpy.rint((numpy.degrees(numpy.arctan2(radius, DISTANCE)) - angles[0]) / (angles[1] - angles[0])).astype(int)
    kept = (bins >= 0) & (bins < len(angles))
    counts = numpy.bincount(bins[kept], minlength=len(angles))
    return numpy.bincount(bins[kept], weights=image[kept], minlength=len(angles)) / counts


def above(angle, angles, profile):
    """The profile about a ring above the median beside it, and where it is."""
    off = abs(angles - angle)
    return profile - numpy.median(profile[(off > 1.3 * HALF) & (off < 2 * HALF)]), off < HALF


def ring(angle, angles, profile):
    """Centre of mass and area above the background."""
    height, there = above(angle, angles, profile)
    return (height * angles)[there].sum() / height[there].sum(), height[there].sum()


def compare(path):
    """(2 theta of the cell, measured - simulated in ppm of it, areas measured, simulated), and the two profiles."""
    angles, counts = measured()
    model = profile_of(numpy.fromfile(path, "<f4").reshape(SLOW, FAST).astype(float), angles)
    two_theta = numpy.array([2 * numpy.degrees(numpy.arcsin(12398.419843 / ENERGY / 2 * n ** 0.5 / EDGE)) for n in RINGS])
    real, made = (numpy.array([ring(t, angles, p) for t in two_theta]).T for p in (counts, model))
    model *= real[1].sum() / made[1].sum()
    return two_theta, (real[0] - made[0]) / two_theta * 1e6, real[1], made[1] * real[1].sum() / made[1].sum(), model


def strips(two_theta, model):
    """Rings above their background, as rows of a film with a line between them."""
    angles, counts = measured()
    films = []
    for profile in (counts, model):
        film = numpy.zeros(len(angles))
        for t in two_theta:
            height, there = above(t, angles, profile)
            film[there] = height[there]
        films.append(numpy.maximum(film, 0).reshape(-1, 4).mean(1))
    line = numpy.full((1, len(films[0])), max(films[0]))
    rows = [numpy.tile(film, (40, 1)) for film in (*films, abs(films[0] - films[1]))]
    return numpy.concatenate((rows[0], line, rows[1], line, rows[2]))


def summary(off, real, made):
    return (f"rms {(off ** 2).mean() ** 0.5:.0f} ppm, largest {abs(off).max():.0f} ppm; areas: "
            f"cc(log) {numpy.corrcoef(numpy.log(real), numpy.log(made))[0, 1]:.4f}")


def main(path, film=None):
    two_theta, off, real, made, model = compare(path)
    print("2 theta  measured - simulated  area measured/simulated")
    for row in zip(two_theta, off, real / made):
        print("%7.3f %10.0f ppm %16.3f" % row)
    print(summary(off, real, made))
    if film:
        strips(two_theta, model).astype("<f4").tofile(film)


if __name__ == "__main__":
    main(*sys.argv[1:])
