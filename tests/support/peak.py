# SPDX-License-Identifier: MIT
"""Measures the peak resident memory and the seconds of a program.

The peak of a child includes the memory of the process that forked it, and Python with its modules
needs more memory than the program. Therefore a Python without modules starts the program.
"""
import os
import subprocess
import sys
import time


def measure(words, folder=None):
    """Seconds, processor seconds, peak (KiB) of a program; its output is discarded."""
    done = subprocess.run([sys.executable, "-S", "-E", os.path.abspath(__file__), *map(str, words)],
                          cwd=folder, stdout=subprocess.PIPE, check=True, text=True)
    status, seconds, used, peak = done.stdout.split()
    if int(status):
        raise RuntimeError(f"{words[0]}: status {status}")
    return float(seconds), float(used), int(peak)


def main(words):
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.execvp(words[0], words)
    _, status, used = os.wait4(child, 0)
    print(status, time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)


if __name__ == "__main__":
    main(sys.argv[1:])
