#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random combinations of flags, with checks that need no second model.

A trial is a number.  It draws a command line and a few checks: a frame alone equals that of its series, a line of -jobs or
a drawn number acts as the typed flag, the list of -truth adds up to the image, a switch that is off changes nothing, a region
is a part of the image, ...  Every run ends with status 0, or with status 2 and one line; every image is finite.

usage: test_combined.py [FIRST COUNT] [--program P] [--device D] [--jobs n] [--check NAME] [--shrink] [--keep FOLDER] [--flags TEXT]
  --shrink  leave out flags of a failed trial, as long as it fails
  --keep    make the files and run the trials in this folder, and keep it
  --flags   flags after those of every command
"""
import argparse
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    print("skip combined # python3-numpy is not installed")
    sys.exit(0)

try:
    import h5py
except ImportError:
    h5py = None

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.environ.get("NB_SOURCE", os.path.join(HERE, "..", "..")))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from combined import GEOMETRY, Scene, by_name, make_files, make_pixels, seed_of, smv, words_of  # noqa: E402

QUIET = "-threads 1 -quiet -noprogress -noint -nopgm".split()
LIMIT = 20  # limit of a run in seconds of processor time
# Flags with values that change nothing if the scene does not have the flag already
OFF = ["-Fscale 1", "-Badd 0", "-crystals 1", "-crystals [{}]", "-water 0", "-dose 0", "-dmin 0", "-fudge 1", "-blocks 1", "-osc 0", "-mosaic 0", "-mosaic_tail 0", "-absorb sphere:200 -absorb_mu 0", "-footprint box:0:0",
       "-footprint gauss:0:0", "-twin h,k,l:0.3", "-twin -h,-k,l:0", "-divergence 0", "-dispersion 0", "-phisteps 1", "-flicker 0", "-detector_thick 0", "-transmission one_PIXELS.bin", "-add zero_PIXELS.bin",
       "-damage_cell 0", "-polar 0", "-phi 0", "-misset 0 0 0", "-mosaic_dom 1", "-square_xtal", "-stills 1 -only_frame 0", "-beamstop disc:5:1", "-twotheta 0", "-detector_rotx 0", "-fill default"]
# {drawn number: the flag that it replaces}
INSTEAD = {"lambda": "energy", "energy": "lambda", "fluence": "flux", "distance": "close_distance", "close_distance": "distance", "blocks": "crystal_volume", "crystal_volume": "blocks"}
# {flag of OFF: flags of the scene with which it may change the image}
NOT_OFF = {"-mosaic_dom": ("mosaic", "mosaic_aniso", "mosaic_tensor", "mosaic_blocks"), "-mosaic": ("mosaic_aniso", "mosaic_tensor", "mosaic_blocks"), "-mosaic_tail": ("mosaic_blocks",), "-misset": ("mat", "expt"), "-square_xtal": ("gauss_xtal", "round_xtal", "tophat_spots"),
           "-phisteps": ("osc",), "-osc": ("expt", "img", "mask", "nxmx"), "-phi": ("expt", "img", "nxmx"), "-twotheta": ("img", "mask", "detector_rotx", "detector_roty", "detector_rotz"), "-blocks": ("crystal_volume",), "-fill": ("hkl",), "-polar": ("nopolar", "expt"),
           "-detector_thick": ("detector", "expt", "nxmx"), "-stills": ("dose",), "-divergence": ("hdivrange", "sourcefile", "expt"), "-dispersion": ("sourcefile", "spectrum"), "-damage_cell": ("damage_B",)}


class Refused(Exception):
    """The program refused a command line: status 2 and one error line."""


class Failure(Exception):
    pass


class Trial(Scene):
    """A random scene, and the runs of the program that check it."""

    def __init__(self, number):
        super().__init__(number)
        self.log, self.lit, self.runs, self.why = [], False, 0, ""
        self.draw()

    def run(self, words, threads=None, kill=None):
        for name, text in self.files.items():
            if text is not None:
                with open(name, "w", encoding="ascii") as f:
                    f.write(text)
        words = ["-device", ARGS.device, *QUIET, *words, *(["-threads", str(threads)] if threads else []), *ARGS.flags.split()]
        self.log.append("$NANOBRAGG " + shlex.join(words))
        self.runs += 1
        with subprocess.Popen(["prlimit", f"--cpu={ARGS.limit}", PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace") as process:
            if kill:
                while process.poll() is None and not os.path.exists(kill):
                    time.sleep(0.0005)
                process.kill()
            says = process.communicate()[1]
        if kill:
            return
        if process.returncode == -signal.SIGKILL:
            raise Failure(f"still running after {ARGS.limit} s of processor time")
        errors = [x for x in says.splitlines() if "error:" in x]
        if "Sanitizer" in says or "runtime error:" in says:
            raise Failure("sanitizer: " + next(x for x in says.splitlines() if "Sanitizer" in x or "runtime error" in x))
        if process.returncode not in (0, 2):
            raise Failure(f"exit status {process.returncode}: {says[-300:]}")
        if process.returncode == 2:
            if len(errors) != 1 or "internal" in says:
                raise Failure(f"{len(errors)} lines of error: {says[-300:]}")
            raise Refused(errors[0])

    def image(self, words, file="x.bin", **more):
        """Photons of each pixel of a single image with these flags."""
        remove(file)
        self.run([*words, "-nonoise", "-floatfile", file], **more)
        return self.pixels_of(file)

    def pixels_of(self, file):
        image = numpy.fromfile(file, "f4")
        brightest = abs(image).max() if image.size else 0
        if not image.size or not numpy.isfinite(image).all():
            raise Failure(f"{file}: {image.size} pixels, {(~numpy.isfinite(image)).sum()} of them not finite")
        if image.min() < 0 and not self.has("add") and image.min() < -1e-6 * brightest:
            raise Failure(f"{file}: a pixel has {image.min()} photons")
        if brightest > 1e-12 * self.max_fluence():
            raise Failure(f"{file}: a pixel has {brightest} photons")
        self.lit |= bool(image.any())
        return image

    def max_fluence(self):
        """Largest fluence of the scene. Its brightest pixels have about 1e-15 of this
        number in photons; pixels_of refuses more than 1e-12."""
        return max([2e29] if not self.has("fluence", "flux") else [8 * float(x["fluence"][0]) for x in (self.flags, *self.lines) if "fluence" in x] + [1e31 if self.has("flux") else 0] + [1e26 if self.laws else 0])

    def frames(self, pattern="o_%d.bin", threads=None, words=None):
        for k in range(1, 12):
            remove(pattern % k)
        self.run([*(words or self.all_words()), "-output", pattern], threads=threads)
        return [pattern % (k + 1) for k in range(self.count())]


def remove(file):
    if os.path.exists(file):
        os.remove(file)


def read(file):
    with open(file, "rb") as f:
        return f.read()


def same(one, two, part=0.0, what="other pixels"):
    """Fails unless the images are equal, within `part` of the brightest pixel."""
    if one.shape != two.shape:
        raise Failure(f"{what}: {one.size} and {two.size} pixels")
    if one.tobytes() == two.tobytes():
        return
    one, two = one.astype(float), two.astype(float)
    brightest = max(abs(one).max(), abs(two).max())
    off = abs(one - two).max()
    if part == 0 or off > part * brightest:
        raise Failure(f"{what}: {(one != two).sum()} of {one.size} pixels differ, by {off / brightest:.2g} of the brightest, {brightest:.4g}; sums {one.sum():.6g} {two.sum():.6g}")


# -------------------------------------------------------------------- checks

def check_alone(t, rng):
    """-only_frame makes the same bytes as the frame in its series, also counts."""
    counts = rng.random() < 0.25 and not t.has("geom", "expt", "nxmx")
    files = t.frames("o_%d.img" if counts else "o_%d.bin")
    k = rng.randrange(len(files))
    words = [*t.all_words(), "-only_frame", str(k)]
    try:
        if counts:
            remove("n.img")
            t.run([*words, "-nofloat", "-noisefile", "n.img"])
            n = 2 * t.pixels()
            if read("n.img")[-n:] != read(files[k])[-n:]:
                raise Failure(f"counts of frame {k} of the series and alone differ")
            return
        t.log.append(f"# frame {k} is {files[k]}")
        same(t.pixels_of(files[k]), t.image(words), t.exact(), what=f"frame {k} of the series and alone")
    except Refused as why:
        if "-only_frame with -spectra" not in str(why):
            raise Failure(f"the series renders, and frame {k} alone is refused: {why}") from None


def typed(t, k):
    """Flags of a single image that equals frame k of the series."""
    flags, seed = t.flags, int(t.flags["seed"][0])
    more = {"seed": [str(seed_of(seed, k))]}
    kind = t.series.get("orientations", [""])[0]
    if kind == "random":
        more.update(by_name(f"-misset random -misset_seed {more['seed'][0]}"))
    elif kind == "angles.txt":
        with open(kind, encoding="ascii") as f:
            more["misset"] = f.read().splitlines()[k].split()
    for law in t.laws:
        name, _, value = law.split(":")
        several = flags.get(name, [])[1:]
        more[name] = [value, *(repr(float(x) * (float(value) / float(flags[name][0]))) for x in several)]  # one factor applies to all of them
        flags = {flag: has for flag, has in flags.items() if flag != INSTEAD.get(name)}
    more.update({name: value for name, value in (t.lines[k] if t.lines else {}).items()})
    return t.base(flags=flags) + words_of(more)


def can_type(t):
    sizes, drawn = [x for x in ("N", "Na", "Nc", "samplesize") if x in t.flags], {law.split(":")[0] for law in t.laws} & {"N", "Na", "samplesize", "sample_x"}
    if t.has("mosaic_aniso", "mosaic_tensor") and any(law.startswith("mosaic:") for law in t.laws):
        return False
    if drawn and (len(sizes) != 1 or drawn != {*sizes}):
        return False  # a drawn size removes other size flags
    return (not t.has("frames", "dose", "jitter_fluence", "jitter_lambda", "jitter_cell", "jitter_mosaic", "jitter_beam", "spectra", "damage_B", "damage_cell", "damage_half") and t.count() and
            t.series.get("orientations", ["random"])[0] in ("random", "angles.txt") and all(re.fullmatch("[a-zA-Z_]+:choice:[^:,]+", x) for x in t.laws) and not (t.lines and t.laws) and
            not (t.has("add") and t.has("spectrum", "pulse_length", "fluence", "flux", "exposure", "beamsize")) and
            not ("orientations" in t.series and (t.crystals is not None or t.has("crystals") or t.has("mat") or "crystal" in t.flags.get("expt", [""])[0])))


def check_typed(t, rng):
    """A line of -jobs, or a drawn number, acts like the typed flag: the pixels are the
    same, or the program refuses both."""
    k = rng.randrange(t.count())
    words, said = typed(t, k), None
    try:
        files = t.frames()
    except Refused as why:
        said = why
    if said:
        try:  # the flags without the series may be refused too
            t.image(t.base())
        except Refused:
            return
        alone = []
        for j in range(t.count()):
            try:
                alone.append(t.image(typed(t, j)))
            except Refused:
                return
        known = ["of the whole series", "pixels", "a detector from a file", "cannot vary", "contradicts -mat", "-vary", "jobs"]
        where = t.has("geom", "expt", "nxmx", "detector", "img", "mask") and t.has(*GEOMETRY)
        if not where and not any(x in str(said) for x in known[:5]):
            raise Failure(f"refused in a series, not if it is typed: {said}")
        return
    try:
        t.log.append(f"# frame {k} is {files[k]}")
        same(t.pixels_of(files[k]), t.image(words), t.exact(), what=f"frame {k} and the typed flags")
    except Refused as why:
        if t.has("geom", "expt", "nxmx"):
            t.log.append("# " + str(why))
        raise Failure(f"the series renders what is refused if it is typed: {why}") from None


def check_truth(t, rng):
    """Intensities of -truth and the other light in its header add up to the image."""
    series = []
    if t.series or t.lines:
        series = ["-only_frame", str(rng.randrange(t.count()))]
    words = [*t.all_words(), *series]
    plain = t.image(words, "y.bin") if rng.random() < 0.3 else None
    remove("t.tsv")
    try:
        image = t.image([*words, "-truth", "spots", "-truth_min", rng.choice(["1e-12", "0"]), "-truthfile", "t.tsv"])
    except Refused as why:
        if plain is not None or "written to HDF5" in str(why):
            raise Failure(f"refused with -truth, not without: {why}") from None
        raise
    with open("t.tsv", encoding="ascii") as f:
        head, names, *rows = f.read().splitlines()
    said = re.findall(r"([a-z][a-z ]*) (-?[0-9.]+(?:e[-+]?\d+)?)", head.split(";")[1])
    at = names.split("\t").index("intensity")
    listed = sum(float(x.split("\t")[at]) for x in rows)
    total, pixels = listed + sum(float(x[1]) * (-1 if "off the panels" in x[0] else 1) for x in said), image.astype(float)
    off = (total - pixels.sum()) / max(abs(pixels).sum(), 1e-30)
    if abs(off) > 5e-6:
        raise Failure(f"list {listed:.8g}, header {said}: together {off:.2g} off the image, {pixels.sum():.8g}")
    if plain is not None:
        same(image, plain, 2e-6, what="the image with -truth and without")


def check_off(t, rng):
    """A flag of OFF changes no byte of the image."""
    off = t.text(rng.choice([x for x in OFF if not t.has(*x.split()[0][1:].split(), *NOT_OFF.get(x.split()[0], ()))])).split()
    if off[0] == "-crystals" and t.crystals is not None or off[0] in ("-crystals", "-twin") and "box" in t.flags.get("absorb", [""])[0] or off[0] == "-dmin" and t.model():
        return
    plain = t.image(t.base())
    try:
        image = t.image([*t.base(), *off])
    except Refused as why:
        if "contradicts" in str(why) or "need" in str(why) or "only" in str(why) or "no effect" in str(why):
            return
        raise Failure(f"{' '.join(off)} is refused: {why}") from None
    same(plain, image, 1e-12 if off[0] in ("-footprint",) else 0, what=" ".join(off))


def check_region(t, rng):
    """With -roi the pixels inside equal the whole image's; pixels outside are 0."""
    fast, slow = t.shape()
    a, b = sorted(rng.sample(range(fast), 2))
    c, d = sorted(rng.sample(range(slow), 2))
    if rng.random() < 0.5:
        b, d = min(b, a + 3), min(d, c + 3)
    whole = t.image(t.base()).reshape(slow, fast)
    part = t.image([*t.base(), "-roi", *map(str, (a, b, c, d))]).reshape(slow, fast)
    outside = numpy.ones(part.shape, bool)
    outside[c:d + 1, a:b + 1] = False
    if part[outside].any():
        raise Failure("light outside of the region")
    inside = whole[c:d + 1, a:b + 1]
    t.log.append(f"# the region {a} {b} {c} {d} of the image")
    limit = max(abs(whole).max() * (1e-6 if not t.has("diffuse_sigma") else 1e-4), abs(inside).max() * 1e-2 if t.has("diffuse_sigma") else 0)
    off = abs(part[c:d + 1, a:b + 1] - inside).max()
    exact = not t.has("diffuse_sigma") and not t.model()
    if off > (0 if exact else limit):
        raise Failure(f"region off by {off / max(abs(inside).max(), 1e-30):.2g} of its brightest pixel, {off / abs(whole).max():.2g} of the whole image's")


