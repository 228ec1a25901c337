# SPDX-License-Identifier: MIT
"""Detectors of -detector: each renders a part of an image, three have the gaps that their
makers publish, and typed flags replace values of the detector.

usage: NANOBRAGG=program python3 tests/cli/detectors_check.py
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = os.environ["NANOBRAGG"]
SMALL = "-default_F 100 -cell 50 -N 2 -seed 1 -nofloat -noint -nonoise -nopgm -nodump".split()
# Pixels along fast and slow as the makers publish them.
SIZES = {"pilatus_6m": (2463, 2527), "pilatus3_2m": (1475, 1679), "pilatus_1m": (981, 1043), "eiger_16m": (4150, 4371),
         "eiger_4m": (2070, 2167), "eiger2_16m": (4148, 4362), "eiger2_9m": (3108, 3262), "jungfrau_4m": (2068, 2164),
         "rayonix_mx340hs": (7680, 7680), "rayonix_mx340hs:2": (3840, 3840), "mar165:2": (2048, 2048)}
# Size, gaps between columns and gaps between rows (first and last pixel of each gap).
GAPS = {"pilatus_300k": ((487, 619), [], [(195, 211), (407, 423)]),
        "eiger2_4m": ((2068, 2162), [(1028, 1039)], [(512, 549), (1062, 1099), (1612, 1649)]),
        "eiger2_1m_cdte": ((1028, 1062), [(513, 514)], [(512, 549)])}


def run(*words, folder=None):
    return subprocess.run([PROGRAM, *SMALL, *words], capture_output=True, text=True, cwd=folder, check=False)


def names():
    """Names that the program lists, and the names of SIZES with a binning (NAME:2)."""
    listed = re.findall(r"^  (\w+) +\d+ x", run("-help", "detectors").stdout, re.M)
    return listed + [name for name in SIZES if ":" in name]


def renders(name):
    """Render a part of an image of this detector. Returns the fault, or "" if correct."""
    done = run("-detector", name, "-roi", "10", "17", "20", "23")
    size = re.search(r"detector  (\d+) x (\d+) pixels", done.stdout)
    if done.returncode or not size:
        return f"status {done.returncode}: {done.stderr}"
    if "no effect" in done.stderr:
        return done.stderr
    found = tuple(int(n) for n in size.groups())
    return "" if SIZES.get(name, found) == found else f"has {found}, not {SIZES[name]} pixels"


def runs_of(dead):
    at = np.flatnonzero(np.diff(np.concatenate(([0], dead.astype(int), [0]))))
    return [(int(a), int(b) - 1) for a, b in zip(at[::2], at[1::2])]


def gaps(name, folder):
    size, columns, rows = GAPS[name]
    done = run("-detector", name, "-background", "water:1", "-floatfile", "image.bin", folder=folder)
    if done.returncode:
        return done.stderr
    image = np.fromfile(os.path.join(folder, "image.bin"), np.float32)
    if image.size != size[0] * size[1]:
        return f"{image.size} pixels"
    dark = image.reshape(size[1], size[0]) == 0
    found = runs_of(dark.all(0)), runs_of(dark.all(1))
    others = dark & ~dark.all(0)[None, :] & ~dark.all(1)[:, None]
    return "" if found == (columns, rows) and not others.any() else f"{found}, {others.sum()} others"


def disc(folder):
    """The MAR 165, binned 8 x 8, has a round image: only the corners are dark."""
    run("-detector", "mar165:8", "-background", "water:1", "-floatfile", "image.bin", folder=folder)
    dark = np.fromfile(os.path.join(folder, "image.bin"), np.float32).reshape(512, 512) == 0
    x = np.arange(512) - 255.5
    return "" if (dark == (x[None, :] ** 2 + x[:, None] ** 2 > 256 ** 2)).all() else f"{dark.sum()} are dark"


def series(folder):
    """A file type that cannot hold the largest count of the detector is not an error."""
    done = run("-detector", "pilatus_300k", "-stills", "1", "-hdf5", "a.h5", folder=folder)
    return done.stderr if done.returncode else ""


def main():
    wrong = 0
    if not re.search(r"^ *xraylib +yes", run("-version").stdout, re.M):
        print("skip detectors # built without xraylib, which knows the sensors")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        results = [(name, renders(name)) for name in names()] + [(f"gaps-{name}", gaps(name, folder)) for name in GAPS]
        results += [("disc", disc(folder)), ("series", series(folder))]
    results.append(("count", "" if len(results) >= 35 else f"only {len(results)}"))
    for name, why in results:
        print(f"not ok detectors-{name}\n# {why}" if why else f"ok detectors-{name}")
        wrong += bool(why)
    return wrong != 0


sys.exit(main())
