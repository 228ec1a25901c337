# SPDX-License-Identifier: MIT
"""The progress bar shows on a terminal, and only there, and is wiped at the end.

usage: NANOBRAGG=program python3 tests/cli/progress_check.py
"""
import os
import pty
import subprocess
import sys

# The reference renderer is slow enough for a bar, whatever the machine.
FLAGS = ["-detpixels", "200", "-oversample", "14", "-isa", "scalar", "-threads", "1",
         "-N", "5", "-cell", "100", "-default_F", "1",
         "-quiet", "-nofloat", "-noint", "-nonoise", "-nopgm"]


def on_terminal(*more):
    """What the program writes to a terminal as standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([os.environ["NANOBRAGG"], *FLAGS, *more], stderr=theirs,
                               stdout=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # Linux reports the closed end this way
            data = b""
        if not data:
            break
        text += data
    os.close(ours)
    return process.wait(), text


def main():
    """Print one line per test."""
    failed = 0
    status, text = on_terminal()
    piped = subprocess.run([os.environ["NANOBRAGG"], *FLAGS], capture_output=True, check=False)
    checks = {
        "progress-on-a-terminal": status == 0 and b"%" in text and b"pixel/s" in text
                                  and b" left" in text,
        "progress-is-wiped": text.endswith(b"\r\x1b[K"),
        "progress-not-in-a-file": piped.returncode == 0 and piped.stderr == b"",
        "noprogress": on_terminal("-noprogress") == (0, b""),
        "progress-undoes-noprogress": b"%" in on_terminal("-noprogress", "-progress")[1],
        "printout-has-no-bar": on_terminal("-printout_pixel", "1", "1") == (0, b""),
    }
    for name, good in checks.items():
        print(("ok " if good else "not ok ") + name)
        failed |= not good
    if failed:
        print("# terminal got", text[-300:])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
