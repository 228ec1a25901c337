#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package against the C library and against new objects, in alternation, on a quiet machine.

usage: python3 tests/bench/python_quiet.py [--library build/gcc-release/libnanobragg.so.2] [--repeats 101] [--threads 1]
PYTHONPATH names nanobragg (build/gcc-release/python).  Prints the figures of reports/python as a table; exits with 1
if a figure misses its limit."""
import argparse
import ctypes
import gc
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import nanobragg

SIMPLE = {"cell": "100 100 100 90 90 90", "N": "5", "default_F": "100", "lambda": "6.2", "distance": "100",
          "pixel": "0.1", "oversample": "1", "device": "cpu"}


class InC:
    """Calls nb_sim_render by ctypes, which adds about 1 us to its time."""

    def __init__(self, library, options):
        self.library = ctypes.CDLL(os.path.abspath(library))
        config, self.error = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 14)
        self.check(self.library.nb_config_create(ctypes.byref(config), self.error))
        for name, value in options.items():
            self.check(self.library.nb_config_set(config, name.encode(), value.encode(), self.error))
        self.sim = ctypes.c_void_p()
        self.check(self.library.nb_sim_create(config, None, ctypes.byref(self.sim), self.error))

    def check(self, status):
        if status:
            raise RuntimeError(self.error.raw)

    def renderer(self, out):
        pixels = ctypes.c_void_p(out.ctypes.data)
        return lambda: self.check(self.library.nb_sim_render(self.sim, pixels, None, self.error))


def by_turns(calls, repeats):
    took = [[] for _ in calls]
    for turn in range(-3, repeats):
        for call, times in zip(calls, took):
            start = time.perf_counter()
            call()
            if turn >= 0:
                times.append(time.perf_counter() - start)
    return [(statistics.median(times) * 1e6, min(times) * 1e6) for times in took]


def simple(options, edge):
    words = {**SIMPLE, "detpixels": str(edge), "threads": str(options.threads)}
    sim = nanobragg.Simulation(**words)
    outs = [np.empty(sim.shape, np.float32) for _ in range(2)]
    in_c = InC(options.library, words)
    ours, theirs = by_turns([lambda: sim.render(out=outs[0]), in_c.renderer(outs[1])], options.repeats)
    assert outs[0].tobytes() == outs[1].tobytes()
    return ours, theirs


def table_of_a_million():
    side = np.arange(-50, 50)
    hkl = np.stack(np.meshgrid(side, side, side, indexing="ij"), -1).reshape(-1, 3)
    return hkl, 50 + np.arange(len(hkl)) % 97


def new_objects(options):
    keywords = dict(hkl=table_of_a_million(), cell=(100, 100, 100, 90, 90, 90), N=5, wavelength=1.0, distance=100,
                    detpixels=256, oversample=1, device="cpu", threads=options.threads)
    memory = {}
    files = nanobragg._memory.files_of(keywords, memory)  # writes the array to a memory file once
    sim, angle = nanobragg.Simulation(**files), iter(range(10 ** 9))

    def change():
        sim.set(misset=(next(angle) * 1e-3, 0, 0))
        sim.render()

    return by_turns([change, lambda: nanobragg.Simulation(**files).render()], max(5, options.repeats // 10))


def imports(options):
    def run(module):
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return by_turns([run("nanobragg"), run("numpy")], max(9, options.repeats // 5))


def growth():
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    for i in range(1000):
        nanobragg.Simulation(**SIMPLE, detpixels=64, threads=1).render()
        if i == 9:
            gc.collect()
            start = resident()
    gc.collect()
    return resident() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/gcc-release/libnanobragg.so.2")
    parser.add_argument("--repeats", type=int, default=101)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    rows = []
    (a, a0), (c, c0) = simple(options, 1024)
    rows.append(("render(out=a) / C, 1024 x 1024", f"{a:.0f} ({a0:.0f}) / {c:.0f} ({c0:.0f}) us", a / c, "<=", 1.05))
    (a, a0), (c, c0) = simple(options, 64)
    rows.append(("render(out=a) - C, 64 x 64, us", f"{a:.1f} ({a0:.1f}) - {c:.1f} ({c0:.1f})", a - c, "<=", 30))
    (a, a0), (c, c0) = new_objects(options)
    rows.append(("new object and render / set and render, 1e6 reflections", f"{c / 1e3:.1f} ({c0 / 1e3:.1f}) / "
                 f"{a / 1e3:.2f} ({a0 / 1e3:.2f}) ms", c / a, ">=", 20))
    (a, a0), (c, c0) = imports(options)
    rows.append(("import nanobragg - import numpy, ms", f"{a / 1e3:.0f} ({a0 / 1e3:.0f}) - {c / 1e3:.0f} "
                 f"({c0 / 1e3:.0f})", (a - c) / 1e3, "<=", 30))
    grown = growth()
    rows.append(("growth of 1000 new objects after the tenth, kB", "", grown / 1024, "<=", 1024))
    print(f"{time.strftime('%Y-%m-%d')}, {options.threads} threads, numpy {np.__version__}, nanobragg "
          f"{nanobragg.__version__}, load {os.getloadavg()[0]:.1f}; medians, least times in brackets, by turns\n\n"
          "| what | measured | figure | wanted | |\n| --- | --- | --- | --- | --- |")
    missed = 0
    for name, text, figure, sign, wanted in rows:
        good = figure <= wanted if sign == "<=" else figure >= wanted
        missed += not good
        print(f"| {name} | {text} | {figure:.2f} | {sign} {wanted} | {'ok' if good else 'missed'} |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
