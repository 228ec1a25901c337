# SPDX-License-Identifier: MIT
"""Joint fits: variables common to all pictures, and variables of single pictures.

The equations form an arrow (docs/refine.md): a block for each picture, and a border of
common variables.  Blocks are eliminated one by one (Schur complement): memory and time
grow with pictures.  Ordered sums give the same bytes with any number of processes."""
import math
import time

import numpy as np

from .. import _nanobragg
from . import _lattice, _many, _page, _parameters, _result, _schedule
from ._background import Radial
from ._fit import Fit, Stage, pearson
from ._mask import Masks
from ._minimise import LEAST_GAIN, TOLD_APART, descend, invert, largest, stepped
from ._parameters import PLACES, ROTATIONS, Space
from ._workers import Workers

LEAST_ALIKE = 0.5  # below this correlation with the model a picture is left out
FIRST_DAMPING = 1e-4  # small, because separate fits come first
LEAST_PICTURES = 3  # least pictures per variable for errors from gradients
MISSETS = ("misset_x", "misset_y", "misset_z")
SHARED = (*PLACES, "detector_", "twotheta", "lambda")


class Names:
    """Parameters of a picture. The first `common` variables are common to all
    pictures."""

    def __init__(self, sim, options, notice):
        extra = options.knots if options.check(sim) == "radial" else 0
        self.parameters = _parameters.read(sim, options, notice)
        self.is_common = self._common(sim, options)
        self.space = Space(self.parameters, None, extra, self.is_common)
        self.common, self.n = sum(name in self.is_common for name in self.space.leads), len(self.space)
        if not self.common:
            raise ValueError("-joint: every common parameter is held; leave one free")
        self.start = self.space.start()[:self.common]

    def _common(self, sim, options):
        """Names of -joint, and names tied to these parameters."""
        common = set()
        for name in sim.variables(_parameters.translate(options.joint)):
            if name not in self.parameters:
                raise ValueError(f"-joint {name}: it is not refined; add it to -refine")
            common |= {other for other, p in self.parameters.items() if p.tied == self.parameters[name].tied}
        return common

    def parameters_at(self, x):
        """Parameters with the values that the variables x [n] give."""
        out = self.parameters.copy()
        for name, value in zip(self.space.active, self.space.values(x)[0]):
            out[name].value = float(value)
        return out

    def common_values(self, x):
        """{name: (value, slopes by the common variables)} at x [common]."""
        values, slopes = self.space.values(np.concatenate([x, np.zeros(self.n - self.common)]))
        return {name: (values[i], slopes[i, :self.common]) for i, name in enumerate(self.space.active) if name in self.is_common}

    def check_expt(self, own_beams):
        """Refuse parameters of single pictures that -exptout can have only once."""
        for name in self.space.active:
            if name not in self.is_common and name.startswith(SHARED) and not (own_beams and name == "lambda"):
                raise ValueError("-exptout of several pictures has one detector and one beam: add "
                                 f"{name} to -joint, or use -report")


class Kept:
    """Data of a picture in a worker: orientation, chosen pixels, peaks and masks."""

    def __init__(self, fit, misset):
        self.misset, self.sigma, self.read, self.masks, self.peaks = misset, fit.picture.sigma, fit.read, Masks(fit), fit.peaks
        self.at, self.photons = fit.at, fit.picture.photons[fit.at]
        self.background = None if fit.background is None else fit.background[fit.at]
        self.knots, self.stol = fit.radial.knots, fit.picture.stol[fit.at]


