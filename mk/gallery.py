# SPDX-License-Identifier: MIT
"""Make the pictures of docs/gallery.md with the commands of this page; each command is above its picture.

usage: NANOBRAGG=program python3 mk/gallery.py [--check] [PICTURE ...]     in the root of the source; PICTURE: as laue; default: all
  --check  make no picture: the program must accept each command, and docs/pictures must have what the page shows
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PAGE, FOLDER, MAX_BYTES = "docs/gallery.md", "docs/pictures", 1500000


def entries():
    """[(name, command)] of the pictures of the page."""
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    found = re.findall(r"```text\n(.*?)```\n\n!\[[^]]+\]\(pictures/([\w-]+)\.png\)", text, re.S)
    if len(found) != text.count("\n![") or len(found) != text.count("\n```text"):
        raise SystemExit(f"{PAGE}: a picture without a block of text before it, or a block without its picture")
    return [(name, command) for command, name in found]


def run(command, folder, *more):
    """Run the block of a picture in a shell; more: flags added to each call of the program.  Returns the error or ""."""
    program = os.path.abspath(os.environ["NANOBRAGG"])
    os.makedirs(f"{folder}/bin")
    with open(f"{folder}/bin/nanobragg", "w", encoding="utf-8") as out:
        out.write(f'#!/bin/sh\nexec {program} "$@" {" ".join(more)}\n')
    os.chmod(f"{folder}/bin/nanobragg", 0o755)
    os.symlink(os.path.abspath("golden_data"), f"{folder}/golden_data")
    done = subprocess.run(["bash", "-ec", command], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
    return done.stderr.strip()[-500:] or f"exit status {done.returncode}" if done.returncode else ""


def make(name, command):
    with tempfile.TemporaryDirectory() as folder:
        error = run(command, folder, "-nofloat", "-noint", "-nonoise", "-nopgm", "-quiet", "-noprogress")
        made = f"{folder}/{name}.png"
        if not error and not os.path.exists(made):
            error = f"it did not write {name}.png"
        if not error:
            os.makedirs(FOLDER, exist_ok=True)
            shutil.move(made, f"{FOLDER}/{name}.png")
        return error


def accepted(name, command):
    with tempfile.TemporaryDirectory() as folder:
        return run(command, folder, "-show_config") or ("" if f"{name}.png" in command else f"it does not write {name}.png")


def stored(names):
    """A fault of the folder of pictures, or "" if correct."""
    there = {file: os.path.getsize(f"{FOLDER}/{file}") for file in sorted(os.listdir(FOLDER))}
    if sorted(there) != sorted(f"{name}.png" for name in names):
        return f"{FOLDER} has {' '.join(there)}"
    size = sum(there.values())
    return f"{FOLDER} has {size} bytes, at most {MAX_BYTES}" if size > MAX_BYTES else ""


def main(words):
    check = words[:1] == ["--check"]
    chosen = [e for e in entries() if not words[check:] or e[0] in words[check:]]
    errors = {name: (accepted if check else make)(name, command) for name, command in chosen}
    if len(chosen) == len(entries()):
        errors["all"] = stored([name for name, _ in chosen])
    for name, error in errors.items():
        print("\n".join(f"# {line}" for line in error.split("\n") if line) + ("\n" if error else "") + ("not ok" if error else "ok") + f" gallery {name}")
    return any(errors.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
