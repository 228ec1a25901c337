# SPDX-License-Identifier: MIT
"""Result of a finished fit: errors, correlations, model, spots, and a verdict."""
import dataclasses
import math

import numpy as np

from . import _mask, _picture
from ._fit import LEAST_MODEL, deviance, pearson
from ._lattice import AGREES_AT_END
from ._minimise import TOLD_APART, invert
from ._parameters import ROTATIONS, is_shape

LEAST_CORRELATION = 0.5  # correlation of model and picture; right fits have 0.98
MAX_CELL_CHANGE = 0.1  # relative change of a cell edge
# Saturated pixels are the strongest pixels. Without them a wrong number of cells can
# explain the other pixels with a correlation of 0.66 to 0.93.
LEAST_BESIDE_FULL, FULL_PART = 0.95, 0.5  # least correlation; least model / light of a pixel; largest fraction of pixels below it
LEAST_CLUSTERS = 3  # reflections per variable, for errors from gradients
SPOT_HALF, MAX_SPOTS = 3, 1000  # pixels to each side of a spot


@dataclasses.dataclass
class Refined:
    """A parameter of a result, in its unit.  sigma includes errors of the model,
    sigma_counting assumes exact model and F.  None: at a bound, or undetermined."""

    start: float
    value: float
    sigma: float | None
    sigma_counting: float | None
    unit: str
    at_bound: bool


@dataclasses.dataclass
class Result:
    """Result of refine(); to_dict(): report (docs/refine.md).  Arrays [slow, fast]."""

    picture: str | None = None
    pictures: int = 0  # used pictures of a joint fit; left_out: the others
    left_out: int = 0
    status: str = ""
    converged: bool = False
    loss: float = 0.0
    deviance_per_pixel: float = 0.0
    pixels: int = 0
    evaluations: int = 0
    images: int = 0
    seconds: float = 0.0
    parameters: dict = dataclasses.field(default_factory=dict)
    misset_deg: tuple | None = None  # None if the orientation was not refined
    rotation_sigma_deg: tuple = (0.0, 0.0, 0.0)  # about the lab axes
    rotation_sigma_counting_deg: tuple = (0.0, 0.0, 0.0)
    rotation_covariance_deg2: np.ndarray | None = None  # [3, 3]
    names: list = dataclasses.field(default_factory=list)  # parameters, then rotations
    covariance: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))
    picture_correlation: float = 0.0
    given_F_correlation: float = 0.0  # with the given structure factors
    given_F_deviance_per_pixel: float = 0.0
    F_sigma: float = 0.0
    peaks: int = 0
    start_agreement: float = 0.0
    agreement: float = 0.0
    masked: dict = dataclasses.field(default_factory=dict)  # numbers of masked pixels by reason, and their positions
    footprint: object = None
    divergence: object = None
    stages: list = dataclasses.field(default_factory=list)
    spots: list = dataclasses.field(default_factory=list)  # dicts, brightest first
    observed: np.ndarray | None = None  # photons, NaN at unobserved pixels
    model: np.ndarray | None = None
    residual: np.ndarray | None = None  # (observed - model)/sigma
    used: np.ndarray | None = None  # pixels of the last stage
    mask: np.ndarray | None = None  # 0 used, 1 file, 2 saturated, 3 hot, 4 shadow, 5 ring, 6 foreign
    stol: np.ndarray | None = None  # sin theta/lambda, 1/A
    before: np.ndarray | None = None  # model at the start
    history: list = dataclasses.field(default_factory=list)  # losses per pixel of all evaluations

    @property
    def values(self):
        """Values by name."""
        return {name: p.value for name, p in self.parameters.items()}

    @property
    def sigmas(self):
        return {name: p.sigma for name, p in self.parameters.items()}

    @property
    def correlation(self):
        """Correlations [names, names] of the values."""
        sigma = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            out = self.covariance / np.outer(sigma, sigma)
        np.fill_diagonal(out, 1)
        return out

    def to_dict(self):
        """Dict of the result, as in the report."""
        out = {"picture": self.picture} if self.picture else {}
        if self.pictures:
            out |= {"pictures": self.pictures, "left_out": self.left_out}
        out |= {name: getattr(self, name) for name in ("status", "converged", "loss", "deviance_per_pixel", "pixels", "evaluations",
                                                       "images", "seconds")}
        out["parameters"] = {name: dataclasses.asdict(p) for name, p in self.parameters.items()}
        if self.misset_deg is not None:
            out |= {name: getattr(self, name) for name in ("misset_deg", "rotation_sigma_deg", "rotation_sigma_counting_deg")}
            out["rotation_covariance_deg2"] = self.rotation_covariance_deg2.tolist()
        out["parameter_correlation"] = {"names": self.names, "matrix": self.correlation.tolist()}
        out |= {name: getattr(self, name) for name in ("picture_correlation", "given_F_correlation", "given_F_deviance_per_pixel",
                                                       "F_sigma", "peaks", "start_agreement", "agreement", "masked")}
        for name in ("footprint", "divergence"):
            out[name] = _trial(getattr(self, name))
        out["stages"] = [{name: v for name, v in stage._asdict().items() if name != "dropped" or v} for stage in self.stages]
        out["spots"] = self.spots
        return out


