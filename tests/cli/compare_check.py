#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""nanobragg compare gives the figures of numpy and scipy on 20 pairs of images, and fails
on images that are shifted, scaled, transposed or not finite.

usage: NANOBRAGG=program compare_check.py
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.ndimage
    import scipy.optimize
except ImportError as missing:
    print(f"skip compare-against-scipy # {missing}")
    sys.exit(0)

PROGRAM = os.environ["NANOBRAGG"]
PERCENTS = (50, 90, 99, 99.9, 100)
failed = 0


def result(name, faults):
    global failed
    for fault in faults[:5]:
        print(f"# {name}: {fault}")
    print(f"{'not ok' if faults else 'ok'} {name}")
    failed |= bool(faults)


def run(*args):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


# --- images -------------------------------------------------------------------------------------

def spots(rng, slow, fast, count):
    """Gaussian spots on a smooth background."""
    s, f = np.mgrid[0:slow, 0:fast]
    image = 5 * np.exp(-np.hypot(f - fast / 2, s - slow / 2) / (0.3 * fast))
    for _ in range(count):
        y, x = rng.uniform(0, slow), rng.uniform(0, fast)
        image += rng.lognormal(4, 1) * np.exp(-((f - x) ** 2 + (s - y) ** 2) / (2 * 0.9 ** 2))
    return image


