# SPDX-License-Identifier: MIT
"""Includes go one way: each room may include only the rooms below it."""
import os
import re
import sys

ALLOWED = {
    "nanobragg": {"nanobragg"},
    "cli": {"cli"},
    "bench": {"bench", "cli"},
    "api": {"image", "picture", "analysis", "io", "render", "model", "base", "params", "physics", "api"},
    "series": {"api", "image", "io", "render", "model", "base", "params", "physics", "series"},
    "render": {"render", "image/device.h", "plan", "model", "physics", "base"},
    "plan": {"plan", "physics", "base"},
    "cuda": {"cuda", "plan", "render/backend.h", "image/adu.h", "image/poisson.h", "model", "physics",
             "base"},
    "image": {"image", "base", "physics"},
    "picture": {"picture", "physics", "base"},
    "analysis": {"analysis", "io", "model", "base"},
    "io": {"io", "model", "base", "params"},
    "model": {"model", "physics", "base", "params"},
    "params": {"params", "base"},
    "physics": {"physics"},
    "base": {"base"},
}
PHYSICS_SYSTEM = {"math.h", "stddef.h", "stdint.h", "float.h", "limits.h"}
# Other people's libraries, and the rooms that may know them.
LIBRARIES = {
    "tiffio.h": {"io"},
    "png.h": {"io"},
    "cJSON.h": {"api", "io", "model", "cli", "bench"},
    "cjson/cJSON.h": {"api", "io", "model", "cli", "bench"},
    "Random123/": {"base", "image"},
    "omp.h": {"render", "api", "image", "cuda", "series"},
    "hdf5.h": {"io"},
    "mpi.h": {"series"},
    "libdeflate.h": {"io"},
    "lz4.h": {"io"},
    "dlfcn.h": {"base"},
    "pthread.h": {"series", "api", "base"},
    "cuda": {"cuda"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def room_of(path):
    parts = path.split("/")
    if parts[0] == "cuda":
        return "cuda"
    if path == "src/nanobragg.h":
        return "nanobragg"
    return parts[1]


def check_own(path, target, room):
    full = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if full == "src/nanobragg.h" or full.startswith("src/nanobragg/"):
        return None
    if not os.path.isfile(full):
        return f"{target} is not a file beside it"
    name = full[4:] if full.startswith("src/") else full
    if room_of(full) in ALLOWED[room] or name in ALLOWED[room]:
        return None
    return f"{room} may not include {name}"


def check_system(target, room):
    if room == "physics" and target not in PHYSICS_SYSTEM:
        return f"physics may include only {', '.join(sorted(PHYSICS_SYSTEM))}, not {target}"
    for prefix, rooms in LIBRARIES.items():
        if target.startswith(prefix) and room not in rooms:
            return f"{room} may not include <{target}>"
    return None


def main():
    wrong = files = 0
    for top in ("src", "cuda"):
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cu", ".cuh")):
                    continue
                files += 1
                path = os.path.join(folder, name)
                room = room_of(path)
                with open(path, encoding="utf-8") as stream:
                    for number, line in enumerate(stream, 1):
                        match = INCLUDE.match(line)
                        if not match:
                            continue
                        kind, target = match.groups()
                        say = (check_own(path, target, room) if kind == '"'
                               else check_system(target, room))
                        if say:
                            print(f"    {path}:{number}: {say}")
                            wrong += 1
    if files == 0:
        print("    no source file found")
    return 1 if wrong or files == 0 else 0


sys.exit(main())
