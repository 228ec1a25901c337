#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the program on this CPU, and nanoBragg when typed, as markdown tables.

usage: cpu.py [--peer PROGRAM] [--program build/nanobragg] [--repeats 15] [--folders A,B]
              [--only process,simple,heavy,threads]

Runs of both programs alternate, each in a separate folder on each file system.  Tables:
  process  the whole process with its default files, simple case, two threads: wall and processor time,
           in an empty folder and over the files of the run before; earlier files of both are on
           the disk before the clock starts
  simple   the render stage of the simple case in a new process, ns per pixel and core
  heavy    the heavy case on 512 x 512 pixels of 0.4 mm (2.6e8 steps), ns per step and core
  threads  the heavy case with one and two threads
`build/*/tests/bench/bench kernels` has each kernel alone, its errors, and structure factors from a table.
"""
import argparse
import datetime
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

SIMPLE = ("-cell 100 100 100 90 90 90 -N 5 -lambda 6.2 -distance 100 -oversample 1 "
          "-default_F 100").split()
HEAVY = ("-cell 70 80 90 75 85 95 -misset 10 20 30 -lambda 1 -distance 100 -pixel 0.4 "
         "-detpixels 512 -oversample 1 -N 20 -mosaic 0.5 -mosaic_domains 100 -dispersion 1 "
         "-dispsteps 10 -default_F 100 -nonoise -nopgm").split()
HEAVY_STEPS = 512 * 512 * 1000


def machine():
    model = "unknown processor"
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return (f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, "
            f"{datetime.date.today()}, load average {os.getloadavg()[0]:.1f}")


def run(program, flags, folder, threads):
    """(wall time in s, processor time in s, output) of one run."""
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([program, *flags], cwd=folder, env=env, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            done.stdout)


def rendered(text):
    """Seconds of the render stage, from -time json."""
    return json.loads(text[text.rindex("{"):])["render"]


def table(title, columns, rows):
    print(f"\n{title}\n\n| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def least_and_median(values, scale=1e3):
    return f"{min(values) * scale:.1f} / {statistics.median(values) * scale:.1f}"


def settle(folder, keep):
    """Prepares a folder: empty, or (keep) with the files of the previous run. Waits until
    earlier files are on the disk."""
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    os.sync()


def alternate(arguments, flags, folder, repeats):
    """{(program, True if over older files): ([wall times], [processor times])}."""
    programs = [arguments.program] + ([arguments.peer] if arguments.peer else [])
    times = {(p, old): ([], []) for p in programs for old in (False, True)}
    for _ in range(repeats):
        for old in (False, True):
            for p in programs:
                own = os.path.join(folder, "ours" if p == arguments.program else "theirs")
                settle(own, old)
                wall, cpu, _ = run(p, flags, own, 2)
                times[p, old][0].append(wall)
                times[p, old][1].append(cpu)
    return times


def process(arguments, folders):
    rows = []
    for pixels, repeats in ((1024, arguments.repeats), (4096, max(5, arguments.repeats // 3))):
        for folder in folders:
            times = alternate(arguments, [*SIMPLE, "-detpixels", str(pixels)], folder, repeats)
            for old in (False, True):
                wall, cpu = times[arguments.program, old]
                row = [f"{pixels}", file_system(folder), "older" if old else "none",
                       str(repeats), least_and_median(wall), least_and_median(cpu)]
                if arguments.peer:
                    theirs, their_cpu = times[arguments.peer, old]
                    row += [least_and_median(theirs), least_and_median(their_cpu),
                            f"{min(theirs) / min(wall):.1f} / "
                            f"{statistics.median(theirs) / statistics.median(wall):.1f}"]
                rows.append(row)
    columns = ["pixels", "files on", "files there", "runs", "nanobragg wall, ms: least / median",
               "processor"]
    if arguments.peer:
        columns += ["nanoBragg wall", "processor", "wall ratio, least / median"]
    table("Whole process, default files, two threads:", columns, rows)


def file_system(folder):
    best = ("", "unknown")
    for line in open("/proc/mounts", encoding="utf-8"):
        _, where, kind = line.split()[:3]
        if os.path.realpath(folder).startswith(where) and len(where) >= len(best[0]):
            best = (where, kind)
    return best[1]


def simple(arguments, folders):
    rows = []
    for isa in sets(arguments):
        for threads in (1, 2):
            row = [isa, str(threads)]
            for pixels in (1024, 4096):
                flags = [*SIMPLE, "-detpixels", str(pixels), "-isa", isa, "-threads",
                         str(threads), "-noint", "-nonoise", "-nopgm", "-time", "json"]
                seconds = [rendered(run(arguments.program, flags, folders[0], threads)[2])
                           for _ in range(arguments.repeats)]
                row.append(" / ".join(f"{f(seconds) * threads * 1e9 / pixels ** 2:.2f}"
                                      for f in (min, statistics.median)))
            rows.append(row)
    table("Simple case, render stage in a new process, ns per pixel and core, least / median:",
          ["-isa", "threads", "1024", "4096"], rows)


def sets(arguments):
    usable = []
    for isa in ("avx512", "avx2", "sse2", "neon"):
        done = subprocess.run([arguments.program, "-isa", isa, "-detpixels", "8", "-cell", "50",
                               "-N", "2", "-default_F", "1", "-nofloat", "-noint", "-nonoise",
                               "-nopgm"], capture_output=True, check=False)
        usable += [isa] if done.returncode == 0 else []
    return usable


def heavy(arguments, folders):
    runs = {isa: ([], []) for isa in sets(arguments)}
    peer = ([], [])
    for _ in range(arguments.heavy_repeats):
        if arguments.peer:
            wall, cpu, _ = run(arguments.peer, HEAVY, folders[0], 1)
            peer[0].append(wall)
            peer[1].append(cpu)
        for isa, (stage, used) in runs.items():
            for _ in range(3):
                _, cpu, text = run(arguments.program,
                                   [*HEAVY, "-isa", isa, "-threads", "1", "-time", "json"],
                                   folders[0], 1)
                stage.append(rendered(text))
                used.append(cpu)
    ns = 1e9 / HEAVY_STEPS
    rows = []
    if arguments.peer:
        rows.append(["nanoBragg, whole process", f"{min(peer[0]) * ns:.1f}",
                     f"{statistics.median(peer[0]) * ns:.1f}",
                     f"{statistics.median(peer[1]) * ns:.1f}", "1"])
    for isa, (stage, used) in runs.items():
        ratio = (f"{statistics.median(peer[0]) / statistics.median(stage):.1f}"
                 if arguments.peer else "")
        rows.append([f"-isa {isa}, render stage", f"{min(stage) * ns:.3f}",
                     f"{statistics.median(stage) * ns:.3f}",
                     f"{statistics.median(used) * ns:.3f}", ratio])
    table("Heavy case, N = 20, constant F, one thread, ns per step:",
          ["", "least", "median", "processor time of the process, median",
           "times nanoBragg's speed (medians)"], rows)


def threads(arguments, folders):
    seconds = {1: [], 2: []}
    for _ in range(arguments.repeats):
        for n, times in seconds.items():
            text = run(arguments.program, [*HEAVY, "-threads", str(n), "-time", "json"],
                       folders[0], n)[2]
            times.append(rendered(text))
    table("Heavy case, render stage, one thread and two, ms:",
          ["", "one", "two", "one / two"],
          [[name, f"{f(seconds[1]) * 1e3:.1f}", f"{f(seconds[2]) * 1e3:.1f}",
            f"{f(seconds[1]) / f(seconds[2]):.2f}"]
           for name, f in (("least", min), ("median", statistics.median))])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="")
    parser.add_argument("--program", default="build/nanobragg")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--heavy-repeats", type=int, default=2)
    parser.add_argument("--folders", default="/dev/shm,/var/tmp")
    parser.add_argument("--only", default="process,simple,threads,heavy")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    arguments.peer = os.path.abspath(arguments.peer) if arguments.peer else ""
    folders = [tempfile.mkdtemp(dir=d) for d in arguments.folders.split(",") if os.path.isdir(d)]
    print(machine())
    try:
        for name in arguments.only.split(","):
            {"process": process, "simple": simple, "heavy": heavy,
             "threads": threads}[name](arguments, folders)
    finally:
        for folder in folders:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
