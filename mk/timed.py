# SPDX-License-Identifier: MIT
"""Run a compiler and add a line to LOG: file, architectures, processor seconds, peak memory in MB.
usage: timed.py LOG FILE ARCH COMMAND...
       timed.py --judge LOG      (prints sums and the ten slowest files; fails if more than 30 % above limits,
                                  in seconds of the machine of the limits: compile_cost.py)"""
import resource
import subprocess
import sys

from compile_cost import LIMITS, ROOM, slowness


def run(log, file, arch, *command):
    status = subprocess.run(command, check=False).returncode
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(log, "a", encoding="utf-8") as f:
        f.write(f"{file}\t{arch}\t{took.ru_utime + took.ru_stime:.2f}\t{took.ru_maxrss / 1024:.0f}\n")
    return status if status >= 0 else 1


def judge(log):
    """Test times and memory against LIMITS, for files of the library and program: the last line of each file."""
    with open(log, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    slow = slowness()
    rows = {r[0]: (float(r[2]) / slow, float(r[3]), r[1]) for r in rows if not r[0].startswith("tests/")}
    over = []

    def limit(what, value, unit, most):
        print(f"{what}: {value:.0f} {unit} (limit {most} {unit})")
        if value > most * ROOM:
            over.append(what)

    for file, (seconds, mb, arch) in sorted(rows.items(), key=lambda r: -r[1][0])[:10]:
        print(f"  {seconds:6.1f} s {mb:5.0f} MB  {file} {'' if arch == '-' else arch}")
    for name, (seconds, mb, arch) in rows.items():
        passes = max(1, len({a.removeprefix("ptx") for a in arch.split("+")}))  # nvcc runs a process for each
        if seconds > LIMITS["seconds"] * ROOM * passes or mb > LIMITS["megabytes"] * ROOM:
            over.append(f"{name} ({seconds:.0f} s, {mb:.0f} MB)")
    cuda = {f: r for f, r in rows.items() if f.endswith(".cu")}
    limit("CPU", sum(r[0] for f, r in rows.items() if f not in cuda), "s", LIMITS["cpu"])
    limit("CUDA", sum(r[0] for r in cuda.values()), "s", LIMITS["arch"])
    print("not ok: " + ", ".join(over) if over else "ok: every process is within its limits and 30 %")
    return bool(over) or not rows


if __name__ == "__main__":
    sys.exit(judge(sys.argv[2]) if sys.argv[1] == "--judge" else run(*sys.argv[1:]))