def check_linear(t, rng):
    """Photons are proportional to the fluence."""
    name = "flux" if "flux" in t.flags else "fluence"
    plain = t.image(t.base())
    power = rng.choice([2, 8, 0.25])
    image = t.image([*t.base(), "-" + name, repr(float(t.flags[name][0]) * power)])
    same(plain.astype(float) * power, image.astype(float), 1e-6, what=f"{power} x -{name}")


def check_threads(t, rng):
    """Any number of threads makes the same bytes, noise too."""
    if t.series or t.lines:
        kind = rng.choice(["o_%d.bin", "o_%d.img", "o_%d.cbf"]) if not t.has("geom", "expt", "nxmx") else "o_%d.bin"
        one = [read(x) for x in t.frames(kind)]
        if one != [read(x) for x in t.frames(kind, threads=3)]:
            raise Failure("one and three threads make other frames")
        return
    seen = []
    for threads in (1, 3):
        remove("n.img")
        noise = ["-nonoise"] if t.has("geom", "expt", "nxmx", "detector") else ["-noisefile", "n.img"]
        t.run([*t.base(), "-floatfile", "x.bin", *noise], threads=threads)
        seen.append((t.pixels_of("x.bin").tobytes(), len(noise) > 1 and read("n.img")[-2 * t.pixels():]))
    if seen[0] != seen[1]:
        raise Failure(f"one and three threads make another image: photons {'differ' if seen[0][0] != seen[1][0] else 'are the same'}")


