# SPDX-License-Identifier: MIT
"""Gate: compare every timed image with the scalar renderer in double precision."""

import time

import numpy as np

from .report import OTHERS_CORRELATION, OTHERS_ERROR

# (1 - correlation, largest error / brightest pixel): limits of the golden suite
# (physics.md, section 21).  Other programs may use float32, which differs by 0.08 at a spot.
BOUNDS = {"double": (1e-12, 2e-7), "mixed": (1e-11, 1e-6), None: (OTHERS_CORRELATION, OTHERS_ERROR)}
MAX_BANDS, FEWEST_ROWS = 64, 4
NOTHING = (np.nan, np.nan, np.nan)


def compare(image, reference):
    """(correlation, max |A - B| / max B, mean |A - B|/B over pixels with B > 1e-6 max
    B).  NaN if an image is flat or not finite."""
    a, b = (np.asarray(x, dtype=np.float64).reshape(-1) for x in (image, reference))
    if not a.size or not np.isfinite(a).all() or not np.isfinite(b).all():
        return NOTHING
    difference, brightest = np.abs(a - b), b.max()
    worst = difference.max()
    if worst == 0:
        return 1.0, 0.0, 0.0
    da, db = a - a.mean(), b - b.mean()
    bright = b > 1e-6 * brightest
    with np.errstate(invalid="ignore", divide="ignore"):
        return (min(1.0, float(da @ db / np.sqrt((da @ da) * (db @ db)))), float(worst / brightest),
                float((difference[bright] / b[bright]).mean()) if bright.any() else 0.0)


def is_right(figures, bounds):
    """True if the figures keep the bounds; False for NaN."""
    return 1 - figures[0] <= bounds[0] and figures[1] <= bounds[1]


def worse(a, b):
    """Return the worse value of each figure of a and b; NaN is the worst."""
    return tuple(float(how(x, y)) for how, x, y in zip((np.minimum, np.maximum, np.maximum), a, b))


def bands(fast, slow, steps, budget):
    """(first rows, rows of each) of bands spread evenly over the image, with about
    `budget` steps and at least four rows."""
    rows = int(min(max(budget / (fast * steps), FEWEST_ROWS), slow))
    if rows >= slow:
        return [0], slow
    count = min(rows, MAX_BANDS)
    each = rows // count
    return [i * (slow - each) // max(count - 1, 1) for i in range(count)], each


class Reference:
    """Rows of the image of a job, rendered by the scalar renderer."""

    def __init__(self, job, budget):
        began = time.monotonic()
        self.job = job.but(device="cpu", isa="scalar", precision="double", threads=0, reports=False)
        sim = self.job.simulation()
        self.slow, fast = sim.shape
        self.steps = int(sim.config["sampling"]["steps_per_pixel"])
        self.first, self.each = bands(fast, self.slow, self.steps, budget)
        self.pixels = np.empty((len(self.first), self.each, fast), dtype=np.float32)
        whole = np.empty((self.slow, fast), dtype=np.float32)
        for pixels, row in zip(self.pixels, self.first):
            self.job.but(row=row, rows=self.each).simulation().render(out=whole)
            pixels[:] = whole[row:row + self.each]
        self.seconds = time.monotonic() - began

    @property
    def rows(self):
        return len(self.first) * self.each

    def check(self, image):
        """Figures of an image; NaN if a pixel was not written."""
        image = np.asarray(image).reshape(self.slow, -1)
        if not np.isfinite(image).all():
            return NOTHING
        correlation, error, mean = compare([image[row:row + self.each] for row in self.first], self.pixels)
        # errors are relative to the brightest pixel, which may be between the bands
        share = self.pixels.max() / image.max() if len(self.first) > 1 and image.max() > 0 else 1.0
        return correlation, error * min(1.0, float(share)), mean


def timed(call, **keywords):
    """(result, seconds) of a call."""
    began = time.monotonic()
    result = call(**keywords)
    return result, time.monotonic() - began