class Jointly:
    """Job of a worker. Methods take the variables x [n] of a picture, the common
    variables first. stack: arrays for the photons and the background of a whole picture,
    which are set at the chosen pixels."""

    def __init__(self, names, options, report, shown):
        self.names, self.options, self.report, self.shown = names, options, report, shown
        self.kept, self.stack = {}, None

    def _fit(self, bench, k):
        """Fit of a picture, with masks and peaks of an earlier fit."""
        kept = self.kept.get(k)
        fit = Fit(bench.begin(k), bench.read(k), self.options, bench.notice, known=kept and kept.masks)
        fit.peaks = kept and kept.peaks
        return fit

    def _keep(self, fit, k, common):
        """Keep the pixels of a fit and fold its rotation; returns x."""
        misset = fit.fold()
        x = self.names.space.start(fit.radial.levels, fit.parameters)
        for i, name in enumerate(self.names.space.leads[:self.names.common]):  # one value for all pictures, with the same bits
            if name not in ROTATIONS:
                x[i] = common[i]
        self.kept[k] = Kept(fit, misset)
        return x

    def prepare(self, bench, k, common, again):
        """Fit a picture with held common parameters: (x, None), or (None, why)."""
        try:
            fit = self._fit(bench, k)
            if again:
                for name, (value, _) in self.names.common_values(common).items():
                    fit.parameters[name].value = float(value)
            for name in self.names.is_common:
                fit.parameters[name].fixed = True
            runs = self.options.is_planned and any(not p.fixed for p in fit.parameters.values())
            _schedule.run(fit) if runs else fit.begin()
            x = self._keep(fit, k, common)
            if runs:
                alike = pearson(fit.counts, fit.model())
                if not alike >= LEAST_ALIKE:
                    raise ValueError(f"model and picture have a correlation of {alike:.3f}, below {LEAST_ALIKE:g}")
            return x, None
        except (ValueError, OSError) as error:
            self.kept.pop(k, None)
            return None, str(error)

    def _stand(self, sim, k, values):
        """Set sim to the values of picture k: (its Chosen pixels, its Radial)."""
        kept, names, n = self.kept[k], self.names.space.active, math.prod(sim.size)
        sim.set_parameters([*names, *MISSETS], [*map(float, values[:len(names)]), *kept.misset])
        if self.stack is None:
            self.stack = np.zeros((2, n), dtype=np.float32)
        self.stack[0, kept.at], background = kept.photons, None
        if kept.background is not None:
            self.stack[1, kept.at], background = kept.background, self.stack[1]
        pixels = _nanobragg.Chosen(sim, self.stack[0], kept.at, background, kept.sigma, self.options.gauss)
        return pixels, Radial(kept.knots, values[len(names):])

    def evaluate(self, bench, k, x, pictures):
        """Equations of a picture: (loss or inf, gradient [n], Fisher matrix [n, n])."""
        values, slopes = self.names.space.values(x)
        g, F = np.zeros(len(values)), np.zeros((len(values), len(values)))
        try:
            pixels, radial = self._stand(bench.begin(k), k, values)
            loss = pixels.normal(self.names.space.active, *radial, g, F)
        except ValueError:
            return math.inf, np.zeros(len(x)), np.zeros((len(x), len(x)))
        loss = self.names.space.restrain(values, loss, g, F, pictures)
        g, F = slopes.T @ g, slopes.T @ F @ slopes
        held = (x <= self.names.space.least) & (g > 0)
        g[held] = F[held] = F[:, held] = 0
        return loss, g, F

    def _give(self, fit, k, x):
        """Set a fit to the values, background and pixels of picture k at x."""
        kept, (_, fit.radial) = self.kept[k], self._stand(fit.sim, k, self.names.space.values(x)[0])
        fit.parameters, fit.at = self.names.parameters_at(x), kept.at
        if kept.background is not None:
            fit.background[kept.at] = kept.background

    def choose(self, bench, k, x, common):
        """Choose the pixels again, at the present x."""
        fit = self._fit(bench, k)
        self._give(fit, k, x)
        fit.choose_spots()
        return self._keep(fit, k, common)

    def finish(self, bench, k, x, covariance, verdict):
        """(Result without arrays, report line, lab edges [9] of the crystal, m, beam [4]:
        wavelength, direction).  covariance: counting; verdict: loss, converged, text."""
        kept, sim, (loss, converged, status) = self.kept[k], bench.begin(k), verdict
        first = sim.crystal()["misset"]
        pixels, radial = self._stand(sim, k, self.names.space.values(x)[0])
        model = np.empty(pixels.n)
        pixels.image(model)
        model += radial.at(kept.stol) + (0 if kept.background is None else kept.background)
        result = _result.Result(picture=bench.start.pictures[k], loss=loss, peaks=len(kept.peaks), masked=kept.masks.summary,
                                agreement=_lattice.agreement(sim, kept.peaks.q), misset_deg=sim.fold_rotation())
        _result.compare(result, kept.photons.astype(float), model, model, kept.read)
        self._own(result, x, covariance)
        result.converged = converged and result.picture_correlation >= LEAST_ALIKE
        result.status = status if result.converged or not converged else "not converged: model and picture are not alike"
        if self.shown and k in self.shown.numbers:
            self._draw(bench, k, x, result)
        common = {name: value for name, (value, _) in self.names.common_values(x[:self.names.common]).items()}
        crystal = sim.crystal()
        return (*_many.finished(self, sim, k, result, first, common), np.frombuffer(crystal["edges"]).copy(),
                np.array([crystal["wavelength"], *crystal["beam"]]))

    def _draw(self, bench, k, x, result):
        """Make the planes and spots of the picture for a page."""
        fit = self._fit(bench, k)
        fit.begin()
        fit.before = fit.whole_model()
        self._give(fit, k, x)
        _result.measure(fit, result)
        _result.list_spots(fit, result)
        fit.sim.fold_rotation()

    def _own(self, out, x, covariance):
        """Set the parameters of a result. sigma: that of counting, times sqrt(deviance
        per pixel) if this is above 1."""
        active, c = self.names.space.active, self.names.common
        own = [i for i, name in enumerate(active) if name not in self.names.is_common]
        S = self.names.space.values(x)[1][np.ix_(own, range(c, self.names.n))]
        counting = S @ covariance @ S.T
        what = [active[i] for i in own], counting * max(1.0, out.deviance_per_pixel), counting
        _result.put_parameters(out, self.names.parameters_at(x), *what)
        _result.put_rotation(out, *what)


