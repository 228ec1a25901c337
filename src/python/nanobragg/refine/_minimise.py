# SPDX-License-Identifier: MIT
"""Minimise a loss by the method of Levenberg and Marquardt in steps of Fisher scoring.

The rules for the length of a step are those of MINPACK's lmder (J. J. More, in Lecture Notes in Mathematics 630, 1978).
With M = R^T R and y = R^-T G, the rows (y, rho) have the squared norm 2 loss, the gradient G and the matrix M.
"""
import typing

import numpy as np

FACTOR, FTOL, XTOL = 100, 1e-7, 1e-7
RIDGE = 1e-14  # eigenvalues of a matrix with columns scaled to 1 that count as 0
LEAST_GAIN = 1e-3  # of the loss: a step to its minimum would move no variable by more than 0.05 sigma
NOWHERE = 1e150  # norm of the rows of a point that is not possible
TOLD_APART = 1e-10  # smallest eigenvalue over the largest: the variables are told apart


class Impossible(ValueError):
    """The variables have no model here: the step is made shorter."""


class Minimum(typing.NamedTuple):
    x: np.ndarray
    loss: float
    evaluations: int
    converged: bool


class Point(typing.NamedTuple):
    """Where the loss was calculated, as rows of least squares."""

    x: np.ndarray  # [n]
    norm: float  # of the rows: sqrt(2 loss)
    gradient: np.ndarray  # [n]
    matrix: np.ndarray  # [n, n]


def scales(M):
    """1/sqrt of the diagonal; 0 where there is nothing."""
    diagonal = np.diag(M)
    return np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)), 0)


def invert(M):
    """The inverse by eigenvalues of the matrix with columns scaled to 1, the smallest of these over the largest, and its
    vector.  Rows and columns of a zero diagonal become 0."""
    n, scale = len(M), scales(M)
    if n == 0:
        return M.copy(), 1.0, np.zeros(0)
    A = M * np.outer(scale, scale)
    np.fill_diagonal(A, 1)
    values, vectors = np.linalg.eigh(A)
    parts = vectors[:, values > RIDGE] / np.sqrt(values[values > RIDGE])
    return parts @ parts.T * np.outer(scale, scale), values[0] / values[-1], vectors[:, 0]


class _Steps:
    """Steps from a point by the damping: with D^-1 M D^-1 = V w V^T, D p = -V (V^T D^-1 G)/(w + damping)."""

    def __init__(self, point, D):
        self.D = D
        self.w, self.V = np.linalg.eigh(point.matrix / np.outer(D, D))
        self.w = np.where(self.w > RIDGE * max(self.w[-1], 0), self.w, 0)
        self.g = self.V.T @ (point.gradient / D)
        self.g[self.w == 0] = 0
        length = np.sqrt(2 * self.possible())
        if length > point.norm:  # G^T M^-1 G is more than 2 loss: the rows keep their norm
            self.g *= point.norm / length

    def possible(self):
        """What a step to the minimum would gain, by the slopes."""
        return np.linalg.norm(self.parts(0)[0] * np.sqrt(self.w)) ** 2 / 2

    def parts(self, damping):
        """The step D p along the eigenvectors, and what is divided by."""
        below = self.w + damping
        below[self.w == 0] = 1
        return self.g / below, below

    def to(self, radius, damping):
        """A step with |D p| within a tenth of the radius, or the whole one; (p, D p along the eigenvectors, damping)."""
        q, below = self.parts(0)
        miss = np.linalg.norm(q) - radius
        if miss <= 0.1 * radius:
            return self._step(q), q, 0.0
        slope = (q @ (q / below)) / np.linalg.norm(q)
        low = miss / radius * np.linalg.norm(q) / slope if (self.w > 0).all() else 0.0
        high = np.linalg.norm(self.g) / radius or np.finfo(float).tiny / min(radius, 0.1)
        damping = min(max(damping, low), high) or np.linalg.norm(self.g) / np.linalg.norm(q)
        for _ in range(10):
            damping = damping or max(np.finfo(float).tiny, 0.001 * high)
            q, below = self.parts(damping)
            length = np.linalg.norm(q)
            before, miss = miss, length - radius
            if abs(miss) <= 0.1 * radius or (low == 0 and miss <= before < 0):
                break
            slope = (q @ (q / below)) / length
            low, high = (max(low, damping), high) if miss > 0 else (low, min(high, damping))
            damping = max(low, damping + miss / radius * length / slope)
        return self._step(q), q, damping

    def _step(self, q):
        return -(self.V @ q) / self.D

    def gain(self, q, damping, norm):
        """(part of the squared norm that the model of the loss says, its slope along the step)."""
        linear = q @ (self.w * q) / norm ** 2
        damped = damping * (q @ q) / norm ** 2
        return linear + 2 * damped, -(linear + damped)


