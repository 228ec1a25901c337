# SPDX-License-Identifier: MIT
"""docs/images/frames.py makes the same drawings of the lab frame with this program, and
the table of conventions in docs/physics.md has the program's vectors.

usage: NANOBRAGG=program python3 tests/cli/frames_check.py
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
IMAGES = os.path.join(SOURCE, "docs", "images")
sys.path.insert(0, IMAGES)
import frames  # noqa: E402
COLUMNS = ("beam_vector", "fdet_vector", "sdet_vector", "odet_vector", "twotheta_axis", "polar_vector",
           "spindle_axis")


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def drawings(folder):
    """Names of drawings that differ from those in docs/images, or are missing."""
    frames.main(folder)
    made = sorted(os.listdir(folder))
    there = [name for name in os.listdir(IMAGES) if re.fullmatch(r"frame-\w+\.svg", name)]
    return [name for name in sorted({*made, *there}) if name not in made or name not in there or
            read(os.path.join(folder, name)) != read(os.path.join(IMAGES, name))]


def table():
    """Rows of section 3 of physics.md whose vectors differ from those of the program."""
    rows = re.findall(r"^\| `?-?(\w+)`?(?: \(default\))?((?: \| -?[01] -?[01] -?[01]){7}) \|$",
                      read(os.path.join(SOURCE, "docs", "physics.md")), re.M)
    if {name for name, _ in rows} != set(frames.CONVENTIONS):
        return [f"rows of {sorted(name for name, _ in rows)}"]
    wrong = []
    for name, text in rows:
        # -polar_vector 0 0 1 gives the convention "custom", which has the vectors of
        # MOSFLM until another vector is typed.
        said = frames.ask(["-polar_vector", "0", "0", "1"] if name == "custom" else ["-" + name])
        typed = [[float(x) for x in cell.split()] for cell in text.split(" | ")[1:]]
        wrong += [f"{name} {key}" for key, cell in zip(COLUMNS, typed) if said[key] != cell]
    return wrong


def main():
    shown = subprocess.run([frames.PROGRAM, "-detpixels", "4", "-show_config"], capture_output=True, check=False)
    if shown.returncode:
        print("skip frames # this build has no -show_config")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, wrong in ("drawings", drawings(folder)), ("table of physics.md", table()):
            if wrong:
                print(f"# {', '.join(wrong)}; make docs draws them")
            print(f"{'not ok' if wrong else 'ok'} frames {name}")
            failed += bool(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
