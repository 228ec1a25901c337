# SPDX-License-Identifier: MIT
"""Many pictures, each refined separately."""
import functools
import math

import numpy as np

from .. import _nanobragg
from . import _lattice, _page, _parameters, _result
from ._schedule import fit_one
from ._workers import Workers

HEAVY = ("observed", "model", "residual", "used", "mask", "stol", "before")


def turn_of(start, end):
    """Angle between the orientations of two sets of misset angles, deg."""
    matrix = lambda m: np.linalg.multi_dot([_lattice.rotation(np.radians(v)) for v in np.diag(m)[::-1]])  # noqa: E731
    return math.degrees(np.linalg.norm(_lattice.vector(matrix(end) @ matrix(start).T)))


def finished(job, sim, k, result, first, common=None):
    """(Result without arrays, report line | None); first: misset angles of the start."""
    line = None
    if job.shown:
        turn = turn_of(first, sim.crystal()["misset"]) if result.misset_deg is not None else math.nan
        line = job.shown.line(sim, k, result.picture, result, turn, common=common)
    elif job.report:
        line = _page.json_line(result.to_dict())
    for name in HEAVY:
        setattr(result, name, None)
    return result, line


class EachAlone:
    """Job of a worker: refines a picture from its start."""

    def __init__(self, options, report, shown):
        self.options, self.report, self.shown = options, report, shown

    def refine(self, bench, k):
        """Returns (Result without arrays, report line, None), or (None, line, why)."""
        name = bench.start.pictures[k]
        try:
            sim = bench.begin(k)
            start = sim.crystal()["misset"]
            self.options.keep_start = bool(self.shown) and k in self.shown.numbers
            result = fit_one(sim, bench.read(k), self.options, bench.notice)
        except (ValueError, OSError, NotImplementedError, MemoryError, RuntimeError) as error:
            line = self.shown.line(bench.sim, k, name, None, math.nan, str(error)) if self.shown else None
            return None, line, f"{name}: {error}"
        result.picture = name
        return (*finished(self, sim, k, result, start), None)


def refine_series(start, options, notice, done=lambda *what: None, report=None, frames=None, command="", workers=None):
    """Refine each picture of a Start.  done(k, result | None, why): called in order.
    report: file of JSON lines, or page of `frames` (first, last).  Returns Results."""
    starts = start.open(notice)
    sim = starts.sim(_nanobragg.Sim, 1, 0, notice)
    options.check(sim)  # check options, then names, before the first picture
    _parameters.read(sim, options, notice)
    shown = _page.Shown(len(start.pictures), math.prod(sim.size), frames) if _page.is_page(report) else None
    results = [None] * len(start.pictures)
    with _page.Lines(report) as lines, Workers(start, starts, EachAlone(options, report, shown), workers, notice) as all_:
        for k, (result, line, why) in all_.each("refine", {k: () for k in range(len(results))}, sticky=False):
            results[k] = result or _result.Result(picture=start.pictures[k], status=f"failed: {why}")
            lines.put(k, line, functools.partial(done, k, result, why))
        if shown:
            lines.add(shown.end(None, command))
    return results
