# SPDX-License-Identifier: MIT
"""Libraries for the wheel: all shared libraries that its files need; stubs replace a few.

Debian's libhdf5 and libtiff need libraries that a wheel cannot contain: libcurl and libcrypto (and thirty more that
these need) for files on web servers, libjbig (GPL) and libLerc (libstdc++) for two kinds of compressed TIFF.  Stubs,
whose functions fail, replace them, under other names, so that no other code of the process finds them.
"""
import os
import re
import struct
import subprocess

# Every Linux with glibc has these libraries; the tag states versions of their symbols.  PEP 600 allows libgcc_s.
SYSTEM = re.compile(r"^(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux.*)\.so(\.\d+)?$")
# {library with a stub: value that its functions return}: each means a failure in that library.
STUBS = {"libcurl": 0, "libcrypto": 0, "libjbig": 3, "libLerc": 1}
# Stubs also contain functions that their users need with older versions of glibc (wheel_glibc.py).
OLDER = [os.path.join(os.path.dirname(__file__), "..", "src", "python", "older_glibc.c"), "-Wl,--no-as-needed",
         "-l:libpthread.so.0", "-l:libdl.so.2", "-lm"]
RUN_PATH = "$ORIGIN"
CC = os.environ.get("CC", "cc").split()
TEXTS = {"jbg_strerror": "JBIG is not part of this build"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path))


def find_library(name):
    path = output(*CC, f"-print-file-name={name}").strip()  # for the compiler's target machine
    if os.path.isabs(path):
        return path
    raise SystemExit(f"wheel: the library {name} is not here")


def is_stubbed(name):
    return name.split(".so")[0] in STUBS


def own_name(name):
    """Name of a stub, so short that the name and the run path fit into the place of the replaced name."""
    return ("nb_" + name[3:])[:len(name) - len(RUN_PATH) - 1]


def closure(own, late):
    """{name: path} of libraries that the files {name: path} and the libraries `late` need, without the system's."""
    found, open_names = {}, [n for path in own.values() for n in needed(path) if n not in own] + late
    while open_names:
        name = open_names.pop()
        if name not in found and not SYSTEM.match(name) and not is_stubbed(name):
            found[name] = find_library(name)
            open_names += needed(found[name])
    return found


def symbols(path, defined):
    """{name: version} of functions that a library defines (`defined`), or else needs from other libraries."""
    found = {}
    for line in output("objdump", "-T", path).splitlines():
        match = re.match(r"^\S+ .{7} (\S+)\s+\S+\s+(\S.*)$", line)
        if match and (match[1] != "*UND*") == defined:
            *version, name = match[2].split()
            found[name] = version[0].strip("()") if version else ""
    return found


def write_stub(name, user, folder):
    """Builds a stub for library `name` with the functions that `user` needs from it; returns its path."""
    path = os.path.join(folder, own_name(name))
    theirs = symbols(find_library(name), True)
    wanted = {s: v for s, v in symbols(user, False).items() if s in theirs}
    value = STUBS[name.split(".so")[0]]
    with open(path + ".c", "w", encoding="utf-8") as text:
        for symbol in sorted(wanted):
            result = f'(long)"{TEXTS[symbol]}"' if symbol in TEXTS else value
            text.write(f"long {symbol}(void);\nlong {symbol}(void)\n{{\n    return {result};\n}}\n")
    with open(path + ".map", "w", encoding="utf-8") as text:
        for version in sorted(set(wanted.values()) - {"", "Base"}):
            text.write(version + " { global: " + " ".join(
                f"{s};" for s, v in sorted(wanted.items()) if v == version) + " };\n")
    script = [f"-Wl,--version-script={path}.map"] if os.path.getsize(path + ".map") else []
    subprocess.run([*CC, "-shared", "-fPIC", "-s", "-w", f"-Wl,-soname,{own_name(name)}", *script, path + ".c", *OLDER,
                    "-o", path], check=True)
    return path


def add_run_path(data, offset):
    """Give an ELF file (64 bits, little-endian) a DT_RPATH in place of a spare entry; its text is at `offset` of the
    file.  With it a library that is loaded later finds the libraries that it needs in its folder."""
    DYNAMIC, NULL, STRTAB, RPATH = 2, 0, 5, 15
    at, size = next((o, n) for kind, o, n in headers(data) if kind == DYNAMIC)
    entries = [struct.unpack_from("<qQ", data, at + i) for i in range(0, size, 16)]
    last = [tag for tag, _ in entries].index(NULL)
    if last + 1 >= len(entries):
        raise SystemExit("wheel: no spare dynamic entry for a run path")
    strings = dict(entries)[STRTAB]  # an address in the first segment, so equal to the offset in the file
    struct.pack_into("<qQ", data, at + 16 * last, RPATH, offset - strings)


def headers(data):
    """Yields (kind, offset, size in bytes) of the program headers."""
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, start + i * size)
        yield kind, offset, length


def graft(libraries, folder):
    """Writes stubs, and copies of libraries that use them, to `folder`; returns {name: path} of all libraries."""
    os.makedirs(folder, exist_ok=True)
    grafted = {}
    for name, path in libraries.items():
        stubs = [n for n in needed(path) if is_stubbed(n)]
        grafted[name] = path
        if not stubs:
            continue
        with open(path, "rb") as file:
            data = bytearray(file.read())
        for stub in stubs:
            grafted[own_name(stub)] = write_stub(stub, path, folder)
            text = b"\0" + stub.encode() + b"\0"
            if data.count(text) != 1:
                raise SystemExit(f"wheel: {name} names {stub} {data.count(text)} times")
            at = data.index(text)
            data[at:at + len(text)] = f"\0{own_name(stub)}\0{RUN_PATH}\0".encode()
        add_run_path(data, data.index(RUN_PATH.encode() + b"\0"))
        grafted[name] = os.path.join(folder, name)
        with open(grafted[name], "wb") as file:
            file.write(data)
    return grafted
