# SPDX-License-Identifier: MIT
"""Wide spots: try a footprint and a divergence after a fit without them.  Each stays if
the deviance falls by more than its cost: ln(pixels) per parameter (Schwarz, Ann. Statist.
6, 461, 1978) x mean square of residuals, since unexplained misfit is not counting noise.
The trial with the larger gain stays; the other trial stays too if it gains again."""
import dataclasses
import math

from ._lattice import AGREES_AT_END
from ._parameters import is_shape

EXPLAINED, ERRORS = 1.05, 4  # mean square of residuals of a complete fit; sigmas above it
ALIKE = 0.5  # least correlation of picture and model with a found orientation
PREPARED, TRIED, LOOKED = 4, 12, 5  # limits of the numbers of evaluations: before a trial, during a trial, at its begin
LINE = 0.25  # pixels: the picture cannot show a narrower width
SLIGHT, BEGIN = 0.3, 1.5  # pixels: width for the slope of the loss; start width
DIRECTIONS = 4  # directions of the beam along an axis
FAR_OFF, HOPELESS = 1.5, 5.0  # ratios to the loss without the trial: above the first the trial is short, above the second the next start is tried
CLEAR = 10  # gain / cost above which a divergence is clear and needs few steps
DIVERGENCES = ("hdivrange", "vdivrange")


@dataclasses.dataclass
class Trial:
    """Report of a trial: tried, kept, gain and cost in deviance, and the kept value."""

    tried: bool = False
    kept: bool = False
    gain: float = 0.0
    cost: float = 0.0
    value: str = ""


class Before:
    """State of a fit before a trial: everything that a trial changes."""

    def __init__(self, fit, marked):
        self.state, self.stand = fit.sim.state(), fit.remember()
        self.marked = set(marked)
        self.F_width, self.at, self.background, self.radial = fit.F_width, fit.at, fit.background, fit.radial
        self.stages = len(fit.stages)

    def again(self, fit):
        """Restore the state, drop later stages, and return the marked parameters."""
        fit.sim.change(self.state, [], -1)
        fit.F_width, fit.at, fit.background, fit.radial = self.F_width, self.at, self.background, self.radial
        _drop(fit, self.stages, len(fit.stages))
        fit.stand_at(self.stand)
        return set(self.marked)


def _drop(fit, first, last, dropped=True):
    for i in range(first, last):
        fit.stages[i] = fit.stages[i]._replace(dropped=dropped)


def cost(fit, numbers, quality):
    return numbers * math.log(fit.used) * max(1, quality.square)


def _add(fit, marked, name):
    """Add a parameter with start 0 and mark it."""
    fit.parameters.add(fit.sim, name)
    fit.parameters[name].start = 0.0
    marked.add(name)


class _Way:
    """A trial, which adds a footprint or a divergence to the fit and refines it."""

    def __init__(self, fit, may):
        self.fit, self.may, self.trial, self.plain = fit, may, Trial(), None
        self.exact, self.first, self.last, self.there = False, 0, 0, None
        fit.trials[self.name] = self.trial

    def refine(self, marked):
        """Run a stage of the trial; a short one if it is far off, or clear already."""
        fit, name = self.fit, ("scaled " if self.fit.F_width > 0 else "") + self.name
        last = fit.stage(name, marked, LOOKED)
        clear = self.name == "divergence" and 2 * (self.plain.loss - last.loss) > CLEAR * cost(fit, 2, self.plain)
        if not (last.converged or last.loss > FAR_OFF * self.plain.loss or clear):
            fit.stage(name, marked, TRIED)

    def once(self, marked):
        """Run the trial until it is clear whether it stays."""
        fit = self.fit
        self.begin(marked)
        if fit.F_width <= 0 and fit.sim.crystal()["fringes"]:
            fit.as_gaussian(marked, choose=False)
        self.refine(marked)
        numbers = self.hold(marked)
        self.wide = wide = fit.rate()
        self.trial.gain, self.trial.cost = 2 * (self.plain.loss - wide.loss), cost(fit, numbers, wide)
        self.trial.kept = numbers > (self.name == "footprint") and self.trial.gain > self.trial.cost

    def go(self, start, before, hopeless):
        """Run this trial alone; True if its first start is far off.  Begin where the
        search for cells began, with the given F: wide spots may have changed N much and
        made F look poor.  If the trial fails, begin again at the end of the fit."""
        fit, marked = self.fit, before.again(self.fit)
        if self.name == "divergence" and not self.falls():
            return hopeless
        self.first = len(fit.stages)
        if not hopeless:
            fit.stand_at(start)
            marked = set(fit.parameters)
            fit.F_width = 2 * (fit.options.F_sigma or 0.0)
            self.once(marked)
            hopeless = self.plain.loss - self.trial.gain / 2 > HOPELESS * self.plain.loss
        self.exact = self.trial.kept
        if not self.exact:
            marked = before.again(fit)
            self.once(marked)
        self.last = len(fit.stages)
        if self.trial.kept:
            self.there = Before(fit, marked)
        return hopeless


