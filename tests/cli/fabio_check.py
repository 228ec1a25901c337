#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Read image files of ours with fabio and compare them with raw arrays, pixel for pixel.

usage: fabio_check.py FAST SLOW IMAGE=RAW [IMAGE=RAW ...]

IMAGE is an SMV or TIFF file, RAW the same pixels without a header: FAST*SLOW numbers, fast axis
first, native byte order, float32 when the file is four bytes a pixel, else uint16.  RAW may also
be `-` to check only that the image is readable and has this size.

For an SMV file some header keys are checked too.  Exit status: 0 equal, 1 different, 2 usage,
77 fabio or numpy is missing (the reason is printed).
"""
import os
import sys

try:
    import fabio
    import numpy
except ImportError as missing:
    print(f"skip fabio # {missing}")
    sys.exit(77)


def load_raw(path, fast, slow):
    """The array [slow][fast] of a headerless file, or None when it has another size."""
    types = {4: numpy.float32, 2: numpy.uint16}
    kind = types.get(os.path.getsize(path) // (fast * slow))
    if kind is None or os.path.getsize(path) % (fast * slow):
        return None
    return numpy.fromfile(path, dtype=kind).reshape(slow, fast)


def header_fault(header, fast, slow):
    """What an SMV header lacks, or None."""
    want = {"SIZE1": str(fast), "SIZE2": str(slow), "TYPE": "unsigned_short",
            "DETECTOR_SN": "000", "BEAMLINE": "nanobragg"}
    for key, value in want.items():
        if header.get(key) != value:
            return f"{key} is {header.get(key)!r}, not {value!r}"
    for key in ("DISTANCE", "WAVELENGTH", "PIXEL_SIZE", "BEAM_CENTER_X", "BEAM_CENTER_Y",
                "OSC_START", "OSC_RANGE", "TIME", "IMAGE_PEDESTAL"):
        try:
            float(header[key])
        except (KeyError, ValueError):
            return f"{key} is {header.get(key)!r}, not a number"
    if int(header["HEADER_BYTES"]) % 512:
        return f"HEADER_BYTES is {header['HEADER_BYTES']}"
    return None


def fault(image_path, raw_path, fast, slow):
    """Why an image is not right, or None."""
    try:
        image = fabio.open(image_path)
    except Exception as error:  # fabio raises whatever its readers raise
        return f"fabio cannot read it: {error}"
    if image.data.shape != (slow, fast):
        return f"fabio sees {image.data.shape}, not {(slow, fast)}"
    if not image_path.lower().endswith((".tif", ".tiff")):
        wrong = header_fault(image.header, fast, slow)
        if wrong:
            return wrong
    if raw_path == "-":
        return None
    raw = load_raw(raw_path, fast, slow)
    if raw is None:
        return f"{raw_path} is not {fast} x {slow} numbers"
    if image.data.dtype.itemsize != raw.dtype.itemsize:
        return f"pixels are {image.data.dtype}, not {raw.dtype}"
    different = int(numpy.count_nonzero(~(image.data == raw)))
    return f"{different} of {raw.size} pixels differ" if different else None


def main(args):
    if len(args) < 3 or not all("=" in pair for pair in args[2:]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    fast, slow = int(args[0]), int(args[1])
    failed = 0
    for pair in args[2:]:
        image_path, raw_path = pair.rsplit("=", 1)
        why = fault(image_path, raw_path, fast, slow)
        name = os.path.basename(image_path)
        print(f"not ok fabio {name}: {why}" if why else f"ok fabio {name}")
        failed += why is not None
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
