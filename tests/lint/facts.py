# SPDX-License-Identifier: MIT
"""Every fact that a line of the report (a template in FILE) names is a key of JSON or a
parameter: the program would never print a line with another name.

usage: facts.py FILE...
"""
import glob
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def main(paths):
    keys = {key for path in [*glob.glob("src/sim/*.c"), *glob.glob("src/outputs/*.c"), "src/params/flag_rows.h"] for key in re.findall(r'"(\w+)"', read(path))}
    wrong = [f"    {path}: {{{name}}} is no fact" for path in paths
             for name in re.findall(r"(?:\{|\[@)([a-z][\w.]*)[}:?!=#|]", read(path))
             if not {word for word in name.split(".") if not word.isdigit()} <= keys]
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    return bool(wrong)


sys.exit(main(sys.argv[1:]))
