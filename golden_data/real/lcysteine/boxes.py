# SPDX-License-Identifier: MIT
"""Eight strong spots of sweep 02 and a simulated image of the whole sweep.

usage: python3 boxes.py IMAGE SHEET
  IMAGE  floats, 1475 x 1679 pixels
  SHEET  floats to write, 1024 x 384 pixels for nanobragg view: measured, simulated, and the difference
"""
import os
import sys

import h5py
import numpy

SIDE, SHOWN, ZOOM, GAP = 21, 8, 6, 2  # pixels of a box; boxes; pixels of the sheet for one; between boxes


def tile(box):
    return numpy.pad(numpy.kron(box, numpy.ones((ZOOM, ZOOM))), ((0, GAP), (0, GAP)))


def main(path, sheet):
    here = os.path.dirname(os.path.abspath(__file__))
    with h5py.File(os.path.join(here, "sweep_02.h5")) as h5:
        corners, boxes = h5["corner_fast_slow"][...], h5["boxes"][...]
    image = numpy.fromfile(path, "<f4").reshape(1679, 1475)
    whole = [k for k in range(len(boxes)) if boxes[k].min() >= 0]
    chosen = []
    for k in sorted(whole, key=lambda k: -boxes[k].sum()):
        if len(chosen) < SHOWN and all(abs(corners[k] - corners[j]).max() > 5 for j in chosen):
            chosen.append(k)
    real = [boxes[k].sum(0) - numpy.median(boxes[k].sum(0)) for k in chosen]
    made = [image[y:y + SIDE, x:x + SIDE] for x, y in corners[chosen]]
    scale = sum(r.sum() for r in real) / sum(m.sum() for m in made)
    print("fast slow  measured  simulated (counts of the box)  correlation of its pixels")
    for k, r, m in zip(chosen, real, made):
        print("%4d %4d %9.0f %10.0f %45.2f" % (*(corners[k] + SIDE // 2), r.sum(), scale * m.sum(),
                                              numpy.corrcoef(r.ravel(), m.ravel())[0, 1]))
    rows = ([r / r.max() for r in real], [scale * m / r.max() for r, m in zip(real, made)],
            [abs(r - scale * m) / r.max() for r, m in zip(real, made)])
    numpy.concatenate([numpy.concatenate([tile(numpy.maximum(b, 0)) for b in row], 1) for row in rows]
                      ).astype("<f4").tofile(sheet)


main(*sys.argv[1:])
