# SPDX-License-Identifier: MIT
"""The program's noise of source and detector equals noise of an independent Philox
generator with the polar method. Noise images have the same bytes for any number of
threads and every instruction set. Report and files describe the noise.

usage: NANOBRAGG=program python3 tests/cli/noise_check.py
"""
import array
import json
import math
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, floats, ok, read, run  # noqa: E402

X = ["-cell", "80", "-N", "6", "-default_F", "100", "-detpixels_f", "37", "-detpixels_s", "29", "-pixel", "1.5",
     "-fluence", "3e30", "-oversample", "2", "-noint", "-nopgm", "-quiet"]
FAST, PIXELS = 37, 37 * 29
READOUT, CALIBRATION, FLICKER = 1, 2, 3


def philox(seed, pixel, frame, draw):
    """Four random 32-bit words of Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC11)."""
    low = 0xffffffff
    key = [seed & low, seed >> 32 & low]
    c = [pixel & low, pixel >> 32, frame, draw]
    for _ in range(10):
        a, b = 0xd2511f53 * c[0], 0xcd9e8d57 * c[2]
        c = [b >> 32 ^ c[1] ^ key[0], b & low, a >> 32 ^ c[3] ^ key[1], a & low]
        key = [key[0] + 0x9e3779b9 & low, key[1] + 0xbb67ae85 & low]
    return c


def uniform(high, low):
    return ((high << 20 | low >> 12) + 0.5) / 2**52


def normal(seed, pixel, stage):
    nth = stage << 24
    while True:
        w = philox(seed, pixel, 0, nth)
        x, y = 2 * uniform(w[0], w[1]) - 1, 2 * uniform(w[2], w[3]) - 1
        r = x * x + y * y
        if 0 < r < 1:
            return x * math.sqrt(-2 * math.log(r) / r)
        nth += 1


def simulate(*args):
    run(*X, *args)


def deviates(folder):
    """All noise except counts and point spread, for three pairs of seeds."""
    for seed, calib in ((41, 77), (-3, 5), (2**40 + 1, 123456789)):
        adu, mean = os.path.join(folder, "adu"), os.path.join(folder, "mean")
        simulate("-nonoise", "-floatfile", mean, "-noisefloat", adu, "-nopoisson", "-seed", seed, "-flicker", 0.2,
                 "-deadtime", 5000, "-exposure", 0.1, "-calibration", 0.3, "-calib_seed", calib, "-gain", 1.7,
                 "-readout", 3.5, "-adc", 12.5)
        factor = max(0, 1 + 0.2 * normal(seed, 0, FLICKER))
        worst = 0
        for i, (m, got) in enumerate(zip(floats(mean), floats(adu))):
            m *= factor
            m *= math.exp(-m * 5e-6 / 0.1)
            m *= max(0, 1 + 0.3 * normal(calib, i, CALIBRATION))
            want = 1.7 * m + 12.5 + 3.5 * normal(seed, i, READOUT)
            worst = max(worst, abs(got - want) / max(1, abs(want)))
        ok(f"deviates-of-seed-{seed}", worst < 2e-7, f"off by {worst:g}")


def same_bytes(folder):
    flags = ["-seed", "5", "-flicker", "0.1", "-psf", "gauss", "-psf_fwhm", "2000", "-calibration", "0.02",
             "-readout", "2", "-gain", "0.7", "-precision", "double"]
    ways = [["-threads", "1"], ["-threads", "2"], ["-threads", "16"]]
    ways += [["-isa", isa] for isa in ("scalar", "sse2", "avx2", "avx512", "neon")
             if run(*X, "-isa", isa, "-show_config", status=None)[0]]
    first = None
    for i, way in enumerate(ways):
        path = os.path.join(folder, f"n{i}.img")
        simulate(*flags, *way, "-nofloat", "-noisefile", path)
        pixels = read(path)[-2 * PIXELS:]
        first = first or pixels
        ok("same-bytes" + "".join(way), pixels == first)


def report(folder):
    """The report counts saturated pixels; their value is the saturation plus one."""
    path, image = os.path.join(folder, "r.json"), os.path.join(folder, "n.img")
    simulate("-nofloat", "-noisefile", image, "-saturation", "500", "-adc", "3", "-gain", "2", "-seed", "1",
                    "-report", path)
    header = read(image)[:4096].decode("latin-1")
    pixels = array.array("H")
    pixels.frombytes(read(image)[-2 * PIXELS:])
    clipped = [one for one in json.loads(read(path))["clipped"] if one["file"] == image][0]
    ok("saturation", max(pixels) == 501 and clipped["largest"] == 501 and
       clipped["pixels"] == sum(p == 501 for p in pixels) > 0, str(clipped))
    ok("header-says-gain-and-saturation",
       "GAIN=2;" in header and "CCD_IMAGE_SATURATION=500;" in header and "IMAGE_PEDESTAL=3;" in header)


def master(folder):
    try:
        import h5py
    except ImportError:
        print("skip noise in-hdf5 # no h5py")
        return
    path = os.path.join(folder, "run.h5")
    simulate("-stills", "3", "-hdf5", path, "-hdf5type", "int16", "-seed", "9", "-flicker", "0.3", "-readout",
                    "4", "-adc", "10", "-gain", "3", "-psf", "gauss", "-calibration", "0.01", "-saturation", "2000")
    with h5py.File(path, "r") as h:
        detector, simulation = h["entry/instrument/detector"], h["entry/simulation"]
        seeds, factors = simulation["seed"][:], simulation["flicker_factor"][:]
        want = [1 + 0.3 * normal(int(seed), 0, FLICKER) for seed in seeds]
        data = h["entry/data/data"][:]
        said = [simulation[name][()] for name in ("gain", "adc", "readout_noise", "calibration", "calib_seed",
                                                  "psf_fwhm")]
        ok("in-hdf5", data.dtype == "int16" and data.min() < 0 and data.max() <= 2001 and
           detector["saturation_value"][()] == 2000 and detector["underload_value"][()] == -14 and
           said == [3, 10, 4, 0.01, 123456789, 46] and simulation["psf"][()] == b"gauss", str(said))
        ok("flicker-in-hdf5", all(abs(a - b) < 1e-12 for a, b in zip(want, factors)), str(factors))


def main():
    folder = tempfile.mkdtemp()
    try:
        deviates(folder)
        same_bytes(folder)
        report(folder)
        master(folder)
    finally:
        shutil.rmtree(folder)
    return 1 if FAILED else 0


sys.exit(main())
