# SPDX-License-Identifier: MIT
"""The progress bar shows only on a terminal, and is wiped at the end.

usage: NANOBRAGG=program python3 tests/cli/progress_check.py
"""
import json
import os
import pty
import subprocess
import sys
import tempfile

# The scalar renderer is so slow that any machine shows a progress bar.
FLAGS = ["-detpixels", "200", "-oversample", "7", "-isa", "scalar", "-threads", "1",
         "-N", "5", "-cell", "100", "-default_F", "1",
         "-quiet", "-nofloat", "-noint", "-nonoise", "-nopgm"]

STAGES = ["load", "factors", "scene", "start", "render", "statistics", "noise", "write", "truth"]


def on_terminal(*more):
    """Exit status, and text that the program writes to standard error on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([os.environ["NANOBRAGG"], *FLAGS, *more], stderr=theirs,
                               stdout=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # on Linux: the program has closed the terminal
            data = b""
        if not data:
            break
        text += data
    os.close(ours)
    return process.wait(), text


def main():
    """Prints one line per test."""
    failed = 0
    status, text = on_terminal()
    piped = subprocess.run([os.environ["NANOBRAGG"], *FLAGS], capture_output=True, check=False)
    with tempfile.TemporaryDirectory() as folder:
        names = ["-stills", "2", "-output", os.path.join(folder, "f%d.bin")]
        series = on_terminal(*names)
        lines = [line.split(b" frames, ") for line in series[1].split(b"\r\x1b[K") if b" frames, " in line]
        before = [line[1] for line in lines if line[0] == b"0 of 2"]
        times = subprocess.run([os.environ["NANOBRAGG"], *FLAGS, *names, "-time", "json"], capture_output=True,
                               check=False)
        truth = subprocess.run([os.environ["NANOBRAGG"], *FLAGS, "-time", "json", "-truth", "spots", "-truthfile",
                                os.path.join(folder, "t")], capture_output=True, check=False)
        quiet = subprocess.run([os.environ["NANOBRAGG"], *FLAGS, *names], capture_output=True, check=False)
    times, truth = json.loads(times.stdout), json.loads(truth.stdout)
    checks = {
        "a-series-before-its-first-frame": series[0] == 0 and any(
            b" s left" in text and not text.startswith(b"0 %") for text in before),
        "a-series-to-its-end": lines[-1][0] == b"2 of 2" and lines[-1][1].startswith(b"100 %"),
        "a-series-not-in-a-file": quiet.returncode == 0 and b"left" not in quiet.stderr,
        "times-of-a-series": times["render"] > .5 * times["series"] > 0
                             and abs(times["total"] - sum(times[k] for k in STAGES)) < 1e-5,
        "truth-is-no-noise": truth["truth"] > 0 and truth["noise"] == 0 and times["truth"] == 0,
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
