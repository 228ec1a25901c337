# SPDX-License-Identifier: MIT
"""Radial background of a picture, from the levels of rings."""
import typing

import numpy as np

FEW_COUNTS = 4  # if the median is smaller, it is too coarse, and the mean of faint pixels is used
LEAST_LEVEL = 1e-3  # photons; least level of a ring


class Radial(typing.NamedTuple):
    """Background linear in sin theta/lambda; knots [n], 1/A; levels [n], photons."""

    knots: np.ndarray = np.zeros(0)
    levels: np.ndarray = np.zeros(0)

    def at(self, stol):
        return np.interp(stol, self.knots, self.levels) if len(self.knots) else np.zeros(np.shape(stol))


def level_of(counts):
    """Level of the background under spots, photons, from the counts of pixels."""
    if not counts.size:
        return 0.0
    median = float(np.partition(counts, counts.size // 2)[counts.size // 2])
    if median >= FEW_COUNTS:
        return median
    faint = counts[counts <= median + 3 * np.sqrt(max(median, 0) + 1)]
    return max(float(faint.mean(dtype=float)) if faint.size else 0.0, LEAST_LEVEL)


def _fill(levels):
    """Fill levels of rings without pixels, from the last ring before them or the first
    ring that has pixels."""
    seen = np.flatnonzero(levels > 0)
    if len(seen):
        levels = levels[seen[np.maximum(np.searchsorted(seen, np.arange(len(levels)), side="right") - 1, 0)]]
    return np.maximum(levels, LEAST_LEVEL)


def estimate(counts, stol, low, high, n):
    """Radial of n knots from `low` to `high`, with the levels of the rings around knots.
    counts, stol: [observed pixels]."""
    inside = stol <= high
    if not inside.all():
        counts, stol = counts[inside], stol[inside]
    step = (high - low) / (n - 1) if n > 1 else 1.0
    knots = low + step * np.arange(n)
    edges = (knots[:-1] + step / 2).astype(np.float32)
    rings = np.searchsorted(edges, stol, side="right").astype(np.uint8)
    return Radial(knots, _fill(np.array([level_of(counts[rings == k]) for k in range(n)])))
