#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Detectors from files: images and -show_config agree with golden_data/detectors."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

numpy = script.need("numpy")

SOURCE = os.environ.get("NB_SOURCE", ".")
FOLDER = os.path.join(SOURCE, "golden_data", "detectors")
PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
DEVICE = os.environ.get("NB_DETECTORS_DEVICE", "cpu")  # cuda: images only, with default flags
TIGHT = ["-precision", "double", "-isa", "scalar"]


def has(feature):
    said = subprocess.run([PROGRAM, "-version"], capture_output=True, text=True).stdout.lower()
    return f"{feature.lower()} yes" in " ".join(said.split())


def run(flags):
    return subprocess.run([PROGRAM, *flags], cwd=FOLDER, capture_output=True, text=True)


def cases():
    with open(os.path.join(FOLDER, "cases.tsv"), encoding="utf-8") as stream:
        for line in list(stream)[1:]:
            name, output, _, pixels, _, _, note, flags = line.rstrip("\n").split("\t")
            yield name, output, int(pixels), note, flags.split()


def compare(a, b):
    """Errors of image a against b: (maxrel, rel6, sum, 1 - correlation)."""
    top = b.max()
    lit = b > 1e-6 * top
    return (abs(a - b).max() / top, (abs(a - b)[lit] / b[lit]).max(), abs(a.sum() / b.sum() - 1),
            1 - numpy.corrcoef(a, b)[0, 1])


def read_image(name, kind):
    return numpy.fromfile(os.path.join(FOLDER, "images", name + ".bin"), kind).astype(float)


def check_noise(name, output, pixels, flags, folder):
    """Compares the noise image: ADU before rounding (noisefloat), or the SMV file."""
    path = os.path.join(folder, "noise.bin")
    got = run([*flags, "-" + output, path, "-nofloat", "-noint", "-nopgm", "-device", DEVICE,
               *(["-nonoise"] if output == "noisefloat" else [])])
    if got.returncode:
        return got.stderr.strip()
    if output == "noisefloat":
        image, wanted = numpy.fromfile(path, "<f4").astype(float), read_image(name, "<f4")
        off = abs(image - wanted) > 5e-5 * numpy.maximum(1, abs(wanted)) if image.size == wanted.size else [True]
    else:
        with open(path, "rb") as stream:
            image, wanted = numpy.frombuffer(stream.read()[-2 * pixels:], "<u2").astype(float), read_image(name, "<u2")
        off = image != wanted if image.size == wanted.size else [True]
    near = image.size == wanted.size and abs(image - wanted).max() <= 1
    allowed = 1 if output == "noisefile" and "-psf" in flags and near else 0
    if image.size != pixels or wanted.size != pixels or sum(off) > allowed:
        return f"{image.size} pixels, {sum(off)} are other ones"
    return None


def check_case(name, pixels, flags, extra, limits, folder):
    path = os.path.join(folder, "image.bin")
    got = run([*flags, "-floatfile", path, "-nonoise", "-noint", "-nopgm", "-device", DEVICE, *extra])
    if got.returncode:
        return got.stderr.strip()
    image = numpy.fromfile(path, "<f4").astype(float)
    wanted = read_image(name, "<f4")
    if image.size != pixels or wanted.size != pixels:
        return f"{image.size} pixels"
    figures = compare(image, wanted)
    if not all(figure <= limit for figure, limit in zip(figures, limits)):
        return "maxrel %.2e, rel6 %.2e, sum %.2e, 1-corr %.2e" % figures
    return None


def close(a, b, tolerance):
    return all(abs(x - y) <= tolerance for x, y in zip(a, b)) and len(a) == len(b)


def wrong_panel(panel, row):
    number = [float(x) if x != "-" else None for x in row[2:]]
    checks = {
        "name": panel["name"] == row[1], "size": panel["size"] == number[0:2],
        "pixel_mm": close(panel["pixel_mm"], number[2:4], 1e-12),
        "origin_mm": close(panel["origin_mm"], number[4:7], 1e-9),
        "fast": close(panel["fast"], number[7:10], 1e-12),
        "slow": close(panel["slow"], number[10:13], 1e-12),
        "normal": close(panel["normal"], number[13:16], 1e-12),
        "close_distance_mm": abs(panel["close_distance_mm"] - number[16]) <= 1e-9,
        "thickness_mm": number[18] < 0 or abs(panel["thickness_mm"] - number[17]) <= 1e-12,
        "attenuation_per_mm": number[18] < 0 or abs(panel["attenuation_per_mm"] - number[18]) <= 1e-9,
        "gain": abs(panel["gain"] - number[19]) <= 1e-9, "saturation": panel["saturation"] == number[20],
        "masked": panel["masked"] == number[21], "data": panel["data"] == number[22:24]}
    return [key for key, good in checks.items() if not good]


# {file: beam and rotation that the file has}
FACTS = {"hier.expt": {"beam": {"wavelength_A": 1.2815, "polarization": 0.97}}, "modules.h5": {"beam": {"wavelength_A": 1.0332}},
         "rot.expt": {"spindle": {"phi_deg": 15.25, "osc_deg": 0.4}}, "stack3d.h5": {"spindle": {"phi_deg": 30, "osc_deg": 0.25}}}


