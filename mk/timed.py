# SPDX-License-Identifier: MIT
"""Run a compiler and write what it took to LOG: file, architecture, processor seconds, MB.
usage: timed.py LOG FILE ARCH COMMAND..."""
import resource
import subprocess
import sys

log, file, arch = sys.argv[1:4]
status = subprocess.run(sys.argv[4:], check=False).returncode
took = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(log, "a", encoding="utf-8") as f:
    f.write(f"{file}\t{arch}\t{took.ru_utime + took.ru_stime:.2f}\t{took.ru_maxrss / 1024:.0f}\n")
sys.exit(status if status >= 0 else 1)