def check_order(t, rng):
    """Crystals of a list in another order give the same image."""
    other = t.crystals[::-1] if rng.random() < 0.5 else t.crystals[1:] + t.crystals[:1]
    same(t.image(t.base()), t.image(t.base(other, file="other.txt")), 1e-6 if not t.has("diffuse_sigma") else 1e-4, what="crystals in another order")


def check_sum(t, rng):
    """The light of a list of crystals, without background, is the sum of the images of
    single crystals without background."""
    whole = t.image(t.base())
    none = t.image([*t.base(None), "-crystals", "0"]).astype(float)
    total = none.copy()
    for one in t.crystals:
        total += t.image([*t.base(None), *words_of(one)]).astype(float) - none
    same(whole.astype(float), total, 3e-6 if not t.has("diffuse_sigma") else 1e-4, what="the sum of crystals")


def check_dmin(t, rng):
    """-dmin at a higher resolution than that of all reflections changes nothing."""
    at = rng.choice([0.15, 0.62]) * (3.9 if t.flags["hkl"] == ["low.hkl"] else 4.2) if not t.has("diffuse_sigma") else 0.4  # in A
    words = [*t.base(), *(["-diffuse_only"] if t.has("diffuse_sigma") else [])]  # leaves out Bragg light, which is brighter
    plain, image = t.image(words), t.image([*words, "-dmin", f"{at:.4g}"])
    same(plain, image, 1e-3 if t.has("diffuse_sigma") else 1e-6, what=f"-dmin {at:.4g}")