class State:
    """Pictures p at x {p: [n]}: losses [p], gradients G [p, n], Fisher matrices M."""

    enough = LEAST_GAIN

    def __init__(self, joint, x):
        self.joint, self.names, self.x = joint, joint.names, x
        found = dict(joint.workers.each("evaluate", {k: (v, len(x)) for k, v in x.items()}))
        self.losses, self.G, self.M = (np.array([found[k][i] for k in x]) for i in range(3))
        self.loss = float(np.add.reduce(self.losses))
        joint.evaluated(self.loss)

    def moved(self, steps):
        least = self.names.space.least
        return State(self.joint, {k: stepped(x, step, least) for (k, x), step in zip(self.x.items(), steps)})

    def eliminate(self, damping):
        """Eliminate the other variables: Y [p, others, common + 1] = A^-1 (B, g),
        shares [p, common] of the gradient.  Returns common matrix, gradient, diagonal."""
        c, M, G = self.names.common, self.M, self.G
        A, B = M[:, c:, c:].copy(), M[:, c:, :c]
        diagonal = np.einsum("pii->pi", A)  # a view of the diagonal of A
        diagonal[:] = np.where(diagonal > 0, diagonal * (1 + damping + 1e-14), 1)
        self.Y = np.linalg.solve(A, np.concatenate([B, G[:, c:, None]], axis=2))
        taken = np.einsum("poi,poj->pij", B, self.Y)
        self.shares = G[:, :c] - taken[:, :, c]
        S = np.add.reduce(M[:, :c, :c] - taken[:, :, :c])
        return (S + S.T) / 2, np.add.reduce(self.shares), np.add.reduce(np.einsum("pii->pi", M[:, :c, :c]))

    def step(self, damping):
        """(step [p, n], gain that the equations predict)."""
        c = self.names.common
        S, g, diagonal = self.eliminate(damping)
        by = -invert(S + damping * np.diag(diagonal))[0] @ g
        own = -self.Y[:, :, c] - self.Y[:, :, :c] @ by
        steps = np.concatenate([np.broadcast_to(by, (len(own), c)), own], axis=1)
        gain = -np.add.reduce(np.einsum("pi,pi->p", steps, self.G + np.einsum("pij,pj->pi", self.M, steps) / 2))
        return steps, float(gain)

    def covariance(self):
        """Covariance [common, common]; refuses variables that cannot be separated."""
        C, worst, vector = invert(self.eliminate(0.0)[0])
        if worst < TOLD_APART:
            raise ValueError("-joint: the pictures cannot tell these parameters apart: "
                             f"{largest(vector, self.names.space.leads)}; leave one out, or restrain one")
        return C


