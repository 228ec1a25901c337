# SPDX-License-Identifier: MIT
"""The way into the minimum: a list of stages, each a function of a Fit.  A user may give another list (docs/python.md)."""
import contextlib
import math
import time

import numpy as np

from . import _lattice, _mask, _result, _search, _wide_spots
from ._fit import Fit
from ._parameters import PLACES, ROTATIONS, is_shape

BLURRED_STEPS, BRIGHT_PIXELS, TURNS = 25, 30, 3
BLURRED_CELLS = (3, 5, 8, 13)  # times the longest edge
BLURRED_D = (0.07, 0.05, 0, 0)  # the least d of their pixels, of the longest edge
LATER = ("cell_", *PLACES)
FOUND = 0.5  # correlation of picture and last blurred crystal.  Right orientations had 0.86 and more; a wrong one has 0.1
MOST_SPREAD, LEAST_SPREAD = 2.0, 0.04  # of the scales; F that are right to 2 % count as exact
# Of the misfit.  Scales of right spots explain 0.98 and more of it, those of a measured still, whose spots have another shape than
# the model's, 0.6.  Strong spots of a wrong shape would pull the orientation, if their intensities were free.
LEAST_EXPLAINED, LEAST_PART = 0.8, 0.3
COLLAPSED = 0.01  # of its start


# --- blurred spots ---
def _reach(fit, d):
    """The least d of a stage (m) as sin theta/lambda, widened until enough bright pixels are inside."""
    p = fit.picture
    if not d:
        return p.high
    counts, stol = p.photons[p.used], p.stol[p.used]
    level = p.radial().at(stol)
    bright = np.sort(stol[counts > level + 6 * np.sqrt(level + p.sigma ** 2) + 1])
    high = min(p.high, max(1 / (2 * d * 1e10), p.low))
    while high < p.high and np.searchsorted(bright, high, side="right") < BRIGHT_PIXELS:
        high = min(p.high, 1.1 * high)
    return high


@contextlib.contextmanager
def _blurred(fit, k):
    """The fit as a Gaussian crystal of few cells, with more blocks of them for the integrals of the spots; afterwards the sharp
    one again, with the orientation, cell and geometry of the blurred one."""
    crystal, edges = fit.sim.crystal(), fit.edges()
    high = _reach(fit, BLURRED_D[k] * edges.max())
    fit.begin_background(high)
    fewer = [min(N, BLURRED_CELLS[k] * edges.max() / edge) for N, edge in zip(crystal["N"], edges)]
    rows = [*zip(("Na", "Nb", "Nc"), ([repr(float(n))] for n in fewer)), ("sample_x", None), ("sample_y", None),
            ("sample_z", None), ("mosaic_domains", ["1"]), ("oversample", ["1"]), ("phisteps", ["1"]), ("phistep", None)]
    if not fit.sim.get("crystal_volume"):
        blocks = float(fit.sim.get("blocks") or 1)
        rows.append(("blocks", [repr(blocks * math.prod(N / n for N, n in zip(crystal["N"], fewer)))]))
    if crystal["fringes"]:
        rows.append(("fudge", ["1"]))
    sharp = [(name, fit.sim.get(name).split() or None) for name, _ in rows]
    fit.sim.change(None, rows, crystal["smooth"])
    fit.choose(fit.picture.stol <= high)
    yield
    fit.sim.change(None, sharp, crystal["shape"])


def _blurred_stages(fit):
    """Blurred spots of more and more cells; the correlation of the last ones and the picture."""
    edges, correlation = fit.edges(), 0.0
    count = 4 if max(fit.sim.crystal()["N"] * edges) > 16 * edges.max() else 3
    first = {name for name in fit.parameters if name.startswith("rot_") or name in ("fluence", "water")}
    later = {name for name in fit.parameters if name.startswith(LATER)}
    for k in range(count):
        with _blurred(fit, k):
            fit.stage(f"blurred {BLURRED_CELLS[k]}", (first - later) | (later if k >= 2 else set()), BLURRED_STEPS)
            correlation = fit.correlation()
    return correlation