def check_empty(t, rng):
    """-crystals 0 gives the image of the background alone."""
    keep = {"detpixels", "detpixels_f", "detpixels_s", "pixel", "geom", "nxmx", "img", "lambda", "energy", "fluence", "flux", "exposure", "beamsize", "polar", "nopolar", "oversample", "roi", "mask",
            "xds", "adxv", "denzo", "dials", "fdet_vector", "sdet_vector", "spindle_axis", "pivot", "Xbeam", "Ybeam", "ORGX", "ORGY", "curved_det", "point_pixel", "detector_thick", "detector_abs", "detector_thicksteps",
            "sensor", "layer_depth", "water", "background", "stol", "amorphous_thick", "beamstop", "transmission", "add", "seed", "panel", "detector", "distance", "close_distance", *GEOMETRY, "sourcefile",
            "divergence", "divsteps", "hdivrange", "vdivrange", "hdivsteps", "vdivsteps", "square_div", "dispersion", "dispsteps", "spectrum", "bandwidth", "split", "pulse_length", "line", "wavelengths", "isa"}
    plain = t.image([*words_of({name: words for name, words in t.flags.items() if name in keep}), *"-cell 50 -N 1 -default_F 0".split()])
    same(plain, t.image([*t.base(None), "-crystals", "0"]), 1e-6, what="-crystals 0 and the background")


