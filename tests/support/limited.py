# SPDX-License-Identifier: MIT
"""Runs a test, and stops it after a number of seconds of processor time, or when it hangs.

The limit counts the test and its children, so a busy machine does not shorten it. A test hangs if
it used no processor for HANGS seconds. The last line of a stopped test gives the reason.

usage: limited.py SECONDS COMMAND...
"""
import os
import signal
import subprocess
import sys
import time

HANGS = 180


def processes(session):
    """{process: (processor seconds of it and its ended children, command line)}"""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()  # words from field 3 of the list in proc(5)
            if int(words[3]) == session:
                with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as file:
                    command = file.read().replace("\0", " ").strip()
                found[int(name)] = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK"), command
        except OSError:
            continue  # the process has ended
    return found


def stop(session):
    for process in processes(session):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def watch(child, limit):
    """Returns the reason to stop the child, or None when it has ended."""
    last, since = 0, time.monotonic()
    while True:
        try:
            child.wait(1)
            return None
        except subprocess.TimeoutExpired:
            pass
        running = processes(child.pid)
        used = sum(seconds for seconds, _ in running.values())
        commands = "; ".join(command[:300] for _, command in sorted(running.values())[-2:])
        if used > limit:
            return f"used more than {limit:g} s of processor time; running: {commands}"
        if abs(used - last) > 0.1:
            last, since = used, time.monotonic()
        elif time.monotonic() > since + HANGS:
            return f"hangs: no processor time for {HANGS} s; running: {commands}"


def main(limit, *words):
    child = subprocess.Popen(words, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: (stop(child.pid), sys.exit(130)))
    reason = watch(child, float(limit))
    if reason:
        stop(child.pid)
        child.wait()
        print(f"# stopped: {reason}", flush=True)
        return 124
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