def _seek(fit, start, correlation):
    """Begin with orientations whose blurred pictures are the most like the observed one.  The best way stays."""
    best = fit.remember()
    fit.stand_at(start)
    with _blurred(fit, 0):
        turns = _search.orientations(fit, TURNS)
    for turn in turns:
        if correlation >= FOUND:
            break
        fit.stand_at(start, turn)
        now = _blurred_stages(fit)
        if now > correlation:
            correlation, best = now, fit.remember()
    fit.stand_at(best)


# --- the stages ---
def _begin_water(fit):
    """A start whose water has the photons of the picture: by its thickness, or by the scale."""
    if fit.kind != "water":
        return
    at = fit.picture.used
    seen = fit.picture.radial().at(fit.picture.stol[at]).sum()
    has = float(fit.water_level().sum(dtype=float))
    name, power = ("water", 1 / 3) if fit.moves("water") else ("fluence", 1)
    if not (seen > 0 and has > 0 and fit.moves(name)):
        return
    p = fit.parameters[name]
    p.value *= (seen / has) ** power
    if p.map == "bounded":
        p.value = min(p.high, max(p.low, p.value))
    fit.apply()


def _index(fit, start):
    """Turn the crystal so that its lattice explains the picture's spots; whether it does."""
    began = time.monotonic()
    axes = [fit.parameters.get(name) for name in ROTATIONS]
    if any(p is None or p.fixed or p.map == "bounded" for p in axes):
        return False
    turn = _lattice.index(fit.sim, fit.peaks.q)
    if turn is None:
        return False
    fit.stand_at(start, turn)
    found = fit.agrees()
    fit.note("indexing", 0, 0.0, found, began)
    if not found:
        fit.stand_at(start)
    return found


def find_orientation(fit):
    """The start's orientation if its lattice explains the spots, else one within 7.5 degrees that does, else that of blurred
    crystals, which a fit finds from degrees off where the true shape alone fails beyond one or two."""
    if not fit.moves(*ROTATIONS):
        return
    found = fit.agrees()
    _begin_water(fit)
    if found:
        return
    start = fit.remember()
    if not _index(fit, start):
        correlation = _blurred_stages(fit)
        if correlation < FOUND and not fit.agrees():
            _seek(fit, start, correlation)
    fit.begin_background(fit.picture.high)


def search_cells(fit):
    """Cells and mosaic spread of crystals with fringes, whose loss has many minima along them: first as a Gaussian crystal, then
    by images along each.  Without it two of three crystals 30 % off ended with wrong numbers of cells."""
    fit.start = fit.remember()
    if not (fit.sim.crystal()["fringes"] and fit.moves("N_a", "N_b", "N_c", "mosaic")):
        return
    if fit.moves("N_a", "N_b", "N_c"):
        fit.as_gaussian()
    fit.choose_spots()
    _search.search(fit)


def mask_foreign(fit):
    """Leave out strong spots of ice or of another crystal, where the lattice explains half of the picture's spots: one of them
    had 94 % of the squared residuals of a measured still."""
    if fit.options.mask == "auto" and fit.agrees():
        fit.foreign = _mask.mask_foreign(fit)


def true_shape(fit):
    """The crystal as it is, with all parameters."""
    fit.choose_spots()
    fit.stage("true shape")


def true_shape_again(fit):
    """The same with pixels that are chosen where the model is now; before it the search, if more than noise is left.  Where the search
    led to a worse fit, the better one stays."""
    fit.choose_spots()
    before, loss, searched = None, math.inf, False
    if fit.sim.crystal()["fringes"] and fit.moves("N_a", "N_b", "N_c", "mosaic"):
        before, loss = fit.remember(), fit.rate().loss
        searched = _search.search_again(fit)
    radial = fit.radial
    last = fit.stage("true shape again")
    if searched and last.loss > loss:
        fit.stages[-1] = last._replace(dropped=True)
        fit.radial = radial
        fit.stand_at(before)
        fit.stage("true shape again")


