# SPDX-License-Identifier: MIT
"""Runs the command lines of two tables in a folder of input files (fixtures.sh). bad_inputs.tsv: each must be refused.
flags.tsv: each must do what its row says. Columns of flags.tsv are id, kind, expected, args; the kinds are:

  json    -show_config prints each key=value[,value...] of `expected` (numbers to 1e-9)
  same    the float image equals, byte for byte, the image with the flags in `expected`
  differ  the float image differs from the image with the flags in `expected`
  stdout, stderr  this output contains the text `expected`
  files   exactly the files in `expected` are made;    ends    the run succeeds

usage: NANOBRAGG=program python3 tests/cli/tables.py FOLDER; NB_REDUCED=1: refusals alone
"""
import math
import os
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, PROGRAM, read  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
REDUCED = "NB_REDUCED" in os.environ
REFUSAL = 60 if REDUCED else 2  # in seconds of processor time
FROM_GEMMI = re.compile(r"sf|\$[MR]|-cif|-pdb|-mtz|-spacegroup|\.(mtz|cif|pdb)")


def say(name, wrong):
    print(f"# {name}: {wrong}\nnot ok {name}" if wrong else f"ok {name}")
    if wrong:
        FAILED.append(name)


def rows(table):
    with open(os.path.join(HERE, table), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line[0] != "#"][1:]


def words_of(lines):
    """Splits lines into words as the shell does, in the folder of the input files."""
    script = "while IFS= read -r line; do eval \"set -- $line\"; printf '%s\\0' $# \"$@\"; done"
    given = "".join(line + "\n" for line in lines).encode()
    said = subprocess.run(["bash", "-c", script], input=given, capture_output=True, check=True).stdout.split(b"\0")
    at = 0
    while at < len(said) - 1:
        n = int(said[at])
        yield said[at + 1:at + 1 + n]
        at += 1 + n


def files():
    """{path: size and time of the last change}; of a folder no time."""
    found = {}
    for folder, folders, names in os.walk("."):
        found.update((os.path.join(folder, name), None) for name in folders)
        for name in names:
            path = os.path.join(folder, name)
            now = os.lstat(path)
            found[path] = now.st_size, now.st_mtime_ns, now.st_ctime_ns
    return found


class Folder:
    """The folder of the input files, which a run may change."""

    def __init__(self):
        self.copy = os.getcwd() + ".copy"
        shutil.copytree(".", self.copy, symlinks=True)
        self.before = files()

    def new(self):
        """Names of the files that the last run has made, and of files that it changed."""
        now = files()
        made = sorted(path for path in now.keys() - self.before.keys() if now[path])
        changed = sorted(path for path, was in self.before.items() if now.get(path, ()) != was)
        return [path[2:] for path in made], changed

    def mend(self):
        now = files()
        if now == self.before:
            return
        for path in sorted(now.keys() - self.before.keys(), reverse=True):
            (os.remove if now[path] else os.rmdir)(path)
        for path, was in self.before.items():
            if was and now.get(path) != was:
                shutil.copy2(os.path.join(self.copy, path), path, follow_symlinks=False)
        self.before = files()


def run(words, seconds=None):
    """Runs the program; returns its status, standard output and standard error."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          preexec_fn=limit if seconds else None)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def refused(status, text, words, folder):
    """What is wrong with a refusal: one error line with the text, this status, no file."""
    got, _, said = run(words, REFUSAL)
    folder.said = said
    lines = [line for line in said.splitlines() if not line.startswith("nanobragg: note: ")]
    if got != status:
        return f"exit status {got}, not {status}: {said[-300:]}"
    if len(lines) != 1 or not lines[0].startswith("nanobragg: error: "):
        return f"not one line 'nanobragg: error: ...': {said}"
    if text not in lines[0]:
        return f"no '{text}' in: {said}"
    made, changed = folder.new()
    return f"files were made or changed: {made} {changed}" if made or changed else ""


def json_values(text, key):
    """Values of the first `key` of a JSON text, without brackets and quotes."""
    text = re.sub(r"\s", "", text)
    found = re.search(rf'"{re.escape(key)}":(?:\[([^\]]*)\]|"([^"]*)"|([^,}}]*))', text)
    return next(part for part in found.groups() if part is not None) if found else "(no such key)"


def alike(one, two):
    try:
        return math.isclose(float(one), float(two), rel_tol=1e-9, abs_tol=1e-15)
    except ValueError:
        return one == two


def not_in_config(expected, text):
    for key, want in (pair.split("=", 1) for pair in expected.split()):
        got = json_values(text, key)
        parts, wanted = got.split(","), want.split(",")
        if len(parts) != len(wanted) or not all(map(alike, parts, wanted)):
            return f"{key} is {got}, not {want}"
    return ""


def compared(kind, expected, others, folder):
    """Renders the image of other flags and compares it with the last one."""
    if not os.path.exists("floatimage.bin"):
        return "no float image"
    image = read("floatimage.bin")
    folder.mend()
    status, _, said = run(others)
    if status:
        return f"the other flags failed: {said}"
    same = read("floatimage.bin") == image
    return "" if same == (kind == "same") else f"{'the same' if same else 'another'} image as with: {expected}"


def wrong_row(kind, expected, words, others, folder):
    """What is wrong with the run of a row of flags.tsv."""
    status, said, errors = run([*words, b"-show_config"] if kind == "json" else words)
    if status:
        return f"exit status {status}: {errors[-300:]}"
    if kind == "json":
        return not_in_config(expected, said)
    if kind in ("same", "differ"):
        return compared(kind, expected, others, folder)
    if kind in ("stdout", "stderr"):
        text = said if kind == "stdout" else errors
        return "" if expected in text else f"no '{expected}' in {kind}: {text[:300]}"
    if kind == "files":
        made = " ".join(folder.new()[0]) or "-"
        return "" if made == expected else f"made '{made}', not '{expected}'"
    return "" if kind == "ends" else f"unknown kind {kind}"


def refusals(folder, gemmi):
    table = rows("bad_inputs.tsv")
    for (name, status, text, args), words in zip(table, words_of(row[3] for row in table)):
        name = "refuse-" + name
        if not gemmi and FROM_GEMMI.search(args):
            print(f"skip {name} # built without gemmi")
            continue
        wrong = refused(int(status), text, words, folder)
        if wrong and REDUCED and "needs the Python package" in folder.said:
            print(f"skip {name} # this build has no Python package")
        else:
            say(name, wrong)
        if wrong:
            folder.mend()


def flags(folder, gemmi):
    table = rows("flags.tsv")
    others = words_of(row[2] if row[1] in ("same", "differ") else "" for row in table)
    for (name, kind, expected, args), words, other in zip(table, words_of(row[3] for row in table), others):
        if not gemmi and FROM_GEMMI.search(args):
            print(f"skip flag-{name} # built without gemmi")
            continue
        say("flag-" + name, wrong_row(kind, expected, words, other, folder))
        folder.mend()


def main():
    os.chdir(sys.argv[1])
    gemmi = re.search(r"^ *gemmi  *yes", run([b"-version"])[1], re.M)
    folder = Folder()
    refusals(folder, gemmi)
    if not REDUCED:
        flags(folder, gemmi)
    return 1 if FAILED else 0


sys.exit(main())