def _trial(trial):
    if trial is None or not trial.tried:
        return {"tried": False, "kept": False}
    out = dataclasses.asdict(trial)
    return out if trial.kept else {name: out[name] for name in ("tried", "kept", "gain", "cost")}


# --- errors ---
class _Errors:
    """Covariances of the values [names]: of all errors, and of counting errors only.

    Pixels of a spot share errors.  Covariances are C (sum of g g^T) C, g: gradient of a
    reflection, C: inverse of the equations (Liang, Zeger, Biometrika 73, 13, 1986)."""

    def __init__(self, fit):
        self.fit, self.space = fit, fit.space()
        space, n = self.space, len(self.space)
        V = len(space.active) + space.extra
        x = fit.variables(space)
        values, self.slopes = space.values(x)
        self.slopes[:, x <= space.least] = 0
        held, scores, pixels = np.zeros((V, V)), np.zeros((V, V)), fit.pixels()
        model = np.empty(pixels.n)
        loss, g, F, clusters = fit.equations(pixels, space.active, held=held, scores=scores, model=model)
        if fit.F_width > 0:
            fit.scaled = model
        fit.loss = space.restrain(values, loss, g.copy(), held)
        space.restrain(values, 0.0, g, F)
        by = lambda M: self.slopes.T @ M @ self.slopes  # noqa: E731
        counting = invert(by(held))[0]
        C, self.worst, _ = invert(by(F))
        if clusters >= LEAST_CLUSTERS * n:
            C = _larger(clusters / max(1, clusters - n) * (C @ by(scores) @ C), C, counting)
        self.names = space.active
        self.all, self.counting = self._of_values(C, 0), self._of_values(counting, 1)

    def _of_values(self, C, which):
        """Covariances of active values; the kept ones for parameters that move spots."""
        n = len(self.names)
        out = (self.slopes @ C @ self.slopes.T)[:n, :n]
        if self.fit.kept is None:
            return out
        shape = np.array([is_shape(name) for name in self.names])
        out[np.ix_(shape, ~shape)] = out[np.ix_(~shape, shape)] = 0  # 0, because the two groups are from different fits
        names, kept = self.fit.kept[0], self.fit.kept[1 + which]
        place = [i for i, name in enumerate(self.names) if not is_shape(name)]
        of = [names.index(self.names[i]) for i in place]
        out[np.ix_(place, place)] = kept[np.ix_(of, of)]
        return out


def _larger(M, C, counting):
    """M with its variances replaced by the larger ones of C and counting. Correlations
    are those of M."""
    larger, diagonal = np.maximum(np.diag(C), np.diag(counting)), np.diag(M)
    with np.errstate(invalid="ignore", divide="ignore"):
        grow = np.sqrt(np.maximum(1, np.nan_to_num(larger / diagonal, nan=1.0, posinf=1.0)))
    return M * np.outer(grow, grow)


def keep_errors(fit):
    """Store the errors of parameters that move spots, because later stages hold these
    parameters."""
    width, fit.F_width = fit.F_width, 0.0
    errors = _Errors(fit)
    fit.F_width = width
    fit.kept = errors.names, errors.all, errors.counting


def _root(variance):
    return math.sqrt(variance) if variance > 0 else None


def put_parameters(out, parameters, names, covariance, counting):
    """Set the parameters of a result, without rotations, from covariances of names."""
    for i, name in enumerate(names):
        if name in ROTATIONS:
            continue
        p = parameters[name]
        at_bound = parameters[p.tied].at_bound
        sigma = None if at_bound else _root(covariance[i, i])
        out.parameters[name] = Refined(p.start, p.value, sigma, None if sigma is None else _root(counting[i, i]), p.unit, at_bound)


def put_rotation(out, names, covariance, counting):
    """Set the covariances of the rotation, if it was refined."""
    at = [(ROTATIONS.index(name), i) for i, name in enumerate(names) if name in ROTATIONS]
    if not at:
        out.misset_deg = None
        return
    both = np.zeros((2, 3, 3))
    for axis, i in at:
        for other, k in at:
            both[:, axis, other] = covariance[i, k], counting[i, k]
    out.rotation_covariance_deg2 = both[0]
    out.rotation_sigma_deg, out.rotation_sigma_counting_deg = (
        tuple(math.sqrt(max(0, v)) for v in np.diag(M)) for M in both)


# --- pictures ---
def compare(out, counts, model, given, read):
    """Set deviances and correlations; given: model without scales; read: Fit.read."""
    out.pixels = len(counts)
    out.deviance_per_pixel, out.given_F_deviance_per_pixel = deviance(counts, model, read), deviance(counts, given, read)
    out.picture_correlation, out.given_F_correlation = pearson(counts, model), pearson(counts, given)


