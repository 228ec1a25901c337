# SPDX-License-Identifier: MIT
"""Checks that -device auto takes the faster device, on a machine with a GPU.

usage: python3 tests/bench/auto.py PROGRAM [REPEATS [DOMAINS...]]

Some scenes are quicker on the CPU, others on the GPU.  Each runs as a process with
-device cpu, cuda and auto, in alternation.  The table has the least time of each, the
choice of auto, and its time over that of the better device.  Exit status 1 if auto breaks
its promise in docs/performance.md: more than 10 % and 0.35 s slower than the better one.
"""
import os
import subprocess
import sys
import tempfile
import time

BASE = "-cell 70 80 90 75 85 95 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 -distance 100 " \
    "-oversample 1 -noint -nopgm -nonoise -seed 1 -quiet"
KINDS = {
    "square": "",
    "gauss": "-gauss_xtal",
    "round": "-round_xtal",
    "thick": "-detector_thick 300 -detector_abs 200 -thicksteps 4",
    "double": "-precision double",
    "top hats, every step": "-tophat_spots -tolerance 0",
    "square, 1e-3": "-tolerance 1e-3 -dispersion 1 -dispsteps 10",
}
DOMAINS = (10, 40, 100, 300, 1000)
WAYS = ("cpu", "cuda", "auto")
PART, SECONDS = 1.1, 0.35  # limits of auto: ratio and difference to the better device


def one(program, words, folder):
    start = time.perf_counter()
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return seconds


def chosen(program, words, folder):
    done = subprocess.run([program, *[w for w in words if w != "-quiet"]], cwd=folder,
                          capture_output=True, text=True, check=False)
    line = [text for text in done.stdout.splitlines() if text.startswith("backend")]
    return "cuda" if line and "cuda" in line[0] else "cpu"


def main(words):
    program, repeats = os.path.abspath(words[0]), int(words[1]) if len(words) > 1 else 3
    every = [int(word) for word in words[2:]] or DOMAINS
    wrong, latest = 0, 0
    print("| scene | domains | cpu, s | cuda, s | auto, s | takes | over the better |\n|" + " --- |" * 7)
    with tempfile.TemporaryDirectory() as folder:
        for kind, flags in KINDS.items():
            for domains in every:
                scene = f"{BASE} {flags} -detpixels 1024 -mosaic 0.5 -mosaic_domains {domains}".split()
                best = dict.fromkeys(WAYS, 1e9)
                for _ in range(repeats):
                    for way in WAYS:
                        if way == "cpu" and best["cpu"] < 1e9 and best["cpu"] > 3:
                            continue  # one run is enough, because it is slow
                        best[way] = min(best[way], one(program, [*scene, "-device", way], folder))
                ratio = best["auto"] / min(best["cpu"], best["cuda"])
                late = best["auto"] - min(best["cpu"], best["cuda"])
                wrong += ratio > PART and late > SECONDS
                latest = max(latest, late)
                print(f"| {kind} | {domains} | {best['cpu']:.3f} | {best['cuda']:.3f} | {best['auto']:.3f} | "
                      f"{chosen(program, scene, folder)} | {ratio:.2f} |", flush=True)
    print(f"\n{wrong} of {len(KINDS) * len(every)} more than 10 % and {SECONDS} s behind the better device, at most {latest:.3f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
