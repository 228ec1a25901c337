# SPDX-License-Identifier: MIT
"""Stills for `nanobragg refine`: flags of the truth and of a wrong start, and limits of
the errors of a fit."""
import math
import os
import random

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden_data")
LYSOZYME = (79.1, 79.1, 37.9, 90.0, 90.0, 90.0)
TRICLINIC = (55.3, 68.1, 79.4, 81.2, 76.5, 98.3)


def rotation(axis, degrees):
    """Matrix of a rotation about a unit axis."""
    x, y, z = axis
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    t = 1 - c
    return [[t * x * x + c, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c]]


def times(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def matrix(misset):
    """Matrix of a rotation about x, then y, then z, by the angles `misset` in degrees."""
    x, y, z = misset
    return times(rotation((0, 0, 1), z), times(rotation((0, 1, 0), y), rotation((1, 0, 0), x)))


def angles(m):
    return [math.degrees(math.atan2(m[2][1], m[2][2])), math.degrees(math.asin(-m[2][0])),
            math.degrees(math.atan2(m[1][0], m[0][0]))]


def turned(misset, degrees, chance):
    """Misset angles after a rotation by `degrees` about a random axis."""
    axis = [chance.gauss(0, 1) for _ in range(3)]
    length = math.sqrt(sum(a * a for a in axis))
    return angles(times(rotation([a / length for a in axis], degrees), matrix(misset)))


def rotation_vector(a, b):
    """Rotation vector (deg, about the lab axes) that turns misset a into b, if small."""
    m = times(matrix(b), [list(row) for row in zip(*matrix(a))])
    return [math.degrees(math.asin((m[i][j] - m[j][i]) / 2)) for i, j in ((2, 1), (0, 2), (1, 0))]


def off(chance, low, high):
    """A factor that is wrong by a fraction from low to high, up or down."""
    part = 1 + chance.uniform(low, high)
    return part if chance.random() < 0.5 else 1 / part


class Still:
    """Flags of image and fit (common, truth, start, refine), limits by parameter."""

    def __init__(self, common, truth, start, refine, limits):
        self.common, self.truth, self.start = common, truth, start
        self.refine, self.limits = refine, limits


def flags(values):
    out = []
    for name, value in values.items():
        out += ["-" + name, *(map(repr, value) if isinstance(value, (tuple, list)) else [str(value)])]
    return out


def crystal(chance, cell, N, mosaic, fluence, misset, turn, cell_part, angle=0.0, tied=()):
    """Flags of the true crystal, and of a start with random errors."""
    edges = [c * off(chance, cell_part[0], cell_part[1]) if cell_part else c for c in cell[:3]]
    if tied:
        edges[1] = edges[0]
    bent = [a + chance.choice((-1, 1)) * angle * chance.uniform(0.5, 1) for a in cell[3:]]
    truth = {"cell": cell, "misset": misset, "Na": N[0], "Nb": N[1], "Nc": N[2], "mosaic": mosaic,
             "fluence": fluence}
    start = {"cell": (*edges, *bent), "misset": turned(misset, turn, chance),
             "mosaic": mosaic * off(chance, 0.6, 1.0), "fluence": fluence * chance.choice((0.5, 2, 3)),
             **{k: n * off(chance, 0.25, 0.3) for k, n in zip(("Na", "Nb", "Nc"), N)}}
    return truth, start


def random_misset(chance):
    return [chance.uniform(-180, 180), chance.uniform(-60, 60), chance.uniform(-180, 180)]


def lysozyme(pixels, half_mm, d_edge, **more):
    """Flags of a detector with resolution d_edge (A) at its edge, and F of lysozyme."""
    distance = half_mm / math.tan(2 * math.asin(0.5 / d_edge))
    return {"hkl": os.path.join(GOLDEN, "lysozyme_P1.hkl"), "dump": "/dev/null", "lambda": 1.0,
            "distance": repr(distance), "detpixels": pixels, "pixel": repr(2 * half_mm / pixels),
            "mosaic_domains": 5, "oversample": 1, "water": 0.3, **more}


ALL = "rot,cell,N,mosaic,scale"


def still(seed, turn=0.5, fluence=2e26, part=(0.002, 0.003), limits=(0.004, 0.008, 0.15)):
    """First row of ROWS; with other arguments, weak stills or far starts."""
    chance = random.Random(seed)
    truth, start = crystal(chance, LYSOZYME, (12, 11, 18), 0.05, fluence, random_misset(chance), turn,
                           part, tied=True)
    return Still(lysozyme(512, 51.2, 2.5), truth, start,
                 ["-refine", ALL + ",water", "-system", "tetragonal"],
                 {"misset": limits[0], "cell": limits[1], "N": limits[2]})


def triclinic(seed, turn=0.5, part=(0.004, 0.005), angle=0.3):
    chance = random.Random(seed)
    truth, start = crystal(chance, TRICLINIC, (22, 18, 15), 0.05, 1e26, random_misset(chance), turn,
                           part, angle)
    common = lysozyme(512, 51.2, 2.5, xds="", detector_rotx=3.0, detector_roty=-2.0, detector_rotz=1.5)
    del common["xds"]
    return Still({**common, "ORGX": 250.3, "ORGY": 260.8}, truth, start, ["-refine", ALL + ",water"],
                 {"misset": 0.03, "cell": 0.02, "angle": 0.02, "N": 0.3})


def geometry(seed):
    chance = random.Random(seed)
    truth, start = crystal(chance, LYSOZYME, (12, 11, 18), 0.05, 2e26, random_misset(chance), 0.4, None)
    common = lysozyme(512, 51.2, 2.5)
    distance = float(common.pop("distance"))
    truth.update(distance=distance, Xbeam=51.25, Ybeam=51.15)
    start.update(distance=distance + 0.6, Xbeam=51.25 + 0.2, Ybeam=51.15 - 0.15)
    return Still(common, truth, start, ["-refine", "rot,N,mosaic,scale,water,distance,beam"],
                 {"misset": 0.003, "distance": 0.005, "beam": 0.002, "N": 1.0})


def large(seed):
    chance = random.Random(seed)
    truth, start = crystal(chance, LYSOZYME, (40, 40, 80), 0.05, 1e24, random_misset(chance),
                           chance.uniform(0.5, 1.5), (0.005, 0.01), tied=True)
    return Still(lysozyme(640, 51.2, 2.5), truth, start,
                 ["-refine", ALL + ",water", "-system", "tetragonal"],
                 {"misset": 0.002, "cell": 0.004, "N": 0.4})


def gaussian(seed):
    """A still for the Gaussian likelihood. refine_check.py adds to it a smooth
    background, gain and read-out noise."""
    chance = random.Random(seed)
    truth, start = crystal(chance, LYSOZYME, (12, 11, 18), 0.05, 1e26, random_misset(chance), 0.5,
                           (0.002, 0.003), tied=True)
    common = lysozyme(512, 51.2, 2.5, water=0)
    return Still(common, truth, start,
                 ["-gauss_xtal", "-refine", ALL, "-system", "tetragonal", "-likelihood", "gauss", "-gain",
                  "4", "-readout_noise", "6", "-adc", "40"],
                 {"misset": 0.008, "cell": 0.02, "N": 0.3})


ROWS = {"still": still, "triclinic": triclinic,
        "weak": lambda seed: still(seed, random.Random(seed).uniform(2, 3), 2e25, (0.01, 0.015),
                                   (0.025, 0.06, 1.0)),
        "geometry": geometry, "large": large, "gaussian": gaussian,
        "far": lambda seed: still(seed, 5.0)}
