#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""-footprint on a device: images against those of the CPU, and the cost of the footprint.

usage: python3 tests/bench/footprint.py [--program build/nanobragg] [--device cuda] [--repeats 5] [--pixels 4096]
"""
import argparse
import array
import json
import os
import subprocess
import sys
import tempfile

SCENE = ["-default_F", "100", "-cell", "60", "70", "80", "90", "95", "100", "-lambda", "1", "-distance", "100", "-N", "7",
         "-misset", "10", "20", "30", "-pixel", "0.1", "-oversample", "1", "-seed", "1", "-noint", "-nopgm", "-nonoise",
         "-noprogress"]
CASES = {
    "gauss": ["-footprint", "gauss:0.25:0.1:30"],
    "box": ["-footprint", "box:0.4:0.15:-50"],
    "background": ["-footprint", "gauss:0.25:0.1:30", "-water", "50", "-background", "water:0.1"],
    "tilted": ["-footprint", "gauss:0.5:0.2:30", "-twotheta", "35", "-detector_rotx", "20"],
    "region": ["-footprint", "gauss:0.5:0.2:30", "-twotheta", "35", "-roi", "33", "290", "70", "301"],
    "wide": ["-footprint", "gauss:2:0.2:30"],
    "curved": ["-footprint", "gauss:0.3:0.2:70", "-curved_det"],
    "spots": ["-footprint", "gauss:0.25:0.1:30", "-gauss_xtal", "-N", "30", "-mosaic", "0.2", "-mosaic_dom", "20"],
}


def render(program, device, flags):
    subprocess.run([program, *SCENE, *flags, "-device", device, "-floatfile", "image.bin"], check=True,
                   stdout=subprocess.DEVNULL)
    image = array.array("f")
    with open("image.bin", "rb") as stream:
        image.frombytes(stream.read())
    return image


def checks(program, device):
    good = True
    for name, flags in CASES.items():
        ours, truth = (render(program, d, ["-detpixels", "400", *flags]) for d in (device, "cpu"))
        brightest = max(truth)
        off = max(abs(a - b) / (b + 1e-6 * brightest) for a, b in zip(ours, truth))
        lit = sum(b > 0 for b in truth)
        print(f"{'ok' if off < 1e-4 and lit > 1000 else 'not ok'} footprint-{name} # {off:.2g} of a pixel, {lit} lit")
        good = good and off < 1e-4 and lit > 1000
    return good


def seconds(program, device, pixels, flags, repeats):
    """[least time of a render in the library, least time of the device's kernels], s."""
    best = [1e9, 1e9]
    for _ in range(repeats):
        subprocess.run([program, *SCENE, "-detpixels", str(pixels), *flags, "-device", device, "-nofloat", "-report",
                        "report.json"], check=True, stdout=subprocess.DEVNULL)
        with open("report.json", encoding="utf-8") as stream:
            times = json.load(stream)["seconds"]
        now = [times["render"], times.get("device_render", 0)]
        best = [min(a, b) for a, b in zip(best, now)]
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/nanobragg")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pixels", type=int, default=4096)
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        good = checks(program, args.device)
        for flags in ([], ["-footprint", "gauss:0.1:0.05:30"], ["-footprint", "gauss:0.25:0.1:30"],
                      ["-footprint", "box:0.2:0.1:30"]):
            whole, kernels = seconds(program, args.device, args.pixels, flags, args.repeats)
            print(f"# {args.device} {args.pixels} {' '.join(flags) or 'plain'}: {whole * 1e3:.3f} ms, kernels {kernels * 1e3:.3f} ms")
        os.chdir("/")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
