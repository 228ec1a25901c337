# SPDX-License-Identifier: MIT
"""Every field of nb_config, nb_series and nb_png_options stands in the list that -resume compares, in its order."""
import re
import sys

HEADERS = ("src/nanobragg/config.h", "src/nanobragg/series.h")
LIST = "src/series/fingerprint.c"


def read(path):
    with open(path, encoding="utf-8") as stream:
        return re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)


def members(text, struct):
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (struct, struct), text, re.S).group(1)
    for declaration in filter(str.strip, body.split(";")):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        else:
            for name in declaration.split(","):
                yield re.findall(r"\w+", name.split("[")[0])[-1]


def listed(text, macro):
    body = re.search(r"#define %s\(F\)(.*?[^\\])\n" % macro, text, re.S).group(1)
    return re.findall(r"\bF\((\w+), \w+\)", body)


def main():
    header, table, wrong = "".join(map(read, HEADERS)), read(LIST), 0
    for struct, macro in (("nb_config", "CONFIG_FIELDS"), ("nb_series", "SERIES_FIELDS"),
                          ("nb_png_options", "PNG_FIELDS")):
        there, here = list(members(header, struct)), listed(table, macro)
        for name in sorted(set(there) ^ set(here)):
            where = f"missing from {macro} in {LIST}" if name in there else f"not in {struct}"
            print(f"    {struct}.{name}: {where}")
            wrong += 1
        if not wrong and there != here:
            print(f"    {macro} has another order than {struct}")
            wrong += 1
        if len(there) < 5:
            print(f"    {struct}: only {len(there)} fields were found")
            wrong += 1
    return 1 if wrong else 0


sys.exit(main())
