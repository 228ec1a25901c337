# SPDX-License-Identifier: MIT
"""Planned measurements.  The size sweep compares devices and programs; each other sweep
changes one quantity at one size."""

import itertools
import math
import os

from .job import Job

# Images of the case xfel: the first image of a shape is the reference for the others.
GAINS = (("-gauss_xtal", None), ("-gauss_xtal", "1e-3"), ("-square_xtal", "1e-3"), ("-square_xtal", "1e-4"),
         ("-square_xtal", "1e-6"), ("-round_xtal", "1e-3"), ("-round_xtal", "1e-4"), ("-round_xtal", "1e-6"))
CELL, FINEST, BOX = (79.1, 79.1, 37.9), 2.0, 24


class Point:
    """A measurement; it has only times of images that passed the check."""

    def __init__(self, sweep, job, peer=None, wants_cold=False):
        self.sweep, self.job, self.peer, self.wants_cold = sweep, job, peer, wants_cold
        self.program = peer or "nanobragg"
        self.found = {}  # members of the row in results.json
        self.cold, self.warm = [], []  # seconds; one run if more would take too long
        self.peak_mib = 0.0  # peak memory of a fresh process
        self.worst = (1.0, 0.0, 0.0)  # worst figures over the images
        self.images = 0  # checked images
        self.rows = self.of_rows = 0  # checked rows of each image, and all rows
        self.left_out = ""  # reason if there are no times

    def engine(self):
        """Key that is equal for points whose times can be estimated from each other."""
        job = self.job
        return (self.peer, job.case, job.isa, job.precision, job.threads, job.device,
                self.sweep in ("batch", "breakdown", "gain"))

    def work(self):
        """Number proportional to the steps of the image."""
        return (self.job.size * (self.job.oversample or 1))**2 * (self.job.domains / 100 if self.job.domains else 1)


class Plan:
    """Fills `points` from options, devices, instruction sets.  folder: for files of F."""

    def __init__(self, options, devices, isas, folder):
        self.options, self.devices, self.isas = options, devices, isas
        self.box, self.sphere = (os.path.join(folder, name) for name in ("reflections.hkl", "xfel.hkl"))
        self.points = []
        sized = [case for case in options.cases if case != "xfel"]
        for case in options.cases:
            for size in options.sizes if case != "xfel" and "size" in options.sweeps else ():
                self.sizes(case, size)
            for device in devices:
                if case == "xfel":
                    self.gains(device)
                else:
                    self.sweeps(case, device, case == sized[0])

    def job(self, case, device, **more):
        return Job(**{"case": case, "own": tuple(self.options.own), "device": device, "size": self.options.at,
                      "threads": self.options.threads[-1], **more})

    def add(self, sweep, job, **more):
        self.points.append(Point(sweep, job, **more))

    def sizes(self, case, size):
        for device in self.devices:
            self.add("size", self.job(case, device, size=size), wants_cold=True)
        for name, _ in self.options.peers:
            self.add("size", self.job(case, "cpu", size=size), peer=name, wants_cold=True)
        if "cpu" in self.devices:  # the reference renderer, for comparison
            self.add("size", self.job(case, "cpu", size=size, isa="scalar", precision="double"))

    def sweeps(self, case, device, is_first):
        """Add all sweeps but sizes for a case on a device; frames for the first case."""
        o, on_cpu, is_heavy = self.options, device == "cpu", case == "heavy"
        changes = {
            "precision": [{"isa": isa, "precision": precision} for isa in (self.isas if on_cpu else ["auto"])
                          for precision in o.precisions if isa != "scalar" or precision == "double"],
            "threads": [{"threads": n} for n in o.threads if on_cpu],
            "oversample": [{"oversample": n} for n in o.oversamples if not is_heavy],
            "domains": [{"domains": n} for n in o.domains if is_heavy],
            "batch": [{"osc": 0.1, "frames": n} for n in o.batches if is_first],
            "breakdown": [{"hkl": None if case == "own" else self.box, "reports": True}]}
        for sweep, some in changes.items():
            for change in some if sweep in o.sweeps else ():
                self.add(sweep, self.job(case, device, **change))

    def gains(self, device):
        """Add the points of the case xfel: one size, compared among themselves."""
        for shape, tolerance in GAINS:
            self.add("gain", self.job("xfel", device, size=max(self.options.sizes), hkl=self.sphere, shape=shape,
                                      tolerance=tolerance))

    def write_factors(self):
        """Write files of structure factors: arbitrary F, the same in every run."""
        for path, lines in ((self.box, box_lines), (self.sphere, sphere_lines)):
            if any(p.job.hkl == path for p in self.points):
                with open(path, "w", encoding="ascii") as file:
                    file.writelines(lines())


def box_lines():
    """Lines of all reflections that the detectors of the cases can see."""
    for h, k, l in itertools.product(range(-BOX, BOX + 1), repeat=3):
        yield f"{h} {k} {l} {20 + (h * h * 31 + k * k * 17 + l * l * 7 + h * k) % 300}\n"


def sphere_lines():
    """Lines of reflections to the resolution FINEST (A), with F from 10 to 1000."""
    random = 1
    for h, k, l in itertools.product(*(range(-int(a / FINEST), int(a / FINEST) + 1) for a in CELL)):
        random = (random * 1664525 + 1013904223) % 2**32
        if 0 < math.hypot(h / CELL[0], k / CELL[1], l / CELL[2]) < 1 / FINEST:
            yield f"{h} {k} {l} {10 * 10**(2.0 * (random >> 8) / (1 << 24)):.1f}\n"
