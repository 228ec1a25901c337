#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Maps of measured backgrounds: tiles of 65 x 60 pixels agree with the counts, no spot is left, and -add adds the map."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, need, ok, run  # noqa: E402

numpy, h5py, extract = need("numpy"), need("h5py"), need("nanobragg.extract")

DATA = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "real")
TILE = 65, 60  # pixels along slow and fast


def tiles(counts, level, used):
    """Deviation of the mean of each tile, in its counting noise."""
    for s in range(0, counts.shape[0], TILE[0]):
        for f in range(0, counts.shape[1], TILE[1]):
            at = numpy.s_[s:s + TILE[0], f:f + TILE[1]]
            there = used[at]
            if there.sum() > 0.3 * TILE[0] * TILE[1]:
                light = level[at][there].sum()
                yield (counts[at][there].sum() - light) / max(light, 1) ** 0.5


def compare(name, counts):
    """Make the map by the program, and compare it with the counts (NaN: no value)."""
    slow, fast = counts.shape
    size = ["-detpixels_x", fast, "-detpixels_y", slow, "-pixel", 0.172]
    counts.astype("<f4").tofile("frame.bin")
    run("extract", "frame.bin", "map.bin", *size, "-quiet")
    level = numpy.fromfile("map.bin", "<f4").reshape(counts.shape)
    valid = numpy.isfinite(counts)
    seen = numpy.where(valid, counts, 0)
    spot = extract.spots(seen, level, valid)
    off = numpy.array(list(tiles(seen, level, valid & ~spot)))
    rms, near = float((off ** 2).mean() ** 0.5), float((abs(off) < 2).mean())
    print(f"# {name}: {len(off)} tiles, r.m.s. {rms:.2f} of the counting noise, {100 * near:.1f} % within twice")
    ok(f"{name}-tiles", rms < 1.3 and near > 0.93, (rms, near, abs(off).max()))
    left = extract.spots(level.astype(float), level, numpy.ones(level.shape, bool), sigma=5)
    ok(f"{name}-no-spot-is-left", not left.any() and spot.any(), int(left.sum()))
    run(*size, "-default_F", 0, "-cell", 100, "-N", 1, "-add", "map.bin", "-floatfile", "made.bin", "-noint", "-nonoise", "-nopgm", "-quiet")
    ok(f"{name}-add", (numpy.fromfile("made.bin", "<f4") == level.ravel()).all())


def lcysteine():
    with h5py.File(f"{DATA}/lcysteine/sweep_02.h5") as file:
        counts = file["sum"][:].astype(float)
    counts[counts < 0] = numpy.nan
    return counts


def shadowed():
    """Made counts: a ring, the shadow of an arm with a sharp edge, spots, a hot pixel."""
    draw = numpy.random.default_rng(1)
    slow, fast = numpy.indices((500, 600))
    r = numpy.hypot(slow - 250, fast - 300)
    level = 3 + 8 * numpy.exp(-((r - 120) / 25) ** 2)
    level[(fast > 350) & (abs(slow - 250 - 0.1 * fast) < 40)] *= 0.3
    for s, f in draw.integers(10, 490, (60, 2)):
        level = level + 60 * numpy.exp(-((slow - s) ** 2 + (fast - f) ** 2) / 6)
    counts = draw.poisson(level).astype(float)
    counts[100, 100] = 1e4
    counts[:, 290:297] = numpy.nan
    return counts


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    compare("shadow", shadowed())
    compare("lcysteine", lcysteine())
    os.chdir("/")
sys.exit(1 if FAILED else 0)
