# SPDX-License-Identifier: MIT
"""No function of src or cuda has a body of more than 60 lines."""
import os
import sys

MAX_LINES = 60


def bodies(path):
    """Yields (name, first line, length) of each function; clang-format puts its braces at the margin."""
    before, start = "", 0
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if line == "{\n":
                start = number
                name = before.split("(")[0].split()[-1].lstrip("*")
            elif line == "}\n" and start:
                yield name, start, number - start - 1
                start, before = 0, ""
            elif not start:
                before = line if line[0] not in " \t" else before + line


def main():
    wrong = found = 0
    for top in ("src", "cuda"):
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cc", ".cu", ".cuh")):
                    continue
                path = os.path.join(folder, name)
                for function, line, length in bodies(path):
                    found += 1
                    if length > MAX_LINES:
                        print(f"    {path}:{line}: {function} has {length} lines")
                        wrong += 1
    return 1 if wrong or found < 1000 else 0


sys.exit(main())
