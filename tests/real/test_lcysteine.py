#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Spots of the measured L-cysteine rotation (golden_data/real/lcysteine): places, frames,
intensities."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, need, ok, run  # noqa: E402

h5py, numpy = need("h5py", "numpy")

DATA = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "real", "lcysteine")
FLAGS = ["-mtz", f"{DATA}/lcysteine_merged_Iobs.mtz", "-N", 150, "-gauss_xtal", "-mosaic_model", "gauss",
         "-mosaic", 0.035, "-mosaic_dom", 25, "-frames", 15, "-phisteps", 4, "-oversample", 3, "-fluence", 1e20,
         "-blocks", 1e3, "-hdf5type", "float32", "-truth", "spots", "-truth_min", 0.001, "-seed", 1, "-quiet"]
CORE = slice(5, 16)  # middle of a box of 21 pixels


def simulated(expt, folder):
    """Frames [frame][slow][fast], and reflections over all frames: fast, slow, frame, photons."""
    path = os.path.join(folder, "sweep.h5")
    run("-expt", os.path.join(DATA, expt), *FLAGS, "-hdf5", path)
    whole = {}
    with h5py.File(path) as h5:
        frames, table = h5["/entry/data/data"][...], h5["/entry/simulation/reflections/table"][...]
    for row in table:
        whole.setdefault((row["h"], row["k"], row["l"]), []).append(
            (row["fast"], row["slow"], row["frame"] + 0.5, row["intensity"]))
    lines = [numpy.array(rows) for rows in whole.values()]
    spots = numpy.array([[*(r[:, :3].T @ r[:, 3] / r[:, 3].sum()), r[:, 3].sum()] for r in lines])
    return frames, spots[spots[:, 3] > 1e-3 * spots[:, 3].max()]


def offsets(strong, spots):
    """Measured minus simulated fast, slow and frame, each measured spot with its
    nearest."""
    near = [numpy.argmin(numpy.hypot(spots[:, 0] - s[0], spots[:, 1] - s[1]) + abs(spots[:, 2] - s[2])) for s in strong]
    return strong[:, :3] - spots[near, :3]


def intensities(boxes, corners, frames, spots):
    """(measured, simulated) photons of strong spots in the middle of a box, above the
    border of the box."""
    pairs = []
    for spot in spots:
        k = numpy.argmin(abs(corners + 10 - spot[:2]).sum(1))
        fast, slow = corners[k]
        box, model = boxes[k].astype(float), frames[:, slow:slow + 21, fast:fast + 21]
        if abs(corners[k] + 10 - spot[:2]).max() > 4 or box.min() < 0 or model[[0, -1]].sum() > 0.02 * model.sum():
            continue
        core = box[:, CORE, CORE]
        counts = core.sum() - core.size * (box.sum() - core.sum()) / (box.size - core.size)
        if counts > 5 * core.sum() ** 0.5:
            pairs.append((counts, model[:, CORE, CORE].sum()))
    return numpy.array(pairs).T


def compare(sweep, expt, folder, fewest, farthest=0.4):
    """At least `fewest` measured spots are found, half within `farthest` pixels."""
    with h5py.File(os.path.join(DATA, f"sweep_{sweep}.h5")) as h5:
        strong, boxes, corners = (h5[name][...] for name in ("strong_spots", "boxes", "corner_fast_slow"))
    frames, spots = simulated(expt, folder)
    off = offsets(strong, spots)
    apart = numpy.hypot(off[:, 0], off[:, 1])
    near = (apart < 2) & (abs(off[:, 2]) < 2)
    found, off, apart = near.sum(), off[near], apart[near]
    rms = (off[:, :2] ** 2).mean(0) ** 0.5
    pairs = intensities(boxes, corners, frames, spots)
    alike = numpy.corrcoef(numpy.log(pairs))[0, 1]
    late = numpy.median(abs(off[:, 2]))
    print(f"# {expt}: {found} of {len(strong)}, median {numpy.median(apart):.2f} pixel, rms {rms.round(2)}, "
          f"median {late:.2f} frames, cc(log I) {alike:.4f} of {len(pairs[0])}")
    ok(f"{expt}: spots are found", found >= fewest, found)
    ok(f"{expt}: median distance", numpy.median(apart) <= farthest, numpy.median(apart))
    ok(f"{expt}: rms of an axis", rms.max() <= 0.6, rms)
    ok(f"{expt}: median of frames", late <= 0.2, late)
    ok(f"{expt}: intensities", alike >= 0.985, alike)


with tempfile.TemporaryDirectory() as scratch:
    compare("02", "fixed_02.expt", scratch, 22)
    compare("02", "scan_varying_02.expt", scratch, 22)
    # DIALS predicts 16 of the 24 strong spots of sweep 04 from its file: the others
    # belong to another crystal, or to frames outside the cut.
    compare("04", "scan_varying_04.expt", scratch, 15, farthest=0.5)
sys.exit(1 if FAILED else 0)
