# SPDX-License-Identifier: MIT
"""Common code of scripts that test the program: runs, and a line for each check."""
import importlib
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
FAILED = []  # names of failed checks
SCRIPT = os.path.basename(sys.argv[0]).split("_check")[0]


def ok(name, good, why=""):
    if not good:
        print(f"# {name}: {why}")
        FAILED.append(name)
    print(("ok " if good else "not ok ") + f"{SCRIPT} {name}")


def run(*args, status=0, env=None, given=None):
    """Runs the program, which must end with this status (None: any status), with the text
    `given` as standard input. Returns standard output and standard error."""
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False, input=given,
                          env={**os.environ, **(env or {})})
    if status is not None and done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}, not {status}: {done.stderr[-300:]}")
    return done.stdout, done.stderr


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def in_folder(main):
    """Runs main in a new folder, and exits with the status of the checks."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
    sys.exit(1 if FAILED else 0)


def need(*modules):
    """Imports these modules, or skips and ends the script."""
    try:
        found = [importlib.import_module(name) for name in modules]
    except ImportError as missing:
        print(f"skip {SCRIPT} # {missing}: " + ", ".join(f"python3-{name}" for name in modules))
        sys.exit(0)
    return found if len(found) > 1 else found[0]
