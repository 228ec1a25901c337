# SPDX-License-Identifier: MIT
"""Every field of nb_config, nb_series and nb_png_options is in the table of parameters."""
import re
import sys

HEADERS = ("src/params/config.h", "src/nanobragg/config.h")
TABLE = "src/params/table.c"
# What a caller passes by pointers; -resume compares calls.override_tag (src/series/earlier.c).
NO_PARAMETERS = {("nb_config", "png"), ("nb_config", "detector"), ("nb_config", "arrays"), ("nb_series", "calls")}


def read(path):
    with open(path, encoding="utf-8") as stream:
        return re.sub(r"/\*.*?\*/|^#.*?$", "", stream.read(), flags=re.S | re.M)


def members(text, struct):
    body = re.search(r"\bstruct %s \{(.*?)\n\}" % struct, text, re.S).group(1)
    for declaration in filter(str.strip, body.split(";")):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        else:
            for name in declaration.split(","):
                yield re.findall(r"\w+", name.split("[")[0])[-1]


def main():
    header, table, wrong = "".join(map(read, HEADERS)), "".join(map(read, [TABLE])), 0
    for struct, owner in (("nb_config", ""), ("nb_series", ""), ("nb_png_options", "png.")):
        there = [name for name in members(header, struct) if (struct, name) not in NO_PARAMETERS]
        for name in there:
            if not re.search(r"[(,]\s*%s%s[,)]" % (re.escape(owner), name), table):
                print(f"    {struct}.{name}: no row of {TABLE} has it")
                wrong += 1
        if len(there) < 5:
            print(f"    {struct}: only {len(there)} fields were found")
            wrong += 1
    return 1 if wrong else 0


sys.exit(main())
