# SPDX-License-Identifier: MIT
"""Facts of a flag are in its row of src/params/flag_rows.h.  So no code outside src/params compares a text with the name of
a flag or of a group of flags, finds a row by such a name, or lists such names.  Code names a flag by its member (NB_ROW,
NB_IS); a property of several flags is a bit of their rows."""
import glob
import re
import sys

# Words that are also names of flags: {(file, word): what the file compares with the word}.
OTHERS = {
    ("src/fit/scales.c", "water"): "a variable of a fit",
    ("src/fit/scales.c", "fluence"): "a variable of a fit",
    ("src/python/sim.c", "report"): "which text Python asks for",
    ("src/inputs/image.c", "mask"): "what the caller of the reader of images calls the file",
}
NAME = re.compile(r'^(?:SERIES_)?(?:MEMBER\(\w[^,"]*, |ROW\()"(\w+)", (?:NULL|"([^"]*)")|^#define GROUP "([^"]*)"', re.M)
TEXT = r'"(?:[^"\\\n]|\\.)*"'
NESTED = r"\((?:[^()]|\([^()]*\))*\)"
CALL = re.compile(rf'\b(str(?:n|case|ncase)?cmp|nb_param_find)\(((?:[^()"]|{TEXT}|{NESTED})*)\)')
LIST = re.compile(r'\{\s*((?:"\w+"\s*,\s*)+"\w+")[\s,]*(?:NULL)?\s*\}')


def names():
    with open("src/params/flag_rows.h", encoding="utf-8") as stream:
        for name, synonyms, group in NAME.findall(stream.read()):
            yield from [group] if group else [name, *synonyms.split()]


def found(text, known):
    """Yields (match, word) of comparisons, searches and lists with names of flags."""
    for call in CALL.finditer(text):
        for word in re.findall(r'"-?([^"]*)"', re.sub(NESTED, "", call.group(2))):
            begins = call.group(1).startswith("strn") and len(word) > 2 and any(n.startswith(word) for n in known)
            if begins or word in known or call.group(1) == "nb_param_find":
                yield call, word
    for match in LIST.finditer(text):
        if {*(words := re.findall(r"\w+", match.group(1)))} <= known:
            yield match, words[0]


def main():
    known, unused = {*names()}, {*OTHERS}
    wrong = len(known) < 200
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
        if path.startswith("src/params/"):
            continue
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        for match, word in found(text, known):
            if (path, word) in OTHERS:
                unused.discard((path, word))
            else:
                print(f"    {path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}: ask the row by its member")
                wrong = True
    for path, word in sorted(unused):
        print(f'    tests/lint/flag_names.py: {path} compares nothing with "{word}" any more')
    return 1 if wrong or unused else 0


sys.exit(main())
