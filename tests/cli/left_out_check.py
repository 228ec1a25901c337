# SPDX-License-Identifier: MIT
"""compare and view leave out pixels without counts: masked in the file, masked by -mask,
or with a mark (the value that a detector writes for bad pixels). An overload is no mark.

usage: NANOBRAGG=program python3 tests/cli/left_out_check.py
"""
import json
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from png import pixels  # noqa: E402
from script import FAILED, need, ok, run  # noqa: E402

h5py, np = need("h5py", "numpy")

SIDE = 32
GAP = 10 * SIDE  # pixels of rows 8 to 17
MASKED, BLUE, GREY = "by the pixel mask of", (150, 180, 220), (128, 128, 128)
NEGATIVE, HIGHEST = "hold -1 or -2 in", "hold the largest number of their type in"
CRYSTAL = ["-cell", 70, 80, 90, 90, 90, 90, "-N", 8, "-default_F", 300, "-detpixels", SIDE, "-pixel", 1,
           "-distance", 100, "-lambda", 1, "-fluence", "1e29", "-seed", 1, "-quiet"]


def difference(a, b, *flags, status=0):
    return json.loads(run("compare", a, b, "-json", *flags, status=status)[0])


def counts(kind):
    """An image of type `kind`, and an array that is True in the gap (rows 8 to 17)."""
    image = np.random.default_rng(1).poisson(20, (SIDE, SIDE)).astype(kind)
    gap = np.zeros((SIDE, SIDE), bool)
    gap[8:18] = True
    return image, gap


def write(name, image, mask=None, **limits):
    """Write an HDF5 file as detectors do. limits: saturation_value, underload_value."""
    with h5py.File(name, "w") as file:
        file["/entry/data/data"] = image[None]
        file["/entry"].attrs["NX_class"] = "NXentry"
        detector = file.create_group("/entry/instrument/detector")
        detector.attrs["NX_class"] = "NXdetector"
        file["/entry/instrument"].attrs["NX_class"] = "NXinstrument"
        if mask is not None:
            detector["pixel_mask"] = mask.astype(np.uint32)
        for key, value in limits.items():
            detector[key] = value
    return name


