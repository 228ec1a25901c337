# SPDX-License-Identifier: MIT
"""A picture in photons: usable pixels, and positions of spots."""
import numpy as np

from . import _background

FILE, SATURATED, HOT, SHADOW, RING, FOREIGN = range(1, 7)  # reasons why pixels are masked; 0: the pixel is used
KINDS = {FILE: "file", SATURATED: "saturated", HOT: "hot", SHADOW: "shadow", RING: "ring", FOREIGN: "foreign"}
MAX_NEGATIVE = 0.001  # largest part of negative pixels without a notice
PEAK_SIGMA, PEAK_HALF, MAX_PEAKS = 6, 2, 2000
AROUND = 6  # pixels around the box of a peak, for its background


class Picture:
    """Photons of a picture for a simulation (_nanobragg.Sim); arrays [stack] of panels.

    photons: NaN at unobserved pixels.  full: least photons of a saturated pixel, or NaN.
    stol: sin theta/lambda, 1/A.  masked: reason.  sigma: read-out noise, photons."""

    def __init__(self, sim, image, options, notice):
        fast, slow = sim.size
        self.shape, self.n = (slow, fast), slow * fast
        ends = np.cumsum([rows * columns for _, rows, columns in sim.panels]).tolist()
        self.panels = [(slice(end - rows * columns, end), rows, columns) for end, (_, rows, columns) in zip(ends, sim.panels)]
        self.photons, self.full, self.stol = (np.empty(self.n, dtype=np.float32) for _ in range(3))
        self.masked = np.empty(self.n, dtype=np.uint8)
        pixels = np.ascontiguousarray(image, dtype=np.float32)
        rows, columns = pixels.shape if pixels.ndim == 2 else (0, 0)
        left_out = getattr(image, "left_out", None)
        self.sigma = sim.photons(pixels, columns, rows, getattr(image, "format", "float"), getattr(image, "pedestal", 0.0),
                                 None if left_out is None else np.ascontiguousarray(left_out), options.dmin, options.dmax,
                                 self.photons, self.full, self.stol, self.masked)
        self.knots = options.knots
        self._check(options, notice)
        self.forget()

    def _check(self, options, notice):
        used = ~np.isnan(self.photons)
        if not used.any():
            raise ValueError("no pixel is left to fit: mask, -roi, -saturation, -fit_dmin and -fit_dmax exclude all")
        stol = self.stol[used]
        self.low, self.high = float(stol.min()), float(stol.max())
        if not options.gauss:
            negative = self.photons < 0
            part = negative.sum() / used.sum()
            self.photons[negative] = 0
            if part > MAX_NEGATIVE:
                notice(f"{100 * part:.3g} % of the pixels are below 0 photons and count as 0: check -adc and -gain, or use "
                       "-likelihood gauss")

    def forget(self):
        """Forget results of the earlier photons."""
        self._radials, self._used = {}, None

    @property
    def used(self):
        """Indices [n] of the observed pixels."""
        if self._used is None:
            self._used = np.flatnonzero(~np.isnan(self.photons))
        return self._used

    def radial(self, high=None, n=None):
        """Radial background of the picture up to sin theta/lambda `high`, 1/A."""
        key = (min(high or self.high, self.high), n or self.knots)
        if key not in self._radials:
            self._radials[key] = _background.estimate(self.photons[self.used], self.stol[self.used], self.low, *key)
        return self._radials[key]

    def leave_out(self, at, why):
        self.photons[at] = self.full[at] = np.nan
        self.masked[at] = why
        self.forget()

    def box(self, values, at, half):
        """Boxes [n, side, side] of values [stack] around `at` [n]; NaN outside the
        panel."""
        out = np.full((len(at), 2 * half + 1, 2 * half + 1), np.nan, dtype=values.dtype)
        steps = np.arange(-half, half + 1)
        for part, rows, columns in self.panels:
            mine = slice(None) if len(self.panels) == 1 else np.flatnonzero((at >= part.start) & (at < part.stop))
            s, f = np.divmod(at[mine] - part.start, columns)
            s, f = s[:, None] + steps, f[:, None] + steps
            inside = ((s >= 0) & (s < rows))[:, :, None] & ((f >= 0) & (f < columns))[:, None, :]
            place = part.start + np.clip(s, 0, rows - 1)[:, :, None] * columns + np.clip(f, 0, columns - 1)[:, None, :]
            out[mine] = np.where(inside, values[place], values.dtype.type(np.nan))
        return out


