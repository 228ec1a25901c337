# SPDX-License-Identifier: MIT
"""A fast formula is written once, in src/terms, and plans/architecture.md lists its file.

No other file of src, cuda or tests defines a function of the same name, with or without its nb_, or repeats a
comment of src/terms.  Additions of lane.h to the vectors of src/base/simd*.h have their names."""
import glob
import os
import re
import sys

HOME = "src/terms"
TABLE = "plans/architecture.md"
NAME = re.compile(r"(\w+)\((?!.*;)")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
LEAST_WORDS = 12  # shorter comments may be in two files


def text(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def functions(lines):
    """Yields (name without nb_, line) of function definitions; clang-format puts their
    first line at the margin."""
    for number, line in enumerate(lines.split("\n"), 1):
        if line[:1].isalpha() and not line.startswith("typedef") and (found := NAME.search(line)):
            yield found.group(1).removeprefix("nb_"), number


def comments(lines):
    """Yields (words, line) of long comments."""
    for found in COMMENT.finditer(lines):
        words = re.sub(r"[\s*/]+", " ", found.group()).split()
        if len(words) >= LEAST_WORDS and words[0] != "SPDX-License-Identifier:":
            yield " ".join(words), lines.count("\n", 0, found.start()) + 1


def sources():
    for top in ("src", "cuda", "tests"):
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cu", ".cuh")):
                    yield f"{folder}/{name}"


SECOND = re.compile(r"`((?:src|render|cuda)/[\w/]+\.(?:h|cuh))`: `(\w+)`")


def second_texts(page):
    """Yields a fault for each row of the table of second texts whose file lacks the name."""
    for path, name in SECOND.findall(page[page.index("Formulas with a second text"):]):
        there = path if path.startswith(("src/", "cuda/")) else f"src/{path}"
        if not os.path.exists(there) or not re.search(rf"\b{name}\(", text(there)):
            yield f"{TABLE}: {path} has no {name}"


def main():
    listed = set(re.findall(r"`(src/terms/\w+\.h)`", text(TABLE)))
    home = sorted(glob.glob(f"{HOME}/*.h"))
    names, words, wrong = {}, {}, []
    wrong += [f"{path} is not in the list of {TABLE}" for path in home
              if path not in listed and path != f"{HOME}/lane.h"]
    wrong += [f"{TABLE} lists {path}, which is not there" for path in sorted(listed - set(home))]
    wrong += second_texts(text(TABLE))
    for path in home:
        if path != f"{HOME}/lane.h":
            names.update((name, path) for name, _ in functions(text(path)))
        words.update((comment, path) for comment, _ in comments(text(path)))
    for path in sources():
        if path in home:
            continue
        lines = text(path)
        wrong += [f"{path}:{line}: {name} has its text in {names[name]}"
                  for name, line in functions(lines) if name in names]
        wrong += [f"{path}:{line}: this comment stands in {words[comment]} already"
                  for comment, line in comments(lines) if comment in words]
    for line in wrong:
        print("    " + line)
    return 1 if wrong or not names else 0


sys.exit(main())
