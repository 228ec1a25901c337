# SPDX-License-Identifier: MIT
"""Measured frames as other programs store them: imgCIF with each compression of CBFlib,
packed files, and data sets of HDF5 by their path.

usage: NANOBRAGG=program python3 tests/cli/measured_check.py
"""
import bz2
import gzip
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, need, ok, run  # noqa: E402

numpy = need("numpy")

COUNTS = numpy.random.default_rng(1).poisson(20, (4, 12, 21)).astype(numpy.int32)
COUNTS[0, 0, :2] = -2000000000, 2000000000
COUNTS[1, 3, 5], COUNTS[2, 7, 2] = 100000, -300


def same(name, image, pixels, *flags):
    """Writes these pixels as floats; `compare` finds that the image equals them."""
    floats = pixels.reshape(-1, pixels.shape[-1]).astype(numpy.float32)
    floats.tofile("b.bin")
    out, err = run("compare", image, "b.bin", "-size", floats.shape[1], floats.shape[0], *flags, status=None)
    ok(name, "verdict     the images are equal" in out, out + err)


def write_cbf(pycbf, name, sections, coding, real=False, signed=True):
    cbf = pycbf.cbf_handle_struct()
    cbf.new_datablock(b"image_1")
    cbf.new_category(b"array_data")
    cbf.new_column(b"data")
    for k, section in enumerate(sections):
        if k:
            cbf.new_row()
        deep, slow, fast = section.shape
        flags = [coding, k + 1, section.tobytes(), section.itemsize]
        flags += ([] if real else [int(signed)]) + [section.size, b"little_endian", fast, slow, deep, 0]
        (cbf.set_realarray_wdims_fs if real else cbf.set_integerarray_wdims_fs)(*flags)
    cbf.write_widefile(name.encode(), pycbf.CBF, pycbf.MIME_HEADERS | pycbf.MSG_DIGEST, 0)


def codes():
    try:
        import pycbf
    except ImportError:
        print("skip measured-cbf # python3-pycbf is not installed")
        return
    all_codes = {"packed": pycbf.CBF_PACKED, "packed-v2": pycbf.CBF_PACKED_V2,
                 "plain": pycbf.CBF_NONE, "flat": pycbf.CBF_PACKED | pycbf.CBF_FLAT_IMAGE,
                 "sliced": pycbf.CBF_PACKED_V2 | pycbf.CBF_UNCORRELATED_SECTIONS}
    for name, code in all_codes.items():
        for what, pixels, more in (
                ("int32", COUNTS, {}), ("uint16", COUNTS.clip(0, 60000).astype(numpy.uint16), {"signed": False}),
                ("uint8", COUNTS.clip(0, 255).astype(numpy.uint8), {"signed": False}),
                ("float32", (COUNTS * 0.37).astype(numpy.float32), {"real": True}), ("float64", COUNTS * 0.37, {"real": True})):
            if (name, what) == ("flat", "float64"):
                continue  # for this code CBFlib writes files that it cannot read
            write_cbf(pycbf, "a.cbf", [pixels], code, **more)
            same(f"cbf-{name}-{what}", "a.cbf", pixels)
        write_cbf(pycbf, "a.cbf", [c[None] for c in COUNTS], code)
        same(f"cbf-{name}-sections", "a.cbf", COUNTS)
    for packed, pack in (("gz", gzip.compress), ("bz2", bz2.compress)):
        with open("a.cbf", "rb") as plain, open("a.cbf." + packed, "wb") as stream:
            stream.write(pack(plain.read()))
        same("cbf-" + packed, "a.cbf." + packed, COUNTS)


def hdf5_paths():
    try:
        import h5py
    except ImportError:
        print("skip measured-hdf5 # python3-h5py is not installed")
        return
    with h5py.File("cspad.h5", "w") as h5:
        h5["/shots/raw/images"] = COUNTS
        h5["/shots/mean"] = COUNTS[2]
        h5["/shots/table"] = numpy.zeros(7)
    for k in (0, 3):
        same(f"hdf5-path-{k}", f"cspad.h5:/shots/raw/images:{k}", COUNTS[k])
    same("hdf5-path", "cspad.h5:/shots/raw/images", COUNTS[0])
    same("hdf5-path-of-one", "cspad.h5:/shots/mean", COUNTS[2])
    run("view", "cspad.h5:/shots/mean", "mean.png")
    ok("hdf5-path-view", os.path.getsize("mean.png") > 100)
    for name, place, text in (
            ("missing", "/shots/none:0", "/shots/none is missing"), ("table", "/shots/table", "is not a set of images"),
            ("frame", "/shots/raw/images:4", "there is no frame 4: /shots/raw/images has 4, counted from 0")):
        said = run("view", "cspad.h5:" + place, "x.png", status=2)[1]
        ok("hdf5-path-" + name, text in said and not os.path.exists("x.png"), said)
    shown = run("-img", "cspad.h5:/shots/mean", "-cell", 50, "-default_F", 1, "-show_config", "-seed", 1)[0]
    ok("hdf5-path-img", '"fpixels":\t21' in shown or "21" in shown, shown[:300])
    noisy = ["-pixel", 0.1, "-distance", 100, "-lambda", 1, "-seed", 1, "-nopoisson", "-hdf5type", "int32", "-quiet"]
    with h5py.File("photons.h5", "w") as h5:
        h5["/a/photons"] = COUNTS[:, :, 5:].clip(0, 1000).astype(numpy.float32)
    run("noise", "photons.h5:/a/photons", "noise.h5", *noisy)
    with h5py.File("noise.h5") as h5:
        ok("hdf5-path-noise", numpy.array_equal(h5["/entry/data/data"][...], COUNTS[:, :, 5:].clip(0, 1000)),
           h5["/entry/data/data"][...].shape)


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    codes()
    hdf5_paths()
sys.exit(1 if FAILED else 0)