def make_pair(seed):
    """A pair of images, and the ROI to compare or None."""
    rng = np.random.default_rng(seed)
    fast, slow = int(rng.integers(40, 150)), int(rng.integers(40, 150))
    b = spots(rng, slow, fast, int(rng.integers(0, 60)))
    kind = seed % 5
    if kind == 0:  # noise added
        a = b + rng.normal(0, 0.3, b.shape)
    elif kind == 1:  # every spot moves a little
        a = scipy.ndimage.shift(b, rng.uniform(-0.8, 0.8, 2), order=3, mode="nearest")
    elif kind == 2:  # counts, many of which are equal
        a, b = rng.poisson(b), rng.poisson(b)
    elif kind == 3:  # two unrelated images
        a = spots(rng, slow, fast, 50)
    else:  # negative and zero pixels
        b = b - np.median(b)
        b[: slow // 4] = 0
        a = 1.01 * b + rng.normal(0, 0.01, b.shape)
    roi = None
    if seed % 3 == 1:
        f0, s0 = int(rng.integers(0, 12)), int(rng.integers(0, 12))
        roi = (f0, f0 + int(rng.integers(20, fast - f0)), s0, s0 + int(rng.integers(20, slow - s0)))
        roi = (roi[0], min(roi[1], fast - 1), roi[2], min(roi[3], slow - 1))
    return a.astype(np.float32), b.astype(np.float32), roi


# --- the same figures, from numpy and scipy -------------------------------------------------------

def peaks(image, percentile, reach, count):
    """Rows (x, y) of peaks, brightest first; of equal neighbours the first is a peak."""
    limit = np.percentile(image, percentile)
    box = scipy.ndimage.maximum_filter(image, 2 * reach + 1, mode="constant", cval=-np.inf)
    found = []
    slow, fast = image.shape
    for s, f in np.argwhere((image == box) & (image > limit)):
        if not (0 < s < slow - 1 and 0 < f < fast - 1):
            continue
        s0, f0 = max(s - reach, 0), max(f - reach, 0)
        near = image[s0: s + reach + 1, f0: f + reach + 1]
        if tuple(np.argwhere(near == image[s, f])[0]) != (s - s0, f - f0):
            continue
        found.append((-image[s, f], s, f))
    found.sort()
    if count and len(found) > count:
        last = -found[count - 1][0]
        found = [p for i, p in enumerate(found) if i < count or -p[0] >= last - 1e-3 * abs(last)]

    def top(left, middle, right):
        bend = left - 2 * middle + right
        return 0.5 * (left - right) / bend if bend < 0 else 0.0
    return np.array([(f + top(*image[s, f - 1: f + 2]), s + top(*image[s - 1: s + 2, f]))
                     for _, s, f in found]).reshape(-1, 2)


def pair_up(a, b, gate):
    """Differences a - b of paired peaks: as many pairs within `gate` pixels as possible,
    then with the least sum of squares."""
    if not len(a) or not len(b):
        return np.empty((0, 2))
    squares = ((a[:, None] - b[None]) ** 2).sum(2)
    price = np.where(squares <= gate * gate, squares, 1e6)
    rows, columns = scipy.optimize.linear_sum_assignment(price)
    kept = price[rows, columns] < 1e6
    return a[rows[kept]] - b[columns[kept]]


def radial(a, b, centre, corner):
    s, f = np.mgrid[0: a.shape[0], 0: a.shape[1]]
    ring = np.hypot(f + corner[0] + 0.5 - centre[0], s + corner[1] + 0.5 - centre[1]).astype(int)
    n = np.bincount(ring.ravel())
    used = n > 0
    mean = [np.bincount(ring.ravel(), x.ravel())[used] / n[used] for x in (a, b)]
    n = n[used]
    difference = np.sqrt((n * (mean[0] - mean[1]) ** 2).sum() / (n * mean[1] ** 2).sum())
    k = np.argmax(np.abs(mean[0] - mean[1]))
    worst = (mean[0] - mean[1])[k] / np.abs(mean[1]).max()
    return difference, worst, used.sum()


def expected(a, b, roi, gate=2, percentile=99, reach=3, count=100):
    centre = (b.shape[1] / 2, b.shape[0] / 2)
    corner = (0, 0)
    if roi:
        a, b = (x[roi[2]: roi[3] + 1, roi[0]: roi[1] + 1] for x in (a, b))
        corner = (roi[0], roi[2])
    a, b = a.astype(float), b.astype(float)
    d = a - b
    at = np.unravel_index(np.argmax(np.abs(d)), d.shape)
    bright = b > 1e-6 * b.max()
    errors = np.abs(d[bright]) / b[bright]
    pa, pb = peaks(a, percentile, reach, count), peaks(b, percentile, reach, count)
    shifts = pair_up(pa, pb, gate)
    difference, worst, rings = radial(a, b, centre, corner)
    want = {
        "pixels": a.size, "correlation": np.corrcoef(a.ravel(), b.ravel())[0, 1],
        "rmse": np.sqrt((d ** 2).mean()), "max_difference": d[at],
        "max_difference_pixel": [at[1] + corner[0], at[0] + corner[1]],
        "maxrel": np.abs(d[at]) / b.max(), "sum_a": a.sum(), "sum_b": b.sum(),
        "sum_ratio": a.sum() / b.sum(), "relative_pixels": bright.sum(),
        "scale": (a * b).sum() / (b * b).sum(),
        "peaks.a": len(pa), "peaks.b": len(pb), "peaks.matched": len(shifts),
        "peaks.fraction": len(shifts) / max(len(pa), len(pb)) if len(pa) + len(pb) else 1,
        "radial.difference": difference, "radial.worst": worst, "radial.rings": rings,
    }
    for p in PERCENTS:
        want[f"relative_percentiles.{p:g}"] = np.percentile(errors, p)
    if len(shifts):
        want["peaks.rms_shift"] = np.sqrt((shifts ** 2).sum(1).mean())
        want["peaks.mean_shift"] = list(shifts.mean(0))
    return want


def look_up(got, name):
    """Value at a path. In relative_percentiles.99.9 only the first dot separates keys."""
    head, _, tail = name.partition(".")
    return got[head][tail] if tail else got[head]


def check_figures(got, want):
    faults = []
    for name, value in want.items():
        mine = look_up(got, name)
        pairs = zip(mine, value) if isinstance(value, list) else [(mine, value)]
        for x, y in pairs:
            if x is None or not abs(x - y) <= 1e-9 * abs(y) + 1e-11:
                faults.append(f"{name} is {mine}, numpy and scipy say {value}")
    return faults


def against_scipy(folder):
    paired = 0
    for seed in range(20):
        a, b, roi = make_pair(seed)
        a.tofile(f"{folder}/a.bin")
        b.tofile(f"{folder}/b.bin")
        extra = {"gate": 1 + seed % 4, "reach": 2 + seed % 3, "count": (0, 10, 100)[seed % 3],
                 "percentile": (90, 95, 99, 99.5)[seed % 4]}
        flags = ["-gate", extra["gate"], "-peak_exclusion", extra["reach"], "-peak_count",
                 extra["count"], "-peak_percentile", extra["percentile"], "-json",
                 "-threshold", "none"]
        if roi:
            flags += ["-roi", *roi]
        status, out, err = run("compare", f"{folder}/a.bin", f"{folder}/b.bin", "-size",
                               b.shape[1], b.shape[0], *flags)
        if status:
            result(f"compare-pair-{seed}", [f"exit status {status}: {err}"])
            continue
        want = expected(a, b, roi, **extra)
        paired += want["peaks.matched"]
        result(f"compare-pair-{seed}", check_figures(json.loads(out), want))
        long = [text for text in re.findall(r"[-+.e0-9]{17,}", out) if len(text) > len(repr(float(text)))]
        result(f"compare-short-numbers-{seed}", long)
    result("compare-pairs-have-peaks", [] if paired > 200 else [f"only {paired} peaks paired"])


# --- failures -------------------------------------------------------------------------------------

def told_apart(folder):
    rng = np.random.default_rng(99)
    b = spots(rng, 128, 128, 60).astype(np.float32)
    b.tofile(f"{folder}/b.bin")
    bad = b.copy()
    bad[17, 5] = np.nan
    infinite = b.copy()
    infinite[2, 9] = -np.inf
    cases = (
        ("same", b, 0, "are equal", "none"),
        ("noise", b + rng.normal(0, 1e-4, b.shape), 0, None, "none"),
        ("shift", np.roll(b, 1, 1), 3, "shifted by 1.00 0.00", "corr"),
        ("scale", b * np.float32(1.005), 3, "times 1.005", "sum"),
        ("swap", b.T, 3, "axes swapped", "corr"),
        ("nan", bad, 3, "1 pixels of A, 0 of B, the first at 5 17", "corr"),
        ("infinity", infinite, 3, "the first at 9 2", "corr"),
    )
    for name, a, status, words, key in cases:
        np.ascontiguousarray(a, np.float32).tofile(f"{folder}/a.bin")
        got, out, err = run("compare", f"{folder}/a.bin", f"{folder}/b.bin", "-json")
        faults = [] if got == status else [f"exit status {got}, not {status}: {err}"]
        report = json.loads(out)
        if words and words not in report["verdict"]:
            faults.append(f"the verdict is '{report['verdict']}', without '{words}'")
        missed = [t["key"] for t in report["thresholds"] if not t["passed"]]
        if (key not in missed) if key != "none" else missed:
            faults.append(f"missed thresholds: {missed}")
        if report["passed"] != (status == 0):
            faults.append(f"passed is {report['passed']}")
        result(f"compare-tells-{name}", faults)
        # without thresholds a comparison fails only if values are not finite
        got, _, _ = run("compare", f"{folder}/a.bin", f"{folder}/b.bin", "-threshold", "none")
        want = 3 if name in ("nan", "infinity") else 0
        result(f"compare-tells-{name}-without-threshold",
               [] if got == want else [f"exit status {got}, not {want}"])
    # a.bin has fewer pixels than b.bin
    wide = b[:100]
    wide.tofile(f"{folder}/a.bin")
    got, _, err = run("compare", f"{folder}/a.bin", f"{folder}/b.bin")
    result("compare-refuses-sizes", [] if got == 2 and "-size" in err else [f"{got}: {err}"])


# --- formats --------------------------------------------------------------------------------------

def write_tiff(path, image, order="<"):
    """Writes the simplest TIFF: one strip."""
    kinds = {"u": 1, "i": 2, "f": 3}
    data = image.astype(image.dtype.newbyteorder(order)).tobytes()
    slow, fast = image.shape
    tags = ((256, 4, fast), (257, 4, slow), (258, 3, 8 * image.itemsize), (259, 3, 1), (262, 3, 1),
            (273, 4, 8), (277, 3, 1), (278, 4, slow), (279, 4, len(data)),
            (339, 3, kinds[image.dtype.kind]))
    with open(path, "wb") as out:
        out.write(struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, 8 + len(data)))
        out.write(data)
        out.write(struct.pack(order + "H", len(tags)))
        for tag, kind, value in tags:
            out.write(struct.pack(order + "HHI", tag, kind, 1))
            out.write(struct.pack(order + ("HH" if kind == 3 else "I"),
                                  *((value, 0) if kind == 3 else (value,))))
        out.write(struct.pack(order + "I", 0))


