#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What compiling costs: processor time and memory of each file, registers and spills of each kernel.

usage: mk/compile_cost.py [--cpu] [--cuda ARCH...] [--jobs N] [--timeout S] [--full] [--files FILE...]
    --cpu         the C and C++ files (without --cuda, too)
    --cuda ARCH   the CUDA files, for each of these architectures (all: those of the build); needs nvcc, no device
    --full        every file, not only the dearest
    --files FILE  only these files

Runs each command of the Makefile (`make -n -B`) alone, with a separate folder, so that no compiler cache or
earlier build helps. Seconds are those of the machine of the limits: the measured ones over slowness().
Fails if a file or a sum is above its limit by more than 30 % (LIMITS), if a kernel has more registers or
spills more bytes than its limit (REGISTERS: they keep the measured occupancy), or if the compiler warns.
"""
import argparse
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed

ROOM = 1.3
LIMITS = {"seconds": 25, "megabytes": 500, "cpu": 120, "arch": 180, "all": 1200}
YARDSTICK = """#include <map>
#include <regex>
#include <string>
bool f(const std::string &s) {
    static const std::regex r("(a+)b[0-9]*");
    std::map<std::string, int> m;
    m[s]++;
    return std::regex_match(s, r);
}"""
YARDSTICK_SECONDS = 4.0  # on the machine of the limits

# Part of a kernel's mangled name, limit of its registers, limit of spilled bytes (0 if absent). Kernels
# spill outside of inner loops, except k_slopes, which spills between rays.
REGISTERS = r"""
k_tensorILi[34]ELi0ELb0E 64 8
k_tensorILi[34]ELi1ELb0E 80
k_tensorILi[34]ELi2ELb0E 80 8
k_tensor 128
k_one_wet 128
k_one 96 8
k_directILi[012]ELb1ELi[13]E 128 24
k_directILi[012]ELb[01]ELi16E 168
k_direct 128
k_doubleILb1E 168 240
k_double 168
k_tricubic 128 44
k_cubic_cells 72
k_repair 168
k_backgroundILb[01]ELb1E 168
k_background 128
k_slopes_double 255
k_slopes_plainILi[012]ELi[01]ELi1E 128
k_slopes_plainILi0ELi1ELi2ELi1E 190 8
k_slopes_plain 168 8
k_pull_plain 168 64
k_gramILi[012]ELi[01]ELi1ELi1E 128
k_gramILi[012]ELi[01]ELi1ELi0E 168
k_gramILi[012]ELi[01]ELi2ELi1E 168 120
k_gram 255
k_fitI[df]Li4ELi1E 255
k_fitIdLi4ELi0E 255
k_fit 128 240
k_slopes 128 400
k_materials 128 64
k_light_nodes 168 480
k_light_limit 128 260
k_tile_pixel 128
k_tile_photons 128
k_tiles 128 250
k_spot_boxesILi[23]ELb1E 96 8
k_spot_boxes 96 260
k_spots 128 800
k_spot 128
k_product 80
k_chain 96
k_ 64
"""


def slowness():
    """Processor time of a compiler here, over that on the machine of the limits, 1 or more: one text on each core."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        running = [subprocess.Popen(["g++", "-O2", "-c", "-x", "c++", "-", "-o", "/dev/null"], stdin=subprocess.PIPE, text=True)
                   for _ in range(os.cpu_count())]
    except OSError:  # no g++
        return 1.0
    for process in running:
        process.stdin.write(YARDSTICK)
        process.stdin.close()
    for process in running:
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / len(running)
    slow = max(1.0, seconds / YARDSTICK_SECONDS)
    print(f"# compilers take {slow:.2f} times as long here as on the machine of the limits (yardstick: {seconds:.1f} s)")
    return slow


def commands(arch):
    """Yields (file, words of the command) of each compilation of `make all`."""
    make = ["make", "-n", "-B", "V=1", "SET=cost"] + (["CUDA=0"] if not arch else [f"CUDA_ARCH={arch}"]) + ["all"]
    out = subprocess.run(make, capture_output=True, text=True, check=True).stdout.replace("\\\n", " ")
    for line in out.splitlines():
        words = shlex.split(line) if " -c " in line else []
        if "-c" not in words[:-1]:
            continue
        source = words[words.index("-c") + 1]
        if source.endswith((".c", ".cc", ".cu")) and source.endswith(".cu") == bool(arch):
            yield source, words


