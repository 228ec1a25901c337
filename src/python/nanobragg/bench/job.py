# SPDX-License-Identifier: MIT
"""Image to render, by a new process of any program or in this process."""

import dataclasses

import nanobragg

from .._programs import elsewhere, keywords

# Flags of a case for every program, and flags for nanobragg only.  The heavy case has an
# oblique cell and many domains; -compat selects the definitions of the old program.
CASES = {
    "simple": ("-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 -distance 100 -pixel 0.1 -oversample 1", ""),
    "heavy": ("-cell 70 80 90 75 85 95 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 -distance 100 -pixel 0.1 "
              "-oversample 1 -mosaic 0.5 -mosaic_domains 100 -dispersion 1 -dispsteps 10", "-compat"),
    "own": ("", "")}


def case_text(case, own):
    """Flags of a case in one line, for a report."""
    return " ".join([*filter(None, CASES[case]), *(own if case == "own" else [])])


@dataclasses.dataclass(frozen=True)
class Job:
    """An image to render.  Members that are None or 0 have the value of the case."""

    case: str
    size: int  # pixels of an edge
    own: tuple = ()  # flags of the case own
    oversample: int = 0
    domains: int = 0
    threads: int = 0  # 0: all
    device: str = "cpu"
    isa: str = "auto"
    precision: str = "mixed"
    hkl: str | None = None  # file of structure factors in place of one F
    phi: float = 0  # frame of a rotation, degrees; osc 0: still
    osc: float = 0
    frames: int = 0  # frames of a series
    reports: bool = False  # the process prints its stages as JSON
    row: int = 0  # first row and number of rows to render; rows 0: all rows
    rows: int = 0

    def but(self, **changes):
        return dataclasses.replace(self, **changes)

    def image(self):
        """Key that is equal for jobs of the same image."""
        return self.case, self.size, self.oversample, self.domains, self.hkl, self.phi, self.osc

    def text(self):
        """"simple 1024x1024 on cpu avx512 mixed, 2 threads", for messages."""
        isa = f" {self.isa}" if self.device == "cpu" and self.isa != "auto" else ""
        out = f"{self.case} {self.size}x{self.size} on {self.device}{isa} {self.precision}"
        out += f", {self.oversample} x {self.oversample} sub-pixels" if self.oversample else ""
        out += f", {self.domains} domains" if self.domains else ""
        return out + (f", {self.threads} thread{'s' if self.threads > 1 else ''}" if self.threads else "")

    def physics(self):
        """Flags of the job that every program understands."""
        words = [*(self.own if self.case == "own" else ()), *CASES[self.case][0].split(), "-detpixels", str(self.size)]
        for flag, value in (("-oversample", self.oversample), ("-mosaic_domains", self.domains)):
            words += [flag, str(value)] if value else []
        words += ["-phi", f"{self.phi:.12g}", "-phisteps", "1", "-osc", f"{self.osc:.12g}"] if self.osc else []
        words += ["-hkl", self.hkl] if self.hkl else []
        words += ["-roi", "0", str(self.size - 1), str(self.row), str(self.row + self.rows - 1)] if self.rows else []
        return [*words, "-nonoise", "-nopgm"]

    def ours(self):
        """Flags that only nanobragg understands."""
        words = [*CASES[self.case][1].split(), "-device", self.device, "-isa", self.isa, "-precision", self.precision]
        words += ["-threads", str(self.threads)] if self.threads else []
        return [*words, "-seed", "1", "-quiet", *(["-time", "json"] if self.reports else [])]

    def command(self, is_ours):
        """Command line of a new process in a separate folder. nanobragg gets all flags,
        other programs only the flags of the physics."""
        return elsewhere(self.physics() + (self.ours() if is_ours else []))

    def keywords(self):
        return keywords(self.physics() + self.ours())

    def simulation(self):
        return nanobragg.Simulation(**self.keywords())
