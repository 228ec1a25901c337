# SPDX-License-Identifier: MIT
"""Command line of nanobragg bench: lists, and defaults of untyped flags."""

import os
import re

import nanobragg

from .._programs import Stop, typed

SWEEPS = ("size", "precision", "threads", "oversample", "domains", "batch", "breakdown")
ISAS = nanobragg.parameters()["isa"]["choices"]
DEVICES = [w for w in nanobragg.parameters()["device"]["value"].split(" | ") if w != "auto" and ":all" not in w]
MAX_VALUES, MAX_PEERS, MAX_DEVICES = 16, 4, 4

# Flags with a list of whole numbers from low to high; flags with a list of words.
WHOLES = {"sizes": (8, 32768), "oversamples": (1, 64), "domains": (1, 1000000), "threads": (1, 4096),
          "batches": (1, 4096)}
WORDS = {"cases": (("simple", "heavy", "own"), "simple, heavy or own"),
         "isas": (ISAS, "scalar, sse2, avx2, avx512, neon or auto"),
         "precisions": (("double", "mixed"), "double or mixed"),
         "sweeps": (SWEEPS, "size, precision, threads, oversample, domains, batch or breakdown")}

# Defaults without -quick, and with -quick.
DEFAULTS = {"sizes": ([256, 512, 1024, 2048, 4096], [128, 256, 512]), "oversamples": ([1, 2, 3, 4], [1, 2]),
            "domains": ([1, 10, 100, 1000], [1, 10, 100]),
            "batches": ([1, 2, 4, 8, 16, 32, 64, 128, 256, 512], [1, 4, 16, 64]),
            "precisions": (["double", "mixed"],) * 2, "sweeps": (list(SWEEPS),) * 2, "isas": ([], []),
            "at": (512, 256), "limit": (20.0, 3.0), "repeats": (5, 5)}


def cores():
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def read_list(name, text):
    """Values of a typed list."""
    words, allowed = WORDS.get(name, ((), ""))
    low, high = WHOLES.get(name, (0, 0))
    values = []
    for word in text.split(","):
        is_whole = not words and re.fullmatch(r"\d{1,9}", word) and low <= int(word) <= high
        if not is_whole and word not in words:
            allowed = allowed or f"whole numbers from {low} to {high}"
            raise Stop(2, f"-{name} '{text}': must be {allowed}, separated by commas")
        values.append(int(word) if is_whole else word)
    if len(values) > MAX_VALUES:
        raise Stop(2, f"-{name} {text}: at most {MAX_VALUES} values")
    return values


def read_devices(text):
    """Words of -devices, each for one device."""
    words = text.split(",")
    good = [any(re.fullmatch(w.replace("N", r"\d{1,4}"), word) for w in DEVICES) for word in words]
    if not all(good) or len(words) > MAX_DEVICES:
        raise Stop(2, f"-devices '{text}': must be up to {MAX_DEVICES} of {', '.join(DEVICES)}, separated by commas")
    return words


def read_peers(texts):
    """[[name, program], ...] of -vs."""
    for text in texts:
        if not re.fullmatch("[^=]{1,24}=.+", text):
            raise Stop(2, f"-vs {text}: must be NAME=PROGRAM, the name of up to 24 letters")
    if len(texts) > MAX_PEERS:
        raise Stop(2, f"-vs {texts[MAX_PEERS]}: at most {MAX_PEERS} programs")
    return [text.split("=", 1) for text in texts]


def threads_to(limit):
    """Numbers of threads 1, 2, 4, ... and the number of all threads."""
    return [2**i for i in range(MAX_VALUES - 1) if 2**i < limit] + [limit]


def command_of(words):
    """Command line for a report, without private folders."""
    def public(word):
        name = re.sub("^([^=]*=)?/.*/", r"\1", word)
        return f"'{name}'" if " " in word or not word else name

    return " ".join(["nanobragg bench", *map(public, words)])


class Options:
    """Typed options: a member for each flag, and the flags after --."""

    def __init__(self, words, max_threads=None):
        given, self.own = typed(words, ("quick",), ("vs", "peer-results"))
        self.command, self.quick = command_of(words), "quick" in given
        self.devices = read_devices(given["devices"]) if "devices" in given else []
        self.peers = read_peers(given.get("vs", []))
        self.others = given.get("peer-results", [])
        if len(self.others) > MAX_PEERS:
            raise Stop(2, f"-peer-results {self.others[MAX_PEERS]}: at most {MAX_PEERS} files")
        lists = {name: read_list(name, text) for name, text in given.items() if name in WHOLES or name in WORDS}
        numbers = {name: kind(given[name]) for name, kind in (("at", int), ("repeats", int), ("limit", float))
                   if name in given}
        self.threads = threads_to(max_threads or cores())
        self.cases = ["own"] if self.own else ["simple", "heavy"]
        self.__dict__.update({name: both[self.quick] for name, both in DEFAULTS.items()}, **lists, **numbers)
        self.name, self.results = given.get("name", "bench"), given.get("from")
        self.outdir = given.get("outdir", given.get("o"))
        self.check()

    def check(self):
        if "/" in self.name or len(self.name) > 64:
            raise Stop(2, f"-name {self.name[:60]}: must be up to 64 letters without /")
        if "own" in self.cases and not self.own:
            raise Stop(2, "-cases own: no flags to run with; write them behind --")
