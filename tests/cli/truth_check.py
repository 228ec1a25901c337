# SPDX-License-Identifier: MIT
"""The list of reflections: background, pixels and sigma of each; the orientation of the domains that were drawn.

usage: NANOBRAGG=program python3 tests/cli/truth_check.py
"""
import math
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
try:
    import numpy
except ImportError:
    print("skip truth # python3-numpy is not installed")
    sys.exit(0)
from script import FAILED, ok, run  # noqa: E402

EDGE = 300
X = ["-default_F", 100, "-cell", 40, "-N", 12, "-gauss_xtal", "-misset", 10, 20, 30, "-detpixels", EDGE, "-pixel", 0.2,
     "-distance", 80, "-fluence", 1e23, "-beamsize", 0.01, "-blocks", 1e5, "-nonoise", "-noint", "-nopgm", "-oversample", 4]
MOSAIC = ["-mosaic", 0.1, "-mosaic_model", "gauss", "-mosaic_dom", 25]


def image():
    return numpy.fromfile("floatimage.bin", "<f4").astype(float).reshape(EDGE, EDGE)


def spots(*flags):
    run(*X, *flags, "-truth", "spots")
    return numpy.genfromtxt("spots.tsv", skip_header=1, names=True)


def statistics():
    got = spots()
    alone = image()
    ok("pure-counting", numpy.allclose(got["sigma"], numpy.sqrt(got["intensity"]), rtol=1e-4) and
       not got["background"].any(), got["sigma"])
    length = numpy.sqrt(got["h"] ** 2 + got["k"] ** 2 + got["l"] ** 2)
    ok("spacing", numpy.allclose(got["d"] * length, 40 * (length > 0), rtol=1e-5), got["d"])
    got = spots("-background", "water:0.001")
    water = image() - alone
    one = got[numpy.argmax(got["intensity"])]
    f, s = int(one["fast"]), int(one["slow"])
    near = (slice(s - 4, s + 5), slice(f - 4, f + 5))
    part, under = alone[near], water[near]
    ok("alone", abs(part.sum() / one["intensity"] - 1) < 1e-3, one)
    ok("background", abs(one["background"] / under.mean() - 1) < 0.01, (one, under.mean()))
    ok("pixels", abs(one["pixels"] / (part.sum() ** 2 / (part ** 2).sum()) - 1) < 1e-3, one)
    want = part.sum() / math.sqrt((part ** 2 / (part + under)).sum())
    ok("sigma", abs(one["sigma"] / want - 1) < 1e-3 and want > 1.01 * math.sqrt(part.sum()), (one, want))


def drawn():
    text = run(*X, *MOSAIC)[0]
    turned = re.search(r"their mean is turned by (\S+) deg", text)
    ok("turned", turned and 0.005 < float(turned[1]) < 0.08, text)
    try:
        import h5py
        run(*X, *MOSAIC, "-stills", 1, "-hdf5", "d.h5", "-truth", "spots")
    except (ImportError, AssertionError) as missing:
        print(f"skip truth hdf5 # {missing}")
        return
    with h5py.File("d.h5") as file:
        A, mean = (file["/entry/simulation/" + name][0] for name in ("A", "A_drawn"))
        table = file["/entry/simulation/reflections/table"]
        names, units = table.dtype.names, len(table.attrs["units"])
    turn = mean @ numpy.linalg.inv(A)
    angle = math.degrees(math.acos(min(1, (numpy.trace(turn) - 1) / 2)))
    ok("A_drawn", numpy.allclose(turn @ turn.T, numpy.eye(3), atol=1e-9) and turned and
       abs(angle - float(turned[1])) < 1e-3, (angle, turned))
    ok("columns", names[-4:] == ("d", "background", "pixels", "sigma") and units == len(names), names)
    text = run(*X, "-mosaic", 180, "-mosaic_model", "uniform", "-mosaic_dom", 500)[0]
    ok("powder-has-no-mean", "turned by" not in text and "nan" not in text, text)


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    statistics()
    drawn()
    os.chdir("/")
    shutil.rmtree(folder)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
