# SPDX-License-Identifier: MIT
"""Makes a very small disk, to test full disks."""
import contextlib
import os
import subprocess


@contextlib.contextmanager
def small_disk(test):
    """Yields the name of a folder with 400 kB, which is removed afterwards. If this machine
    cannot make the folder, prints the reason and yields None."""
    if os.geteuid() != 0:
        print(f"skip {test} full-disk # needs root for a small tmpfs")
        yield None
        return
    os.mkdir("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", "small"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        print(f"skip {test} full-disk # no tmpfs can be mounted here")
        yield None
        return
    try:
        yield "small"
    finally:
        subprocess.run(["umount", "small"], check=False)