def check_panels(file):
    kind = {"geom": "-geom", "expt": "-expt", "h5": "-nxmx"}[file.rsplit(".", 1)[1]]
    flags = [kind, "geom/" + file, "-layout", "file", "-show_config", "-cell", "60", "-default_F", "1", "-N", "2"]
    if file == "cspad8.geom":
        flags += ["-distance", "62.2", "-energy", "8700"]
    if kind == "-nxmx":
        flags += ["-detector_thick", "0"]
    got = run(flags)
    if got.returncode:
        return got.stderr.strip()
    config = json.loads(got.stdout)
    panels = config["detector"]["panels"]
    for part, facts in FACTS.get(file, {}).items():
        if not close([config[part][name] for name in facts], facts.values(), 1e-9):
            return f"{part}: {config[part]}"
    with open(os.path.join(FOLDER, "geom", file.rsplit(".", 1)[0] + ".panels.tsv"), encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in list(stream)[1:]]
    if len(rows) != len(panels):
        return f"{len(panels)} panels"
    for panel, row in zip(panels, rows):
        wrong = wrong_panel(panel, row)
        if wrong:
            return f"panel {row[0]}: {', '.join(wrong)}"
    return None


def stack_of(image):
    """Pixels of all panels of an image of dxtbx, one panel after the other."""
    raw = image.get_raw_data(0)
    return numpy.concatenate([panel.as_numpy_array().ravel() for panel in (raw if isinstance(raw, tuple) else (raw,))])


def check_master(file, layout, load, folder):
    """Fault of a master file in dxtbx, or of its image with -nxmx; None if correct."""
    kind = {"geom": "-geom", "expt": "-expt", "h5": "-nxmx"}[file.rsplit(".", 1)[1]]
    flags = [kind, "geom/" + file, "-layout", layout, "-cell", "60", "-default_F", "100", "-N", "5", "-seed", "1",
             "-oversample", "1", "-device", "cpu"]
    if file == "cspad8.geom":
        flags += ["-distance", "62.2", "-energy", "8700"]
    if kind == "-nxmx":
        flags += ["-detector_thick", "0"]
    master, image = os.path.join(folder, "m.h5"), os.path.join(folder, "m.bin")
    for extra in (["-stills", "1", "-hdf5", master, "-hdf5type", "float32", "-nonoise"],
                  ["-floatfile", image, "-nonoise", "-noint", "-nopgm"]):
        got = run([*flags, *extra])
        if got.returncode:
            return got.stderr.strip()
    stack = numpy.fromfile(image, "<f4")
    again = os.path.join(folder, "again.bin")
    own = run(["-nxmx", master, *[flag for flag in flags[2:] if flag not in ("-distance", "62.2", "-energy", "8700")],
               "-floatfile", again, "-nonoise", "-noint", "-nopgm"])
    if own.returncode:
        return own.stderr.strip()
    if kind == "-geom" and not numpy.array_equal(numpy.fromfile(again, "<f4"), stack):
        return "read again it is another image"
    frames = load(master)
    with open(os.path.join(FOLDER, "geom", file.rsplit(".", 1)[0] + ".panels.tsv"), encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in list(stream)[1:]]
    detector = frames.get_detector(0)
    if len(detector) != len(rows):
        return f"{len(detector)} panels in dxtbx"
    for panel, row in zip(detector, rows):
        x, y, z = map(float, row[6:9])
        if not close(panel.get_origin(), (z, y, -x), 1e-9):
            return f"panel {row[0]}: origin {panel.get_origin()}"
    if not numpy.array_equal(stack_of(frames), stack):
        return "the pixels in dxtbx are not those of the stack"
    return None


def check(name, wrong):
    script.ok(name, wrong is None, wrong)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, output, pixels, note, flags in cases():
            if "needs xraylib" in note and not has("xraylib"):
                print(f"skip {name} # the program was built without xraylib")
                continue
            if "-nxmx" in flags and not has("HDF5"):
                print(f"skip {name} # the program was built without HDF5")
                continue
            if "fibre" in flags and not has("FFTW"):
                print(f"skip {name} # the program was built without FFTW")
                continue
            if output != "floatfile":
                check(name, check_noise(name, output, pixels, flags, folder))
                continue
            check(name, check_case(name, pixels, flags, [], (1e-6, 1e-4, 1e-6, 1e-11), folder))
            if DEVICE != "cpu":
                continue
            check(name + " in double",
                         check_case(name, pixels, flags, TIGHT, (2e-7, 1e-5, 1e-6, 1e-12), folder))
        check("a case that must fail",
              None if check_case("quad", 5120, ["-geom", "geom/flat3.expt"], [], (1, 1, 1, 1), folder) else "it passed")
        if DEVICE != "cpu":
            return
        try:
            from dxtbx import load
        except ImportError:
            load = None
            print("skip masters in dxtbx # dxtbx is not installed")
        for file in ("quad.geom", "cspad8.geom", "agipd3d.geom", "flat3.expt", "rot.expt", "modules.h5", "stack3d.h5"):
            if load and has("HDF5"):
                check("master of " + file, check_master(file, "stack", load, folder))
        for file in sorted(os.listdir(os.path.join(FOLDER, "geom"))):
            if not file.endswith(".tsv"):
                check("panels of " + file, check_panels(file))


main()
sys.exit(1 if script.FAILED else 0)