class _Footprint(_Way):
    name, names = "footprint", ("footprint_a", "footprint_b", "footprint_angle")

    def put(self, text):
        self.fit.sim.change(None, [("footprint", [text])], -1)

    @property
    def pixel(self):
        return self.fit.sim.crystal()["pixel"] * 1e3

    def steepest(self):
        """Direction of steepest fall from a round footprint, deg: slopes at 0, 45 deg."""
        by = []
        for angle in (0, 45):
            self.put(f"gauss:{self.pixel!r}:{self.pixel!r}:{angle}")
            g = self.fit.equations(self.fit.pixels(), self.names[:2])[1]
            by.append(g[0] - g[1])
        return 0.0 if by == [0, 0] else math.degrees(math.atan2(-by[1], -by[0])) / 2

    def begin(self, marked):
        angle = self.steepest()
        self.put(f"gauss:{1.4 * self.pixel!r}:{0.8 * self.pixel!r}:{angle!r}")
        for name in self.names:
            _add(self.fit, marked, name)

    def hold(self, marked):
        """Hold at 0 the widths that are too small for any pixel to show. Returns the
        number of parameters left."""
        numbers = 3
        for name in self.names[:2]:
            p = self.fit.parameters[name]
            if p.value < LINE * self.pixel:
                p.value, p.fixed, numbers = 0.0, True, numbers - 1
        if numbers < 3:
            self.fit.apply()
        self.trial.value = self.fit.sim.get("footprint")
        return numbers

    def falls(self, plain=None):
        """True if the loss falls with a slight footprint along one of four axes."""
        for angle in range(0, 180, 45):
            self.put(f"gauss:{SLIGHT * self.pixel!r}:0:{angle}")
            if self.fit.rate().loss < (plain or self.plain).loss:
                return True
        return False


class _Divergence(_Way):
    name = "divergence"

    @property
    def angle(self):
        """Angle of a pixel at the sample, mrad."""
        crystal = self.fit.sim.crystal()
        return crystal["pixel"] / crystal["distance"] * 1e3

    def spread(self, widths):
        """Set the widths of the beam, mrad; 0: no spread along this axis."""
        rows = []
        for name, width in zip(("hdiv", "vdiv"), widths):
            rows += [(name + "range", [repr(float(width))] if width > 0 else None),
                     (name + "steps", [str(DIRECTIONS)] if width > 0 else None)]
        self.fit.sim.change(None, rows, -1)

    def falls(self, plain=None):
        """True if the loss falls with a slight divergence; sets the start widths."""
        self.widths = [0.0, 0.0]
        for a in (0, 1):
            slight = [0.0, 0.0]
            slight[a] = SLIGHT * self.angle
            self.spread(slight)
            if self.fit.rate().loss < (plain or self.plain).loss:
                self.widths[a] = BEGIN * self.angle
        return any(self.widths)

    def begin(self, marked):
        self.spread(self.widths)
        for name, width in zip(DIVERGENCES, self.widths):
            if width > 0:
                _add(self.fit, marked, name)

    def hold(self, marked):
        """Remove widths that are too small for any pixel to show. Returns the number
        left."""
        p, least = self.fit.parameters, LINE * self.angle
        gone = [name for name in DIVERGENCES if name in p and p[name].value < least]
        for name in gone:
            del p[name]
            marked.discard(name)
        widths = [p[name].value if name in p else 0.0 for name in DIVERGENCES]
        if gone:
            self.spread(widths)
        self.trial.value = "%.4g:%.4g" % tuple(widths)
        return sum(name in p for name in DIVERGENCES)


