# SPDX-License-Identifier: MIT
"""Plot how intensities fall with dose: a damaged series divided by the same series without damage.

usage: python3 dose_plot.py FRESH.h5 DAMAGED.h5 PLOT.svg   (both with -truth spots and the same -seed)
"""
import sys

import h5py
import numpy as np

SHELLS = [(4.0, 20.0, "#1f5fb4"), (2.7, 4.0, "#c77700"), (2.0, 2.7, "#c0392b")]  # d from, to (A), colour
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 620, 380, 70, 60, 20


def shells(master):
    """Photons of each shell and frame, and the dose (MGy) of each frame if there is one."""
    with h5py.File(master) as h5:
        truth = h5["/entry/simulation"]
        rows = truth["reflections/table"][...]
        n = len(truth["phi"])
        dose = truth["dose"][...] if "dose" in truth else None
    photons = [np.bincount(rows["frame"].astype(int), rows["intensity"] * ((rows["d"] >= low) & (rows["d"] < high)), n)
               for low, high, _ in SHELLS]
    return np.array(photons), dose


def expected(master, dose, b=1.0):
    """exp(-b D / (2 d^2)) of the fresh reflections, by photons; b is -damage_B in A^2/MGy."""
    with h5py.File(master) as h5:
        rows = h5["/entry/simulation/reflections/table"][...]
    kept = [rows[(rows["d"] >= low) & (rows["d"] < high)] for low, high, _ in SHELLS]
    return [[np.average(np.exp(-b * x / (2 * r["d"] ** 2)), weights=r["intensity"]) for x in dose] for r in kept]


def place(dose, ratio, most):
    return LEFT + dose / most * (WIDTH - LEFT - 120), HEIGHT - BOTTOM - ratio * (HEIGHT - BOTTOM - TOP)


def text(x, y, words, anchor="middle", colour="#222222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def draw(dose, ratios, lines):
    most = float(np.ceil(dose[-1]))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           f'font-size="14"><rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    for i in range(6):
        (x0, y), (x1, _) = place(0, i / 5, most), place(most, i / 5, most)
        x, y0 = place(most * i / 5, 0, most)
        out += [f'<line x1="{x0}" y1="{y:.1f}" x2="{x1:.1f}" y2="{y:.1f}" stroke="#d5dbe3"/>',
                text(x0 - 8, y + 5, f"{i / 5:.1f}", "end"), text(x, y0 + 20, f"{most * i / 5:g}")]
    out += [text(place(most / 2, 0, most)[0], HEIGHT - 14, "dose, MGy"),
            f'<text transform="translate(20 {HEIGHT / 2 - 20}) rotate(-90)" text-anchor="middle">'
            'intensity, of the fresh crystal</text>']
    for (low, high, colour), ratio, line in zip(SHELLS, ratios, lines):
        at = [place(d, r, most) for d, r in zip(dose, line)]
        out.append('<polyline fill="none" stroke="%s" points="%s"/>' % (
            colour, " ".join(f"{x:.1f},{y:.1f}" for x, y in at)))
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
                for x, y in (place(d, r, most) for d, r in zip(dose, ratio))]
        out.append(text(at[-1][0] + 10, at[-1][1] + 5, f"{low:g} to {high:g} A", "start", colour))
    return "\n".join(out + ["</svg>", ""])


def main():
    fresh, damaged, plot = sys.argv[1:]
    (before, _), (after, dose) = shells(fresh), shells(damaged)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = after / before
    with open(plot, "w", encoding="utf-8") as f:
        f.write(draw(dose, ratios, expected(fresh, dose)))
    for (low, high, _), ratio in zip(SHELLS, ratios):
        print(f"{low:g} to {high:g} A: {ratio[0]:.3f} at {dose[0]:g} MGy, {ratio[-1]:.3f} at {dose[-1]:g} MGy")


if __name__ == "__main__":
    main()
