# SPDX-License-Identifier: MIT
"""Pictures (PNG) of weak images, with few pixels, of spots on a background; -help TOPIC.

usage: NANOBRAGG=program python3 tests/cli/pictures_check.py
"""
import math
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from png import grey_levels, pixels  # noqa: E402
from script import FAILED, PROGRAM, ok, run  # noqa: E402

WEAK = ["-cell", "70", "80", "90", "-N", "8", "-default_F", "50", "-detpixels", "64", "-pixel", "1",
        "-distance", "100", "-fluence", "3e27", "-seed", "1", "-quiet", "-nofloat", "-noint", "-nopgm"]


def counts(path):
    """The 64 x 64 pixels of an SMV file of 16 bits."""
    with open(path, "rb") as stream:
        data = stream.read()
    header = int(data[:64].split(b"HEADER_BYTES=")[1].split(b";")[0])
    return struct.unpack(f"<{64 * 64}H", data[header:header + 2 * 64 * 64])


def pedestal():
    run(*WEAK)
    noise = counts("noiseimage.img")
    lit = sum(n > 40 for n in noise)
    ok("scene-is-weak", 10 < lit < 2000 and max(noise) < 100, (lit, max(noise)))
    run("view", "noiseimage.img", "v.png")
    dark = sum(level < 255 for row in grey_levels("v.png") for level in row)
    ok("view-shows-each-photon", dark == lit, (dark, lit))
    run("view", "noiseimage.img", "raw.png", "-pedestal", 0)
    ok("view-pedestal", grey_levels("raw.png") != grey_levels("v.png"))
    run(*WEAK, "-pngfile", "noise.png", "-pngshow", "noise")
    ok("pngshow-noise-is-the-noise-image", grey_levels("noise.png") == grey_levels("v.png"))
    run(*WEAK, "-pngfile", "p.png", "-pngshow", "expected")
    run(*WEAK, "-pngfile", "q.png")
    ok("pngshow-expected-is-the-default", grey_levels("p.png") == grey_levels("q.png")
       and grey_levels("p.png") != grey_levels("v.png"))
    run(*WEAK, "-frames", 1, "-osc", 0.1, "-output", "f_%d.png", "-pngshow", "noise")
    run(*WEAK, "-frames", 1, "-osc", 0.1, "-output", "f_%d.img")
    run("view", "f_1.img", "f.png")
    ok("pngshow-of-a-series", grey_levels("f_1.png") == grey_levels("f.png"))


def smv(name, rows):
    """Writes a list of rows of counts as SMV."""
    size = f"SIZE1={len(rows[0])};\nSIZE2={len(rows)};"
    header = f"{{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\n{size}\n}}"
    with open(name, "wb") as stream:
        stream.write(header.encode().ljust(512) + b"".join(struct.pack(f"<{len(row)}H", *row) for row in rows))


def small_pictures():
    """-pngmax shows a block of pixels as one pixel: the brightest, or the sum."""
    rows = [[0] * 100 for _ in range(50)]
    rows[33][77] = 9
    rows[34][78] = 3  # these two pixels are in the same block of 4 x 4
    rows[8][8] = 5
    smv("large.img", rows)
    for blocks, spot in (("brightest", 9), ("sum", 12)):
        run("view", "large.img", "s.png", "-pngmax", 26, "-pngblocks", blocks, "-pngscale", "0:12", "-pnggamma", 1)
        small = grey_levels("s.png")
        ok(f"pngmax-size-{blocks}", (len(small), len(small[0])) == (13, 25), (len(small), len(small[0])))
        dark = {(y, x): level for y, row in enumerate(small) for x, level in enumerate(row) if level < 255}
        ok(f"pngmax-{blocks}", dark == {(8, 19): 255 - round(255 * spot / 12), (2, 2): 255 - round(255 * 5 / 12)}, dark)
    run("view", "large.img", "s.png", "-pngmax", 100)
    run("view", "large.img", "whole.png")
    ok("pngmax-large-enough", grey_levels("s.png") == grey_levels("whole.png"))
    run(*WEAK, "-pngfile", "f.png", "-pngmax", 20, "-pngrings", 3)
    ok("pngmax-of-a-simulation", len(pixels("f.png")) == 16, len(pixels("f.png")))


def spots_on_a_background():
    """Spots of 8 standard deviations are dark, also on a ring of 400 counts. The ring is
    light, although the other background is only 80 counts."""
    state, spots = 1, [(130, 70), (96, 156), (20, 20), (150, 170)]
    rows = []
    for y in range(192):
        rows.append([])
        for x in range(192):
            noise = 0
            for _ in range(12):  # the sum of 12 random numbers has nearly a normal distribution
                state = (1103515245 * state + 12345) % 2**31
                noise += state / 2**31 - .5
            level = 80 + 320 * math.exp(-((math.hypot(x - 96, y - 96) - 60) / 30) ** 2)
            spot = sum(8 * math.sqrt(level) for v, u in spots if abs(v - y) < 2 and abs(u - x) < 2)
            rows[-1].append(max(0, round(level + noise * math.sqrt(level) + spot)))
    smv("ring.img", rows)
    run("view", "ring.img", "r.png")
    grey = grey_levels("r.png")
    darkest = [max(grey[v + j][u + i] for j in (-1, 0, 1) for i in (-1, 0, 1)) for v, u in spots]
    ok("spots-are-dark", max(darkest) < 140, darkest)
    light = sorted(level for row in grey for level in row)
    ok("background-is-white", light[len(light) // 10] > 230, light[len(light) // 10])
    run("view", "ring.img", "r.png", "-pngscale", "0:500")
    ok("a-typed-scale-shows-the-ring", grey_levels("r.png")[40][96] < 60, grey_levels("r.png")[40][96])


def parts_of_help():
    text, _ = run("-help", "spindle")
    ok("help-group", text.startswith("Spindle\n") and "-phisteps" in text and "-lambda" not in text, text)
    text, _ = run("-help", "-oversample")
    ok("help-flag", text.lstrip().startswith("-oversample") and text.count("\n  -") == 0, text)
    text, _ = run("-help", "polarization")
    ok("help-word", "-polar" in text and "-detpixels" not in text, text)
    _, text = run("-help", "zeppelin", status=2)
    ok("help-unknown", "zeppelin" in text and text.count("\n") == 1, text)
    for typed, wanted in (("-quantum_gain", "-gain"), ("-psize", "-pixel"), ("-spot", "-help spot"),
                          ("-detpixel", "-detpixels")):
        _, text = run(typed, "3", status=2)
        ok("meaning-of" + typed, wanted in text and "-dmin" not in text, text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if subprocess.run([PROGRAM, *WEAK, "-pngfile", "t.png"], capture_output=True,
                          check=False).returncode == 2:
            print("skip pictures-pedestal # no libpng in this build")
        else:
            pedestal()
        small_pictures()
        spots_on_a_background()
        parts_of_help()
        os.chdir("/")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
