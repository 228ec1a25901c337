# SPDX-License-Identifier: MIT
"""Common code of scripts that test the program: runs, and a line for each check."""
import array
import importlib
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
BIG = "NB_BIG" in os.environ  # the long forms of tests (make bigtest)
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


def processor_seconds(process=None):
    """Processor time of this script and its ended children, or of a running process."""
    if process is None:
        return sum(os.times()[:4])
    words = read(f"/proc/{process}/stat").decode(errors="replace").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def busy(process, seconds):
    """Waits until a process has used these seconds of processor time, or has ended."""
    while process.poll() is None and processor_seconds(process.pid) < seconds:
        time.sleep(0.01)


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def floats(path):
    """Pixels of a float image, without a header."""
    image = array.array("f")
    image.frombytes(read(path))
    return image


def write(path, content):
    """Writes bytes or text; returns the path."""
    with open(path, "wb") as stream:
        stream.write(content if isinstance(content, bytes) else content.encode())
    return path


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