def tops(box):
    """True for boxes [n, side, side] whose middle is the (first) largest value."""
    rows = box.reshape(len(box), box.shape[1] * box.shape[2])
    middle = rows.shape[1] // 2
    own = rows[:, middle:middle + 1]
    return ~((rows > own).any(axis=1) | (rows[:, :middle] == own).any(axis=1))


def excess_sigma(counts, level, sigma):
    """Excess of counts n over level b, in sigma of a normal distribution with the Poisson
    tail: sqrt(2 (n ln(n/b) - n + b)).  Read-out noise adds its variance."""
    level = np.maximum(level, 1e-6)
    if sigma > 0:
        return (counts - level) / np.sqrt(level + sigma * sigma)
    n = np.maximum(counts, level)
    return np.sqrt(2 * np.maximum(n * np.log(n / level) - n + level, 0))


class Peaks:
    """Local maxima above the background, the strongest first: at [n] (brightest pixels),
    light [n] (photons above background), q [n, 3] (scattering vectors, 1/m)."""

    def __init__(self, sim, picture):
        at, light, centre = find(picture)
        order = np.lexsort((at, -light))[:MAX_PEAKS]
        self.at, self.light = at[order], light[order]
        self.q, _ = places(sim, self.at, centre[order])

    def __len__(self):
        return len(self.at)


def places(sim, at, offsets):
    """(scattering vectors [n, 3], 1/m, nearest reflections int32 [n, 3]) of pixels `at`
    [n] with offsets [n, 2] (pixels, fast and slow, from the corner of the pixel)."""
    q, hkl = np.empty((len(at), 3)), np.empty((len(at), 3), dtype=np.int32)
    sim.places(np.ascontiguousarray(at, dtype=np.int64), np.ascontiguousarray(offsets, dtype=float), q, hkl, len(at))
    return q, hkl


def _local_level(picture, at, level, half):
    """Background of peaks: level of the ring, or mean around the box if it is larger."""
    around = picture.box(picture.photons, at, half + AROUND)
    around[:, AROUND:-AROUND, AROUND:-AROUND] = np.nan
    seen = (~np.isnan(around)).sum(axis=(1, 2))
    return np.maximum(level, np.nansum(around, axis=(1, 2)) / np.maximum(seen, 1) * (seen > 0))


def find(picture):
    """Peaks: (at [n], light [n], centre [n, 2] in pixels from the corner of pixel `at`).

    A peak is the brightest pixel of its box, 6 sigma of a normal distribution (by Poisson
    tails) above background.  With 0.01 photons per pixel 2 counts are chance, 3 not."""
    at = picture.used
    counts, level = picture.photons[at], picture.radial().at(picture.stol[at])
    likely = np.flatnonzero(counts > level + 1)
    likely = likely[excess_sigma(counts[likely].astype(float), level[likely], picture.sigma) > PEAK_SIGMA]
    at, level = at[likely], level[likely]
    box = picture.box(picture.photons, at, PEAK_HALF)
    top = tops(box)
    at, level, box = at[top], level[top], box[top]
    level = _local_level(picture, at, level, PEAK_HALF)
    high = excess_sigma(picture.photons[at].astype(float), level, picture.sigma) > PEAK_SIGMA
    at, level, box = at[high], level[high], box[high]
    light = np.nan_to_num(np.maximum(box - level[:, None, None], 0))
    total = light.sum(axis=(1, 2), dtype=float)
    steps = np.arange(-PEAK_HALF, PEAK_HALF + 1) + 0.5
    centre = np.stack([(light.sum(axis=1) * steps).sum(axis=1), (light.sum(axis=2) * steps).sum(axis=1)], axis=1)
    return at, total, centre / total[:, None]