class Joint:
    """A joint fit: each picture separately, then all variables together, twice."""

    def __init__(self, start, options, notice, done, told, report, frames, exptout, workers, alive):
        self.start, self.options, self.done, self.told, self.exptout, self.alive = start, options, done, told, exptout, alive
        self.starts = start.open(notice)
        self.sim = self.starts.sim(_nanobragg.Sim, 1, 0, notice)
        self.names = Names(self.sim, options, notice)
        if exptout:
            self.names.check_expt(self.starts.own_beams)
        self.count = len(start.pictures)
        self.shown = _page.Shown(self.count, math.prod(self.sim.size), frames) if _page.is_page(report) else None
        self.lines = _page.Lines(report)
        self.workers = Workers(start, self.starts, Jointly(self.names, options, report, self.shown), workers, notice)
        self.x, self.state, self.converged = {}, None, False
        self.stage, self.evaluations, self.before = "", 0, 0  # before: number of evaluations of earlier stages
        self.results, self.why = [None] * self.count, {}

    @property
    def common(self):
        """Common variables of all pictures."""
        return next(iter(self.x.values()), self.names.start)[:self.names.common].copy()

    def prepare(self, numbers, again):
        """Fit these pictures separately; note the reason of a picture that fails."""
        for k, (x, why) in self.workers.each("prepare", {k: (self.common, again) for k in numbers}):
            self.why.pop(k, None)
            if x is None:
                self.why[k] = why
            else:
                self.x[k] = x
        self.x = dict(sorted(self.x.items()))

    def evaluated(self, loss):
        self.evaluations += 1
        self.alive(self.stage, self.evaluations - self.before, loss)

    def minimise(self, name):
        """Go from the present x to the minimum."""
        began, self.stage, self.before = time.monotonic(), name, self.evaluations
        first = State(self, self.x)
        first.covariance()
        self.state, evaluations, self.converged = descend(first, self.options.evaluations, FIRST_DAMPING)
        self.x = self.state.x
        self.told(Stage(name, 0, evaluations, self.state.loss, self.converged, time.monotonic() - began))

    def run(self):
        self.prepare(range(self.count), False)
        if not self.x:
            raise ValueError("-joint: no picture can be used: their files cannot be read, or no model is like its picture; refine "
                             "one by itself to see why")
        self.minimise("joint")
        if self.options.is_planned:  # choose pixels again; pictures that were left out begin again
            self.x.update(self.workers.each("choose", {k: (x, self.common) for k, x in self.x.items()}))
            self.prepare(list(self.why), True)
            self.minimise("joint again")
        return self.finish()

    def finish(self):
        """Make the Results of the pictures in order; returns the common Result."""
        state, names = self.state, self.names
        C = state.covariance()
        status = "converged" if self.converged else "not converged: the loss still fell; raise -maxiter"
        tasks = {}
        for i, (k, x) in enumerate(self.x.items()):
            inverse = invert(state.M[i, names.common:, names.common:])[0]
            Y = state.Y[i, :, :names.common]
            tasks[k] = x, inverse + Y @ C @ Y.T, (float(state.losses[i]), self.converged, status)
        found = dict(self.workers.each("finish", tasks))
        edges, beams = np.zeros((self.count, 9)), np.zeros((self.count, 4))
        for k in range(self.count):
            if k in found:
                self.results[k], line, edges[k], beams[k] = found[k]
                self.done(k, self.results[k], None)
            else:
                line = self._left_out(k)
            self.lines.put(k, line)
        common = self._common(C, status)
        if self.exptout:
            self._write_expt(edges, beams if self.starts.own_beams else None)
        return common

    def _left_out(self, k):
        name = self.start.pictures[k]
        self.results[k] = _result.Result(picture=name, status=f"failed: {self.why[k]}")
        self.done(k, None, f"{name}: left out: {self.why[k]}")
        return self.shown.line(self.sim, k, name, None, math.nan, f"left out: {self.why[k]}") if self.shown else None

    def _excess(self, C, deviance):
        """Ratio of variances to those of counting, at least 1: deviance per pixel, or
        with enough pictures products of gradients, which include errors of models."""
        excess, n, c = np.full(len(C), max(1.0, deviance)), len(self.x), len(C)
        if n >= LEAST_PICTURES * c:
            steps = self.state.shares @ C
            excess = np.maximum(excess, n / max(1, n - c) * np.add.reduce(steps * steps) / np.diag(C))
        return excess

    def _common(self, C, status):
        used = [r for k, r in enumerate(self.results) if k in self.x]
        out = _result.Result(pictures=len(used), left_out=self.count - len(used), status=status, converged=self.converged,
                             loss=self.state.loss, evaluations=self.evaluations, pixels=sum(r.pixels for r in used))
        out.deviance_per_pixel = sum(r.deviance_per_pixel * r.pixels for r in used) / out.pixels
        excess, S = np.sqrt(self._excess(C, out.deviance_per_pixel)), []
        for name, (value, slope) in self.names.common_values(self.common).items():
            p, a = self.names.parameters[name], int(np.argmax(abs(slope)))
            counting = math.sqrt(slope @ C @ slope)
            out.parameters[name] = _result.Refined(p.start, float(value), float(counting * excess[a]), counting, p.unit, False)
            S.append(slope * excess)
        out.names, out.covariance = list(out.parameters), np.array(S) @ C @ np.array(S).T
        return out

    def _write_expt(self, edges, beams):
        """Write detector and beam of the common parameters, and a crystal per picture."""
        self.starts.begin(self.sim, 0)
        values = {name: float(value) for name, (value, _) in self.names.common_values(self.common).items()}
        self.sim.set_parameters(list(values), list(values.values()))
        self.sim.write_experiments(self.exptout, self.start.pictures, edges, beams)


def refine_joint(start, options, notice, done=lambda *what: None, told=lambda stage: None, report=None, frames=None,
                 exptout=None, command="", workers=None, alive=lambda *what: None):
    """Refine the pictures of a Start jointly: (common Result, Results of the pictures).
    Arguments as for refine_series. alive(name, evaluations, loss) is called during a
    stage."""
    began = time.monotonic()
    joint = Joint(start, options, notice, done, told, report, frames, exptout, workers, alive)
    with joint.lines, joint.workers:
        common = joint.run()
        common.seconds = time.monotonic() - began
        if joint.shown:
            joint.lines.add(joint.shown.end(common, command))
        elif report:
            joint.lines.add(_page.json_line(common.to_dict()))
    return common, joint.results