def write_pgm(path, image):
    wide = image.dtype == np.uint16
    with open(path, "wb") as out:
        out.write(b"P5\n# a comment\n%d %d\n%d\n" % (image.shape[1], image.shape[0],
                                                     65535 if wide else 255))
        out.write(image.astype(">u2" if wide else "u1").tobytes())


def write_smv(path, image, order):
    header = (f"{{\nHEADER_BYTES=  512;\nDIM=2;\nBYTE_ORDER={order}_endian;\nTYPE=unsigned_short;\n"
              f"SIZE1={image.shape[1]};\nSIZE2={image.shape[0]};\n}}\f").ljust(512)
    with open(path, "wb") as out:
        out.write(header.encode())
        out.write(image.astype("<u2" if order == "little" else ">u2").tobytes())


def formats(folder):
    rng = np.random.default_rng(7)
    base = rng.integers(0, 120, (37, 52))
    truth = f"{folder}/truth.bin"
    base.astype(np.float32).tofile(truth)
    has_tiff = "libtiff      yes" in run("-version")[1]
    names = []
    for kind in ("u1", "u2", "u4", "i1", "i2", "i4", "f4", "f8"):
        for order in "<>":
            names.append(f"{kind}{order}.tif")
            write_tiff(f"{folder}/{names[-1]}", base.astype(kind), order)
    for kind in (np.uint8, np.uint16):
        names.append(f"{np.dtype(kind).name}.pgm")
        write_pgm(f"{folder}/{names[-1]}", base.astype(kind))
    for order in ("little", "big"):
        names.append(f"{order}.img")
        write_smv(f"{folder}/{names[-1]}", base, order)
    for name in names:
        if name.endswith(".tif") and not has_tiff:
            print(f"skip compare-reads-{name} # this build has no libtiff")
            continue
        status, out, err = run("compare", f"{folder}/{name}", truth, "-size", 52, 37, "-json")
        equal = status == 0 and json.loads(out)["verdict"] == "the images are equal"
        result(f"compare-reads-{name}", [] if equal else [f"{status}: {out[-300:]}{err}"])
    data = open(f"{folder}/u2<.tif", "rb").read()
    for name, content in (("short.tif", data[:-40]), ("short.pgm", b"P5\n52 37\n255\nabc"),
                          ("odd.bin", b"\0" * 30), ("empty.bin", b""),
                          ("huge.pgm", b"P5 99999999 99999999 255\n")):
        with open(f"{folder}/{name}", "wb") as out:
            out.write(content)
        status, _, err = run("compare", f"{folder}/{name}", truth)
        lines = err.strip().splitlines()
        result(f"compare-refuses-{name}",
               [] if status == 2 and len(lines) == 1 and name in err else [f"{status}: {err}"])