def _point(loss, x, floor):
    value, gradient, matrix = loss(x)
    value -= floor
    if not (value >= 0 and np.isfinite(value) and np.isfinite(matrix).all() and np.isfinite(gradient).all()):
        raise Impossible("the loss is not finite")
    return Point(x, np.sqrt(2 * value), gradient, matrix)


class _Walk:
    """The state of lmder between two evaluations."""

    def __init__(self, loss, x, floor):
        self.loss, self.floor = loss, floor
        try:
            self.here = _point(loss, np.array(x, dtype=float), floor)
        except Impossible as why:
            raise ValueError(str(why).replace("the loss is not finite", "the start has no finite loss")) from None
        self.evaluations, self.damping, self.first = 1, 0.0, True
        self.D = self._columns()
        self.D[self.D == 0] = 1
        self.length = np.linalg.norm(self.D * self.here.x)
        self.radius = FACTOR * self.length or FACTOR

    def _columns(self):
        return np.sqrt(np.maximum(np.diag(self.here.matrix), 0))

    def evaluate(self, x):
        self.evaluations += 1
        try:
            return _point(self.loss, x, self.floor)
        except Impossible:
            return None

    def resize(self, ratio, actual, slope, length):
        """The radius after a step of this length, by what it gained over what it should."""
        if ratio <= 0.25:
            part = 0.5 if actual >= 0 else 0.5 * slope / (slope + 0.5 * actual)
            if self.there_norm * 0.1 >= self.here.norm or part < 0.1:
                part = 0.1
            self.radius = part * min(self.radius, length / 0.1)
            self.damping /= part
        elif self.damping == 0 or ratio >= 0.75:
            self.radius = length / 0.5
            self.damping *= 0.5

    def step(self, steps):
        """One trial; returns whether it was taken, and whether the fit is at its end."""
        p, q, self.damping = steps.to(self.radius, self.damping)
        length = np.linalg.norm(q)
        if self.first:
            self.radius, self.first = min(self.radius, length), False
        there = self.evaluate(self.here.x + p)
        norm = self.here.norm
        self.there_norm = there.norm if there else NOWHERE
        actual = 1 - (self.there_norm / norm) ** 2 if 0.1 * self.there_norm < norm else -1.0
        wanted, slope = steps.gain(q, self.damping, norm)
        ratio = actual / wanted if wanted else 0.0
        self.resize(ratio, actual, slope, length)
        taken = ratio >= 1e-4
        if taken:
            self.here = there
            self.length = np.linalg.norm(self.D * there.x)
        tiny = np.finfo(float).eps
        done = (abs(actual) <= FTOL and wanted <= FTOL and ratio <= 2) or self.radius <= XTOL * self.length
        return taken, done or (abs(actual) <= tiny and wanted <= tiny) or self.radius <= tiny * self.length


def minimise(loss, x, most, floor=0.0):
    """The minimum from x [n].  loss(x) -> (loss, gradient [n], Fisher matrix [n, n]), or Impossible; it is nowhere below
    `floor`.  most: evaluations."""
    walk = _Walk(loss, x, floor)
    done = walk.here.norm == 0
    while not done and walk.evaluations < most:
        walk.D = np.maximum(walk.D, walk._columns())
        steps, taken = _Steps(walk.here, walk.D), False
        if not steps.g.any():
            done = True
        while not (taken or done) and walk.evaluations < most:
            taken, done = walk.step(steps)
    done = done or _Steps(walk.here, walk.D).possible() < LEAST_GAIN
    return Minimum(walk.here.x, walk.here.norm ** 2 / 2 + floor, walk.evaluations, bool(done))
