# SPDX-License-Identifier: MIT
"""A fit in progress: simulation, picture, pixels, and how to run one stage."""
import time
import typing

import numpy as np

from .. import _nanobragg
from . import _background, _lattice, _mask, _parameters, _picture
from ._minimise import TOLD_APART, Impossible, invert, largest, minimise
from ._parameters import ROTATIONS, Space

LEAST_MODEL = 1e-9  # photons per pixel, as in the loss
SAMPLE = 0.05  # part of the pixels outside spots that is used
SQUARES, WIDEST = 5000, 16  # approximate number of squares; their largest edge, pixels


class Stage(typing.NamedTuple):
    """One stage of a fit. dropped: True if the values before the stage were restored."""

    name: str
    pixels: int
    evaluations: int  # evaluations of the loss, or images of a search
    loss: float
    converged: bool
    seconds: float
    dropped: bool = False


class Quality(typing.NamedTuple):
    """Quality of the present model at the chosen pixels."""

    loss: float  # with the best scales of reflections and their priors
    square: float  # mean square of residuals over their sigma


def _grow(marks, half):
    """Mark boxes around the marked pixels [slow, fast]."""
    steps = [min(1 << k, half + 1 - (1 << k)) for k in range(half.bit_length())]
    for rows in (marks, marks.T):
        for way in (rows, rows[::-1]):
            for step in steps:
                way[step:] |= way[:-step]


