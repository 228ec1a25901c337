#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rings of a measured CeO2 powder (golden_data/real/ceo2): angles and areas."""
import os
import sys
import tempfile

DATA = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "real", "ceo2")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"), DATA]
from script import FAILED, need, ok, run  # noqa: E402

numpy = need("numpy")
import rings  # noqa: E402

FLAGS = ["-cif", f"{DATA}/ceo2.cif", "-energy", rings.ENERGY, "-N", 110, "-gauss_xtal", "-mosaic_model", "uniform",
         "-mosaic", 180, "-mosaic_dom", 40000, "-distance", rings.DISTANCE, "-detpixels_x", rings.FAST, "-detpixels_y",
         rings.SLOW, "-pixel", rings.PIXEL, "-xds", "-ORGX", rings.CENTRE[0] + 0.5, "-ORGY", rings.CENTRE[1] + 0.5,
         "-oversample", 1, "-polar", 0.99, "-fluence", 1e24, "-blocks", 1e9, "-seed", 1, "-noint", "-nonoise", "-nopgm",
         "-quiet"]

with tempfile.TemporaryDirectory() as scratch:
    path = os.path.join(scratch, "ceo2.bin")
    run(*FLAGS, "-floatfile", path)
    _, off, real, made, _ = rings.compare(path)
print("#", rings.summary(off, real, made))
area = numpy.corrcoef(numpy.log(real), numpy.log(made))[0, 1]
ok("each ring within 100 ppm", abs(off).max() <= 100, off.round())
ok("rings within 65 ppm rms", (off ** 2).mean() ** 0.5 <= 65, off.round())
ok("areas of the rings", area >= 0.997, area)
sys.exit(1 if FAILED else 0)
