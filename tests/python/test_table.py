# SPDX-License-Identifier: MIT
"""Python and the program agree for every parameter, and for some golden cases."""
import json
import os
import re
import shlex
import subprocess

import numpy as np
import pytest

import nanobragg
from nanobragg import _nanobragg

PROGRAM = os.environ["NANOBRAGG"]
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden_data")
BASE = dict(cell=(70, 80, 90, 90, 90, 90), default_F=100, N=5, detpixels=8, seed=1, device="cpu", threads=1)
FLAGS = "-cell 70 80 90 90 90 90 -default_F 100 -N 5 -detpixels 8 -seed 1 -device cpu -threads 1".split()
NONE = "-nofloat -noint -nonoise -nopgm -nodump".split()
SWITCH, PRESET = _nanobragg.SWITCH, _nanobragg.PRESET
WRITES = re.compile(r"file$|out$|^dump$|^output$|^hdf5$")
FILES = {"hkl": "pattern.hkl", "mat": "cubic.mat", "sourcefile": "sources.txt"}


def values_of(row):
    """Values of a parameter to try: good and bad ones."""
    if row["kind"] in (SWITCH, PRESET):
        return [True]
    if row["kind"] == _nanobragg.FILE:
        return [os.path.join(GOLDEN, FILES[row["name"]])] if row["name"] in FILES else ["no_such_file"]
    words = [word for word in row["choices"] if word]
    if words:
        return [words[0], words[-1], "nonsense"]
    if row["words_max"] == 1:
        return [1, 2, 0.25, -1e300, "nonsense"]
    return [tuple(range(1, row["words_min"] + 1)), tuple(0.5 for _ in range(row["words_max"])), (1,) * (row["words_max"] + 1)]


def words_of(value):
    return [] if value is True else [str(x) for x in (value if isinstance(value, tuple) else (value,))]


def by_program(folder, name, value):
    done = subprocess.run([PROGRAM, *FLAGS, *NONE, "-" + name, *words_of(value), "-show_config"], cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr
    return json.loads(done.stdout[done.stdout.index("{"):]), done.stderr


def by_python(name, value):
    try:
        return nanobragg.Simulation(**{**BASE, name: value}).config, ""
    except (ValueError, OSError, NotImplementedError, nanobragg.DeviceError) as error:
        return None, str(error)


def without_times(config):
    return {key: value for key, value in config.items() if key not in ("seconds", "output", "command")}


TABLE = [row for row in nanobragg.parameters().values()
         if not row["flags"] & _nanobragg.SERIES and not WRITES.search(row["name"])]


def test_every_parameter_is_what_its_flag_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agreed, refused, wrong = 0, 0, []
    for row in TABLE:
        for value in values_of(row):
            if len(words_of(value)) > row["words_max"] and row["kind"] not in (SWITCH, PRESET):
                with pytest.raises((ValueError, TypeError)):
                    nanobragg.Simulation(**{**BASE, row["name"]: value})
                continue
            theirs, said = by_program(tmp_path, row["name"], value)
            ours, error = by_python(row["name"], value)
            if "but the flag -show_config follows" in said or "is neither a flag nor" in said:
                continue  # for a wrong number of words a command line has other messages
            if (theirs is None) != (ours is None) or (theirs is None and error.split(";")[0] not in said):
                wrong.append((row["name"], value, said.strip(), error))
            elif theirs is None:
                refused += 1
            elif without_times(theirs) != without_times(ours):
                wrong.append((row["name"], value, [k for k in theirs if theirs[k] != ours.get(k)], ""))
            else:
                agreed += 1
    assert not wrong, "\n".join(map(str, wrong))
    assert agreed > 150 and refused > 50, (agreed, refused)


def test_names_of_output_files_are_kept():
    """Parameters that name output files, which TABLE leaves out, keep the name."""
    rows = [row for row in nanobragg.parameters().values()
            if not row["flags"] & _nanobragg.SERIES and WRITES.search(row["name"])]
    kept = 0
    for row in rows:
        if row["kind"] != _nanobragg.FILE:
            continue
        try:
            sim = nanobragg.Simulation(**BASE)
            sim.set(**{row["name"]: "some name.x"})
        except (ValueError, NotImplementedError, OSError):
            continue  # needs another flag or a library, or reads the file too (-dump)
        assert sim.get(row["name"]) == "some name.x", row["name"]
        kept += 1
    assert kept >= 8, kept


def golden_cases():
    with open(os.path.join(GOLDEN, "cases.tsv"), encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream if not line.startswith("#")]
    rows = [(row[0], row[-1]) for row in rows if row[0] not in ("", "id")]
    return rows[::max(1, len(rows) // 24)]


def keywords_of(flags):
    """Keyword arguments that mean the same as a command line."""
    by_word = {word: row for row in nanobragg.parameters().values()
               for word in [row["name"], *row["synonyms"].split()]}
    words, keywords = shlex.split(flags), {}
    while words:
        name = words.pop(0).lstrip("-")
        row = by_word[name]
        given = []
        while words and len(given) < row["words_max"] and not re.match(r"-[A-Za-z_]", words[0]):
            given.append(words.pop(0))
        keywords[name] = True if row["kind"] in (SWITCH, PRESET) else " ".join(given)
    return keywords


@pytest.mark.parametrize("name, flags", golden_cases())
def test_golden_case_has_the_programs_bytes(name, flags, tmp_path, monkeypatch):
    for file in os.listdir(GOLDEN):
        if not file.endswith(".bin") and not os.path.exists(tmp_path / file):
            os.symlink(os.path.join(GOLDEN, file), tmp_path / file)
    monkeypatch.chdir(tmp_path)
    small = "-roi 0 63 0 63" if "-roi" not in flags else ""
    words = shlex.split(f"{flags} {small}")
    done = subprocess.run([PROGRAM, *words, "-floatfile", "f.bin", "-noint", "-nonoise", "-nopgm", "-nodump",
                           "-quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    image = nanobragg.Simulation(**keywords_of(f"{flags} {small}")).render()
    assert image.tobytes() == (tmp_path / "f.bin").read_bytes()
    assert np.isfinite(image).all()