def equal(a, b):
    status, out, err = run("compare", a, b, "-json")
    same = status == 0 and json.loads(out)["verdict"] == "the images are equal"
    return [] if same else [f"{a} {b}: {status}: {out[-200:]}{err}"]


def refused(path, other, text):
    status, _, err = run("compare", path, other)
    good = status == 2 and len(err.strip().splitlines()) == 1 and text in err
    return [] if good else [f"{path}: {status}: {err}"]


def cut_short(folder, name, other, lengths):
    """compare refuses the file cut to each of `lengths`, with one error line."""
    with open(f"{folder}/{name}", "rb") as whole:
        data = whole.read()
    faults = []
    for n in lengths(len(data)):
        with open(f"{folder}/cut_{name}", "wb") as out:
            out.write(data[:n])
        faults += refused(f"{folder}/cut_{name}", other, f"cut_{name}")
    result(f"compare-refuses-cut-{name}", faults)


def frames(folder):
    """CBF and HDF5 of a series have the same pixels as its SMV files."""
    flags = ["-default_F", 100, "-cell", 70, 80, 90, "-N", 8, "-detpixels_f", 60, "-detpixels_s", 50,
             "-pixel", 0.7, "-fluence", "3e28", "-seed", 7, "-osc", 0.3, "-frames", 5, "-quiet",
             "-adc", 0, "-Xbeam", 16, "-Ybeam", 20, "-distance", 90]
    status, _, err = run(*flags, "-output", f"{folder}/f_%d.img")
    status |= run(*flags, "-output", f"{folder}/f_%d.cbf")[0]
    result("compare-reads-cbf", ([f"{status}: {err}"] if status else []) +
           equal(f"{folder}/f_3.cbf", f"{folder}/f_3.img"))
    faults = []
    for name in ("f_1.img", "f_1.cbf"):
        _, out, _ = run("compare", f"{folder}/{name}", f"{folder}/{name}")
        faults += [] if "about 29.07 23.36" in out else [out]
    result("compare-finds-centre-in-cbf", faults)
    cut_short(folder, "f_1.cbf", f"{folder}/f_1.img", lambda n: (40, 600, 1200, n // 2, n - 300))
    if run(*flags, "-hdf5", f"{folder}/gzip.h5", "-frames_per_file", 2)[0] == 2:
        print("skip compare-reads-hdf5 # this build has no HDF5")
        return
    for kind in ("none", "bslz4"):
        for pixels in ("uint16", "int32", "float32"):
            run(*flags, "-hdf5", f"{folder}/{kind}_{pixels}.h5", "-compress", kind,
                "-hdf5type", pixels, *(["-nonoise"] if pixels == "float32" else []))
    run(*flags, "-output", f"{folder}/f_%d.bin")
    faults = equal(f"{folder}/gzip.h5", f"{folder}/f_1.img")
    faults += equal(f"{folder}/gzip.h5:4", f"{folder}/f_5.img")
    faults += equal(f"{folder}/gzip_data_000002.h5:1", f"{folder}/f_4.img")
    for pixels in ("uint16", "int32"):
        faults += equal(f"{folder}/bslz4_{pixels}.h5:2", f"{folder}/f_3.cbf")
        faults += equal(f"{folder}/none_{pixels}.h5:2", f"{folder}/f_3.cbf")
    for kind in ("none", "bslz4"):
        status, out, err = run("compare", f"{folder}/{kind}_float32.h5:3", f"{folder}/f_4.bin",
                               "-size", 60, 50, "-json")
        if status or json.loads(out)["verdict"] != "the images are equal":
            faults.append(f"{status} {out} {err}")
    result("compare-reads-hdf5", faults)
    _, out, _ = run("compare", f"{folder}/gzip.h5", f"{folder}/gzip.h5:0")
    result("compare-finds-centre-in-hdf5", [] if "about 29.07 23.36" in out else [out])
    other = f"{folder}/f_1.img"
    faults = refused(f"{folder}/gzip.h5:5", other, "the file has 5, counted from 0")
    faults += refused(f"{folder}/gzip.h5:x", other, "gzip.h5:x")
    os.rename(f"{folder}/gzip_data_000002.h5", f"{folder}/moved.h5")
    faults += refused(f"{folder}/gzip.h5:3", other, "data_000002")
    result("compare-refuses-missing-frames", faults)
    cut_short(folder, "moved.h5", other, lambda n: (9, 100, 1000, n // 2, n - 1))
    cut_short(folder, "gzip.h5", other, lambda n: (9, 100, 1000, n // 2, n - 1))
    # with bytes changed at random places of compressed pixels, the program prints a
    # message or reads other pixels, but does not crash
    with open(f"{folder}/bslz4_uint16_data_000001.h5", "rb") as whole:
        data = bytearray(whole.read())
    rng = np.random.default_rng(5)
    at = data.find(b"\0\0\0\0\0\0\x17\x70")  # the first chunk: 6000 bytes
    faults = [] if at > 0 else ["no chunk found"]
    for _ in range(30):
        bad = bytearray(data)
        for place in rng.integers(at, at + 1500, 3):
            bad[place] = rng.integers(0, 256)
        with open(f"{folder}/bad.h5", "wb") as out:
            out.write(bad)
        status, _, err = run("compare", f"{folder}/bad.h5", other)
        if status not in (0, 2, 3) or (status == 2 and len(err.strip().splitlines()) != 1):
            faults.append(f"{status}: {err}")
    result("compare-survives-damaged-chunks", faults)


def main():
    if run("-show_config", "-detpixels", 4, "-quiet")[0]:
        print("skip compare-against-scipy # this build has no cJSON")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        against_scipy(folder)
        told_apart(folder)
        formats(folder)
        frames(folder)
    return int(failed)


sys.exit(main())