class Fit:
    """A fit of a simulation (_nanobragg.Sim) to a picture. Pixel arrays are [stack].

    parameters: by name, in users' units. at [n]: indices of the pixels of the stage.
    spots: pixels near spots at the last choice. radial: refined background. background:
    fixed photons | None. F_width: width of log scales of reflections; 0: exact structure
    factors. known: Masks of an earlier fit."""

    def __init__(self, sim, image, options, notice=lambda line: None, told=lambda stage: None, known=None):
        self.sim, self.options, self.notice, self.told = sim, options, notice, told
        self.kind = options.check(sim)
        self.parameters = _parameters.read(sim, options, notice)
        self.picture = _picture.Picture(sim, image, options, notice)
        self.rings, self.foreign = known.put(self.picture) if known else ([], [])
        if not known and options.mask == "auto":
            self.rings = _mask.mask(self.picture, self.kind)
        self.at, self.spots, self.radial, self._water = None, None, _background.Radial(), None
        self.background = np.zeros(self.picture.n, dtype=np.float32) if self.kind == "planes" else None
        self.start_edges = self.edges()
        self.start_mosaic = self.parameters["mosaic"].value if "mosaic" in self.parameters else 0.0
        self.has_light = bool(sim.get("background") or sim.get("add")) and self.kind != "water"  # the scene has light outside spots
        self.F_width, self.kept, self.scaled, self.squares = 0.0, None, None, False
        self.trials = {}  # trials of the schedule
        self.peaks, self.start_agreement = None, 0.0
        self.stages, self.history, self.evaluations, self.images = [], [], 0, 0
        self.before, self._samples, self._agreement, self._kept = None, {}, (None, 0.0), []
        self.alive = lambda name, evaluations, loss: None  # called repeatedly in a stage

    # --- the crystal ---
    def edges(self):
        """Lengths [3] of the cell edges, m."""
        return np.linalg.norm(np.frombuffer(self.sim.crystal()["edges"]).reshape(3, 3), axis=1)

    def moves(self, *names):
        return self.parameters.moves(*names)

    def apply(self):
        """Set the values of the parameters in the simulation."""
        self.sim.set_parameters(list(self.parameters), [p.value for p in self.parameters.values()])

    def remember(self):
        """State of the fit: parameters, misset angles in deg."""
        return self.parameters.copy(), self.sim.fold_rotation()

    def stand_at(self, stand, turn=(0.0, 0.0, 0.0)):
        """Restore a state of remember(), turned by a rotation vector, deg."""
        self.parameters = stand[0].copy()
        self.apply()
        self.sim.set_parameters([*ROTATIONS, "misset_x", "misset_y", "misset_z"], [*map(float, turn), *stand[1]])
        self.sim.fold_rotation()

    def agreement(self):
        """Agreement of lattice and peaks. The result is stored until the crystal
        changes."""
        steps = self.sim.crystal()["steps"]
        if self._agreement[0] != steps:
            self._agreement = steps, _lattice.agreement(self.sim, self.peaks.q)
        return self._agreement[1]

    def agrees(self, least=_lattice.AGREES):
        """True if the lattice explains the spots of the picture well enough."""
        return len(self.peaks) >= _lattice.ENOUGH and self.agreement() >= least

    # --- pixels ---
    def pixels(self, at=None):
        """Chosen pixels with the indices `at` (None: self.at), with new groups. The last
        two are stored."""
        at, b, p = self.at if at is None else at, self.background, self.picture
        found = next((kept for kept in self._kept if kept[0] is at and kept[1] is b), None)
        if found is None:
            found = at, b, _nanobragg.Chosen(self.sim, p.photons, at, b, p.sigma, self.options.gauss)
            self._kept = [*self._kept[-1:], found]
        found[2].ungroup()
        return found[2]

    def image(self, at=None):
        """Photons of the model without backgrounds in the pixels `at` (None: the chosen
        pixels)."""
        pixels = self.pixels(at)
        values = np.empty(pixels.n)
        pixels.image(values)
        return values

    @property
    def read(self):
        """Read-out variance of the likelihood, photons^2; None if it has no such term."""
        return self.picture.sigma ** 2 if self.options.gauss else None

    @property
    def used(self):
        """Number of the chosen pixels."""
        return len(self.at)

    @property
    def counts(self):
        """Photons of the chosen pixels."""
        return self.picture.photons[self.at].astype(float)

    def under(self, at):
        """Photons of the fit's backgrounds in these pixels."""
        return self.radial.at(self.picture.stol[at]) + (0 if self.background is None else self.background[at])

    def choose(self, chosen):
        """Choose the observed pixels that are marked, [stack]."""
        self.at = self.picture.used[chosen[self.picture.used]]

    def _sample(self):
        """Marks of a sample of pixels outside spots: single pixels, or with a footprint
        squares, because a footprint takes light from neighbouring pixels."""
        edge = 1
        if self.squares or self.sim.crystal()["footprint"]:
            edge = min(WIDEST, max(1, int(np.sqrt(self.picture.n / SQUARES))))
        if edge not in self._samples:
            draw, parts = np.random.RandomState(edge), []  # noqa: NPY002 - the same numbers in every version of numpy
            for _, rows, columns in self.picture.panels:
                squares = draw.random_sample((-(-rows // edge), -(-columns // edge))) < SAMPLE
                parts.append(squares.repeat(edge, axis=0)[:rows].repeat(edge, axis=1)[:, :columns].ravel())
            self._samples[edge] = np.concatenate(parts)
        return self._samples[edge]

    def water_level(self):
        """Photons of water at the observed pixels, proportional to thickness cubed and
        fluence.  Other parameters hardly change them, so they are rendered once."""
        now = float(self.sim.get("water")) ** 3 * self.sim.parameter("fluence")["value"]
        if self._water is None:
            self._water = np.empty(self.picture.n, dtype=np.float32)
            self.sim.derivatives(["water"], False, self._water, None, None)
            self._water *= np.float32(float(self.sim.get("water")) / 3 / now)
        return self._water[self.picture.used] * now

    def _levels(self):
        """(background without crystal, model above it) of each observed pixel."""
        at, model = self.picture.used, self.image(self.picture.used)
        if self.kind == "water":
            level = self.water_level()
            return level, model - level
        radial = self.picture.radial() if self.kind == "planes" else self.radial
        level = radial.at(self.picture.stol[at])
        if self.has_light:
            scene = self.scene_level(model).at(self.picture.stol[at])
            model = model - scene
            level = level if self.kind == "planes" else level + scene
        return level, model

    def scene_level(self, model):
        """Radial background of the scene's light outside spots. model: [observed
        pixels]."""
        return _background.estimate(model, self.picture.stol[self.picture.used], self.picture.low, self.picture.high,
                                    self.options.knots)

    def choose_spots(self):
        """Choose boxes around spots of picture and model, and a sample elsewhere."""
        p, at = self.picture, self.picture.used
        level, above = self._levels()
        height = self.options.spot_sigma * np.sqrt(level + p.sigma ** 2) + 1
        marks = np.zeros(p.n, dtype=bool)
        marks[at] = (p.photons[at] > level + height) | (above > height)
        for part, rows, columns in p.panels:
            _grow(marks[part].reshape(rows, columns), self.options.spot_half)
        self.spots = marks
        self.choose(np.ones(p.n, dtype=bool) if self.options.select == "all" else marks | self._sample())
        if self.kind == "planes":
            self.background = np.zeros(p.n, dtype=np.float32)
            self.background[at] = level
            chosen = np.full(p.n, np.nan, dtype=np.float32)
            chosen[self.at] = p.photons[self.at]
            self.sim.planes(p.photons, chosen, marks.view(np.uint8), p.sigma, self.options.spot_half, self.background)

    def begin_background(self, high):
        """Set radial knots and levels up to `high`, or the fixed background of planes."""
        if self.kind == "radial":
            self.radial = self.picture.radial(high)
            if self.has_light:
                scene = self.scene_level(self.image(self.picture.used))
                knots, levels = self.radial
                self.radial = _background.Radial(knots, np.maximum(levels - scene.at(knots), _background.LEAST_LEVEL))
        if self.kind == "planes":
            self.background = self.picture.radial(high).at(self.picture.stol).astype(np.float32)

    def begin(self):
        """Set background, values, peaks and pixels of the start."""
        self.apply()
        self.begin_background(self.picture.high)
        self.peaks = _picture.Peaks(self.sim, self.picture)
        self.start_agreement = self.agreement()
        self.choose_spots()
        if self.options.keep_start:
            self.before = self.whole_model()

    def model(self, at=None):
        """Model with the given F and with backgrounds in the pixels `at` (None: the
        chosen pixels)."""
        return self.image(at) + self.under(self.at if at is None else at)

    def whole_model(self):
        """model() of the whole picture, NaN at unobserved pixels."""
        out, at = np.full(self.picture.n, np.nan, dtype=np.float32), self.picture.used
        out[at] = self.model(at)
        return out

    # --- a stage ---
    def equations(self, pixels, names, radial=None, **more):
        """(loss, gradient, Fisher matrix by names and levels, number of reflections) at
        the present simulation; more: held, scores, model for Chosen.scaled."""
        radial = radial or self.radial
        n = len(names) + len(radial.knots)
        g, F = np.zeros(n), np.zeros((n, n))
        if self.F_width > 0 or more:
            loss, clusters = pixels.scaled(names, *radial, self.F_width, g, F, *map(more.get, ("held", "scores", "model")))
            return loss, g, F, clusters
        return pixels.normal(names, *radial, g, F), g, F, 0

    def space(self, marked=None):
        return Space(self.parameters, marked, len(self.radial.levels))

    def variables(self, space):
        """Present x [n] of a space."""
        return space.start(self.radial.levels)

    def _loss(self, space, pixels, x, name=""):
        """Return (loss, gradient, Fisher matrix) with respect to the variables x [n]."""
        values, slopes = space.values(x)
        n = len(space.active)
        self.evaluations += 1
        try:
            self.sim.set_parameters(space.active, values[:n].tolist())
            loss, g, F, _ = self.equations(pixels, space.active, _background.Radial(self.radial.knots, values[n:]))
        except ValueError as why:
            raise Impossible(str(why)) from None
        loss = space.restrain(values, loss, g, F)
        self.history.append(loss / self.used)
        self.alive(name, self.evaluations, loss)
        return loss, slopes.T @ g, slopes.T @ F @ slopes

    def _settle(self, space, x):
        """Set parameters, simulation and orientation to the variables x."""
        values, _ = space.values(x)
        for name, value in zip(space.active, values):
            self.parameters[name].value = float(value)
        self.radial = _background.Radial(self.radial.knots, values[len(space.active):])
        self.apply()
        self.fold()

    def fold(self):
        """Fold rotations into the orientation; returns misset angles, deg."""
        for name in ROTATIONS:
            if name in self.parameters:
                self.parameters[name].value = 0.0
        return self.sim.fold_rotation()

    def note(self, name, evaluations, loss, converged, began, pixels=None):
        """Note a finished stage and report it."""
        self.stages.append(Stage(name, self.used if pixels is None else pixels, evaluations, loss, converged,
                                 time.monotonic() - began))
        self.told(self.stages[-1])
        return self.stages[-1]

    def stage(self, name, marked=None, evaluations=None):
        """Fit marked parameters (None: all) and levels. evaluations: limit of their
        number."""
        began, space, pixels = time.monotonic(), self.space(marked), self.pixels()
        if not len(space):
            raise ValueError("-refine: every parameter is held; leave one free")
        floor = self.used * np.log(self.picture.sigma) if self.options.gauss else 0.0  # smallest loss, because the variance is at least sigma^2
        found = minimise(lambda x: self._loss(space, pixels, x, name), self.variables(space), evaluations or self.options.evaluations,
                         floor, space.least)
        self._settle(space, found.x)
        return self.note(name, found.evaluations, found.loss, found.converged, began)

    def check_apart(self):
        """Refuse parameters that the chosen pixels cannot distinguish."""
        space = self.space()
        if not space.free:
            raise ValueError("-refine: every parameter is held; leave one free")
        _, worst, vector = invert(self._loss(space, self.pixels(), self.variables(space))[2])
        if worst < TOLD_APART:
            names = largest(vector, [*space.leads, *["background"] * space.extra])
            raise ValueError(f"-refine: this picture cannot tell these parameters apart: {names}; leave one out, "
                             "or restrain one")

    def rate(self):
        """Quality of the present model."""
        pixels = self.pixels()
        model = np.empty(pixels.n)
        loss = self.equations(pixels, [], model=model)[0]
        return Quality(loss, square_of(self.counts, model, self.read))

    def correlation(self):
        """Pearson correlation of chosen pixels and model without backgrounds."""
        return pearson(self.counts, self.image())

    def as_gaussian(self, marked=None, choose=True):
        """Run a stage with a Gaussian crystal, without fringes; choose: choose the pixels
        first."""
        crystal, fudge = self.sim.crystal(), self.sim.get("fudge")
        self.sim.change(None, [("fudge", ["1"])], crystal["smooth"])
        if choose:
            self.choose_spots()
        self.stage("Gaussian", marked)
        self.sim.change(None, [("fudge", [fudge])], crystal["shape"])


def square_of(counts, model, read):
    """Mean square of residuals divided by sigma; read: variance of Fit.read."""
    model = np.maximum(model, LEAST_MODEL)
    return float(np.mean((counts - model) ** 2 / (model + (read or 0))))


def deviance(counts, model, read):
    """Twice the loss per pixel, without restraints; read: variance of Fit.read."""
    if read is not None:
        return square_of(counts, model, read)
    model = np.maximum(model, LEAST_MODEL)
    return float(2 * np.mean(model - counts + counts * np.log(np.where(counts > 0, counts / model, 1))))


def pearson(a, b):
    a, b = a - a.mean(), b - b.mean()
    both = (a @ a) * (b @ b)
    return float(a @ b / np.sqrt(both)) if both > 0 else 0.0