def check_isa(t, rng):
    """The default renderer, of any device, makes the same image as a CPU with the scalar,
    double or sse2 renderer."""
    one = t.image(t.base())
    same(one, t.image([*t.base(), "-device", "cpu", *rng.choice(["-isa scalar", "-precision double", "-isa sse2"]).split()]), 2e-6, what="another renderer")


def check_parts(t, rng):
    """Parts of a series, and a series that is killed and resumed, have the same frames as
    the whole series."""
    whole = [read(x) for x in t.frames("w_%d.bin")]
    if rng.random() < 0.6:
        for part in ("0", "1-") if t.count() > 1 else ("0",):
            t.run([*t.all_words(), "-only_frame", "0-0" if part == "0" else f"1-{t.count() - 1}", "-output", "o_%d.bin"])
        how = "in parts"
    else:
        remove("o_1.bin")
        t.run([*t.all_words(), "-output", "o_%d.bin"], kill="o_1.bin")
        t.run([*t.all_words(), "-output", "o_%d.bin", "-resume"])
        how = "resumed"
    if whole != [read(f"o_{k + 1}.bin") for k in range(t.count())]:
        raise Failure(f"the series {how} has other frames")


def check_master(t, rng):
    """-hdf5 and -output write the same frames, and the list of reflections of each frame
    adds up to the frame."""
    files = t.frames()
    for file in os.listdir("."):
        if file.startswith("m_"):
            remove(file)
    t.run([*t.all_words(), "-hdf5", "m_master.h5", "-hdf5type", "float32", "-truth", "spots", "-truth_min", "0"])
    with h5py.File("m_master.h5") as f:
        images, at = f["/entry/data/data"][:], f["/entry/simulation/reflections"]
        rows, first, count = at["table"][:], at["first"][:], at["count"][:]
        rest = sum(at[name][:] * (-1 if name == "off_panels" else 1) for name in at if name not in ("table", "first", "count"))
    for k, file in enumerate(files):
        image = t.pixels_of(file)
        same(image, images[k].ravel(), what=f"frame {k} of -output and -hdf5")
        listed = rows["intensity"][first[k]:first[k] + count[k]].sum() if count[k] else 0
        off = (listed + rest[k] - image.sum(dtype=float)) / max(abs(image).sum(dtype=float), 1e-30)
        if abs(off) > 5e-6:
            raise Failure(f"frame {k}: list {listed:.8g}, with background and rest {off:.2g} off the image, {image.sum(dtype=float):.8g}")


