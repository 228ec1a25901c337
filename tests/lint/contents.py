# SPDX-License-Identifier: MIT
"""Long pages of docs have a table of contents that lists their headings, and every link of docs, plans, reports and README
has a target.

A long page has more than 100 lines and at least three headings of the second level.  Its table is between
the lines START and END, before the first heading of the second level.  The program writes docs/options.md
with its table.

usage: python3 tests/lint/contents.py [--write]
  --write  make the tables; otherwise they are checked
"""
import glob
import os
import re
import sys

LONG = 100
HEADINGS = 3
START, END = "<!-- contents -->", "<!-- end of contents -->"
MADE = "docs/options.md"
FENCE = re.compile(r"^(```|~~~)")


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def text_lines(text):
    """Yields (number from 1, line) of lines outside of blocks of code."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def headings(text, lowest=1, highest=6):
    """Yields (line, level, title, anchor) of the headings, with anchors as GitHub makes them."""
    used = {}
    for number, line in text_lines(text):
        found = re.match(r"(#{1,6}) +(.*?) *$", line)
        if not found:
            continue
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[2])
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = used.get(anchor, 0)
        used[anchor] = count + 1
        if lowest <= len(found[1]) <= highest:
            yield number, len(found[1]), title, anchor + (f"-{count}" if count else "")


def table(text):
    """Lines of a page's table of contents; a numbered list if all headings have numbers."""
    entries = [(re.match(r"(\d+)\. (.*)", title), title, anchor) for _, _, title, anchor in headings(text, 2, 2)]
    if all(number for number, _, _ in entries):
        return [f"{number[1]}. [{number[2]}](#{anchor})" for number, _, anchor in entries]
    return [f"* [{title}](#{anchor})" for _, title, anchor in entries]


def is_long(text):
    return text.count("\n") > LONG and len(table(text)) >= HEADINGS


def with_table(text):
    """The page with the right table of contents."""
    if START in text and END in text:
        head, rest = text.split(START, 1)
        text = head + rest.split(END, 1)[1].lstrip("\n")
    if not is_long(text):
        return text
    lines = text.split("\n")
    first = next(headings(text, 2, 2))[0] - 1
    return "\n".join(lines[:first] + [START, "", *table(text), "", END, ""] + lines[first:])


def links(path, text):
    """Yields (line, fault) of links into the repository whose target does not exist."""
    for number, line in text_lines(text):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(there):
                yield number, f"no file {name}"
            elif anchor and anchor not in {a for _, _, _, a in headings(read(there))}:
                yield number, f"no heading #{anchor} in {there}"


def main(write):
    wrong = 0
    pages = sorted(glob.glob("docs/*.md"))
    for path in pages:
        text = read(path)
        right = with_table(text)
        if right != text and write and path != MADE:
            with open(path, "w", encoding="utf-8") as out:
                out.write(right)
        elif right != text:
            print(f"    {path}: its table of contents is not that of its headings; make docs writes it")
            wrong += 1
    for path in ["README.md", *pages, *glob.glob("plans/*.md"), *sorted(glob.glob("reports/**/*.md", recursive=True))]:
        for number, what in links(path, read(path)):
            print(f"    {path}:{number}: {what}")
            wrong += 1
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--write"]))
