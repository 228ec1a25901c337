# SPDX-License-Identifier: MIT
"""Masks for pixels that the crystal does not explain: hot pixels, shadow of a beam stop,
rings and spots of ice (docs/refine.md)."""
import numpy as np

from . import _lattice
from ._picture import FOREIGN, HOT, KINDS, RING, SHADOW

# Hot pixels. A spot has light in several pixels, because of the point spread and the
# crystal's size.
LEAST_SPREAD = 0.05  # least median spread of spots; sharper spots are like hot pixels
HOT_SPREAD = 0.1  # a hot pixel has less than this fraction of that median
HOT_SIGMA, HOT_PHOTONS = 20, 50  # least height above the background
FULL_AROUND = 0.005  # least light around a saturated spot, divided by the limit of the pixel
ENOUGH_SPOTS, LEAST_AROUND = 20, 5  # least number of spots for the median, and of neighbours for a spread
# Shadows: tiles with much less light than their ring.
SHADOW_PART, SHADOW_SIGMA, TILE = 0.35, 8, 8  # polarization leaves at least 0.5 of the light
# Rings of ice: narrow steps of the radial profile.
RINGS, LEAST_PIXELS, MAX_WINDOW = 400, 200, 60
CORE, WINDOW, WIDEST = 0.02, 0.07, 0.04  # parts of the radius: core; base; widest ring
RING_RISE, RING_EDGE, RING_SIGMA = 1.25, 1.08, 8  # least ratio of top and edges to the base; least sigma
# Foreign spots: least index error; largest rank / number of indexed peaks; largest model
# / light; least sigma; half edge of the box.
FOREIGN_INDEX, FOREIGN_PART, FOREIGN_MODEL, FOREIGN_SIGMA, FOREIGN_HALF = 0.3, 0.1, 0.1, 2, 40


def mask(picture, kind):
    """Leave out hot pixels, shadows and (without water in the scene) rings."""
    under = picture.radial()
    _mask_full(picture, under)
    _mask_hot(picture, under)
    dark = np.concatenate([_shadow(picture, under, *panel) for panel in picture.panels])
    picture.leave_out(np.flatnonzero(dark & ~np.isnan(picture.photons)), SHADOW)
    return _find_rings(picture, under) if kind != "water" else []


def _spread(picture, at, level, own):
    """(mean light around pixels / light of the pixel, light of the brightest neighbour).
    The mean excludes the brightest neighbour; NaN with few neighbours."""
    box = picture.box(picture.photons, at, 1).reshape(len(at), 9).astype(float) - level[:, None]
    box[:, 4] = np.nan
    n = (~np.isnan(box)).sum(axis=1)
    top = np.max(np.nan_to_num(box, nan=0.0), axis=1, initial=0)
    spread = (np.nansum(box, axis=1) - top) / np.maximum(n - 1, 1) / own
    return np.where(n < LEAST_AROUND, np.nan, spread), top


def _mask_full(picture, under):
    """Leave out saturated pixels between dark pixels, because they are not spots."""
    at = np.flatnonzero(~np.isnan(picture.full))
    spread, _ = _spread(picture, at, under.at(picture.stol[at]), picture.full[at].astype(float))
    picture.leave_out(at[spread < FULL_AROUND], HOT)