def check_slopes(t, rng):
    """Derivatives equal central differences of typed flags, also of several lattices."""
    value = {"fluence": None, "polar": None, "lambda": None, "distance": None, "default_F": None, "water": None, "misset_x": None, "misset_z": None, "cell_a": None, "cell_b": None, "Na": None, "twotheta": None, "Xbeam": None,
             "mosaic": None, "dispersion": None, "fudge": None, "phi": None}
    flags = dict(t.flags)
    names = [x for x in value if x in flags or x in ("misset_x", "misset_z") and len(flags.get("misset", [])) > 2 or x in ("cell_a", "cell_b") and len(flags.get("cell", [])) > 2]
    if "mat" in flags or "sourcefile" in flags:  # both depend on the wavelength
        names = [x for x in names if x != "lambda"]
    if t.has("sourcefile") and "xds" in flags:  # sources along the polarization have no Kahn factor
        names = [x for x in names if x != "polar"]
    first, *others = t.crystals or [{}]
    hidden = {"misset_x": ("misset", "mat"), "misset_z": ("misset", "mat"), "cell_a": ("cell", "mat"), "cell_b": ("cell", "mat"), "Na": ("N", "Na", "samplesize"), "mosaic": ("mosaic", "mosaic_aniso", "mosaic_tensor")}
    names = [x for x in names if not set(first) & set(hidden.get(x, (x,)))]  # otherwise the line of -jobs replaces the flag
    sizes = [x for line in (flags, first, *others) for flag in ("N", "Na", "Nb", "Nc") for x in numpy.ravel(line.get(flag, 9))]
    if t.has("gauss_xtal", "round_xtal", "tophat_spots") and min(map(float, sizes)) < 4:
        # light of a small crystal jumps where the nearest reflection changes
        names = [x for x in names if x in ("fluence", "polar", "default_F", "water", "fudge", "Na")]
    if not names:
        return
    name = rng.choice(names)
    words = [*t.base(), "-precision", "double"]
    remove("d.bin")
    t.run([*words, "-nonoise", "-nofloat", "-derivatives", name, "-derivfile", "d.bin", "-derivtype", "float64"])
    plane = numpy.fromfile("d.bin")
    flag, axis = (name[:-2], "xyz".find(name[-1]) if name[0] == "m" else "ab".index(name[-1])) if name[-2:-1] == "_" and name != "default_F" else (name, 0)
    old = flags[flag]
    x, at = float(old[axis]), words.index("-" + flag) + 1  # the new value replaces the old one at its place, because the last of some flags sets the pivot
    step = abs(x) * 2e-3 if flag in ("fluence", "default_F", "water") else 2e-4 * {"misset": 40, "lambda": 0.5, "cell": 5, "distance": 40, "Na": 5, "twotheta": 40, "Xbeam": 50, "phi": 40}.get(flag, 1)
    largest = abs(plane).max()
    for smaller in (1, 10, 100):  # a jump or kink inside a step may be outside of a smaller step
        differences = []
        for h in (step / smaller, step / smaller / 2):
            two = [t.image([*words[:at + axis], repr(x + s * h), *words[at + axis + 1:]]).astype(float) for s in (1, -1)]
            differences.append((two[0] - two[1]) / (2 * h))
        best, noise = (4 * differences[1] - differences[0]) / 3, 6e-8 * abs(two[0]).max() / step * smaller * 4
        off = abs(best - plane).max()
        if off <= 2e-3 * largest + noise + 2 * abs(differences[1] - differences[0]).max():
            return
        if noise * 10 > 0.01 * largest:  # a smaller step would not show an error, because of rounding
            break
    raise Failure(f"derivative by {name}: off by {off / max(largest, 1e-30):.2g} of the largest, {largest:.4g} (noise {noise:.2g})")


