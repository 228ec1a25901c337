# SPDX-License-Identifier: MIT
"""Options of a fit."""
import dataclasses

SYSTEMS = ("triclinic", "monoclinic", "orthorhombic", "tetragonal", "trigonal", "hexagonal", "cubic")
MAX_KNOTS = 64


@dataclasses.dataclass
class Options:
    """Keywords of nanobragg.refine; defaults as in the program (docs/options.md)."""

    names: str = ""  # names and groups with commas; "scale" is fluence, "misset" is rot
    system: str = "triclinic"
    bounds: dict = dataclasses.field(default_factory=dict)  # for each name (low, high)
    restraints: dict = dataclasses.field(default_factory=dict)  # for each name (value, sigma); sigma 0 holds the parameter
    likelihood: str = "poisson"  # "poisson", or "gauss" with readout_noise
    background: str = ""  # "water", "radial:12", "planes", "none"; "": water if the start has it, else radial:12
    F_sigma: float | None = None  # relative sigma of F; None: from the picture
    select: str = "spots"  # "spots" or "all"
    spot_half: int = 3  # pixels
    spot_sigma: float = 6.0  # sigma above the background
    dmin: float = 0.0  # limits of resolution of the used pixels, A; 0: off
    dmax: float = 0.0
    mask: str = "auto"  # "auto" or "file"
    schedule: object = "auto"  # "auto", "plain", "none", or a list of stages
    evaluations: int = 40  # limit in each of the last stages
    joint: str = ""  # names and groups common to all pictures
    keep_start: bool = False  # keep the model of the start, which a page shows

    def __post_init__(self):
        for name in ("names", "joint"):
            if not isinstance(getattr(self, name), str):
                setattr(self, name, ",".join(getattr(self, name)))
        for name, words in (("system", SYSTEMS), ("likelihood", ("poisson", "gauss")), ("select", ("spots", "all")),
                            ("mask", ("auto", "file"))):
            if getattr(self, name) not in words:
                raise ValueError(f"-{name} '{getattr(self, name)}': must be one of {', '.join(words)}")
        if isinstance(self.schedule, str) and self.schedule not in ("auto", "none", "plain"):
            raise ValueError(f"-schedule '{self.schedule}': must be one of auto, none, plain, or a list of stages")
        self.kind, self.knots = self._background()

    def _background(self):
        """(kind of background or "" to choose by the start, number of radial knots)"""
        kind, _, knots = self.background.partition(":")
        if kind not in ("", "water", "radial", "planes", "none") or (knots and kind != "radial"):
            raise ValueError(f"-fit_background '{self.background}': must be one of water, radial:n, planes, none")
        if kind == "radial" and not (knots.isdecimal() and 1 <= int(knots) <= MAX_KNOTS):
            raise ValueError(f"-fit_background '{self.background}': the number of knots must be from 1 to {MAX_KNOTS}")
        return kind, int(knots or 12)

    def check(self, sim):
        """Refuse options that do not fit sim. Returns the kind of background."""
        water = float(sim.get("water") or 0)
        if self.likelihood == "gauss" and not float(sim.get("readout_noise") or 0) > 0:
            raise ValueError("-likelihood gauss needs the noise of the read-out: add -readout_noise")
        if self.kind == "water" and not water > 0:
            raise ValueError("-fit_background water: the start has no water; add -water, or use radial:12")
        return self.kind or ("water" if water > 0 else "radial")

    @property
    def gauss(self):
        return self.likelihood == "gauss"

    @property
    def is_planned(self):
        """True if the fit has stages before those with the true shape of the crystal."""
        return self.schedule != "none"
