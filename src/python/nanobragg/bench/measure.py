# SPDX-License-Identifier: MIT
"""Times of new processes, renders in this process, series, and stages of a process."""

import itertools
import json
import math
import os
import sys
from statistics import median

import numpy as np

import nanobragg

from .._programs import IMAGE, Stop
from . import gate
from .report import statistics

# Limits of the number of steps: of a reference (up to a second), of a reference with
# -quick, of a frame of a long series.
REFERENCE_STEPS, REFERENCE_STEPS_QUICK, FRAME_STEPS = 2e7, 3e6, 4e3
# Repeat short renders until they take this time, up to this number of times.
SHORT_SECONDS, MORE_REPEATS = 0.2, 5


def last_line(path):
    """Last line of a file that is not empty, or ""."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return ([""] + [line for line in file.read().splitlines() if line])[-1]


class Bench:
    """Measures the points of a plan.  programs: {peer (None: this program): path}."""

    def __init__(self, options, folder, programs, runner):
        self.options, self.folder, self.programs, self.runner = options, folder, programs, runner
        self.points, self.references = [], {}
        self.done = self.total = 0  # numbers of measurements, for the progress

    def measure(self, points):
        """Fill the points."""
        self.points, self.total = points, sum(1 + p.wants_cold for p in points)
        self.cold()
        how = {"batch": self.batch, "breakdown": self.breakdown}
        for p in points:
            self.show(p, p.sweep)
            self.done += 1
            if not p.left_out:
                how.get(p.sweep, self.warm)(p)
        self.show(None, "")

    def show(self, p, how):
        """Show the current measurement on a terminal; p None clears the line."""
        if sys.stderr.isatty():
            line = f"[{self.done}/{self.total}] {p.program}, {how}: {p.job.text()[:100]}" if p else ""
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    # --- shared by all measurements -----------------------------------------------------
    def leave_out(self, p, what, seconds):
        """True if the repeats would exceed -limit; notes in p why it has no times."""
        if not p.left_out and seconds * self.options.repeats > self.options.limit:
            p.left_out = (f"{self.options.repeats} {what} of about {seconds:.3g} s: above -limit "
                          f"{self.options.limit:g} s")
        return bool(p.left_out)

    def expected(self, p, how):
        """Seconds of a run of p, estimated from the nearest earlier image; 0: unknown."""
        nearest, seconds = math.inf, 0
        for q in itertools.takewhile(lambda q: q is not p, self.points):
            took = median(getattr(q, how) or [0])
            ratio = p.work() / q.work()
            if took > 0 and q.engine() == p.engine() and abs(math.log(ratio)) < nearest:
                nearest, seconds = abs(math.log(ratio)), took * ratio
        return seconds

    def refer(self, p):
        """Reference of the image of a point."""
        steps, image = REFERENCE_STEPS_QUICK if self.options.quick else REFERENCE_STEPS, p.job.image()
        if image not in self.references:
            self.references[image] = gate.Reference(p.job, steps)
        p.rows, p.of_rows = self.references[image].rows, self.references[image].slow
        return self.references[image]

    def judge(self, p, how, reference, image):
        """Add the figures of an image to those of p, or end with status 3."""
        bounds = gate.BOUNDS[None if p.peer else p.job.precision]
        figures = reference.check(image)
        p.worst, p.images = gate.worse(p.worst, figures), p.images + 1
        if not gate.is_right(figures, bounds):
            raise Stop(3, f"wrong image, no time is reported: {p.program}, {how}: {p.job.text()}: correlation "
                          f"{figures[0]:.12g} with the scalar renderer (at least 1 - {bounds[0]:g}), largest difference "
                          f"{figures[1]:.3g} of the brightest pixel (at most {bounds[1]:g})")

    def judge_file(self, p, how, reference, path):
        if not os.path.exists(path):
            raise Stop(1, f"{p.program} wrote no image: No such file or directory")
        self.judge(p, how, reference, nanobragg.read_image(path, shape=(p.job.size,) * 2))

    def process(self, job, peer=None):
        """Run a fresh process in a new folder of scratch: (folder, figures)."""
        folder, program = self.folder.new_scratch(), peer or "nanobragg"
        log = os.path.join(folder, "log.txt")
        errors = os.path.join(folder, "errors.txt") if job.reports else log
        end = self.runner.run([self.programs[peer], *job.command(not peer)], folder, log, errors)
        if "missing" in end:
            raise Stop(2, f"{program} cannot be run: {end['missing']}")
        if end["signal"] or end["exit_status"]:
            how = f"signal {end['signal']}" if end["signal"] else f"status {end['exit_status']}"
            last = last_line(errors)
            raise Stop(1, f"{program} ended with {how}{': ' if last else ''}{last}")
        return folder, end

    # --- new processes; the programs run in turns, so that a change of the machine
    # affects all --
    def cold(self):
        for _, group in itertools.groupby(self.points, lambda p: (p.job.case, p.job.size, p.sweep)):
            group = [p for p in group if p.wants_cold]
            for p in group:
                self.leave_out(p, "fresh processes", self.expected(p, "cold"))
            for _, p in itertools.product(range(self.options.repeats), group):
                if not p.left_out:
                    self.cold_once(p)
            self.done += len(group)

    def cold_once(self, p):
        self.show(p, "fresh process")
        try:
            folder, end = self.process(p.job, p.peer)
            self.judge_file(p, "fresh process", self.refer(p), os.path.join(folder, IMAGE))
        except Stop as why:
            if why.status != 1 or not p.peer or not self.has_rendered(p):
                raise
            p.left_out = str(why)
            return
        p.cold.append(end["seconds"])
        p.peak_mib = max(p.peak_mib, end["peak_mib"])
        if len(p.cold) == 1:
            self.leave_out(p, "fresh processes", end["seconds"])

    def has_rendered(self, p):
        """True if the program has rendered an image before it fails at this one."""
        return any(q.cold and q.peer == p.peer for q in itertools.takewhile(lambda q: q is not p, self.points))

    # --- renders in this process ----------------------------------------------------------------
    def warm(self, p):
        """Repeat renders; other programs have only times of processes."""
        reference = self.refer(p)
        if not p.peer and not self.leave_out(p, "renders", self.expect(p, reference)):
            self.render(p, reference)
        self.add_rates(p, reference)

    def expect(self, p, reference):
        """Seconds of a render, from earlier points or, for scalar, from the reference."""
        if p.job.isa == "scalar" and p.job.threads == self.options.threads[-1]:
            return reference.seconds * reference.slow / reference.rows
        return self.expected(p, "warm")

    def render(self, p, reference):
        """Render into host memory; in the size sweep also into GPU memory, as for
        programs that continue on the GPU."""
        sim = p.job.simulation()
        out = np.empty(sim.shape, dtype=np.float32)

        def once(**where):
            out.fill(np.nan)  # NaN shows pixels that a render does not write
            image, seconds = gate.timed(sim.render, **where)
            self.judge(p, "in this process", reference, image)
            return seconds

        p.warm = self.repeat(p, "renders", lambda: once(out=out), MORE_REPEATS)
        if not p.left_out and p.job.device != "cpu" and p.sweep == "size":
            p.found["resident"] = statistics(self.repeat(p, "renders", lambda: once(where="device"), MORE_REPEATS))
        p.found["backend"] = sim.backend

    def repeat(self, p, what, once, more=1):
        """Seconds of the repeats; short runs get up to `more` times as many.  The first
        run is not timed, but decides if there is time for more."""
        first, times, repeats = once(), [], self.options.repeats
        if self.leave_out(p, what, first):
            return [first]
        while len(times) < repeats or (sum(times) < SHORT_SECONDS and len(times) < repeats * more):
            times.append(once())
        return times

    def add_rates(self, p, reference):
        pixels = p.job.size**2
        p.found["steps_per_pixel"] = reference.steps
        if p.cold:
            p.found.update(cold=statistics(p.cold), peak_mib=p.peak_mib)
        if p.warm:
            p.found.update(warm=statistics(p.warm), pixels_per_s=pixels / median(p.warm),
                           steps_per_s=pixels * reference.steps / median(p.warm))

    # --- frames of a series: time of run_series from call to return, including files
    # ---------------------
    def batch(self, p):
        job = p.job
        references = [gate.Reference(job.but(phi=k * job.osc), FRAME_STEPS) for k in range(job.frames)]

        def once():
            folder = self.folder.new_scratch()
            _, seconds = gate.timed(nanobragg.run_series, config=job.keywords(), frames=job.frames,
                                    output=os.path.join(folder, "f_%05d.bin"))
            for i, reference in enumerate(references, 1):
                self.judge_file(p, f"frame {i} of a series", reference, os.path.join(folder, f"f_{i:05d}.bin"))
            return seconds

        p.warm = self.repeat(p, "series", once)
        p.rows, p.of_rows = references[0].rows, job.size
        p.found.update(frames=job.frames, seconds=statistics(p.warm), frames_per_s=job.frames / median(p.warm))

    # --- stages of a process, with structure factors from a file ------------------------
    def breakdown(self, p):
        reference, stages = self.refer(p), {}
        for _ in range(self.options.repeats):
            folder, end = self.process(p.job)
            line = last_line(os.path.join(folder, "log.txt"))
            try:
                times = json.loads(line)
                total = times.pop("total")
            except (ValueError, KeyError, AttributeError):
                raise Stop(1, f"-time json printed no stages: {line}") from None
            times.update({"rest of the process": end["seconds"] - total, "whole process": end["seconds"]})
            for name, seconds in times.items():
                if isinstance(seconds, (int, float)):
                    stages.setdefault(name, []).append(seconds)
            self.judge_file(p, "breakdown", reference, os.path.join(folder, IMAGE))
        p.found["stages"] = [{"name": name, "seconds": statistics(seconds)} for name, seconds in stages.items()]