def measure(fit, out):
    """Set model and residuals of the picture, and figures of its chosen pixels."""
    p, model = fit.picture, fit.whole_model()
    given = model[fit.at].astype(float)
    if fit.scaled is not None:
        model[fit.at] = fit.scaled
    model = np.maximum(model, np.float32(LEAST_MODEL))
    compare(out, fit.counts, model[fit.at].astype(float), given, fit.read)
    residual = (p.photons - model) / np.sqrt(model + np.float32(fit.read or 0))
    used = np.zeros(p.n, dtype=bool)
    used[fit.at] = True
    planes = p.photons, model, residual, used, p.masked, p.stol
    out.observed, out.model, out.residual, out.used, out.mask, out.stol = (a.reshape(p.shape) for a in planes)
    out.before = None if fit.before is None else fit.before.reshape(p.shape)


def list_spots(fit, out):
    """List the brightest model pixels in boxes of 7 x 7, with the nearest reflections."""
    p, model, residual = fit.picture, out.model.ravel(), out.residual.ravel()
    at = np.flatnonzero(out.used.ravel() & np.isfinite(model))
    for half in (1, SPOT_HALF):  # the smaller box first, so that few pixels remain for the larger box
        at = at[_picture.tops(p.box(model, at, half))]
    at = at[np.lexsort((at, -model[at]))][:MAX_SPOTS]
    chi2 = p.box(residual, at, SPOT_HALF).astype(float)
    chi2 = np.where(np.isfinite(chi2), chi2, 0) ** 2
    _, hkl = _picture.places(fit.sim, at, np.full((len(at), 2), 0.5))
    fast = p.shape[1]
    out.spots = [{"hkl": [int(v) for v in hkl[i]], "pixel": [int(k % fast), int(k // fast)], "model": float(model[k]),
                  "observed": float(p.photons[k]), "chi2": float(chi2[i].sum())} for i, k in enumerate(at)]


# --- the verdict ---
def _full(fit):
    """Return (number of saturated pixels, number of them whose model is far too low)."""
    at = np.flatnonzero(~np.isnan(fit.picture.full))
    return len(at), int((fit.model(at) < FULL_PART * fit.picture.full[at]).sum()) if len(at) else 0


def _alike(fit):
    """Correlation of picture and model above the levels of rings, since backgrounds
    always agree."""
    level = fit.picture.radial().at(fit.picture.stol[fit.at])
    return pearson(fit.counts - level, fit.model() - level)


def _fault(fit, worst, full, out):
    """Reason for rejecting the fit, or ""."""
    for name, start, now in zip("abc", fit.start_edges, fit.edges()):
        if not abs(now / start - 1) <= MAX_CELL_CHANGE:
            return f"cell edge {name} went from {start * 1e10:.4g} to {now * 1e10:.4g} A, more than 10 %"
    alike = 1.0 if fit.agrees(AGREES_AT_END) else _alike(fit) if fit.moves(*ROTATIONS) else out.given_F_correlation
    if not alike >= LEAST_CORRELATION:
        return (f"the orientation was not found: of {out.peaks} spots the lattice explains {100 * out.agreement:.0f} % beyond "
                f"chance, and the correlation is {alike:.3f}")
    if full[0] and not (full[1] <= FULL_PART * full[0] and out.picture_correlation >= LEAST_BESIDE_FULL):
        return (f"saturated pixels: {full[0]} (model far too low: {full[1]}), correlation beside them "
                f"{out.picture_correlation:.3f} (least: {LEAST_BESIDE_FULL:g}); try other -Na -Nb -Nc or less light, or -mask "
                "hot pixels")
    if worst < TOLD_APART:
        return "at the end the picture does not tell the parameters apart"
    last = next((stage for stage in reversed(fit.stages) if not stage.dropped), fit.stages[-1])
    return "" if last.converged else f"the loss still fell after {last.evaluations} evaluations; raise -maxiter"


def conclude(fit):
    """Result of a finished fit."""
    out, errors = Result(), _Errors(fit)
    order = [i for turned in (False, True) for i, name in enumerate(errors.names) if (name in ROTATIONS) == turned]
    out.names, out.covariance = [errors.names[i] for i in order], errors.all[np.ix_(order, order)]
    put_parameters(out, fit.parameters, errors.names, errors.all, errors.counting)
    out.misset_deg = fit.sim.fold_rotation()
    put_rotation(out, errors.names, errors.all, errors.counting)
    full = _full(fit)
    measure(fit, out)
    list_spots(fit, out)
    out.F_sigma, out.peaks, out.agreement, out.masked = fit.F_width / 2, len(fit.peaks), fit.agreement(), _mask.summary(fit)
    fault = _fault(fit, errors.worst, full, out)
    out.status, out.converged = f"not converged: {fault}" if fault else "converged", not fault
    out.loss, out.evaluations, out.images = fit.loss, fit.evaluations, fit.images
    out.start_agreement, out.stages, out.history = fit.start_agreement, fit.stages, fit.history
    out.footprint, out.divergence = fit.trials.get("footprint"), fit.trials.get("divergence")
    return out
