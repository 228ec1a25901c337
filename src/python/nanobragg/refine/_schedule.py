# SPDX-License-Identifier: MIT
"""Lists of stages: functions of a Fit.  A user may give another list (docs/python.md)."""
import contextlib
import math
import time

import numpy as np

from . import _domains, _lattice, _mask, _result, _search, _wide_spots
from ._fit import Fit
from ._parameters import PLACES, ROTATIONS, is_shape

BLURRED_STEPS, BRIGHT_PIXELS, TURNS = 25, 30, 3
BLURRED_CELLS = (3, 5, 8, 13)  # cells, in units of the longest edge
BLURRED_D = (0.07, 0.05, 0, 0)  # least d of the used pixels / longest edge; 0: all pixels
LATER = ("cell_", *PLACES)
FOUND = 0.5  # least correlation with the last blurred crystal; right orientations have 0.86 or more, wrong ones 0.1
MAX_SPREAD, LEAST_SPREAD = 2.0, 0.04  # spread of scales; F with 2 % error count as exact
# Parts of the misfit that scales explain: 0.98 and more (right spots), 0.6 (measured
# still, other shapes of spots).  Free intensities of wrong shapes pull the orientation.
LEAST_EXPLAINED, LEAST_PART = 0.8, 0.3
COLLAPSED = 0.01  # fraction of the start value; a smaller value has collapsed


# --- blurred spots ---
def _reach(fit, d):
    """sin theta/lambda of the least d (m), raised until enough pixels are bright."""
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
    """Context: the fit as a Gaussian crystal of few cells, in more blocks for equal
    integrals of spots; afterwards sharp, with its orientation, cell and geometry."""
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
    """Fit blurred spots of more and more cells; returns the last correlation."""
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
    """Try orientations with the best blurred pictures, and keep the best result."""
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
    """Start with the water photons of the picture, by thickness or scale."""
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
    """Turn the crystal so that its lattice explains the spots; True on success."""
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
    """Keep a start whose lattice explains the spots. Otherwise turn it by up to 7.5 deg,
    or if that fails fit blurred crystals. These find orientations from several degrees
    away, the true shape only from 1 or 2 deg."""
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
    """Search N and mosaic spread if fringes make many minima: fit a Gaussian crystal,
    then compare images. Without this, 2 of 3 crystals with a start 30 % from the truth
    ended with a wrong N."""
    fit.start = fit.remember()
    if not (fit.sim.crystal()["fringes"] and fit.moves("N_a", "N_b", "N_c", "mosaic")):
        return
    if fit.moves("N_a", "N_b", "N_c"):
        fit.as_gaussian()
    fit.choose_spots()
    _search.search(fit)


def mask_foreign(fit):
    """Leave out strong spots of ice or another crystal, if the lattice explains half of
    the spots.  One such spot had 94 % of the squared residuals of a measured still."""
    if fit.options.mask == "auto" and fit.agrees():
        fit.foreign = _mask.mask_foreign(fit)


def true_shape(fit):
    """Fit the crystal in its true shape, with all parameters."""
    fit.choose_spots()
    fit.stage("true shape")


def true_shape_again(fit):
    """Fit the true shape with pixels chosen again. If the residuals exceed the noise, a
    search comes first. If the search made the fit worse, keep the better fit."""
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
    """Set the width of the prior of scales, twice the relative sigma of F: given, or from
    the picture.  Returns True to hold the lattice."""
    if fit.options.F_sigma is not None:
        fit.F_width = 2 * fit.options.F_sigma
        return False
    spread, explained = fit.pixels().spread(*fit.radial)
    fit.F_width = 0.0 if spread < LEAST_SPREAD or explained < LEAST_PART else min(spread, MAX_SPREAD)
    return explained < LEAST_EXPLAINED


def _revive(fit):
    """Restart widths that poor F have made vanish, because a logarithm has no slope near
    0."""
    gone = [p for p in fit.parameters.values() if p.map == "log" and not p.fixed and p.value < COLLAPSED * p.start and
            p.name not in ("fluence", "water")]
    for p in gone:
        p.value = p.start
    if gone:
        fit.apply()


def scale_factors(fit):
    """Fit twice with a scale of each reflection, for inexact F.  If spots have another
    shape than the model, hold the lattice of the given F; refine scales and shapes."""
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
    """Add divergence and footprint, if spots are wide and the gain exceeds the cost."""
    if _wide_spots.widen(fit, fit.start):
        scale_factors(fit)


EXACT = [find_orientation, search_cells, mask_foreign, true_shape, true_shape_again]  # stages for a picture of a joint fit
PLAIN = [*EXACT, _domains.tensor, scale_factors]
AUTO = [*PLAIN, widen]
NONE = [mask_foreign, true_shape, scale_factors]


def stages_of(options):
    """List of stages of the options.  Joint fits use the given F: scales and widths of
    one picture, with wrong common parameters, would lead away from the common steps."""
    named = {"auto": AUTO, "plain": PLAIN, "none": NONE} if not options.joint else dict.fromkeys(("auto", "plain"), EXACT)
    return named[options.schedule] if isinstance(options.schedule, str) else list(options.schedule)


def _advise(fit):
    """Give a notice if pixels have too few samples, which falsify fitted widths of
    spots."""
    crystal = fit.sim.crystal()
    typed, enough = crystal["oversample"], (crystal["resolved"] + 1) // 2
    if 0 < typed < enough and fit.moves("N_a", "N_b", "N_c", "mosaic"):
        fit.notice(f"-oversample {typed} is too coarse for a fit of cells or mosaic spread, which may be off by many sigma; leave it "
                   f"out, or type {enough} or more")


def run(fit):
    """Run all stages from the start of the fit."""
    _advise(fit)
    fit.begin()
    fit.check_apart()
    fit.start = fit.remember()
    for stage in stages_of(fit.options):
        stage(fit)


def fit_one(sim, image, options, notice, told=lambda stage: None, alive=lambda *what: None):
    """Fit a simulation (_nanobragg.Sim) to a picture, set it to the result, and return a
    Result.  told(stage): after stages; alive(name, evaluations, loss): during stages."""
    began = time.monotonic()
    fit = Fit(sim, image, options, notice, told)
    fit.alive = alive
    run(fit)
    result = _result.conclude(fit)
    result.seconds = time.monotonic() - began
    return result
