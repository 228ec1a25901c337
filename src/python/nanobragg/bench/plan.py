# SPDX-License-Identifier: MIT
"""Planned measurements.  The size sweep compares devices and programs; each other sweep
changes one quantity at one size."""

import itertools
import os

from .job import Job

BOX = 24


class Point:
    """A measurement; it has only times of images that passed the check."""

    def __init__(self, sweep, job, peer=None, wants_cold=False):
        self.sweep, self.job, self.peer, self.wants_cold = sweep, job, peer, wants_cold
        self.program = peer or "nanobragg"
        self.found = {}  # members of the row in results.json
        self.cold, self.warm = [], []  # seconds; one run if more would take too long
        self.peak_mib = 0.0  # peak memory of a fresh process
        self.worst = (1.0, 0.0, 0.0)  # worst figures of all images (gate.py)
        self.images = 0  # checked images
        self.rows = self.of_rows = 0  # checked rows of each image, and all rows
        self.left_out = ""  # reason if there are no times

    def engine(self):
        """Key that is equal for points whose times can be estimated from each other."""
        job = self.job
        return (self.peer, job.case, job.isa, job.precision, job.threads, job.device,
                self.sweep in ("batch", "breakdown"))

    def work(self):
        """Number proportional to the steps of the image."""
        return (self.job.size * (self.job.oversample or 1))**2 * (self.job.domains / 100 if self.job.domains else 1)


class Plan:
    """Fills `points` from options, devices, instruction sets. folder: folder for a file
    of F."""

    def __init__(self, options, devices, isas, folder):
        self.options, self.devices, self.isas = options, devices, isas
        self.box = os.path.join(folder, "reflections.hkl")
        self.points = []
        for case in options.cases:
            for size in options.sizes if "size" in options.sweeps else ():
                self.sizes(case, size)
            for device in devices:
                self.sweeps(case, device, case == options.cases[0])

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

    def write_factors(self):
        """Write a file of structure factors, with arbitrary F that are the same in every
        run."""
        if any(p.job.hkl for p in self.points):
            with open(self.box, "w", encoding="ascii") as file:
                file.writelines(box_lines())


def box_lines():
    """Lines of all reflections that the detectors of the cases can see."""
    for h, k, l in itertools.product(range(-BOX, BOX + 1), repeat=3):
        yield f"{h} {k} {l} {20 + (h * h * 31 + k * k * 17 + l * l * 7 + h * k) % 300}\n"
