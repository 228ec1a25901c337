# SPDX-License-Identifier: MIT
"""Pictures of weak images, and the parts of -help.

usage: NANOBRAGG=program python3 tests/cli/pictures_check.py
"""
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from png import grey_levels  # noqa: E402
from script import FAILED, PROGRAM, ok, run  # noqa: E402

WEAK = ["-cell", "70", "80", "90", "-N", "8", "-default_F", "50", "-detpixels", "64", "-pixel", "1",
        "-distance", "100", "-fluence", "3e27", "-seed", "1", "-quiet", "-nofloat", "-noint", "-nopgm"]


def counts(path):
    """The 16-bit pixels of our SMV file."""
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
        parts_of_help()
        os.chdir("/")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
