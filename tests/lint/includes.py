# SPDX-License-Identifier: MIT
"""Includes go in one direction, and agree with the table of rooms in plans/architecture.md.

Each folder of src and cuda is a room and has a row in the table.  The last column lists
all rooms, or single headers, that the room includes.  If a room includes another, this
one does not include it, directly or through others.  All may include public headers.
"""
import os
import re
import sys

TABLE = "plans/architecture.md"
ROW = re.compile(r"^\| `(?:src/)?(\w+)/` \|.*\| ([^|]*) \|$")
PHYSICS_SYSTEM = {"math.h", "stddef.h", "stdint.h", "float.h", "limits.h"}
# {header of another project: rooms or files that may include it}.
LIBRARIES = {
    "tiffio.h": {"io"},
    "png.h": {"io"},
    "cJSON.h": {"inputs", "outputs", "io", "model", "cli"},
    "cjson/cJSON.h": {"inputs", "outputs", "io", "model", "cli"},
    "Random123/": {"base", "image"},
    "omp.h": {"base", "render", "derive", "inputs", "sim", "outputs", "image", "cuda", "series", "factors", "truth"},
    "hdf5.h": {"io"},
    "fftw3.h": {"base"},
    "xraylib": {"base"},
    "gemmi/": {"io/structure/gemmi.cc"},
    "zlib.h": {"base", "io"},
    "bzlib.h": {"base"},
    "mpi.h": {"series"},
    "libdeflate.h": {"io"},
    "lz4.h": {"io"},
    "dlfcn.h": {"base"},
    "pthread.h": {"series", "inputs", "sim", "outputs", "base", "image", "cli"},
    "cuda": {"cuda"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_table():
    """{room: rooms and headers that it may include}."""
    with open(TABLE, encoding="utf-8") as stream:
        rows = [match.groups() for match in map(ROW.match, stream) if match]
    return {room: set(re.findall(r"[\w./]+", cell)) - {"libc", "nanobragg.h"} for room, cell in rows}


def room_of(path):
    parts = path.split("/")
    if path == "src/nanobragg.h":
        return "nanobragg"
    return parts[1] if parts[0] == "src" else parts[0]


def check_own(path, target, allowed, used):
    full = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if not os.path.isfile(full):
        return f"{target} is not a file beside it"
    room, other, name = room_of(path), room_of(full), full.removeprefix("src/")
    if other in (room, "nanobragg"):
        return None
    entry = {other, name} & allowed.get(room, set())
    used.setdefault(room, set()).update(entry)
    return None if entry else f"{room} may not include {name}"


def check_system(target, path):
    room = room_of(path)
    if room == "physics" and target not in PHYSICS_SYSTEM:
        return f"physics may include only {', '.join(sorted(PHYSICS_SYSTEM))}, not {target}"
    for prefix, rooms in LIBRARIES.items():
        if target.startswith(prefix) and not rooms & {room, path.removeprefix("src/")}:
            return f"{path} may not include <{target}>"
    return None


def check_file(path, allowed, used):
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            match = INCLUDE.match(line)
            if match:
                kind, target = match.groups()
                say = (check_own(path, target, allowed, used) if kind == '"'
                       else check_system(target, path))
                if say:
                    yield f"{path}:{number}: {say}"


def check_table(allowed, used, rooms):
    for room in sorted(rooms ^ allowed.keys()):
        yield (f"{TABLE}: {room} is no folder" if room in allowed
               else f"{TABLE}: the table of rooms has no row for {room}")
    for room, entries in allowed.items():
        for entry in sorted(entries - used.get(room, set())):
            yield f"{TABLE}: {room} includes nothing of {entry}"
    above = {room: {entry.split("/")[0] for entry in entries} for room, entries in used.items()}
    for _ in above:
        for room, below in above.items():
            above[room] = below.union(*(above.get(other, set()) for other in below))
    for room in sorted(room for room, below in above.items() if room in below):
        yield f"{room} includes a room that includes {room}"


def main():
    allowed, used, wrong = read_table(), {}, []
    paths = [os.path.join(folder, name) for top in ("src", "cuda")
             for folder, _, names in sorted(os.walk(top)) for name in sorted(names)
             if name.endswith((".c", ".h", ".cc", ".cu", ".cuh"))]
    for path in paths:
        wrong += check_file(path, allowed, used)
    wrong += check_table(allowed, used, set(map(room_of, paths)))
    for line in wrong:
        print(f"    {line}")
    return 1 if wrong or not paths else 0


sys.exit(main())
