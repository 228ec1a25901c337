#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""-footprint: photons of each reflection, plain images, regions, lists of reflections, messages.

usage: NANOBRAGG=program python3 tests/cli/footprint_check.py
"""
import array
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, ok, run  # noqa: E402

N = 160
SCENE = ["-cell", 60, 70, 80, 90, 95, 100, "-lambda", 1, "-distance", 60, "-pixel", 0.1, "-N", 12, "-gauss_xtal",
         "-mosaic", 0.3, "-mosaic_dom", 7, "-misset", 10, 20, 30, "-detpixels", N, "-oversample", 2, "-fluence", 1e28,
         "-seed", 1, "-noint", "-nopgm", "-nonoise", "-noprogress", "-device", "cpu"]
EVERY = ["-default_F", 80]
WIDE = ["-footprint", "gauss:0.25:0.1:30"]


def render(*flags):
    run(*SCENE, "-floatfile", "image.bin", *flags)
    image = array.array("f")
    with open("image.bin", "rb") as stream:
        image.frombytes(stream.read())
    return image


def listed(*flags):
    """Rows of the file of -truth spots, without its head."""
    render(*EVERY, "-truth", "spots", "-truthfile", "spots.txt", *flags)
    with open("spots.txt", encoding="ascii") as stream:
        return [line.split() for line in stream if line[0] not in "#h"]


def alone():
    """[(h k l, image of this reflection alone)] of six reflections far from the edges."""
    images = []
    for row in sorted(listed(), key=lambda row: -float(row[5])):
        with open("one.hkl", "w", encoding="ascii") as stream:
            stream.write(" ".join(row[:3]) + " 100\n")
        image = render("-hkl", "one.hkl", "-default_F", 0)
        lit = [(i % N, i // N) for i, x in enumerate(image) if x]
        if lit and all(12 < place < N - 13 for pixel in lit for place in pixel):
            images.append((row[:3], image))
        if len(images) == 6:
            break
    return images


def photons_of_each_reflection():
    images = alone()
    ok("six reflections", len(images) == 6, len(images))
    for hkl, plain in images:
        with open("one.hkl", "w", encoding="ascii") as stream:
            stream.write(" ".join(hkl) + " 100\n")
        for shape in ("gauss:0.25:0.1:30", "box:0.3:0.12:-50"):
            wide = render("-hkl", "one.hkl", "-default_F", 0, "-footprint", shape)
            name = " ".join(hkl) + " " + shape
            off = sum(wide) / sum(plain) - 1
            ok(f"photons of {name}", abs(off) < 1e-6, f"{off:.2g}")
            ok(f"width of {name}", max(wide) < 0.7 * max(plain), max(wide) / max(plain))


def plain_images():
    plain = render(*EVERY, "-water", 50)
    for none in ("gauss:0:0", "box:0:0:30"):
        ok(f"{none} is no footprint", render(*EVERY, "-water", 50, "-footprint", none) == plain)


def background():
    materials = ["-water", 50, "-background", "water:0.1"]
    both, light = render(*EVERY, *materials, *WIDE), render(*EVERY, *WIDE)
    off = max(abs(b - w - x) / b for b, w, x in zip(both, render("-default_F", 0, *materials), light))
    ok("the background stays", off < 1e-6, off)


def parts():
    whole = render(*EVERY, *WIDE)
    part = render(*EVERY, "-roi", 40, 90, 30, 100, *WIDE)
    cut = array.array("f", (x if 40 <= i % N <= 90 and 30 <= i // N <= 100 else 0 for i, x in enumerate(whole)))
    ok("a region is a part of the image", part == cut)
    images = [render(*EVERY, "-twotheta", 30, "-threads", n, *WIDE) for n in (1, 2, 7)]
    ok("threads", images[0] == images[1] == images[2])


def facts():
    out, _ = run(*SCENE, *EVERY, "-floatfile", "image.bin", *WIDE)
    ok("report", "footprint Gaussian of 0.25 x 0.1 mm (FWHM), 30 deg from the horizontal" in out, out)
    out, _ = run(*SCENE, *EVERY, "-show_config", *WIDE)
    ok("-show_config", json.loads(out)["crystal"].get("footprint") == WIDE[1], out)
    ok("reflections are those of the light", listed(*WIDE) == listed())


def off_panels():
    with open("spots.txt", encoding="ascii") as stream:
        head = stream.readline()
    return float(head.split("off the panels ")[1].split(";")[0]) if "off the panels" in head else 0


def factors():
    """The listed intensity of a reflection equals its photons in the image, with a beam
    stop too; photons that leave the panel are reported."""
    flags = ["-footprint", "box:1.5:0.6:20", "-beamstop", "disc:6,bar:1:30:0.4", "-roi", 0, 120, 20, N - 1]
    rows = sorted(listed(*flags), key=lambda row: -float(row[5]))[:40]
    moved, worst = 0, 0
    for row in rows[::4]:
        with open("one.hkl", "w", encoding="ascii") as stream:
            stream.write(" ".join(row[:3]) + " 80\n")
        image = render("-hkl", "one.hkl", "-default_F", 0, *flags, "-truth", "spots", "-truthfile", "spots.txt")
        moved += off_panels() > 1e-3 * float(row[5])
        worst = max(worst, abs((sum(image) + off_panels()) / float(row[5]) - 1))
    ok("intensities behind a beam stop", worst < 2e-5, worst)
    ok("light that leaves the panel", 0 < moved < 10, moved)


def messages():
    for value, text in (("gauss:1", "number is missing"), ("round:1:1", "unknown shape"), ("gauss:1:x", "unreadable"),
                        ("gauss:-1:1", "0 to 1000 mm"), ("box:1:1:1:1", "too many"), ("gauss:50:1", "more than 250 pixels")):
        _, err = run(*SCENE, *EVERY, "-footprint", value, status=2)
        ok(f"message of {value}", "-footprint" in err and text in err, err)
    _, err = run(*SCENE, *EVERY, "-compat", *WIDE, status=2)
    ok("message with -compat", "contradicts -compat" in err, err)


HERE = os.getcwd()
FOLDER = tempfile.mkdtemp()
os.chdir(FOLDER)
for test in (photons_of_each_reflection, plain_images, background, parts, facts, factors, messages):
    test()
os.chdir(HERE)
shutil.rmtree(FOLDER)
sys.exit(1 if FAILED else 0)
