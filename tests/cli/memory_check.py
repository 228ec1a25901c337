# SPDX-License-Identifier: MIT
"""The peak memory of a series does not grow with the number of frames.

usage: NANOBRAGG=program python3 tests/cli/memory_check.py
"""
import math
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from peak import measure  # noqa: E402

PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
FLAGS = ["-default_F", "100", "-cell", "70", "80", "90", "-N", "2", "-lambda", "6.2", "-distance",
         "100", "-oversample", "1", "-osc", "0.01", "-seed", "7", "-threads", "2", "-quiet",
         "-device", "cpu"]
GROWTH = 1.1
TRIES = 3  # the peak varies by a few hundred KiB if one thread is ahead


def peak(pixels, frames, per_file):
    """Peak memory of a run in KiB."""
    return measure([PROGRAM, *FLAGS, "-detpixels", pixels, "-frames", frames, "-frames_per_file",
                    per_file, "-hdf5", "m.h5"])[2]


def compare(name, few, many):
    low = high = math.inf
    for _ in range(TRIES):
        low, high = min(low, peak(*few)), min(high, peak(*many))
        good = high <= GROWTH * low
        if good:
            break
    if not good:
        print(f"# {name}: {low} KiB with {few[1]} frames, {high} with {many[1]}")
    print(("ok " if good else "not ok ") + "memory " + name)
    return good


def main():
    if not sys.platform.startswith("linux"):
        print("skip memory # only Linux counts a child's peak in KiB")
        return 0
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    if subprocess.run([PROGRAM, *FLAGS, "-frames", "1", "-detpixels", "8", "-hdf5", "t.h5"],
                      capture_output=True, check=False).returncode == 2:
        print("skip memory # no HDF5 in this build")
        return 0
    good = [compare("of-the-second-data-file", (512, 10, 10), (512, 30, 10)),
            # HDF5 keeps 10 to 15 KiB per data file of a virtual data set (5 or 60 files)
            compare("of-many-data-files", (256, 25, 5), (256, 300, 5))]
    os.chdir("/")
    shutil.rmtree(folder)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
