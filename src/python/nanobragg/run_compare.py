# SPDX-License-Identifier: MIT
"""nanobragg run-compare: run two programs with the same flags and compare their images.
Arguments (src/cli/python_verb.c): path of nanobragg, and words after `run-compare`."""

import json
import os
import signal
import subprocess
import sys

from . import __version__
from ._programs import IMAGE, Runner, Stop, elsewhere, find, finish, say, tell, typed

PASSED, FAILED, MISSING, CRASHED, STATUS, SIZE = 0, 3, 4, 5, 6, 7
OUTCOMES = {PASSED: "passed", FAILED: "comparison failed", MISSING: "program missing", CRASHED: "program crashed",
            STATUS: "program failed", SIZE: "sizes differ"}


class Ended(Exception):
    """The run has ended with this outcome; the text says why."""

    def __init__(self, outcome, why):
        super().__init__(why)
        self.outcome = outcome


class Side:
    """One of the two programs, with the results in its folder."""

    def __init__(self, name, out, runner):
        self.name, self.folder, self.runner = name, os.path.join(out, name), runner
        self.program, self.figures = "", None

    def find(self, program):
        self.program = program
        try:
            self.program = find(program)
        except OSError as why:
            raise Ended(MISSING, f"the program {program} cannot be run: {why.strerror}") from None

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self, flags, output):
        """Run the program to its end. Returns status, times and memory (_spawn.py)."""
        places = map(os.path.abspath, (self.folder, output, self.file("log.txt")))
        end = self.runner.run([self.program, *flags], *places)
        if "missing" in end:
            raise Ended(MISSING, f"the program {self.program} cannot be run: {end['missing']}")
        return end

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
    def __init__(self, program, given, flags, runner):
        self.program, self.given, self.flags, self.fast, self.slow = program, given, flags, 0, 0
        self.out = given.get("out", "run-compare.out")
        self.ref, self.ours = Side("ref", self.out, runner), Side("ours", self.out, runner)
        self.threshold = ["-threshold", given["threshold"]] if "threshold" in given else []
        self.comparison, self.text = None, ""

    def file(self, name):
        return os.path.join(self.out, name)

    def make_folders(self):
        """Make the folders, and remove the files of an earlier run."""
        for folder in (self.out, self.ref.folder, self.ours.folder):
            try:
                os.mkdir(folder)
            except FileExistsError:
                pass
            except OSError as why:
                raise Stop(1, f"-out: cannot make {folder}: {why.strerror}") from None
        old = [side.file(name) for side in (self.ref, self.ours) for name in ("log.txt", IMAGE)]
        for path in old + [self.file(n) for n in ("summary.json", "config.json", "comparison.txt", "difference.png")]:
            if os.path.lexists(path):
                os.remove(path)

    def ask_size(self):
        """Read the size of the image from the configuration that our program prints."""
        config = self.file("config.json")
        self.ours.check(self.ours.start(self.flags + ["-show_config"], config))
        try:
            with open(config, encoding="utf-8") as stream:
                detector = json.load(stream)["detector"]
            self.fast, self.slow = int(detector["fpixels"]), int(detector["spixels"])
        except (ValueError, KeyError, TypeError):
            raise Ended(STATUS, "ours did not say the size of its image") from None
        os.remove(self.ours.file("log.txt"))

    def compare(self, *more):
        """Text of `nanobragg compare`, or None, with a note, if -diff needs libpng."""
        done = subprocess.run([self.program, "compare", f"ours/{IMAGE}", f"ref/{IMAGE}", "-size", str(self.fast),
                               str(self.slow), *self.threshold, *more], cwd=self.out,
                              capture_output=True, text=True, check=False)
        if done.returncode in (PASSED, FAILED):
            return done.stdout
        why = (done.stderr.strip().split("\n")[-1] or f"compare ended with {done.returncode}").split(": ", 2)[-1]
        if "-diff" in more and done.returncode == 2:  # the build has no libpng, so there is no picture
            say("note", why)
            return None
        raise Stop(done.returncode if done.returncode in (1, 2) else 1, why)

    def carry_out(self):
        self.ref.find(self.given["ref"])
        self.ours.find(self.given.get("ours", self.program))
        self.ask_size()
        self.ref.run(self.flags)
        self.ours.run(self.flags)
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
            json.dump({"flags": self.flags, "version": __version__, "outcome": OUTCOMES[outcome],
                       "status": outcome, "message": message, "fast": self.fast, "slow": self.slow,
                       "ref": self.ref.summary(), "ours": self.ours.summary(), "comparison": self.comparison},
                      stream, indent=1)
            stream.write("\n")
        tell(f"{text}folder      {self.out}\n")


def run(program, words):
    given, rest = typed(words)
    if "ref" not in given:
        raise Stop(2, "-ref is missing: the program to compare with")
    if not rest:
        raise Stop(2, "no flags to run with; write them behind --")
    outcome, message = PASSED, ""
    with Runner() as runner:
        trial = Trial(program, given, elsewhere(rest), runner)
        trial.make_folders()
        try:
            trial.carry_out()
        except Ended as end:
            outcome, message = end.outcome, str(end)
    trial.leave_behind(outcome, message)
    if outcome:
        say("error", message)
    return outcome


def main():
    """Return the exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return finish(lambda: run(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
