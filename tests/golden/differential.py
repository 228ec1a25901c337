#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares images of nanobragg -compat and of nanoBragg, for random command lines.

usage: PEER=nanoBragg NANOBRAGG=program tests/golden/differential.py [--count 1000] [--first 0]
                                                                    [--seed 1] [--verbose]

Each command line is made by differential_sample.py from (seed, number) alone.  Two images
agree within the tolerances of the golden suite's scalar row.  Otherwise the known
differences of docs/differences.md that concern the command line are removed
(differential_known.py): the images of the remaining command line must agree, and the
differences that had to be removed are counted. Any other difference is printed, and the
exit status is 1.  Without PEER the test is skipped."""
import array
import argparse
import collections
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import differential_known as known
import differential_sample as sample

OURS = ["-compat", "-device", "cpu", "-isa", "scalar", "-precision", "double", "-threads", "1"]
IMAGE = "floatimage.bin"
NEGATIVE = "nanoBragg's image is ours times -1"


class Programs:
    """nanobragg (ours) and nanoBragg (peer), each run in a folder of links to inputs."""

    def __init__(self, ours, peer, work):
        self.ours, self.peer, self.work = ours, peer, work
        self.inputs = os.path.join(work, "inputs")
        os.mkdir(self.inputs)
        sample.write_inputs(self.inputs)

    def run(self, words):
        """Exit status, output and float image (None without an image)."""
        folder = os.path.join(self.work, "run")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name in os.listdir(self.inputs):
            os.symlink(os.path.join(self.inputs, name), os.path.join(folder, name))
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = done.stdout.decode("utf-8", "replace")
        image = None
        path = os.path.join(folder, IMAGE)
        if os.path.exists(path) and not os.path.islink(path):
            with open(path, "rb") as data:
                image = array.array("f", data.read())
        return done.returncode, text, image

    def compare(self, options):
        """None if the programs agree, else the difference in a few words."""
        words = [word for option in options for word in option]
        status, text, ours = self.run([self.ours] + words + OURS + ["-quiet"])
        if status not in (0, 2):
            return f"ours ended with status {status}: {text[-200:]}"
        code, _, theirs = self.run([self.peer] + words)
        if status == 2:
            line = [line for line in text.splitlines() if "error" in line][-1:]
            return "refused: " + (line or ["?"])[0]
        if theirs is None:
            return f"nanoBragg made no image (status {code})"
        return compare_images(ours, theirs)

    def facts(self, options):
        """The configuration of the command line; {} if the program refuses it."""
        words = [word for option in options for word in option]
        status, text, _ = self.run([self.ours] + words + OURS + ["-quiet", "-show_config"])
        if status:
            return {}
        return json.loads(text[text.index("{\n"):])


def compare_images(ours, theirs):
    """The difference, if above the scalar limits of docs/physics.md, section 21, or None."""
    if len(ours) != len(theirs):
        return f"{len(ours)} pixels, nanoBragg has {len(theirs)}"
    if not all(map(math.isfinite, theirs)):
        return "nanoBragg's image is not finite"
    sign = -1 if max(theirs) <= 0 and min(theirs) < 0 else 1
    theirs = array.array("f", (sign * b for b in theirs))
    top = max(theirs, default=0)
    if not top > 0:
        return None if max(ours) == 0 else "nanoBragg's image is black"
    maxrel = max(abs(a - b) for a, b in zip(ours, theirs)) / top
    rel6 = max(abs(a - b) / b for a, b in zip(ours, theirs) if b > 1e-6 * top)
    total = math.fsum(ours) / math.fsum(theirs) - 1
    corr = 1 - correlation(ours, theirs)
    if maxrel <= 2e-7 and rel6 <= 1e-5 and abs(total) <= 1e-6 and corr <= 1e-12:
        return None if sign > 0 else NEGATIVE
    return f"maxrel {maxrel:.2g}, rel6 {rel6:.2g}, sum - 1 {total:.2g}, 1 - corr {corr:.2g}"


def correlation(x, y):
    """Pearson's correlation; 1 for two equal images without contrast."""
    n = len(x)
    mx, my = math.fsum(x) / n, math.fsum(y) / n
    sxx = math.fsum((a - mx) ** 2 for a in x)
    syy = math.fsum((b - my) ** 2 for b in y)
    sxy = math.fsum((a - mx) * (b - my) for a, b in zip(x, y))
    if sxx <= 1e-24 * mx * mx * n or syy <= 1e-24 * my * my * n:
        return 1.0
    return sxy / math.sqrt(sxx * syy)


def take_out(options, names):
    """The command line without these known differences."""
    for name, _, rule in known.RULES:
        if name in names:
            options = rule(options)
    return options


def accepted(programs, options):
    """Removes flags that nanobragg refuses. Returns (remaining command line, names of the
    refusals, difference that remains or None)."""
    names = []
    while True:
        wrong = programs.compare(options)
        hit = known.refusal(wrong) if wrong and wrong.startswith("refused: ") else None
        fewer = hit[1](options) if hit else options
        if fewer == options:
            return options, names, wrong
        names, options = names + [hit[0]], fewer


def explain(programs, options):
    """Removes all known differences from the command line, then undoes each removal that
    is not needed. Returns (remaining command line, names of the known differences,
    difference that remains or None)."""
    start, refused, wrong = accepted(programs, options)
    if wrong == NEGATIVE: # a known difference that no change of flags avoids
        return start, refused + ["normal towards the crystal"], None
    if wrong is None or wrong.startswith("refused"):
        return start, refused, wrong
    names, before = [], None
    while names != before: # without one difference, another may show
        before, left = names, take_out(start, names)
        facts = programs.facts(left)
        touched = [name for name, applies, _ in known.RULES if applies(left, facts)]
        names = [name for name, _, _ in known.RULES if name in names or name in touched]
    wrong = programs.compare(take_out(start, names))
    if wrong == NEGATIVE:
        refused, wrong = refused + ["normal towards the crystal"], None
    for name in list(names) if wrong is None else []:
        fewer = [other for other in names if other != name]
        if programs.compare(take_out(start, fewer)) in (None, NEGATIVE):
            names = fewer
    return take_out(start, names), refused + names, wrong


def text_of(options):
    return " ".join(word for option in options for word in option)


def report(counts, same, unexplained, total):
    print(f"{total} command lines: {same} agree, {total - same - len(unexplained)} differ as "
          f"docs/differences.md says, {len(unexplained)} otherwise")
    for name, number in counts.most_common():
        print(f"  {number:5d}  {name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    peer, ours = os.environ.get("PEER"), os.environ.get("NANOBRAGG")
    if not peer or not ours:
        print("skip differential # PEER (a nanoBragg binary) and NANOBRAGG must be set")
        return 0
    counts, unexplained, same = collections.Counter(), [], 0
    numbers = range(args.first, args.first + args.count)
    with tempfile.TemporaryDirectory() as work:
        programs = Programs(os.path.abspath(ours), os.path.abspath(peer), work)
        for number in numbers:
            options = sample.command_line(args.seed, number)
            wrong = programs.compare(options)
            if wrong is None:
                same += 1
                continue
            rest, names, left = explain(programs, options)
            if left:
                unexplained.append(number)
                print(f"not ok {number}: {wrong}; without {', '.join(names) or 'anything'}: "
                      f"{left}\n    {text_of(options)}\n    {text_of(rest)}")
            elif args.verbose:
                print(f"{number}: {wrong}: {', '.join(names)}\n    {text_of(options)}")
            counts.update(set(names if not left else []))
    report(counts, same, unexplained, len(numbers))
    print("not ok differential" if unexplained else "ok differential")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
