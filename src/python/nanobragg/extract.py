# SPDX-License-Identifier: MIT
"""nanobragg extract FRAME MAP.bin: the background of a frame as it is, for -add."""
import sys

import numpy as np

SPOT_SIGMA = 4.5  # least height of a spot above all that is beside it
BOXES = (1, 3, 5, 9, 15)  # edges of the boxes that look for spots, pixels
TILES = {128: 0, 64: 0, 32: 1, 16: 1.5, 8: 2.5, 4: 3}  # edges of tiles, pixels; least residual that counts, sigma


def _box_sums(a, edge):
    """Sums of a [slow, fast] over the square of odd edge about each pixel."""
    half = edge // 2
    for axis in (0, 1):
        widths = [(half + 1, half) if k == axis else (0, 0) for k in (0, 1)]
        total = np.cumsum(np.pad(a, widths), axis=axis)
        a = total[edge:] - total[:-edge] if axis == 0 else total[:, edge:] - total[:, :-edge]
    return a


def _grown(mask, by):
    return _box_sums(mask.astype(np.float64), 2 * by + 1) > 0.5


def spots(photons, level, used, sigma=SPOT_SIGMA, variance=0.0):
    """True in boxes that are `sigma` above the level and above the boxes on all sides: a
    spot or a hot pixel, but not the edge of a shadow or a ring.  level: variance of the
    photons of a pixel; variance: that of the read-out."""
    found = np.zeros(photons.shape, dtype=bool)
    light, noise, ones = (np.where(used, a, 0.0) for a in (photons, level + variance, 1.0))
    for edge in BOXES:
        n = _box_sums(ones, edge)
        enough = n > 0.5 * edge * edge
        mean = np.where(enough, _box_sums(light, edge) / np.maximum(n, 1), -np.inf)
        error = np.where(enough, _box_sums(noise, edge) / np.maximum(n, 1) ** 2, 0.0)
        beside = np.full(photons.shape, -np.inf)
        step = edge + max(2, edge // 2)
        ways = [(s, f) for s in (-step, 0, step) for f in (-step, 0, step) if s or f]
        padded = np.pad(mean, step, constant_values=-np.inf)
        rows, columns = photons.shape
        for s, f in ways:
            beside = np.maximum(beside, padded[step + s:step + s + rows, step + f:step + f + columns])
        beside = np.maximum(beside, 0.0)
        # a count of few photons has a longer tail than its variance: the tail of Poisson
        higher = np.flatnonzero(mean > beside)
        seen = mean.flat[higher] * n.flat[higher]
        below = np.maximum(np.maximum(beside.flat[higher], (error * n).flat[higher]) * n.flat[higher], 1e-6)
        high = 2 * (seen * np.log(seen / below) - seen + below) > sigma * sigma
        if variance:
            high &= (mean - beside - sigma * np.sqrt(error)).flat[higher] > 0
        centre = np.zeros(photons.shape, dtype=bool)
        centre.flat[higher[high]] = True
        if centre.any():
            found |= _grown(centre, edge // 2 + 1)
    return found


def _tile_sums(a, edge):
    rows, columns = (-(-n // edge) * edge for n in a.shape)
    a = np.pad(a, ((0, rows - a.shape[0]), (0, columns - a.shape[1])))
    return a.reshape(rows // edge, edge, columns // edge, edge).sum(axis=(1, 3))


def _spread(tiles, edge, shape):
    """Bilinear between the middles of the tiles [rows, columns], to pixels of the shape."""
    for axis in (0, 1):
        at = (np.arange(shape[axis]) + 0.5) / edge - 0.5
        low = np.clip(np.floor(at).astype(int), 0, tiles.shape[axis] - 1)
        high = np.minimum(low + 1, tiles.shape[axis] - 1)
        part = np.clip(at - low, 0, 1).reshape([-1, 1] if axis == 0 else [1, -1])
        tiles = np.take(tiles, low, axis) * (1 - part) + np.take(tiles, high, axis) * part
    return tiles


def _excess_noise(light, weight, noise):
    """Noise of the photons in that of Poisson, at least 1: by second differences of tiles."""
    n = np.maximum(_tile_sums(weight, 8), 1)
    mean, error = _tile_sums(light, 8) / n, _tile_sums(noise, 8) / n ** 2
    there = n > 32
    bend = mean[:, :-2] - 2 * mean[:, 1:-1] + mean[:, 2:]
    sigma = np.sqrt(error[:, :-2] + 4 * error[:, 1:-1] + error[:, 2:])
    all_there = there[:, :-2] & there[:, 1:-1] & there[:, 2:] & (sigma > 0)
    return max(1.0, 1.4826 * float(np.median(np.abs(bend[all_there] / sigma[all_there])))) if all_there.any() else 1.0


def _fit(photons, used, variance):
    """Background of a panel: tiles, and finer tiles where the residual exceeds the noise."""
    weight = used.astype(np.float64)
    light = np.where(used, photons, 0.0)
    level = np.full(photons.shape, light.sum() / max(1.0, weight.sum()))
    scale = 1.0
    for edge, least in TILES.items():
        n = _tile_sums(weight, edge)
        there = n > 0.25 * edge * edge
        if edge == 16:
            scale = _excess_noise(light, weight, weight * (level + variance))
        for _ in range(3):
            rest = _tile_sums(light - weight * level, edge) / np.maximum(n, 1)
            error = np.sqrt(_tile_sums(weight * (np.maximum(level, 1e-3) + variance), edge)) / np.maximum(n, 1)
            kept = there & (np.abs(rest) > least * scale * error)
            if edge < 16:  # a lone tile is noise or a part of a spot
                kept &= _box_sums(kept.astype(np.float64), 3) > 2.5
            if not kept.any():
                break
            level += _spread(np.where(kept, rest, 0.0), edge, photons.shape)
            level = np.maximum(level, 0)
    return level


def background_map(photons, variance=0.0, rounds=3):
    """Smooth background of a panel: array [slow, fast], photons.

    photons: NaN at gaps and pixels without a value.  variance: of the read-out."""
    photons = np.asarray(photons, dtype=np.float64)
    valid = np.isfinite(photons)
    seen = np.where(valid, photons, 0.0)
    used = valid.copy()
    level = _fit(np.minimum(seen, _high(seen, valid)), used, variance)
    for _ in range(rounds):
        found = spots(seen, level, valid, variance=variance)
        again = valid & ~_grown(found, 1)
        if (again == used).all():
            break
        used = again
        level = _fit(seen, used, variance)
    return level


def _high(seen, valid):
    return np.percentile(seen[valid], 99) if valid.any() else 0


def main(words):
    """FRAME MAP.bin and flags of the simulation.  Returns the exit status."""
    from types import SimpleNamespace

    from . import _images, _nanobragg, _programs
    from ._simulation import Simulation
    from .refine import __main__ as line
    from .refine import _page
    from .refine._picture import Picture

    words, operands, flags, quiet = list(words), [], [], False
    while words:
        word = words.pop(0)
        name = word.lstrip("-")
        if not word.startswith("-"):
            operands.append(word)
        elif name == "quiet":
            quiet = True
        else:
            flags.append(line._borrowed(name, words))
    frame, out = operands
    try:
        sim = Simulation._of_words(flags, lambda text: None)._sim
        fast, slow = sim.size
        options = SimpleNamespace(dmin=0.0, dmax=0.0, knots=12, gauss=True)
        picture = Picture(sim, _images.of_file(_nanobragg.read_image(frame, fast, slow)), options, lambda text: None)
        level = np.empty(picture.n, dtype=np.float32)
        for part, rows, columns in picture.panels:
            panel = picture.photons[part].reshape(rows, columns)
            level[part] = background_map(panel, picture.sigma ** 2).ravel()
        _page.write(out, level.tobytes())
    except (ValueError, TypeError, OSError, MemoryError, NotImplementedError, RuntimeError) as error:
        _programs.say("error", error if str(error) else type(error).__name__)
        return line._status_of(error)
    if not quiet:
        print(f"{out}: a simulation adds this background, {level.sum(dtype=np.float64):.6g} photons, with -add {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
