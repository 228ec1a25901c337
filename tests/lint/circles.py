# SPDX-License-Identifier: MIT
"""No circle of files: no file calls a file that calls the first one back, directly or through others.  No circle of rooms
(folders): a room only calls rooms that it may include, and rooms that these may include, whichever header declares the
function.  A file that uses the address of a function counts as a file that calls it.

usage: circles.py BUILD     (the objects of BUILD/src and BUILD/cuda, as nm sees them)
"""
import os
import re
import subprocess
import sys

TABLE = "plans/architecture.md"
ROW = re.compile(r"^\| `(?:src/)?(\w+)/` \|.*\| ([^|]*) \|$")
USERS = {"cli", "bench", "python"}  # rooms that may call all public functions

# {allowed circle of files: its reason}. Each circle is inside one room.
HARMLESS = {
    frozenset(f"src/python/{name}" for name in ("arrays", "derive", "device", "fit", "images", "module", "places", "series",
                                               "sim")):
        "module.c lists the methods of the others, and raises their exceptions",
}

# {file that is only a list: what it lists}. Its room does not depend on the listed files.
LISTS = {
    "src/render/registry": "the backends",
    "src/cli/subcommands": "the subcommands of the program",
}


def objects(build):
    for top in ("src", "cuda"):
        for folder, _, names in os.walk(os.path.join(build, top)):
            for name in names:
                path = os.path.join(folder, name)
                source = os.path.splitext(os.path.relpath(path, build))[0]
                if source.startswith("src/python/older_"):
                    continue  # defines functions of libc for the wheel
                if name.endswith(".o") and (os.path.exists(source) or os.path.exists(source + ".c")):
                    yield path  # an object without a source comes from a deleted source


def calls(build):
    """{source file: set of files that it calls}."""
    owner, needs = {}, {}
    listing = subprocess.run(["nm", "-A", *objects(build)], text=True, capture_output=True, check=True)
    for line in listing.stdout.splitlines():
        path, _, symbol = line.rpartition(":")
        kind, name = symbol.split()[-2:]
        source = os.path.relpath(path, build)[:-2]
        if kind == "U":
            needs.setdefault(source, set()).add(name)
        elif kind in "TDRBV":
            owner[name] = source
    return {a: {owner[n] for n in names if n in owner} - {a} for a, names in needs.items()}


def circles(graph):
    """Strongly connected sets of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(a):
        index[a] = low[a] = len(index)
        stack.append(a)
        for b in graph.get(a, ()):
            if b not in index:
                visit(b)
                low[a] = min(low[a], low[b])
            elif b in stack:
                low[a] = min(low[a], index[b])
        if low[a] == index[a]:
            at = stack.index(a)
            if len(stack) - at > 1:
                found.append(frozenset(stack[at:]))
            del stack[at:]

    for a in sorted(graph):
        if a not in index:
            visit(a)
    return found


def room_of(source):
    return source.split("/")[1 if source.startswith("src/") else 0]


def rooms_below():
    """{room: rooms that it may call}: rooms that it includes, directly or through other
    rooms."""
    with open(TABLE, encoding="utf-8") as stream:
        rows = [match.groups() for match in map(ROW.match, stream) if match]
    below = {room: {word.split("/")[0] for word in re.findall(r"[\w./]+", cell)} for room, cell in rows}
    for _ in below:
        for room in below:
            below[room] = below[room].union(*(below.get(other, set()) for other in below[room]))
    return below


def calls_upwards(graph):
    """Yields calls into rooms that the caller's room may not call. Public headers or
    hand-written declarations make such calls possible."""
    below = rooms_below()
    for a in sorted(graph):
        for b in sorted(graph[a]):
            room, other = room_of(a), room_of(b)
            if room not in USERS and a not in LISTS and other != room and other not in below.get(room, set()):
                yield f"{a} calls {b}, but {room} is not above {other} in {TABLE}"


def main(build):
    graph = calls(build)
    upwards = list(calls_upwards(graph))
    for line in upwards:
        print(f"    {line}")
    for source in sorted(LISTS.keys() - graph.keys()):
        print(f"    no longer a file, take it out of LISTS: {source}")
    # a build without the Python package does not have its files
    expected = {circle for circle in HARMLESS if all(a in graph for a in circle)}
    found = circles(graph)
    for circle in found:
        if circle in expected:
            continue
        print("    a circle of files:")
        for a in sorted(circle):
            print(f"        {a} calls {', '.join(sorted(graph[a] & circle))}")
    for circle in expected - set(found):
        print(f"    no longer a circle, take it out of HARMLESS: {', '.join(sorted(circle))}")
    return 1 if set(found) != expected or upwards or LISTS.keys() - graph.keys() or len(graph) < 100 else 0


sys.exit(main(sys.argv[1]))
