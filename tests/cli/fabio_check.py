#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reads image files of this program with fabio and compares them with raw arrays, pixel for pixel.

usage: fabio_check.py [FAST SLOW IMAGE=RAW ...]

IMAGE is an SMV or TIFF file, RAW the same pixels without a header: FAST*SLOW numbers, fast axis
first, native byte order, float32 when the file is four bytes a pixel, else uint16.  RAW may also
be `-`: the image is then only read, and its size is checked.

Some header keys of an SMV file are checked too.  Without arguments this script runs the program
(NANOBRAGG in the environment) and digitizes its float image; the other images must be equal.
Exit status: 0 equal, 1 different, 2 usage, 77 fabio or numpy is missing (0 without arguments; the
reason is printed as a skipped test).
"""
import os
import subprocess
import sys
import tempfile

try:
    import fabio
    import numpy
except ImportError as missing:
    print(f"skip fabio # {missing}")
    sys.exit(77 if sys.argv[1:] else 0)


def load_raw(path, fast, slow):
    """Returns the array [slow][fast] of a file without header, or None if the file has a
    wrong size."""
    types = {4: numpy.float32, 2: numpy.uint16}
    kind = types.get(os.path.getsize(path) // (fast * slow))
    if kind is None or os.path.getsize(path) % (fast * slow):
        return None
    return numpy.fromfile(path, dtype=kind).reshape(slow, fast)


def header_fault(header, fast, slow):
    """Describes a missing or wrong key of an SMV header, or returns None."""
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
    """Describes how an image differs from its raw file, or returns None."""
    try:
        image = fabio.open(image_path)
    except Exception as error:  # fabio raises any error of its readers
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


def check(fast, slow, pairs):
    """Prints a line for each (image, raw) pair; returns the number of wrong images."""
    failed = 0
    for image_path, raw_path in pairs:
        why = fault(image_path, raw_path, fast, slow)
        name = os.path.basename(image_path)
        print(f"# {name}: {why}\nnot ok fabio {name}" if why else f"ok fabio {name}")
        failed += why is not None
    return failed


def run_and_check():
    """Checks images of nanobragg, 70 x 50 pixels with a region of interest."""
    fast, slow, scale, adc = 70, 50, 2.5, 40
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ["NANOBRAGG"], "-default_F", "100", "-cell", "100", "-N", "5",
                   "-detpixels_x", str(fast), "-detpixels_y", str(slow), "-scale", str(scale),
                   "-roi", "3", "60", "5", "44", "-seed", "1", "-nopgm"]
        for bits in ("32", "16"):
            subprocess.run(command + ["-tifffile", f"float{bits}.tif", "-tiffbits", bits],
                           cwd=folder, check=True, capture_output=True)
        os.chdir(folder)
        photons = load_raw("floatimage.bin", fast, slow).astype(numpy.float64)
        adu = numpy.floor((numpy.clip(photons * scale + adc, 0, 65535) + 0.5)
                          .astype(numpy.float32)).astype(numpy.uint16)
        rows, columns = numpy.mgrid[0:slow, 0:fast]
        adu[(rows < 5) | (rows > 44) | (columns < 3) | (columns > 60)] = 0
        adu.tofile("int.raw")
        with open("noiseimage.img", "rb") as noise, open("noise.raw", "wb") as raw:
            raw.write(noise.read()[-2 * fast * slow:])
        return check(fast, slow, [("intimage.img", "int.raw"), ("noiseimage.img", "noise.raw"),
                                  ("float32.tif", "floatimage.bin"), ("float16.tif", "int.raw")])


def count_frames(master, numpy_frames):
    """Returns None if fabio reads each frame of a master file once, otherwise a
    message."""
    image = fabio.open(master)
    if image.nframes != len(numpy_frames):
        return f"{image.nframes} frames, not {len(numpy_frames)}"
    for k, want in enumerate(numpy_frames):
        if not numpy.array_equal(image.getframe(k).data if k else image.data, want):
            return f"frame {k} differs"
    return None


def silx_count(master):
    """Number of frames of a master that silx shows by default."""
    import silx.io
    from silx.io.nxdata import get_default
    with silx.io.open(master) as h5:
        return len(get_default(h5).signal)


def run_and_check_series():
    """Checks master files with one and with several data files: fabio and silx count each
    frame once."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for files, each in (("one", "5"), ("several", "2")):
            made = subprocess.run(
                [os.environ["NANOBRAGG"], "-default_F", "100", "-cell", "100", "-N", "5", "-quiet",
                 "-detpixels", "40", "-pixel", "2", "-seed", "1", "-osc", "1", "-frames", "5",
                 "-frames_per_file", each, "-hdf5", f"{files}_master.h5", "-output", "f_%d.cbf"],
                capture_output=True, text=True, check=False)
            if made.returncode == 2 and "HDF5" in made.stderr:
                print("skip fabio master # this build has no HDF5")
                break
            frames = [fabio.open(f"f_{k}.cbf").data for k in range(1, 6)]
            try:
                why = count_frames(f"{files}_master.h5", frames)
            except Exception as error:
                why = repr(error)
            name = f"fabio master of {files} data files"
            print(f"# {why}\nnot ok {name}" if why else f"ok {name}")
            failed += why is not None
            try:
                seen = silx_count(f"{files}_master.h5")
            except ImportError as missing:
                print(f"skip silx master # {missing}")
                continue
            print(("ok" if seen == 5 else "not ok") + f" silx master of {files} data files")
            failed += seen != 5
        os.chdir("/")
    return failed


def main(args):
    if not args and "NANOBRAGG" in os.environ:
        return 1 if run_and_check() + run_and_check_series() else 0
    if len(args) < 3 or not all("=" in pair for pair in args[2:]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    return 1 if check(int(args[0]), int(args[1]), [p.rsplit("=", 1) for p in args[2:]]) else 0


sys.exit(main(sys.argv[1:]))
