# SPDX-License-Identifier: MIT
"""Pictures of -plots as SVG: spots, residuals, resolution, loss and masks of a fit."""
import math
import os

import numpy as np

from .._images import write
from .._plot import Chart, image, svg, words
from ._picture import FILE, FOREIGN, HOT, RING, SATURATED, SHADOW

BLUE, ORANGE, PALE = "#0072b2", "#d55e00", "#a0c8e6"
SHOWN, HALF, DOT, GAP = 6, 8, 6, 10  # number of spots; pixels to each side of a spot; sizes in screen pixels
SIDE, MASK_SIDE = (2 * HALF + 1) * DOT + GAP, 1000
MASKS = {FILE: ("file", (90, 90, 90)), SATURATED: ("saturated", (230, 159, 0)), HOT: ("hot", (213, 0, 0)),
         SHADOW: ("shadow", (0, 114, 178)), RING: ("ring", (0, 158, 115)), FOREIGN: ("foreign", (204, 121, 167))}
SIGNS = ((8, 48, 140), (90, 150, 220), (255, 255, 255), (230, 110, 80), (150, 8, 20))  # colours from -1 to 1


def _colours(values, stops):
    """Colours uint8 [..., 3] of values from 0 to 1; grey for NaN."""
    at = np.linspace(0, 1, len(stops))
    out = np.stack([np.interp(values, at, [stop[c] for stop in stops]) for c in range(3)], axis=-1)
    return np.where(np.isfinite(values)[..., None], out, 200).astype(np.uint8)


def _greys(photons, scale):
    return _colours(np.sqrt(np.maximum(0, photons / scale)), ((255, 255, 255), (0, 0, 0)))


def shells(r, residual, n):
    """[(1/d in 1/A, rms residual)] of used pixels, in n shells; empty shells are left out."""
    at, far = 2 * r.stol[r.used], 2 * float(r.stol[r.used].max(initial=0))
    good = np.isfinite(residual)
    k = np.minimum(n - 1, at[good] / far * n).astype(np.intp)
    count, sums = np.bincount(k, minlength=n), np.bincount(k, residual[good].astype(float) ** 2, n)
    return [((i + 0.5) * far / n, math.sqrt(sums[i] / count[i])) for i in np.flatnonzero(count)]


def logs(r):
    """[(number, log10 of the loss per pixel)] of all evaluations."""
    return [(i + 1, math.log10(max(loss, 1e-9))) for i, loss in enumerate(r.history)]


def _box(plane, pixel):
    out = np.full((2 * HALF + 1, 2 * HALF + 1), np.nan)
    f, s = (p - HALF for p in pixel)
    part = plane[max(0, s):s + len(out), max(0, f):f + len(out)]
    out[max(0, -s):, max(0, -f):][:part.shape[0], :part.shape[1]] = part
    return out


def _spots(r):
    block = 3 * SIDE + 3 * GAP
    parts = [words(GAP, 26 + SHOWN * SIDE + 18, "Grey: square root of photons, the same scale in both; residual: red +5 sigma, blue -5 sigma")]
    for head, at, spots in (("Strongest spots", GAP, r.spots), ("Worst spots", GAP + block, sorted(r.spots, key=lambda s: -s["chi2"]))):
        parts += [words(at + k * SIDE, 16, text) for k, text in enumerate((head, "Model", "Residual"))]
        for k, s in enumerate(spots[:SHOWN]):
            y, scale = 26 + k * SIDE, max(1, s["model"], s["observed"])
            boxes = [_greys(_box(plane, s["pixel"]), scale) for plane in (r.observed, r.model)]
            boxes.append(_colours(_box(r.residual, s["pixel"]) / 10 + 0.5, SIGNS))
            parts += [image(at + i * SIDE, y, box, DOT) for i, box in enumerate(boxes)]
            parts.append(words(at, y + SIDE - 1, "{} {} {} at {} {}".format(*s["hkl"], *s["pixel"]), size=9))
    return svg(2 * block + GAP, 26 + SHOWN * SIDE + 30, parts)


def _residuals(r):
    off = r.residual[r.used & np.isfinite(r.residual)]
    counts, edges = np.histogram(off, 60, (-6, 6))
    density = counts / max(1, len(off)) / (edges[1] - edges[0])
    chart = Chart("Residuals and the normal curve", "(observed - model)/sigma", "density", (-6, 6), (0, 1.05 * max(0.42, density.max())))
    chart.add_bars(edges, density, PALE)
    chart.add([(x, math.exp(-x * x / 2) / math.sqrt(2 * math.pi)) for x in np.linspace(-6, 6, 241)], ORANGE)
    return chart.text()


def _resolution(r):
    points, far = shells(r, r.residual[r.used], 20), 2 * float(r.stol[r.used].max(initial=1e-9))
    chart = Chart("Residuals by resolution; 1 is counting alone", "1/d (1/Å)", "rms residual", (0, far), (0, max(1.5, *(1.1 * y for _, y in points), 0)))
    chart.add([(0, 1), (far, 1)], ORANGE)
    chart.add(points, BLUE, mark="o")
    return chart.text()


def _loss(r):
    chart = Chart("Loss of all stages", "evaluation", "log10 of loss a pixel", (0, len(r.history) + 1))
    chart.add(logs(r), BLUE, line="", mark="o")
    return chart.text()


def _masked(r):
    """Picture with coloured masks. A block of pixels shows its rarest mask, or without masks its
    brightest pixel."""
    by = math.ceil(max(r.mask.shape) / MASK_SIDE)
    scale = max(1, 10 * float(np.nanmean(r.observed)) if np.isfinite(r.observed).any() else 0)
    rank = np.array([0, *(8 * {HOT: 3, FOREIGN: 2}.get(kind, 1) + kind for kind in MASKS)])
    blocks = lambda a: np.maximum.reduceat(np.maximum.reduceat(a, np.arange(0, a.shape[0], by), 0), np.arange(0, a.shape[1], by), 1)  # noqa: E731
    rgb, why = _greys(blocks(np.nan_to_num(r.observed)), scale), blocks(rank[r.mask]) % 8
    height, parts, x = len(rgb), [], 4
    for kind, (name, colour) in MASKS.items():
        rgb[why == kind] = colour
        parts.append(f'<rect x="{x}" y="{height + 6}" width="10" height="10" fill="rgb{colour}"/>' + words(x + 14, height + 15, name, size=11))
        x += 24 + 7 * len(name)
    return svg(max(rgb.shape[1], x), height + 22, [image(0, 0, rgb), *parts])


def plots(r, folder):
    """Make a folder with spots, residuals, resolution, loss and masked .svg files."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as why:
        raise OSError(f"-plots: cannot make {folder}: {why.strerror}") from None
    for name, draw in (("spots", _spots), ("residuals", _residuals), ("resolution", _resolution), ("loss", _loss), ("masked", _masked)):
        write(os.path.join(folder, name + ".svg"), draw(r))