def checks_of(t):
    """{name of a check: its weight}; 0 if the check does not fit the scene."""
    flags, series = t.flags, bool(t.series or t.lines)
    plain = not series
    placed = t.crystals is not None and all("misset" in x for x in t.crystals) and not t.has("add")
    table = "hkl" in flags and flags["hkl"][0] in ("low.hkl", "mid.hkl") and flags.get("cell") in ("40 50 60".split(), "15 18 21 82 99 94".split())
    flat = not t.has("expt", "detector", "img", "hkl", "pdb", "mtz", "cif", "tophat_spots", "dose", "interpolate", "absorb", "beamstop", "dmin", "samplesize",
                     "add", "transmission", "spectrum")
    return {"alone": 3 * series, "typed": (series and can_type(t)) * 4, "truth": 2 * (t.number % 3 == 0 or plain) * (not t.has("precision")), "off": 2 * plain,
            "region": 2 * (plain and not t.has("roi", "geom", "expt", "nxmx")), "linear": plain and "fluence" in flags and not t.has("add", "tolerance_photons") and flags.get("dose") != ["auto"], "threads": 0.7,
            "order": 6 * (plain and not t.has("tolerance") and (t.has("oversample") or not t.has("water", "background")) and placed and len(t.crystals) > 1 and not t.has("twin")), "sum": 6 * (plain and not t.has("tolerance") and placed and t.has("oversample") and not t.has("spectrum", "dose")),
            "dmin": 6 * (plain and table and not t.has("fill", "default_F", "dmin", "mat", "crystals") and (t.crystals is None or not any({"hkl", "pdb", "mtz", "cell"} & set(x) for x in t.crystals))),
            "empty": plain and t.has("oversample") and not t.has("expt", "osc", "dose"), "isa": 0.7 * (plain and not t.has("tophat_spots", "precision", "tolerance")),
            "master": 1.0 * (series and h5py is not None and "no HDF5" not in BUILD), "parts": 0.5 * series, "slopes": 1.5 * (plain and flat)}


CHECKS = {name[6:]: value for name, value in globals().items() if name.startswith("check_")}


# -------------------------------------------------------------------- trials

def attempt(t, name):
    """Runs a check. Returns the reason of a failure, "" for success, None if refused."""
    t.log, t.files = [], {}
    fast, slow = t.shape()
    make_pixels(fast * slow)
    if t.has("mask"):
        smv(f"mask_{fast * slow}.img", fast, slow, [int(i % 11 > 1) for i in range(fast * slow)])
    try:
        CHECKS[name](t, random.Random(f"{t.number} {name}"))
    except Refused as why:
        t.why = str(why)
        return None
    except Failure as why:
        return str(why)
    return ""


def kind_of(why):
    return re.sub(r"exit status.*|[-0-9.e+]+", "", why, flags=re.DOTALL)[:40]


def shrink(t, name, why):
    """Removes flags as long as the check fails in the same way; returns the reason."""
    kind = kind_of(why)

    def still(put_back):
        try:
            found = attempt(t, name) if checks_of(t).get(name) else ""
        except (KeyError, IndexError, ValueError, ZeroDivisionError, TypeError):
            found = ""
        if not found or kind_of(found) != kind:
            put_back()
            return False
        return True
    again = True
    while again:
        again = False
        for table in (t.flags, t.series, *t.lines, *(t.crystals or [])):
            for flag in list(table):
                if table is t.flags and flag in ("seed", "detpixels", "detpixels_f", "detpixels_s", "pixel", "oversample", "wavelengths", "img", "cell", "geom", "expt", "nxmx", "stills", "frames"):
                    continue  # without these flags images would be large
                old = dict(table)
                del table[flag]

                def back(table=table, old=old):
                    table.clear()
                    table.update(old)
                again |= still(back)
        for some in (t.lines, t.crystals or [], t.laws):
            for i in reversed(range(len(some))):
                old = list(some)
                del some[i]

                def restore(some=some, old=old):
                    some[:] = old
                again |= still(restore)
        if t.crystals is not None:
            old, t.crystals = t.crystals, None

            def whole(old=old):
                t.crystals = old
            again |= still(whole)
    return attempt(t, name)