def tiff(name, image):
    """Write a TIFF with one channel and one strip."""
    body = image.astype(image.dtype.newbyteorder("<")).tobytes()
    size, kind = image.dtype.itemsize, 2 if image.dtype.kind == "i" else 1
    tags = [(256, 4, SIDE), (257, 4, SIDE), (258, 3, 8 * size), (259, 3, 1), (262, 3, 1), (273, 4, 8),
            (277, 3, 1), (278, 4, SIDE), (279, 4, len(body)), (339, 3, kind)]
    with open(name, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", 8 + len(body)) + body + struct.pack("<H", len(tags)))
        for tag, form, value in tags:
            file.write(struct.pack("<HHII", tag, form, 1, value))
        file.write(struct.pack("<I", 0))
    return name


def smv(name, image):
    header = f"{{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1={SIDE};\n" \
             f"SIZE2={SIDE};\n}}"
    with open(name, "wb") as file:
        file.write(header.encode().ljust(512) + image.astype("<u2").tobytes())
    return name


def formats():
    """A series with a mask, written in all formats, has the same frame in each."""
    mask = np.ones((SIDE, SIDE), "<f4")
    mask[8:18] = 0
    mask.tofile("mask.bin")
    for kind in ("uint16", "int32", "float32"):
        run(*CRYSTAL, "-mask", "mask.bin", "-stills", 1, "-hdf5", f"{kind}_master.h5", "-hdf5type", kind,
            *(["-output", "frame_%04d.cbf"] if kind == "int32" else []))
    files = {"frame_0001.cbf": NEGATIVE, "uint16_master.h5": MASKED, "uint16_data_000001.h5": HIGHEST,
             "int32_master.h5": MASKED, "int32_data_000001.h5": NEGATIVE}
    for name, why in files.items():
        for other in files:
            d = difference(name, other)
            good = d["correlation"] == 1 and d["left_out"] == GAP and d["pixels"] == SIDE * SIDE - GAP
            ok(f"equal-{name}-{other}", good and d["left_out_why"] == f"{GAP} {why} A", d)
        text = run("compare", name, "frame_0001.cbf")[0]
        ok(f"line-{name}", f"left out    {GAP} pixels: {GAP} {why} A\n" in text, text)
        note = run("view", name, "out.png")[1]
        ok(f"note-{name}", f"note: {GAP} of {SIDE * SIDE} pixels left out: {GAP} {why} the file" in note, note)
        rows = pixels("out.png")
        ok(f"view-{name}", all((pixel == BLUE) == (8 <= y < 18) for y, row in enumerate(rows)
                               for pixel in row), rows[7:9])
    with h5py.File("int32_master.h5") as file:
        packed = file["/entry/instrument/detector/pixel_mask"]
        ok("mask-is-packed", packed.compression == "gzip" and packed.id.get_storage_size() < packed.nbytes / 20 and
           (packed[()] == np.where(mask > 0, 0, 1)).all(), packed.id.get_storage_size())
    d = difference("float32_master.h5", "int32_master.h5", "-threshold", "none")
    ok("floats-of-a-master", d["left_out"] == GAP, d)
    run("view", "int32_master.h5", "out.png", "-colormap", "viridis")
    ok("view-in-colours", {pixel for row in pixels("out.png")[8:18] for pixel in row} == {GREY})
    run("compare", "int32_master.h5", "frame_0001.cbf", "-diff", "out.png")
    n = sum(pixel == BLUE for row in pixels("out.png") for pixel in row)
    ok("the-picture-of-both", n == 3 * GAP * 10 * 10, n)


def marks():
    """Type, mask and limits of a file decide which values are marks (65535 may be one)."""
    high16, gap = counts(np.uint16)
    high16[gap] = 65535
    high32, _ = counts(np.uint32)
    high32[gap] = 2**32 - 1
    low, _ = counts(np.int32)
    low[gap] = -1
    low[9] = -2
    below = low.copy()
    below[0, 0] = -7
    none = np.zeros_like(gap)
    cases = [
        ("uint16", write("a.h5", high16), GAP),
        ("uint16-mask-without-them", write("b.h5", high16, none), 0),
        ("uint16-masked", write("c.h5", high16, gap * 2), GAP),
        ("uint16-trusted", write("d.h5", high16, saturation_value=65535), 0),
        ("uint16-above-the-trusted-range", write("e.h5", high16, saturation_value=60000), GAP),
        ("uint32", write("f.h5", high32), GAP),
        ("uint32-mask-without-them", write("g.h5", high32, none), GAP),
        ("int32", write("h.h5", low), GAP),
        ("int32-from-minus-1", write("i.h5", low, underload_value=-1), SIDE),
        ("int32-trusted", write("j.h5", low, underload_value=-10), 0),
        ("int32-below", write("k.h5", below), 0),
        ("int32-below-but-not-trusted", write("l.h5", below, underload_value=0), GAP),
        ("int16", write("m.h5", low.astype(np.int16)), GAP),
        ("float32", write("n.h5", low.astype(np.float32)), 0),
        ("mask-of-another-size", write("o.h5", low.astype(np.float32), gap[:9]), 0),
        ("tiff-int32", tiff("a.tif", low), GAP),
        ("tiff-uint32", tiff("b.tif", high32), GAP),
        ("tiff-uint16", tiff("c.tif", high16), 0),
        ("smv", smv("a.img", high16), 0)]
    for name, file, wanted in cases:
        d = difference(file, file)
        ok(f"marks-{name}", d["left_out"] == wanted and d["passed"], d)
    all_out = write("p.h5", low, ~none)
    err = run("compare", all_out, all_out, status=2)[1]
    ok("nothing-left", f"no pixel is left to compare: all {SIDE * SIDE} are left out" in err, err)


def typed():
    """-mask reads every format, and masks the same pixels."""
    image, gap = counts(np.float32)
    other = image.copy()
    other[gap] += 1000
    image.tofile("a.bin")
    other.tofile("b.bin")
    good = (~gap).astype(np.int32)
    good.astype("<f4").tofile("good.bin")
    masks = ["good.bin", smv("good.img", good), tiff("good.tif", good), write("good.h5", good)]
    ok("without-mask", difference("a.bin", "b.bin", status=3)["left_out"] == 0)
    for mask in masks:
        d = difference("a.bin", "b.bin", "-mask", mask)
        ok(f"mask-{mask}", d["correlation"] == 1 and d["left_out_why"] == f"{GAP} by -mask", d)
    d = difference("a.bin", "b.bin", "-mask", "good.bin", "-roi", 0, 31, 0, 9)
    ok("mask-in-a-region", d["left_out"] == 2 * SIDE, d)
    run("view", "b.bin", "out.png", "-mask", "good.bin")
    ok("view-mask", {pixel for row in pixels("out.png")[8:18] for pixel in row} == {BLUE})
    np.ones((9, 9), "<f4").tofile("small.bin")
    for words in (["compare", "a.bin", "b.bin"], ["view", "a.bin", "out.png"]):
        err = run(*words, "-mask", "small.bin", status=2)[1]
        ok(f"{words[0]}-mask-of-another-size", "-mask" in err and "small.bin" in err, err)


def mixed():
    """At pixels that a file marks, -add adds 0, -transmission transmits 0, and -mask
    masks the pixel."""
    image, gap = counts(np.int32)
    image += 1
    ones = np.where(gap, -1, 1).astype(np.int32)
    highest = np.where(gap, 2 ** 32 - 1, image).astype(np.uint32)
    nothing = ["-cell", 70, "-default_F", 0, "-detpixels", SIDE, "-pixel", 1, "-fluence", 1, "-quiet", "-noint", "-nonoise", "-nopgm", "-floatfile", "o.bin"]
    files = {"eiger": write("e.h5", highest), "pilatus": tiff("p.tif", np.where(gap, -1, image).astype(np.int32)),
             "masked": write("m.h5", image.astype(np.int32), gap)}
    for name, file in files.items():
        run(*nothing, "-add", file)
        added = np.fromfile("o.bin", "<f4").reshape(SIDE, SIDE)
        ok(f"add-{name}", np.array_equal(added, np.where(gap, 0, image)), added)
        np.full((SIDE, SIDE), 2, "<f4").tofile("two.bin")
        run(*nothing, "-add", "two.bin", "-mask", file)
        ok(f"mask-{name}", np.array_equal(np.fromfile("o.bin", "<f4").reshape(SIDE, SIDE), np.where(gap, 0, 2)))
        np.full((SIDE, SIDE), 7, "<f4").tofile("seven.bin")
        d = difference("two.bin", "seven.bin", "-mask", file, status=3)
        ok(f"compare-mask-{name}", d["left_out"] == GAP, d)
    for name, file in (("pilatus", tiff("t.tif", ones)), ("masked", write("t.h5", np.ones((SIDE, SIDE), np.int32), gap))):
        run(*CRYSTAL, "-noint", "-nonoise", "-nopgm", "-floatfile", "whole.bin")
        run(*CRYSTAL, "-transmission", file, "-noint", "-nonoise", "-nopgm", "-floatfile", "o.bin")
        whole, seen = (np.fromfile(f, "<f4").reshape(SIDE, SIDE) for f in ("whole.bin", "o.bin"))
        ok(f"transmission-{name}", np.array_equal(seen, np.where(gap, 0, whole)))
    grey = tiff("grey.tif", np.where(gap, 0, 65535).astype(np.uint16))  # a mask in black and white, as editors write it
    run(*nothing, "-add", "two.bin", "-mask", grey)
    ok("mask-in-black-and-white", np.array_equal(np.fromfile("o.bin", "<f4").reshape(SIDE, SIDE), np.where(gap, 0, 2)))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    formats()
    marks()
    typed()
    mixed()
sys.exit(1 if FAILED else 0)
