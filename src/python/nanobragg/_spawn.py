# SPDX-License-Identifier: MIT
"""Start programs and measure them, in a small process: the peak memory that the system
reports for a program is at least the memory of its parent.

Reads lines of JSON, [argv, folder, output file, error file]; answers each with a line
(_programs.py).
"""
import json
import os
import signal
import subprocess
import sys
import time

child = None


def run(argv, folder, output, errors):
    """Run a program to its end; its figures, or {"missing": why} if it cannot start."""
    global child
    try:
        with open(output, "ab") as out, open(errors, "ab") as log:
            began = time.monotonic()
            child = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=log)
    except OSError as why:
        return {"missing": why.strerror}
    _, state, used = os.wait4(child.pid, 0)
    seconds = time.monotonic() - began
    child = None
    return {"exit_status": os.WEXITSTATUS(state) if os.WIFEXITED(state) else 0,
            "signal": os.WTERMSIG(state) if os.WIFSIGNALED(state) else 0, "seconds": seconds,
            "user_seconds": used.ru_utime, "system_seconds": used.ru_stime, "peak_mib": used.ru_maxrss / 1024}


def stop(*_):
    """End the program, and then this process."""
    if child:
        child.terminate()
        child.wait()
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C: the parent stops this process
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)