def run(source, words, arch, work, timeout):
    """Compile one file; returns a row of the table."""
    place = os.path.join(work, f"{arch or 'cpu'}-{source.replace('/', '.')}.o")
    words = list(words)
    words[words.index("-o") + 1] = place
    if "-MF" in words:
        words[words.index("-MF") + 1] = place + ".d"
    if arch:
        words += ["-Xptxas", "-v"]
    measure = ("import resource,subprocess,sys\n"
               "try: code=subprocess.run(sys.argv[2:],timeout=float(sys.argv[1])).returncode\n"
               "except subprocess.TimeoutExpired: code=124\n"
               "u=resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "print(u.ru_utime+u.ru_stime,u.ru_maxrss/1024,code)")
    done = subprocess.run([sys.executable, "-c", measure, str(timeout)] + words, capture_output=True, text=True)
    seconds, megabytes, code = (float(x) for x in done.stdout.split()[-3:])
    kernels = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers",
                         done.stderr, re.S)
    warnings = [x for x in done.stderr.splitlines() if re.search(r"\bwarning\b|\berror\b", x, re.I)]
    if code and not warnings:
        warnings = [f"exit status {code:.0f}" + (f" after {timeout} s" if code == 124 else "")]
    return {"file": source, "arch": arch or "-", "seconds": seconds, "megabytes": megabytes, "warnings": warnings,
            "kernels": [(name, int(used), int(spilled)) for name, spilled, used in kernels]}


def judge_registers(row):
    """Yields a line for each kernel above its limits."""
    for name, used, spilled in row["kernels"]:
        for rule in REGISTERS.split("\n"):
            words = rule.split()
            if words and re.search(words[0], name):
                most, spill = int(words[1]), int(words[2]) if len(words) > 2 else 0
                if used > most or spilled > spill:
                    yield (f"{row['file']} for sm_{row['arch']}: {name}: {used} registers (limit {most}), "
                           f"{spilled} bytes spilled (limit {spill})")
                break


def show(r, wanted=True):
    if wanted:
        print(f"{r['file']:36s} {r['arch']:>5s} {r['seconds']:7.1f} {r['megabytes']:6.0f} {len(r['kernels']):7d} "
              f"{max((k[1] for k in r['kernels']), default=0):9d} {max((k[2] for k in r['kernels']), default=0):7d}",
              flush=True)
    return r


def judge(rows, whole):
    """Yields a line for each fault; prints the sums. whole: all files were compiled."""
    slow = slowness()
    for r in rows:
        r["seconds"] /= slow
    for r in rows:
        for limit in ("seconds", "megabytes"):
            if r[limit] > LIMITS[limit] * ROOM:
                yield f"{r['file']} ({r['arch']}): {r[limit]:.1f} {limit}, limit {LIMITS[limit]} and {ROOM - 1:.0%}"
        yield from (f"{r['file']} ({r['arch']}): {w}" for w in r["warnings"])
        yield from judge_registers(r)
    sums = {}
    for r in rows:
        sums[r["arch"]] = sums.get(r["arch"], 0) + r["seconds"]
    for arch, seconds in sums.items():
        limit = LIMITS["cpu" if arch == "-" else "arch"]
        print(f"# {'CPU' if arch == '-' else 'sm_' + arch}: {seconds:.0f} s of processor time (limit {limit}), "
              f"{sum(len(r['kernels']) for r in rows if r['arch'] == arch)} kernels")
        if whole and seconds > limit * ROOM:
            yield f"{'CPU' if arch == '-' else 'sm_' + arch}: {seconds:.0f} s, limit {limit} and {ROOM - 1:.0%}"
    cuda = sum(s for a, s in sums.items() if a != "-")
    if len(sums) > 2:
        print(f"# all architectures: {cuda:.0f} s (limit {LIMITS['all']})")
    if whole and cuda > LIMITS["all"] * ROOM:
        yield f"all architectures: {cuda:.0f} s, limit {LIMITS['all']} and {ROOM - 1:.0%}"


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--cpu", action="store_true")
    ask.add_argument("--cuda", nargs="+", default=[], metavar="ARCH")
    ask.add_argument("--jobs", type=int, default=os.cpu_count())
    ask.add_argument("--timeout", type=float, default=600)
    ask.add_argument("--full", action="store_true")
    ask.add_argument("--files", nargs="+", default=[], metavar="FILE")
    options = ask.parse_args()
    arches = options.cuda
    if arches == ["all"]:
        arches = subprocess.run(["make", "-s", "cuda-arches"], capture_output=True, text=True, check=True).stdout.split()
    jobs = [(s, w, None) for s, w in (commands(None) if options.cpu or not arches else [])]
    jobs += [(s, w, a) for a in arches for s, w in commands(a)]
    jobs = [j for j in jobs if not options.files or j[0] in options.files]
    print(f"{'file':36s} {'arch':>5s} {'s':>7s} {'MB':>6s} {'kernels':>7s} {'registers':>9s} {'spilled':>7s}")
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run, *j, work, options.timeout) for j in jobs]
        rows = [show(f.result(), options.full) for f in as_completed(futures)]
    if not options.full:
        for row in sorted(rows, key=lambda r: -r["seconds"])[:15]:
            show(row)
    bad = list(judge(rows, not options.files))
    for line in bad:
        print("# " + line)
    print(("not ok" if bad else "ok") + " compile-cost")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