def _mask_hot(picture, under):
    """Leave out bright pixels whose neighbours are much darker than in spots."""
    at = picture.used
    level = under.at(picture.stol[at])
    own = picture.photons[at] - level
    bright = own > HOT_PHOTONS + HOT_SIGMA * np.sqrt(level + picture.sigma ** 2)
    at, level, own = at[bright], level[bright], own[bright]
    spread, top = _spread(picture, at, level, own)
    peaks = np.sort(spread[(top <= own) & ~np.isnan(spread)])
    usual = peaks[len(peaks) // 2] if len(peaks) >= ENOUGH_SPOTS else 0
    if usual > LEAST_SPREAD:
        picture.leave_out(at[spread < HOT_SPREAD * usual], HOT)


def _tiles(plane):
    """Sums of the tiles of a plane [slow, fast]."""
    rows, columns = (-(-n // TILE) for n in plane.shape)
    padded = np.zeros((rows * TILE, columns * TILE))
    padded[:plane.shape[0], :plane.shape[1]] = plane
    return padded.reshape(rows, TILE, columns, TILE).sum(axis=(1, 3))


def _shadow(picture, under, part, rows, columns):
    """Marks (flat) of the pixels of a panel in or near dark tiles."""
    photons = picture.photons[part].reshape(rows, columns)
    there = ~np.isnan(photons)
    seen = _tiles(np.where(there, photons, 0))
    expected = _tiles(np.where(there, under.at(picture.stol[part]).reshape(rows, columns), 0))
    noise = np.sqrt(expected + _tiles(there) * picture.sigma ** 2)
    dark = (seen < SHADOW_PART * expected) & (expected - seen > SHADOW_SIGMA * noise)
    near = np.zeros((rows, columns), dtype=bool)
    far = TILE // 2  # margin around dark tiles, because tiles at the edge of a shadow are half dark
    for y, x in np.argwhere(dark):
        near[max(0, y * TILE - far):(y + 1) * TILE + far, max(0, x * TILE - far):(x + 1) * TILE + far] = True
    return near.ravel()


def _base(level, n, k, bins):
    """Median of the levels around ring k without its core, or 0 with few levels."""
    core = int(max(2, np.ceil(CORE * bins)))
    window = int(min(MAX_WINDOW, max(core + 6, np.ceil(WINDOW * bins))))
    i = np.arange(max(0, k - window), min(RINGS, k + window + 1))
    i = i[(abs(i - k) > core) & (n[i] >= LEAST_PIXELS)]
    return np.sort(level[i])[len(i) // 2] if len(i) >= window - core else 0.0


def _runs(marks):
    """[[first, last + 1]] of runs of marked bins."""
    return np.flatnonzero(np.diff(np.concatenate([[0], marks, [0]]).astype(int))).reshape(-1, 2)


def _marked(level, base, n, first):
    """Marks of high rings that are narrower than those of liquids. first: number of bins
    before bin 0."""
    marked = np.zeros(RINGS, dtype=bool)
    edge = level > RING_EDGE * base
    tops = (n >= LEAST_PIXELS) & (base > 0) & (level > RING_RISE * base) & (
        level - base > RING_SIGMA * 1.25 * np.sqrt(level / np.maximum(n, 1)) + 0.5)
    for low, high in _runs(edge):
        top = np.flatnonzero(tops[low:high])
        if len(top) and high - low - 1 < max(3, WIDEST * (first + low + top[-1])):
            marked[low:high] = True
    return marked


def _find_rings(picture, under):
    """Leave out rings; returns their limits [[low, high]] in A."""
    step = max((picture.high - picture.low) / RINGS, 1e-12)
    at = picture.used
    counts, level = picture.photons[at], under.at(picture.stol[at])
    ring = np.clip(((picture.stol[at] - picture.low) / step).astype(int), 0, RINGS - 1)
    faint = counts <= 2 * level + 3 * np.sqrt(level) + 1
    n = np.bincount(ring[faint], minlength=RINGS)
    mean = np.bincount(ring[faint], counts[faint], minlength=RINGS) / np.maximum(n, 1)
    first = picture.low / step
    base = np.array([_base(mean, n, k, first + k) for k in range(RINGS)])
    marked = _marked(mean, base, n, first)
    if marked.any():
        picture.leave_out(at[marked[ring]], RING)
    return [[1 / (2 * (picture.low + high * step)), 1 / (2 * (picture.low + low * step))] for low, high in _runs(marked)][:12]


def _joined(picture, under, at):
    """Indices of bright pixels that are connected to a peak, and of their neighbours."""
    counts = picture.box(picture.photons, np.array([at]), FOREIGN_HALF)[0]
    level = under.at(picture.box(picture.stol, np.array([at]), FOREIGN_HALF)[0])
    with np.errstate(invalid="ignore"):
        above = counts > level + FOREIGN_SIGMA * np.sqrt(level + picture.sigma ** 2) + 1
    core = np.zeros_like(above)
    core[FOREIGN_HALF, FOREIGN_HALF] = True
    while True:
        near = core.copy()
        for by, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            near |= np.roll(core, by, axis)
        near[[0, -1]] = near[:, [0, -1]] = False
        grown = core | (near & above)
        if (grown == core).all():
            break
        core = grown
    part, _, columns = next(p for p in picture.panels if p[0].start <= at < p[0].stop)
    s, f = np.argwhere(near & ~np.isnan(counts)).T - FOREIGN_HALF
    return at + s * columns + f


def mask_foreign(fit):
    """Leave out strong spots that neither lattice nor model explains. Returns their
    indices."""
    picture, peaks = fit.picture, fit.peaks
    off = _lattice.index_error(_lattice.steps(fit.sim), peaks.q)
    indexed = np.sort(peaks.light[off < FOREIGN_INDEX])[::-1]
    if not len(indexed):
        return []
    strong = (peaks.light > indexed[int(FOREIGN_PART * len(indexed))]) & (off >= FOREIGN_INDEX)
    strong &= ~np.isnan(picture.photons[peaks.at])
    if not strong.any():
        return []
    under, seen, found = picture.radial(), picture.used, []
    light = np.zeros(picture.n)
    light[seen] = np.maximum(fit.image(seen) - (under.at(picture.stol[seen]) if fit.kind == "water" else 0), 0)
    for at, total in zip(peaks.at[strong], peaks.light[strong]):
        if np.isnan(picture.photons[at]) or np.nansum(picture.box(light, np.array([at]), 2)) / total > FOREIGN_MODEL:
            continue
        picture.leave_out(_joined(picture, under, at), FOREIGN)
        under = fit.picture.radial()
        found.append(at)
    fit.at = fit.at[~np.isnan(picture.photons[fit.at])]
    return found[:32]


class Masks:
    """Masks of a picture, for another fit and for the report."""

    def __init__(self, fit):
        self.at = np.flatnonzero(fit.picture.masked >= HOT)
        self.why, self.rings, self.foreign = fit.picture.masked[self.at], fit.rings, fit.foreign
        self.summary = summary(fit)

    def put(self, picture):
        picture.leave_out(self.at, self.why)
        return self.rings, self.foreign


def summary(fit):
    """Numbers and positions of masked pixels for the report."""
    masked, fast = fit.picture.masked, fit.picture.shape[1]
    counts = np.bincount(masked, minlength=len(KINDS) + 1)
    out = {name: int(counts[kind]) for kind, name in KINDS.items()}
    places = lambda at: [[int(i % fast), int(i // fast)] for i in at]  # noqa: E731
    out["hot_pixels"] = places(np.flatnonzero(masked == HOT)[:32])
    shadow = np.flatnonzero(masked == SHADOW)
    if len(shadow):
        out["shadow_box"] = [int(v) for v in ((shadow % fast).min(), shadow[0] // fast, (shadow % fast).max(), shadow[-1] // fast)]
    out["rings_A"] = fit.rings
    out["foreign_spots"] = places(fit.foreign)
    return out
