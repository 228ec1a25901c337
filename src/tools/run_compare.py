# SPDX-License-Identifier: MIT
"""nanobragg run-compare: two programs run on the same flags, and their images compared.

The program (src/cli/run_compare.c) reads its command line and starts this with
-program P -version V -ref P -ours P -out FOLDER -threshold TEXT -- FLAGS
"""
import sys

sys.path = [p for p in sys.path if p]  # a json.py of the user's folder is none of ours
import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402

IMAGE = "floatimage.bin"
PASSED, FAILED, MISSING, CRASHED, STATUS, SIZE = 0, 3, 4, 5, 6, 7
OUTCOMES = {PASSED: "passed", FAILED: "comparison failed", MISSING: "program missing", CRASHED: "program crashed",
            STATUS: "program failed", SIZE: "sizes differ"}


class Ended(Exception):
    """The run has ended with this outcome; the text says why."""

    def __init__(self, outcome, why):
        super().__init__(why)
        self.outcome = outcome


class Broken(Exception):
    """There is no outcome: the exit status and the message."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def say(kind, text):
    line = "".join(c if c >= " " and c != "\x7f" else "?" for c in str(text))
    print(f"nanobragg: {kind}: {line}", file=sys.stderr)


class Side:
    """One of the two programs, and what became of it in its folder."""

    def __init__(self, name, out):
        self.name, self.folder, self.program, self.figures = name, os.path.join(out, name), "", None

    def find(self, program):
        """A name with a folder becomes absolute, because the program starts in another folder."""
        self.program = os.path.realpath(program) if "/" in program else program
        if "/" in program and not os.access(self.program, os.X_OK):
            why = "Permission denied" if os.path.exists(self.program) else "No such file or directory"
            self.program = program
            raise Ended(MISSING, f"the program {program} cannot be run: {why}")

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self, flags, output):
        """Run to the end; the figures of the process."""
        with open(output, "ab") as out, open(self.file("log.txt"), "ab") as log:
            began = time.monotonic()
            try:
                child = subprocess.Popen([self.program] + flags, cwd=self.folder, stdin=subprocess.DEVNULL,
                                         stdout=out, stderr=log)
            except OSError as why:
                raise Ended(MISSING, f"the program {self.program} cannot be run: {why.strerror}") from None
            _, state, used = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = 0  # it was waited for
        return {"exit_status": os.WEXITSTATUS(state) if os.WIFEXITED(state) else 0,
                "signal": os.WTERMSIG(state) if os.WIFSIGNALED(state) else 0, "seconds": seconds,
                "user_seconds": used.ru_utime, "system_seconds": used.ru_stime, "peak_mib": used.ru_maxrss / 1024}

    def check(self, end):
        if end["signal"]:
            raise Ended(CRASHED, f"{self.name} crashed: {signal.strsignal(end['signal'])} (signal {end['signal']}); "
                                 f"see {self.name}/log.txt")
        if end["exit_status"]:
            raise Ended(STATUS, f"{self.name} ended with status {end['exit_status']}; see {self.name}/log.txt")

    def run(self, flags):
        self.figures = self.start(flags, self.file("log.txt"))
        has_image = os.path.exists(self.file(IMAGE))
        self.figures["image_bytes"] = os.path.getsize(self.file(IMAGE)) if has_image else -1
        self.check(self.figures)
        if not has_image:
            raise Ended(STATUS, f"{self.name} wrote no {IMAGE}; see {self.name}/log.txt")

    def summary(self):
        return {"program": self.program, "ran": self.figures is not None, **(self.figures or {})}

    def line(self):
        f = self.figures
        return (f"{self.name:<11} {f['seconds']:.3f} s ({f['user_seconds']:.3f} s user, {f['system_seconds']:.3f} s "
                f"system), {f['peak_mib']:.0f} MiB: {self.program}\n") if f else ""


class Trial:
    def __init__(self, args):
        self.args, self.fast, self.slow = args, 0, 0
        self.ref, self.ours = Side("ref", args.out), Side("ours", args.out)
        self.comparison, self.text = None, ""

    def file(self, name):
        return os.path.join(self.args.out, name)

    def make_folders(self):
        """Make them, and remove the files of an earlier run."""
        for folder in (self.args.out, self.ref.folder, self.ours.folder):
            try:
                os.mkdir(folder)
            except FileExistsError:
                pass
            except OSError as why:
                raise Broken(1, f"-out: cannot make {folder}: {why.strerror}") from None
        old = [side.file(name) for side in (self.ref, self.ours) for name in ("log.txt", IMAGE)]
        for path in old + [self.file(n) for n in ("summary.json", "config.json", "comparison.txt", "difference.png")]:
            if os.path.lexists(path):
                os.remove(path)

    def ask_size(self):
        """Our program prints its configuration, and with it the size of the image."""
        config = self.file("config.json")
        self.ours.check(self.ours.start(self.args.flags + ["-show_config"], config))
        try:
            with open(config, encoding="utf-8") as stream:
                detector = json.load(stream)["detector"]
            self.fast, self.slow = int(detector["fpixels"]), int(detector["spixels"])
        except (ValueError, KeyError, TypeError):
            raise Ended(STATUS, "ours did not say the size of its image") from None
        os.remove(self.ours.file("log.txt"))

    def compare(self, *more):
        """The text of `nanobragg compare`; None if it could not compare, with a note if that is allowed."""
        done = subprocess.run([self.args.program, "compare", f"ours/{IMAGE}", f"ref/{IMAGE}", "-size", str(self.fast),
                               str(self.slow), "-threshold", self.args.threshold, *more], cwd=self.args.out,
                              capture_output=True, text=True, check=False)
        if done.returncode in (PASSED, FAILED):
            return done.stdout
        why = (done.stderr.strip().split("\n")[-1] or f"compare ended with {done.returncode}").split(": ", 2)[-1]
        if "-diff" in more and done.returncode == 2:  # no libpng: all but the picture
            say("note", why)
            return None
        raise Broken(done.returncode if done.returncode in (1, 2) else 1, why)

    def carry_out(self):
        self.ref.find(self.args.ref)
        self.ours.find(self.args.ours)
        self.ask_size()
        self.ref.run(self.args.flags)
        self.ours.run(self.args.flags)
        want = 4 * self.fast * self.slow
        wrote = [side.figures["image_bytes"] for side in (self.ref, self.ours)]
        if wrote != [want, want]:
            raise Ended(SIZE, f"the images differ in size: {self.fast} x {self.slow} floats are {want} bytes, ref wrote "
                              f"{wrote[0]} and ours {wrote[1]}")
        self.text = self.compare()
        self.comparison = json.loads(self.compare("-json", "-diff", "difference.png") or self.compare("-json"))
        if not self.comparison["passed"]:
            verdict = self.comparison["verdict"]
            raise Ended(FAILED, "the images differ" + (f": {verdict}" if verdict else ""))

    def leave_behind(self, outcome, message):
        text = self.ref.line() + self.ours.line() + self.text
        with open(self.file("comparison.txt"), "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        with open(self.file("summary.json"), "w", encoding="utf-8") as stream:
            json.dump({"flags": self.args.flags, "version": self.args.version, "outcome": OUTCOMES[outcome],
                       "status": outcome, "message": message, "fast": self.fast, "slow": self.slow,
                       "ref": self.ref.summary(), "ours": self.ours.summary(), "comparison": self.comparison},
                      stream, indent=1)
            stream.write("\n")
        print(f"{text}folder      {self.args.out}", flush=True)


def run(args):
    trial = Trial(args)
    trial.make_folders()
    outcome, message = PASSED, ""
    try:
        trial.carry_out()
    except Ended as end:
        outcome, message = end.outcome, str(end)
    trial.leave_behind(outcome, message)
    if outcome:
        say("error", message)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in ("program", "version", "ref", "ours", "out", "threshold"):
        parser.add_argument("-" + name, required=True)
    words = sys.argv[1:]
    at = words.index("--")
    args = parser.parse_args(words[:at])
    args.flags = words[at + 1:]
    sys.stdout.reconfigure(errors="surrogateescape")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    try:
        return run(args)
    except Broken as why:
        say("error", why)
        return why.status
    except OSError as why:
        say("error", f"{why.filename}: {why.strerror}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
