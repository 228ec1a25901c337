# SPDX-License-Identifier: MIT
"""Parameters of a fit in users' units, and its variables: logarithms, bounds, ties."""
import copy
import dataclasses
import math

import numpy as np

CELL = ("cell_a", "cell_b", "cell_c", "cell_al", "cell_be", "cell_ga")
ROTATIONS = ("rot_x", "rot_y", "rot_z")
CELLS = ("N_a", "N_b", "N_c")
TENSOR = ("mosaic_xx", "mosaic_yy", "mosaic_zz", "mosaic_xy", "mosaic_xz", "mosaic_yz")
NARROWEST = 1e-3  # deg: least diagonal number of a root, which keeps a slope by each axis
PLACES_OF_TENSOR = ((0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (2, 1))  # row and column of each number
PLACES = ("distance", "close_distance", "Xbeam", "Ybeam", "ORG", "shift_", "rot_fast", "rot_slow", "rot_normal")
LOGARITHMS = ("fluence", "water", "mosaic", "footprint_a", "footprint_b", "hdivrange", "vdivrange")
SHAPES = ("N_", "mosaic", "fluence", "water", "footprint", "hdivrange", "vdivrange", "dispersion", "fudge", "polar",
          "default_F", "F:")
# For each number of the cell: the index of the number that it equals (its own index if it
# is free), or a fixed angle, deg.
TIES = {"triclinic": (0, 1, 2, 3, 4, 5), "monoclinic": (0, 1, 2, 90.0, 4, 90.0), "orthorhombic": (0, 1, 2, 90.0, 90.0, 90.0),
        "tetragonal": (0, 0, 2, 90.0, 90.0, 90.0), "trigonal": (0, 0, 0, 3, 3, 3), "hexagonal": (0, 0, 2, 90.0, 90.0, 120.0),
        "cubic": (0, 0, 0, 90.0, 90.0, 90.0)}
MAX = 64
BASES = {"log": 0, "cells": 1}  # a value of these maps is base + exp(t)
LEAST = 1e-16  # least value with a logarithm: 1 + LEAST is 1
LEAST_LEVEL = 1e-6  # photons in a pixel
AT_BOUND = 1e-5  # part of the distance between both bounds


@dataclasses.dataclass
class Parameter:
    """A parameter, and the map from its variable t to its value."""

    name: str
    unit: str
    start: float
    value: float
    map: str  # linear, log: exp(t), cells: 1 + exp(t), bounded: low + (high - low)(1 + sin t)/2
    tied: str = ""  # name of the parameter that it follows; if this is its name, it is free
    fixed: bool = False  # held in all stages
    low: float = 0.0
    high: float = 0.0
    restraint: float = 0.0  # adds ((p - restraint)/width)^2/2 to the loss
    width: float = 0.0  # 0: no restraint

    def variable(self):
        if self.map in BASES:
            return math.log(max(self.value - BASES[self.map], LEAST))
        if self.map == "bounded":
            return math.asin(max(-1, min(1, 2 * (self.value - self.low) / (self.high - self.low) - 1)))
        return self.value

    def of(self, t):
        """(value, slope) at t."""
        if self.map in BASES:
            e = math.exp(max(-600.0, min(t, 600.0)))  # limited, so that exp(t) does not overflow and is above 0
            return BASES[self.map] + e, e
        if self.map == "bounded":
            half = (self.high - self.low) / 2
            return self.low + half * (1 + math.sin(t)), half * math.cos(t)
        return t, 1.0

    @property
    def at_bound(self):
        near = AT_BOUND * (self.high - self.low)
        return self.map == "bounded" and not self.fixed and (self.value - self.low < near or self.high - self.value < near)

    def check_start(self):
        """Refuse a start outside the range of the map. Move a start away from a bound,
        where the slope is 0."""
        if self.fixed:
            return
        if self.map == "bounded":
            if not self.low <= self.value <= self.high:
                raise ValueError(f"-bound {self.name}={self.low:g}:{self.high:g}: the start {self.value:g} is outside; type a "
                                 "start inside")
            inside = 1e-3 * (self.high - self.low)
            self.value = min(self.high - inside, max(self.low + inside, self.value))
        if self.map == "log" and not self.value > 0:
            raise ValueError(f"-refine {self.name}: its start is {self.value:g}, and its logarithm is refined; type a start "
                             "above 0")
        if self.map == "cells" and not self.value > 1:
            raise ValueError(f"-refine {self.name}: one cell cannot be refined; type a start above 1")


def is_shape(name):
    """True if a parameter changes shape and light of spots, but not their positions."""
    return name.startswith(SHAPES)


def translate(names):
    """Replace names of a fit (scale, misset) in a list by names of derivatives."""
    if not names:
        raise ValueError("-refine is missing: name what is refined, as in -refine rot,cell,scale")
    out = []
    for word in names.split(","):
        if word == "image":
            raise ValueError("-refine image: image is the name of a plane and no parameter; leave it out")
        if word.startswith("misset") and word != "misset":
            raise ValueError(f"-refine {word}: a fit turns the crystal about all axes; write misset, or rot")
        out.append({"scale": "fluence", "misset": "rot"}.get(word, word))
    return ",".join(out)


class Parameters(dict):
    """Parameters of a fit by name, in order."""

    def copy(self):
        return Parameters((name, copy.copy(p)) for name, p in self.items())

    def moves(self, *names):
        """True if the fit moves any of the names."""
        return any(name in self and not self[name].fixed for name in names)

    def add(self, sim, name):
        """Add a parameter at the end, if it is new."""
        if name in self:
            return
        if len(self) == MAX:
            raise ValueError(f"-refine: more than {MAX} parameters")
        v = sim.parameter(name)
        name = v["name"]
        if not v["can_move"]:
            raise ValueError(f"-refine {name}: it moves no pixel: {v['why_not']}")
        kind = "log" if name in LOGARITHMS else "cells" if name in CELLS else "linear"
        self[name] = Parameter(name, v["unit"], v["value"], v["value"], kind, tied=name)

    def restrained(self, name):
        return name in self and self[name].width > 0


def _opened(sim, names):
    """Names of a list.  With a detector from a file `beam` shifts it across the beam."""
    words = translate(names).split(",")
    if any(sim.get(flag) for flag in ("expt", "geom", "nxmx")):
        words = ["shift_y,shift_z" if word == "beam" else word for word in words]
    return sim.variables(",".join(words))


def _tie_cell(parameters, sim, system, notice):
    """Tie the cell by the crystal system, and add the parameters tied to refined ones."""
    if system == "triclinic":
        return
    if not any(name in parameters for name in CELL):
        notice("-system has no effect: the cell is not refined")
        return
    ties, cell, leads = dict(zip(CELL, TIES[system])), {}, {}
    for name, tie in ties.items():
        has = sim.parameter(name)["value"]
        cell[name] = tie if isinstance(tie, float) else [*cell.values(), has][tie]
        if abs(has - cell[name]) > 1e-6 * (cell[name] if len(cell) <= 3 else 1):
            raise ValueError(f"-system: {name} is {has:.9g}, but the system asks for {cell[name]:.9g}; type a cell of this system")
    refined = {ties[name] for name in CELL if name in parameters}
    for name, tie in ties.items():
        if tie in refined and not isinstance(tie, float):
            parameters.add(sim, name)
    for name in [name for name in parameters if name in CELL]:
        p = parameters[name]
        p.value, p.fixed = cell[name], isinstance(ties[name], float)
        p.tied = name if p.fixed else leads.setdefault(ties[name], name)  # the first parameter of a group leads


def _found(parameters, sim, flag, name):
    """Parameter whose name -bound or -restrain gives."""
    name = sim.parameter("fluence" if name == "scale" else name)["name"]
    if name not in parameters:
        raise ValueError(f"{flag} {name}: it is not refined; add it to -refine")
    return parameters[name]


def _bound(parameters, sim, bounds):
    for name, (low, high) in bounds:
        p = _found(parameters, sim, "-bound", name)
        if not low < high:
            raise ValueError(f"-bound {name}={low:g}:{high:g}: the first number must be the smaller one")
        lead = parameters[p.tied]
        again = lead.map == "bounded"
        lead.low, lead.high = (max(lead.low, low), min(lead.high, high)) if again else (low, high)
        lead.map = "bounded"
    for p in parameters.values():
        lead = parameters[p.tied]
        p.map, p.low, p.high = lead.map, lead.low, lead.high


def _restrain(parameters, sim, restraints):
    for name, (value, width) in restraints:
        p = _found(parameters, sim, "-restrain", name)
        if not width >= 0:
            raise ValueError(f"-restrain {name}={value:g}:{width:g}: the standard deviation must not be negative")
        p.restraint, p.width = value, width
        for other in parameters.values():  # a width of 0 holds p and the parameters that follow p
            if width == 0 and other.tied == p.tied:
                other.fixed, other.value = True, value


def _refuse_sets(p, sim):
    """Refuse sets of parameters that no image can separate."""
    edges, held = CELL[:3], any(map(p.restrained, ("lambda", *CELL[:3])))
    if p.moves("lambda") and all(map(p.moves, edges)) and not held:
        raise ValueError("-refine: lambda and all edges of the cell cannot be told apart; leave one out, or restrain one")
    if p.moves("fluence") and p.moves("default_F") and not any(sim.get(flag) for flag in ("hkl", "pdb", "cif", "mtz")):
        raise ValueError("-refine: the scale and default_F cannot be told apart without a table of F; leave one out")
    if all(map(p.moves, ROTATIONS)) and p.moves("phi") and not p.restrained("phi"):
        raise ValueError("-refine: phi and the orientation (rot, misset) cannot be told apart; leave one out")


def pairs(given):
    """[(name, (a, b))] of a dict or a list of pairs."""
    return list(given.items()) if isinstance(given, dict) else list(given)


def read(sim, options, notice=lambda line: None):
    """Parameters of a fit, from options and a simulation (_nanobragg.Sim)."""
    parameters = Parameters()
    for name in _opened(sim, options.names):
        parameters.add(sim, name)
    _tie_cell(parameters, sim, options.system, notice)
    _bound(parameters, sim, pairs(options.bounds))
    _restrain(parameters, sim, pairs(options.restraints))
    _refuse_sets(parameters, sim)
    for p in parameters.values():
        p.check_start()
    return parameters


def tensor_of(t):
    """(tensor [6], its slopes [6, 6] by t): C = L L^T, positive definite for all t [6], the
    logarithms of the diagonal of the lower triangle L above NARROWEST and its other numbers."""
    L, dL = np.zeros((3, 3)), np.zeros((6, 3, 3))
    for k, place in enumerate(PLACES_OF_TENSOR):
        dL[k][place] = math.exp(max(-300.0, min(t[k], 300.0))) if k < 3 else 1
        L[place] = NARROWEST + dL[k][place] if k < 3 else t[k]
    rows, columns = zip(*PLACES_OF_TENSOR)
    slopes = dL @ L.T + L @ dL.transpose(0, 2, 1)
    return (L @ L.T)[rows, columns], slopes[:, rows, columns].T


def root_of(C):
    """t [6] of tensor_of() for a positive definite tensor [6]."""
    full = np.empty((3, 3))
    for x, (i, j) in zip(C, PLACES_OF_TENSOR):
        full[i, j] = full[j, i] = x
    L = np.linalg.cholesky(full)
    return np.array([math.log(max(L[place] - NARROWEST, 1e-9)) if k < 3 else L[place]
                     for k, place in enumerate(PLACES_OF_TENSOR)])


class Space:
    """Variables of a stage: marked parameters (names in `first` come first), then `extra`
    levels of a background.  A level has a least value: with other light it may be 0.  All
    six numbers of a mosaic tensor are varied by their root, so the tensor stays positive."""

    def __init__(self, parameters, marked=None, extra=0, first=()):
        self.parameters, self.extra, self.first = parameters, extra, first
        moved = {name: p.tied for name, p in parameters.items() if not p.fixed and (marked is None or name in marked)}
        self.leads = sorted((name for name, lead in moved.items() if lead == name), key=lambda name: name not in first)
        self.active = [name for name, lead in moved.items() if lead in self.leads]
        self.variable = [self.leads.index(moved[name]) for name in self.active]
        self.free = len(self.leads)
        whole = all(name in self.leads and parameters[name].map == "linear" for name in TENSOR)
        self.tensor = [self.leads.index(name) for name in TENSOR] if whole else []

    def __len__(self):
        return self.free + self.extra

    def start(self, levels=(), parameters=None):
        """x [n] of parameters (None: self.parameters) and levels."""
        of = parameters or self.parameters
        x = np.array([*(of[name].variable() for name in self.leads), *levels])
        if self.tensor:
            x[self.tensor] = root_of([of[name].value for name in TENSOR])
        return x

    @property
    def least(self):
        """Smallest allowed values of x [n]."""
        return np.array([-math.inf] * self.free + [LEAST_LEVEL] * self.extra)

    def values(self, x):
        """(values of active parameters and levels, their slopes by x [values, n])."""
        values, slopes = np.empty(len(self.active) + self.extra), np.zeros((len(self.active) + self.extra, len(self)))
        for i, v in enumerate(self.variable):
            values[i], slopes[i, v] = self.parameters[self.leads[v]].of(x[v])
        if self.tensor:
            at = [self.active.index(name) for name in TENSOR]
            values[at], slopes[np.ix_(at, self.tensor)] = tensor_of(x[self.tensor])
        values[len(self.active):], slopes[len(self.active):, self.free:] = x[self.free:], np.eye(self.extra)
        return values, slopes

    def restrain(self, values, loss, g, F, pictures=1):
        """Add the restraints to loss, gradient g and matrix F by values; return the loss.
        Restraints of names in self.first count once for all `pictures`."""
        for i, name in enumerate(self.active):
            p = self.parameters[name]
            if p.width > 0:
                width = p.width * math.sqrt(pictures if name in self.first else 1)
                off = (values[i] - p.restraint) / width
                loss += off * off / 2
                g[i] += off / width
                F[i, i] += 1 / width ** 2
        return loss
