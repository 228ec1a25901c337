# SPDX-License-Identifier: MIT
"""Changes files that were linked with a new glibc, so that a wheel also runs with glibc 2.27, as on RHEL 8.

glibc 2.32 to 2.34 moved the functions of libpthread, libdl and librt into libc, and gave these, stat and a few functions
of libm a new version.  Files linked on a newer system need this version.  Here they are changed to need any version: the
symbol gets index 1 (no version) in .gnu.version, and the new version's entry in .gnu.version_r gets the oldest name.  The
loader then uses the oldest version, or the only one ("Symbol versioning" in glibc's elf/dl-lookup.c).
"""
import os
import re
import struct

from wheel_graft import needed, symbols

NEWEST = 28  # GLIBC_2.28 is the newest version that a file may need: RHEL 8 has it
OLDEST = {62: "GLIBC_2.2.5", 183: "GLIBC_2.17"}  # {machine of the ELF header: oldest version}: x86-64, aarch64
# {symbol with a new version: library that has it in glibc 2.27}.  "own": src/python/older_glibc.c defines it.
PLACES = {symbol: library for library, symbols in {
    "libpthread.so.0": """pthread_attr_getstacksize pthread_attr_setaffinity_np pthread_attr_setstacksize pthread_condattr_setclock
        pthread_condattr_setpshared pthread_create pthread_detach pthread_getaffinity_np pthread_getspecific pthread_join
        pthread_key_create pthread_key_delete pthread_kill pthread_mutex_trylock pthread_mutexattr_destroy
        pthread_mutexattr_init pthread_mutexattr_setpshared pthread_mutexattr_settype pthread_once pthread_rwlock_destroy
        pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock
        pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_wrlock
        pthread_rwlockattr_destroy pthread_rwlockattr_init pthread_rwlockattr_setpshared pthread_setaffinity_np
        pthread_setspecific pthread_sigmask pthread_spin_destroy pthread_spin_init pthread_spin_lock
        pthread_spin_trylock pthread_spin_unlock sem_destroy sem_init sem_post sem_timedwait sem_trywait sem_wait""",
    "libdl.so.2": "dlclose dlerror dlmopen dlopen dlsym dlvsym",
    "librt.so.1": "shm_open shm_unlink",
    "libm.so.6": "exp log pow",
    "own": "fstat fstat64 lstat lstat64 stat stat64",
}.items() for symbol in symbols.split()}


def sections(data):
    """{name of a section: (offset, size in bytes)} of an ELF file (64 bits, little-endian)."""
    start, size, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    return {text(data, rows[names][4] + row[0]): row[4:] for row in rows}


def text(data, at):
    return data[at:data.index(b"\0", at)].decode()


def needed_versions(data, at):
    """Yields the offsets of all entries (hash, flags, index, name, next) of .gnu.version_r."""
    while True:
        entry, following = struct.unpack_from("<II", data, at + 8)
        place = at + entry
        while True:
            yield place
            step = struct.unpack_from("<I", data, place + 12)[0]
            if not step:
                break
            place += step
        if not following:
            return
        at += following


def is_new(version):
    match = re.fullmatch(r"GLIBC_2\.(\d+)[.\d]*", version)
    return int(match[1]) > NEWEST if match else version.startswith("GLIBC_")


def rename_versions(data, place, strings):
    """Gives the oldest name to the entries of newer versions; returns {index: newer version}."""
    entries = {at: text(data, strings + struct.unpack_from("<I", data, at + 8)[0])
               for at in needed_versions(data, place)}
    oldest = next(at for at, version in entries.items() if version == OLDEST[struct.unpack_from("<H", data, 18)[0]])
    new = {}
    for at, version in entries.items():
        if is_new(version):
            new[struct.unpack_from("<H", data, at + 6)[0]] = version
            for word in (at, at + 8):  # hash and name
                data[word:word + 4] = data[oldest + word - at:oldest + word - at + 4]
    return new


def make_older(data, name):
    """Changes the bytes of an ELF file so that it needs no new version; name: for messages."""
    place = sections(data)
    if ".gnu.version_r" not in place:
        return
    strings = place[".dynstr"][0]
    new = rename_versions(data, place[".gnu.version_r"][0], strings)
    start, size = place[".gnu.version"]
    for i, index in enumerate(struct.unpack_from(f"<{size // 2}H", data, start)):
        if index in new:
            symbol = text(data, strings + struct.unpack_from("<I", data, place[".dynsym"][0] + 24 * i)[0])
            if symbol not in PLACES:
                raise SystemExit(f"wheel: {name} needs {symbol} of {new[index]}; mk/wheel_glibc.py has no place for it in 2.{NEWEST}")
            struct.pack_into("<H", data, start + 2 * i, 1)


def write_older(files, folder):
    """Writes changed copies of the files {name: path} to `folder`; returns their {name: path}."""
    os.makedirs(folder, exist_ok=True)
    written = {}
    for name, path in files.items():
        with open(path, "rb") as file:
            data = bytearray(file.read())
        make_older(data, name)
        written[name] = os.path.join(folder, name)
        with open(written[name], "wb") as file:
            file.write(data)
    return written


def check(roots, files):
    """Fails if a file loaded with a root needs a newer version, or a library of glibc 2.28 that is not loaded."""
    for root in roots:
        loaded, open_names = set(), [root]
        while open_names:
            name = open_names.pop()
            if name not in loaded:
                loaded.add(name)
                open_names += needed(files[name]) if name in files else []
        ours = sorted(loaded & set(files))
        own = {symbol for name in ours for symbol in symbols(files[name], True)}
        for name in ours:
            for symbol, version in symbols(files[name], False).items():
                if is_new(version):
                    raise SystemExit(f"wheel: {name} needs {symbol} of {version}")
                library = PLACES.get(symbol) if version in ("", "Base") else None
                if library and library not in loaded and not (library == "own" and symbol in own):
                    raise SystemExit(f"wheel: {name}, loaded with {root}, needs {symbol} of {library}")