def _ways(fit):
    """Both trials.  Each may run if N or mosaic moves and no flag widens the spots."""
    get = fit.sim.get
    may = get("psf") in ("", "none") and fit.moves("N_a", "N_b", "N_c", "mosaic")
    typed = any(float(get(name) or 0) > 0 for name in ("hdivrange", "vdivrange", "hdivstep", "vdivstep"))
    parallel = fit.sim.crystal()["sources"] == 1 and not typed and not get("sourcefile")
    return [_Divergence(fit, may and parallel), _Footprint(fit, may and not get("footprint"))]


def _enough(fit, better, way):
    """True if the trial `better` makes `way` needless: from its end a slight width of
    `way` does not lower the loss.  False with fringes: many minima falsify slopes."""
    if better is None or fit.sim.crystal()["fringes"]:
        return False
    better.there.again(fit)
    return not way.falls(better.wide)


def _follow(fit, way):
    """Finish a divergence whose trial was short."""
    marked = way.there.again(fit)
    way.first = len(fit.stages)
    fit.stage("divergence", marked, TRIED)
    way.last = len(fit.stages)
    way.hold(marked)
    way.trial.gain = 2 * (way.plain.loss - fit.rate().loss)
    way.there = Before(fit, marked)


def _take(fit, before, better, other):
    """Take the better trial, add the other if it gains, and choose pixels again."""
    marked = better.there.again(fit)
    _drop(fit, before.stages, better.first)
    _drop(fit, better.first, better.last, dropped=False)
    _drop(fit, better.last, len(fit.stages))
    if better.exact:
        fit.kept = None
    if other.trial.kept:
        other.plain, other.trial.kept = fit.rate(), False
        if other.falls():
            other.once(marked)
        if not other.trial.kept:
            marked = better.there.again(fit)
    fit.squares = False
    fit.choose_spots()
    fit.stage(better.name + " again", marked)
    better.hold(marked)
    if other.trial.kept:
        other.hold(marked)


def widen(fit, start):
    """Try both from a finished fit whose search for cells began at `start`, if the
    orientation was found.  True if a trial stays that was found with the given F."""
    ways = _ways(fit)
    marked = set(fit.parameters) if fit.kept is None else {name for name in fit.parameters if is_shape(name)}
    if not any(way.may for way in ways) or not (fit.agrees(AGREES_AT_END) or fit.correlation() >= ALIKE):
        return False
    if fit.rate().square < EXPLAINED + ERRORS * math.sqrt(3 / fit.used):
        return False
    first, better, hopeless = Before(fit, marked), None, False
    fit.squares = True
    fit.choose_spots()
    fit.stage("before widening", marked, PREPARED)
    plain, before = fit.rate(), Before(fit, marked)
    for way in ways:
        way.plain, way.trial.tried = plain, way.may
        if way.may and not _enough(fit, better, way):
            hopeless = way.go(start, before, hopeless)
        if better and way.trial.kept:
            _follow(fit, better)
        if way.trial.kept and (better is None or way.trial.gain > better.trial.gain):
            better = way
    fit.squares = False
    if better is None:
        first.again(fit)
        return False
    _take(fit, before, better, ways[1] if better is ways[0] else ways[0])
    return better.exact

