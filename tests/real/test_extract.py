#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The background of the thaumatin still: the result of extract, simulated again, is the
measured background."""
import gzip
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, need, ok, run  # noqa: E402

numpy = need("numpy")

DATA = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "real", "thaumatin_still")
SIDE, CENTRE, PIXELS_WIDE = 1200, (599.6, 597.4), 50  # number of pixels and centre of the crop, and the width of a ring in pixels


def counts_of(data):
    """Pixels of a CBF file with byte offsets, [slow][fast]."""
    at, value, out = data.index(b"\x0c\x1a\x04\xd5") + 4, 0, numpy.empty(SIDE * SIDE)
    for k in range(len(out)):
        step = data[at]
        if step != 0x80:
            step, at = step - 256 * (step > 127), at + 1
        else:
            (step,), at = struct.unpack_from("<h", data, at + 1), at + 3
            if step == -32768:
                (step,), at = struct.unpack_from("<i", data, at), at + 4
        value += step
        out[k] = value
    return out.reshape(SIDE, SIDE)


def compare(folder):
    with gzip.open(f"{DATA}/thau_3_2_0003_crop.cbf.gz") as stream:
        data = stream.read()
    frame, table, made = (os.path.join(folder, name) for name in ("frame.cbf", "background.stol", "made.bin"))
    with open(frame, "wb") as stream:
        stream.write(data)
    amount = ["-expt", f"{DATA}/0003_crop.expt", "-amorphous_thick", 0.1, "-beamsize", 0.02, "-fluence", 1e20, "-quiet"]
    run("extract", frame, table, *amount)
    run(*amount, "-stol", table, "-default_F", 0, "-N", 1, "-floatfile", made, "-noint", "-nonoise", "-nopgm")
    counts, model = counts_of(data), numpy.fromfile(made, "<f4").reshape(SIDE, SIDE)
    slow, fast = numpy.indices(counts.shape)
    ring = (numpy.hypot(fast - CENTRE[0], slow - CENTRE[1]) / PIXELS_WIDE).astype(int)
    off = []
    for k in range(2, 12):
        there = (ring == k) & (counts >= 0) & (counts < 40)  # the background has 5 to 10 counts, spots have more
        off.append(model[there].mean() / counts[there].mean() - 1)
    print("# model over counts, less 1, of ten rings:", *(f"{x:.3f}" for x in off))
    ok("the background as measured", max(map(abs, off)) < 0.03, off)
    rows = numpy.loadtxt(table)
    rows = rows[(rows[:, 0] > 0.1) & (rows[:, 0] < 0.2)]
    top = 0.5 / rows[rows[:, 1].argmax(), 0]
    print(f"# the ring of the solvent is at {top:.2f} A")
    ok("the ring of the frozen solvent", 3.45 < top < 3.75, top)


with tempfile.TemporaryDirectory() as scratch:
    compare(scratch)
sys.exit(1 if FAILED else 0)
