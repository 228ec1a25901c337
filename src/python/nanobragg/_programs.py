# SPDX-License-Identifier: MIT
"""Other programs with the same command line: their flags and runs."""

import json
import os
import signal
import subprocess
import sys

from . import _nanobragg
from ._parameters import _BY_NAME

IMAGE = "floatimage.bin"


class Stop(Exception):
    """Ends the program with this exit status and message."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class Interrupted(Exception):
    """A signal asked the program to end."""


def say(kind, text):
    """Print one line on standard error; replace control characters, as in file names."""
    line = "".join(c if c >= " " and c != "\x7f" else "?" for c in str(text))
    print(f"nanobragg: {kind}: {line}", file=sys.stderr)


def tell(text):
    """Write text to standard output."""
    try:
        os.write(1, text.encode(errors="surrogateescape"))
    except OSError:
        raise Stop(1, "standard output could not be written") from None


def typed(words, switches=(), lists=()):
    """Return (typed flags as a dict, words after --). The program has already checked the
    flags."""
    at = words.index("--") if "--" in words else len(words)
    found, rest, words = {}, words[at + 1:], iter(words[:at])
    for word in words:
        name = word.lstrip("-")
        if name in switches:
            found[name] = True
        elif name in lists:
            found.setdefault(name, []).append(next(words))
        else:
            found[name] = next(words)
    return found, rest


def stop_on_signals():
    """Raise Interrupted at the first signal; the second one ends the process at once."""
    def stop(number, _):
        signal.signal(number, signal.SIG_DFL)
        raise Interrupted

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def finish(run, interrupted="interrupted", statuses=()):
    """Exit status of run(); prints an error.  statuses: [(exceptions, status)]."""
    stop_on_signals()
    try:
        return run() or 0
    except Stop as why:
        status, text = why.status, str(why)
    except Interrupted:
        status, text = 130, interrupted
    except tuple(kind for kinds, _ in statuses for kind in kinds) as why:
        status, text = next(status for kinds, status in statuses if isinstance(why, kinds)), str(why)
    except MemoryError:
        status, text = 1, "out of memory"
    except OSError as why:
        status, text = 1, f"{why.filename}: {why.strerror}" if why.filename else str(why)
    say("error", text)
    return status


# --- command lines ------------------------------------------------------------------------------
def flags(words):
    """[(name without dash, values)] of a command line; a number is never a flag."""
    found = []
    for word in words:
        try:
            float(word)
            is_flag = False
        except ValueError:
            is_flag = len(word) > 1 and word[0] == "-"
        if is_flag:
            found.append((word.lstrip("-"), []))
        elif found:
            found[-1][1].append(word)
    return found


def keywords(words):
    """Flags of a command line that describe the image, as keywords of Simulation."""
    found = {}
    for name, values in flags(words):
        row = _BY_NAME.get(name)
        if row and not row["flags"] & _nanobragg.SERIES and not _is_written(row):
            found.pop(row["name"], None)  # the last value counts, and keeps the position of the last flag
            found[row["name"]] = " ".join(values) if values else True
    return found


def _is_written(row):
    return row["kind"] == _nanobragg.FILE and not row["flags"] & _nanobragg.INPUT


def elsewhere(words):
    """Command line for a program in another folder: input files get absolute paths,
    output files go to that folder, the float image as IMAGE."""
    made, has_hkl = [], any(name == "hkl" for name, _ in flags(words))
    for before, word in zip(["", *words], words):
        row = _BY_NAME.get(before.lstrip("-")) if before.startswith("-") else None
        if before.lstrip("-") != "jobs" and not (row and row["kind"] == _nanobragg.FILE):
            made.append(word)
        elif row and (_is_written(row) or (row["name"] == "dump" and has_hkl)):  # with -hkl, -dump names the cache that is written
            made.append(word if word.startswith("/dev/") else os.path.basename(word))
        else:
            made.append(os.path.join(os.getcwd(), word))
    return [*made, "-floatfile", IMAGE]


def find(program):
    """Path of a program, valid in any folder.  OSError if the program cannot run."""
    if "/" in program and not os.access(program, os.X_OK):
        with open(program, "rb"):  # open() raises a more exact error
            raise PermissionError(0, "Permission denied")
    return os.path.realpath(program) if "/" in program else program


# --- runs ---------------------------------------------------------------------------------------
class Runner:
    """Context that runs programs one by one and ends them."""

    def __enter__(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_spawn.py")
        self._process = subprocess.Popen([sys.executable, "-I", "-S", script], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.communicate()

    def run(self, argv, folder, output, errors):
        """Run argv in the folder; append output and errors to two files, or to one file
        (absolute paths).  Returns the figures of _spawn.py."""
        print(json.dumps([argv, folder, output, errors]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())