def run_trial(number, only):
    """(number, [(check, reason of attempt(), text to print)], runs, True if lit)."""
    t = Trial(number)
    weights = {name: float(w) for name, w in checks_of(t).items() if w}
    chooser = random.Random(f"{number} checks")
    chosen = {only} & set(weights) if only else {chooser.choices(list(weights), weights.values())[0] for _ in range(2)}
    results = []
    for name in sorted(chosen):
        why, text = attempt(t, name), ""
        if why and ARGS.shrink:
            why = shrink(t, name, why) or why
        if why:
            text = "\n".join([f"# trial {number}, {name}: {why}", *(f"# cat >{file} <<'E'\n" + "".join(f"# {x}\n" for x in body.splitlines()) + "# E" for file, body in t.files.items()), *("# " + x for x in t.log)])
        if why and ARGS.shrink:
            results.append((name, why, text))
            break  # shrink changed the scene
        if ARGS.verbose and why is None:
            text = f"# trial {number}, {name} refused: {t.why}"
        results.append((name, why, text))
    return number, results, t.runs, t.lit


def work(numbers, only, folder, out):
    """Runs the trials of one process; writes a line of JSON for each."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    make_files(ROOT, PROGRAM)
    for number in numbers:
        out.write(json.dumps(run_trial(number, only)) + "\n")
        out.flush()


def all_trials(first, count, only, folder):
    numbers = range(first, first + count)
    if ARGS.jobs < 2:
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        make_files(ROOT, PROGRAM)
        for number in numbers:
            yield run_trial(number, only)
        return
    readers = []
    for j in range(ARGS.jobs):
        come, go = os.pipe()
        if os.fork() == 0:
            with os.fdopen(go, "w") as out:
                work(numbers[j::ARGS.jobs], only, os.path.join(folder, str(j)), out)
            os._exit(0)
        os.close(go)
        readers.append(os.fdopen(come))
    for reader in readers:
        for line in reader:
            yield json.loads(line)


def main():
    start, seen, runs, lit, refused, failed, done = time.time(), {}, 0, 0, 0, {}, 0
    folder = os.path.abspath(ARGS.keep) if ARGS.keep else tempfile.mkdtemp()
    for number, results, more, light in all_trials(ARGS.first, ARGS.count, ARGS.check, folder):
        runs, lit, done = runs + more, lit + light, done + 1
        for name, why, text in results:
            seen[name] = seen.get(name, 0) + 1
            refused += why is None
            if text:
                print(text, flush=True)
            if why:
                failed.setdefault(name, []).append(number)
    os.chdir("/")
    if not ARGS.keep:
        shutil.rmtree(folder)
    total = sum(seen.values())
    script.ok("all trials", done == ARGS.count, f"{done} of {ARGS.count} were made")
    for name in sorted(seen):
        script.ok(name, name not in failed, f"failed in trials {failed.get(name)}")
    print(f"# {ARGS.count} trials, {total} checks {seen}, {100 * refused / max(total, 1):.0f} % refused, {100 * lit / ARGS.count:.0f} % lit, {runs} runs of {1000 * (time.time() - start) / max(runs, 1):.0f} ms")
    if not ARGS.check and ARGS.count > 50:
        script.ok("rendered", refused < 0.4 * total and lit > 0.6 * ARGS.count, f"{refused} of {total} checks refused, {lit} trials lit")
    sys.exit(bool(script.FAILED))


def arguments():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = 3000 if "NB_BIG" in os.environ else 40 if "NB_REDUCED" in os.environ else 150
    parse.add_argument("first", nargs="?", type=int, default=1)
    parse.add_argument("count", nargs="?", type=int, default=size)
    parse.add_argument("--program", default=os.environ.get("NANOBRAGG"))
    parse.add_argument("--device", default="cpu")
    parse.add_argument("--jobs", type=int, default=1)
    parse.add_argument("--check", choices=sorted(CHECKS))
    parse.add_argument("--shrink", action="store_true")
    parse.add_argument("--verbose", action="store_true")
    parse.add_argument("--keep")
    parse.add_argument("--flags", default="")
    parse.add_argument("--limit", type=int, default=LIMIT)
    return parse.parse_args()


if __name__ == "__main__":
    ARGS = arguments()
    PROGRAM = os.environ["NANOBRAGG"] = os.path.abspath(ARGS.program)
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1")
    os.environ.setdefault("LSAN_OPTIONS", f"suppressions={ROOT}/tests/support/lsan.txt:print_suppressions=0")
    import script  # noqa: E402
    BUILD = "no HDF5" if "hdf5 yes" not in " ".join(script.run("-version")[0].lower().split()) else "HDF5"
    main()
