# SPDX-License-Identifier: MIT
"""Minimise a loss by the Levenberg-Marquardt method with steps of Fisher scoring.

Damping follows actual and expected gain (H. B. Nielsen, IMM-REP-1999-05, DTU Lyngby).
"""
import typing

import numpy as np

RIDGE = 1e-14  # smaller eigenvalues count as 0, for columns scaled to 1
LEAST_GAIN, LEAST_PART = 1e-3, 1e-7  # stop if the gain is below this number or this fraction of the loss; then x moves by less than 0.05 sigma
FIRST_DAMPING, GROW = 1e-2, 10.0
MAX_RISE = 4.0
TOLD_APART = 1e-10  # least ratio of eigenvalues if variables can be distinguished


class Impossible(ValueError):
    """No model exists at these variables, so the step must be shorter."""


class Minimum(typing.NamedTuple):
    x: np.ndarray
    loss: float
    evaluations: int
    converged: bool


def scales(M):
    """1/sqrt of the diagonal; 0 for a zero diagonal."""
    diagonal = np.diag(M)
    return np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)), 0)


def invert(M):
    """(inverse, ratio of the smallest to the largest eigenvalue, vector of the smallest)
    of M, by M with columns scaled to 1.  Rows and columns of a zero diagonal become 0."""
    n, scale = len(M), scales(M)
    if n == 0:
        return M.copy(), 1.0, np.zeros(0)
    A = M * np.outer(scale, scale)
    np.fill_diagonal(A, 1)
    values, vectors = np.linalg.eigh(A)
    parts = vectors[:, values > RIDGE] / np.sqrt(values[values > RIDGE])
    return parts @ parts.T * np.outer(scale, scale), values[0] / values[-1], vectors[:, 0]


def largest(vector, names):
    """Names of the larger elements of a vector, as a text."""
    return ", ".join(name for name, part in zip(names, abs(vector)) if part > 0.1 * abs(vector).max())


def stepped(x, step, least):
    """x + step, at least `least`.  Impossible if a background level (x with finite least)
    rises over four times: slopes have no meaning there, even if the loss falls."""
    to = np.maximum(x + step, least)
    if (to > MAX_RISE * np.maximum(x, 1))[np.isfinite(least)].any():
        raise Impossible("a level of the background rises too far")
    return to


class Damping:
    """Damping, which shortens steps. It changes with the gains of the steps."""

    def __init__(self, first):
        self.value, self.grow = first, GROW

    def failed(self):
        self.value, self.grow = self.value * self.grow, 2 * self.grow

    def gained(self, part):
        """Record a step that gained this fraction of the expected gain."""
        self.value, self.grow = self.value * max(0.1, 1 - (2 * part - 1) ** 3), GROW


class _Point:
    """Point of the loss. The matrix is D V w V^T D; D [n] has the largest column norms so
    far, since otherwise a vanishing width takes long steps. Elements of x that would fall
    below `least` are held."""

    def __init__(self, calculate, x, floor, least, D=0.0):
        value, gradient, matrix = calculate(x)
        self.calculate, self.x, self.floor, self.least, self.loss = calculate, x, floor, least, float(value - floor)
        if not (self.loss >= 0 and np.isfinite(value) and np.isfinite(matrix).all() and np.isfinite(gradient).all()):
            raise Impossible("the loss is not finite")
        self.enough = max(LEAST_GAIN, LEAST_PART * self.loss)
        self.D = np.maximum(D, np.sqrt(np.maximum(np.diag(matrix), 0)))
        free = (self.D > 0) & ((x > least) | (gradient < 0))
        self.scale = np.where(free, 1 / np.where(free, self.D, 1), 0)
        self.w, self.V = np.linalg.eigh(matrix * np.outer(self.scale, self.scale))
        self.w[self.w <= TOLD_APART * self.w[-1]] = 0
        self.g = self.V.T @ (gradient * self.scale)
        self.g[self.w == 0] = 0

    def step(self, damping):
        """(step, gain that the slopes predict)."""
        q = self.g / np.where(self.w > 0, self.w + damping, 1)
        return -(self.V @ q) * self.scale, float(q @ (self.g - self.w * q / 2))

    def moved(self, step):
        return _Point(self.calculate, stepped(self.x, step, self.least), self.floor, self.least, self.D)


def descend(here, limit, first=FIRST_DAMPING):
    """Go from a point to the minimum: (point, evaluations, converged).  A point has loss,
    enough (least gain to continue), step(damping) -> (step, gain) and moved(step)."""
    damping, evaluations, done = Damping(first), 1, False
    while True:
        done = done or here.step(0.0)[1] < here.enough
        if done or evaluations >= limit:
            return here, evaluations, done
        step, gain = here.step(damping.value)
        evaluations += 1
        try:
            there = here.moved(step)
        except Impossible:
            there = None
        done = gain < here.enough  # converged: the step is hardly damped, or it is short and still fails
        if there and there.loss < here.loss:
            done = done and damping.value < FIRST_DAMPING
            damping.gained((here.loss - there.loss) / gain)
            here = there
        else:
            damping.failed()


def minimise(calculate, x, limit, floor=0.0, least=-np.inf):
    """Minimum from x [n].  calculate(x) -> (loss, gradient [n], Fisher matrix [n, n]) or
    Impossible.  floor: least loss; limit: evaluations; least: of x."""
    try:
        here = _Point(calculate, np.array(x, dtype=float), floor, least)
    except Impossible as why:
        raise ValueError(str(why).replace("the loss is not finite", "the start has no finite loss")) from None
    here, evaluations, done = descend(here, limit)
    return Minimum(here.x, here.loss + floor, evaluations, done)
