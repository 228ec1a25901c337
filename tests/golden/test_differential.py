#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""differential.py with nanobragg in place of nanoBragg: its samples cover the flags, and
it finds differences if and only if there are any."""
import os
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import differential  # noqa: E402
import differential_sample as sample  # noqa: E402

FAILED = []


def ok(name, good, why=""):
    print(f"ok {name}" if good else f"# {name}: {why}\nnot ok {name}")
    FAILED.extend([] if good else [name])


def contract():
    """Flags of nanoBragg: those of contract_flags.txt above its line "# also"."""
    with open(os.path.join(HERE, "../cli/contract_flags.txt"), encoding="ascii") as lines:
        text = lines.read().split("# also")[0]
    return {word for line in text.splitlines() if line[:1] != "#" for word in line.split()}


def run(peer, *flags):
    done = subprocess.run([sys.executable, os.path.join(HERE, "differential.py"), *flags],
                          env={**os.environ, "PEER": peer}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode()


def stand_in(path, *flags):
    """Writes a script in place of nanoBragg: calls nanobragg with `flags` at the end."""
    with open(path, "w", encoding="ascii") as script:
        words = " ".join([*differential.OURS, *flags])
        script.write(f'#!/bin/sh\nexec "{os.environ["NANOBRAGG"]}" "$@" {words} -quiet\n')
    os.chmod(path, stat.S_IRWXU)
    return path


def main():
    lines = [sample.command_line(1, number) for number in range(3000)]
    typed = {option[0] for line in lines for option in line}
    ok("differential-samples-every-flag", contract() <= typed | set(sample.LEFT_OUT),
       sorted(contract() - typed - set(sample.LEFT_OUT)))
    ok("differential-is-repeatable", lines[7] == sample.command_line(1, 7))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "peer")
        status, text = run(stand_in(path), "--count", "8")
        ok("differential-accepts-the-same", status == 0 and "ok differential" in text, text)
        status, text = run(stand_in(path, "-polar", "0.3"), "--count", "2")
        ok("differential-finds-a-difference", status == 1 and "not ok" in text, text)
    status, text = run("")
    ok("differential-skips-without-a-peer", status == 0 and text.startswith("skip "), text)
    if not os.environ.get("PEER"):
        print("skip differential # needs a nanoBragg: make differential PEER=nanoBragg")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