def _choose_width(fit):
    """The width of the scales' prior, twice the relative sigma of F, as given or as the picture shows it; whether the lattice
    stays where it is."""
    if fit.options.F_sigma is not None:
        fit.F_width = 2 * fit.options.F_sigma
        return False
    spread, explained = fit.pixels().spread(*fit.radial)
    fit.F_width = 0.0 if spread < LEAST_SPREAD or explained < LEAST_PART else min(spread, MOST_SPREAD)
    return explained < LEAST_EXPLAINED


def _revive(fit):
    """Widths that poor structure factors made vanish start again: at 0 their logarithm has no slope."""
    gone = [p for p in fit.parameters.values() if p.map == "log" and not p.fixed and p.value < COLLAPSED * p.start and
            p.name not in ("fluence", "water")]
    for p in gone:
        p.value = p.start
    if gone:
        fit.apply()


def scale_factors(fit):
    """Structure factors that are not exact: twice with a scale of each reflection.  Where the spots have another shape than the
    model's, the lattice stays where the given F put it, and scales and shapes are refined."""
    for k in range(2):
        hold = _choose_width(fit) if fit.kept is None else False
        if fit.F_width <= 0:
            return
        if hold:
            _result.keep_errors(fit)
        shapes = {name for name in fit.parameters if is_shape(name)} if fit.kept else None
        if shapes is not None and not len(fit.radial.knots) and not any(fit.moves(name) for name in shapes):
            return
        if not k:
            _revive(fit)
        fit.choose_spots()
        fit.stage(("scaled shapes" if fit.kept else "scaled F") + " again" * k, shapes)


def widen(fit):
    """A divergence and a footprint, where spots are wider than the model's and one of them explains more than it costs."""
    if _wide_spots.widen(fit, fit.start):
        scale_factors(fit)


EXACT = [find_orientation, search_cells, mask_foreign, true_shape, true_shape_again]  # of a picture of a joint fit
PLAIN = [*EXACT, scale_factors]
AUTO = [*PLAIN, widen]
NONE = [mask_foreign, true_shape, scale_factors]


def stages_of(options):
    """The list of stages that the options ask for.  The common steps of a joint fit take structure factors as they are given, so
    that scales and widths of a picture alone, beside common parameters that are still wrong, would lead away from them."""
    named = {"auto": AUTO, "plain": PLAIN, "none": NONE} if not options.joint else dict.fromkeys(("auto", "plain"), EXACT)
    return named[options.schedule] if isinstance(options.schedule, str) else list(options.schedule)


def _advise(fit):
    """Few samples a pixel make spots wider or narrower than they are: a fit of their width says so, though an image passes."""
    crystal = fit.sim.crystal()
    typed, enough = crystal["oversample"], (crystal["resolved"] + 1) // 2
    if 0 < typed < enough and fit.moves("N_a", "N_b", "N_c", "mosaic"):
        fit.notice(f"-oversample {typed} is too coarse for a fit of cells or mosaic spread, which may be off by many sigma; leave it "
                   f"out, or type {enough} or more")


def run(fit):
    """All stages from the start of the fit."""
    _advise(fit)
    fit.begin()
    fit.check_apart()
    fit.start = fit.remember()
    for stage in stages_of(fit.options):
        stage(fit)


def fit_one(sim, image, options, notice, told=lambda stage: None, alive=lambda *what: None):
    """The Result of a fit of a simulation (_nanobragg.Sim) to one picture; the simulation has its values afterwards.  told: a function of
    each Stage; alive: of the name, the evaluations and the loss of the stage that is at work."""
    began = time.monotonic()
    fit = Fit(sim, image, options, notice, told)
    fit.alive = alive
    run(fit)
    result = _result.conclude(fit)
    result.seconds = time.monotonic() - began
    return result
