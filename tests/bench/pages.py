#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of frames of 16 million pixels in headless Chromium: size, time to the first picture, memory (reports/pages.md).

usage: python3 tests/bench/pages.py [--program build/nanobragg] [--pixels 4096] [--repeats 3]
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import browser  # noqa: E402

MODEL = os.path.abspath("golden_data/structure_factors/models/1aki.pdb")
WIDTH = 307.2  # width of the detector in mm
SCENE = ["-pdb", MODEL, "-misset", "10", "20", "30", "-N", "30", "-gauss_xtal", "-mosaic", "0.2", "-mosaic_model", "gauss", "-mosaic_domains", "25",
         "-osc", "0.5", "-lambda", "1", "-distance", "250", "-crystal_volume", "125000", "-flux", "1e12", "-beamsize", "0.05",
         "-background", "water:0.5,air:50", "-seed", "1", "-noint", "-nopgm", "-quiet"]
# JavaScript: waits for an event that the page reports (%s); returns its time in ms since
# the page was opened.
MOMENT = "new Promise(done => { (function look() { if (document.body && document.body.dataset.%s) done(performance.now()); else setTimeout(look, 2); })(); })"
DRAWING = "(start => { for (let i = 0; i < 10; i++) paint(); return (performance.now() - start) / 10; })(performance.now())"


def process_seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process_MB(page):
    """[peak memory, current memory] in MB of the page's process: of all processes of the
    browser it has the largest memory."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
    ours = {page.child.pid}
    for pid, parent in sorted(tuple(map(int, line.split())) for line in listing.splitlines()):
        if parent in ours:
            ours.add(pid)
    found = []
    for pid in ours:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            fields = dict(line.split(":", 1) for line in status)
        if "VmHWM" in fields:
            found.append([int(fields[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS")])
    return max(found)


def measure(path, repeats):
    """Least value of each number over the repeats: times, memory."""
    runs = []
    for _ in range(repeats):
        with browser.Page(path) as page:
            first, ready = page.value(MOMENT % "first"), page.value(MOMENT % "ready")
            heap = page.value("performance.memory.usedJSHeapSize / 1048576")
            drawn = page.value(DRAWING)
            page.value("view.zoom = 4")
            zoomed = page.value(DRAWING)
            runs.append((first / 1000, ready / 1000, drawn, zoomed, heap, *process_MB(page)))
            if page.said:
                raise SystemExit(f"{path}: {page.said}")
    return [min(column) for column in zip(*runs)]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("--program", default="build/nanobragg")
    options.add_argument("--pixels", type=int, default=4096)
    options.add_argument("--repeats", type=int, default=3)
    options = options.parse_args()
    program, n = os.path.abspath(options.program), options.pixels
    if browser.missing():
        raise SystemExit(browser.missing())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        scene = [program, *SCENE, "-detpixels", str(n), "-pixel", str(WIDTH / n)]
        subprocess.run([*scene, "-truth", "spots", "-noisefile", "counts.img", "-floatfile", "photons.bin"], check=True)
        subprocess.run([*scene, "-frames", "4", "-hdf5", "series.h5", "-hdf5type", "uint16", "-compress", "bslz4"], check=True)
        print("| | page, MB | written, s of processor time | first picture, s | all, s | one drawing, ms: all of it, zoomed in | script, MB | its process, MB: most, at rest |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for name, words in (("counts", ["counts.img", "page.html", "-spots", "spots.tsv"]),
                            ("photons", ["photons.bin", "page.html", "-size", n, n, "-spots", "spots.tsv"]),
                            ("a series of 4", ["series.h5", "page.html", "-frames", 0, 3])):
            written = process_seconds([program, "view", *map(str, words)])
            first, ready, drawn, zoomed, heap, most, now = measure("page.html", options.repeats)
            print(f"| {name} | {os.path.getsize('page.html') / 1e6:.1f} | {written:.2f} | {first:.2f} | {ready:.2f} | {drawn:.0f}, {zoomed:.0f} | {heap:.0f} | {most:.0f}, {now:.0f} |")


if __name__ == "__main__":
    main()
