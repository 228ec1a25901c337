# SPDX-License-Identifier: MIT
"""What the scripts that test the program share: its runs, and a line for each check."""
import os
import subprocess
import sys

PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
FAILED = []  # names of checks
SCRIPT = os.path.basename(sys.argv[0]).split("_check")[0]


def ok(name, good, why=""):
    if not good:
        print(f"# {name}: {why}")
        FAILED.append(name)
    print(("ok " if good else "not ok ") + f"{SCRIPT} {name}")


def run(*args, status=0, env=None, given=None):
    """Standard output and error of a run that must end with this status (None: any); given: its standard input."""
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False, input=given,
                          env={**os.environ, **(env or {})})
    if status is not None and done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}, not {status}: {done.stderr[-300:]}")
    return done.stdout, done.stderr


def read(path):
    with open(path, "rb") as stream:
        return stream.read()
