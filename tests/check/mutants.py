# SPDX-License-Identifier: MIT
"""Makes sources that contain every mutant of a set (mutants.tsv), so that a test can choose one mutant.

usage: mutants.py SET              prints the names of the mutants
       mutants.py SET SOURCE TO    copies sources and unit tests to TO, where `right` becomes NB_MUTANT(NAME, broken, right).
                                   TO/chosen.h, for -include, defines NB_MUTANT: -DNB_MUTATE=NB_MUTANT_NAME chooses a mutant;
                                   without this flag the variable nb_chosen_mutant does (0: no mutant)
"""
import os
import re
import shutil
import sys


def rows(wanted):
    with open(os.path.join(os.path.dirname(__file__), "mutants.tsv"), encoding="utf-8") as stream:
        for line in stream:
            row = line.rstrip("\n").split("\t")
            if not line.startswith("#") and row[0] == wanted:
                yield row[1:]


def break_text(text, name, change):
    """Returns the text with one mutant; blanks of `change` match any white space."""
    before, right, broken, after = re.fullmatch(r"(.*)<<(.*)=>(.*?)>>(.*)", change).groups()
    pattern = [re.sub(r"(\\ )+", r"\\s+", re.escape(part.strip())) for part in (before, right, after)]
    found = re.findall(rf"({pattern[0]}\s*)({pattern[1]})(\s*{pattern[2]})", text)
    if len(found) != 1:
        sys.exit(f"mutant {name}: {len(found)} places for: {change}")
    to = broken if name == "-" else f"NB_MUTANT({name}, {broken}, {right})"
    return text.replace("".join(found[0]), found[0][0] + to + found[0][2], 1)


def main():
    wanted, *places = sys.argv[1:]
    names = [row[0] for row in rows(wanted) if row[0] != "-"]
    if not places:
        print("\n".join(names))
        return
    source, to = places
    for folder in ("src", "cuda", "tests/unit", "tests/support"):
        shutil.copytree(os.path.join(source, folder), os.path.join(to, folder))
    for name, path, change in rows(wanted):
        with open(os.path.join(to, path), encoding="utf-8") as stream:
            text = break_text(stream.read(), name, change)
        with open(os.path.join(to, path), "w", encoding="utf-8") as stream:
            stream.write(text)
    with open(os.path.join(to, "chosen.h"), "w", encoding="utf-8") as stream:
        stream.write("#ifndef NB_MUTANT\nenum { " + ", ".join(f"NB_MUTANT_{name} = {k}" for k, name in enumerate(names, 1)) +
                     " };\nextern const int nb_chosen_mutant;\n"
                     "#ifndef NB_MUTATE\n#define NB_MUTATE nb_chosen_mutant\n#endif\n"
                     "#define NB_MUTANT(name, broken, right) (NB_MUTATE == NB_MUTANT_##name ? (broken) : (right))\n#endif\n")


main()
