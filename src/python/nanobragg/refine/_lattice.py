# SPDX-License-Identifier: MIT
"""Check if the lattice of the crystal explains the positions of spots in the picture.
Intensities do not count, so poor structure factors cannot hide a right orientation."""
import numpy as np

ENOUGH = 12  # peaks for a verdict on an orientation
AGREES = 0.5  # least agreement of a start near the truth
AGREES_AT_END = 0.3  # the same at the end of a fit, with poor F
NEAR_INDEX, SIGNIFICANT = 0.2, 6  # a peak is indexed if each index is this near to a whole number; least sigma above chance
GRID, GRID_STEP, GRID_PEAKS = 20, 0.375, 150  # trial rotations: number of steps to each side; step, deg; number of compared peaks
GRID_REACH = 0.3  # largest change of an index by a step of the grid
WIDE, KEPT, ROUNDS = 0.35, 5, 8  # largest index error of fitted peaks; number of rotations that are refined; number of steps


def rotation(turn):
    """Matrices [..., 3, 3] of rotation vectors [..., 3], rad."""
    turn = np.asarray(turn, dtype=float)
    angle = np.linalg.norm(turn, axis=-1)[..., None, None]
    K = np.cross(np.eye(3), turn[..., None, :])
    safe = np.where(angle > 0, angle, 1)
    return np.eye(3) + np.sin(angle) / safe * K + (1 - np.cos(angle)) / safe ** 2 * (K @ K)


# Rotations to wrong orientations.
WRONG = rotation([(0.3 * x, 0.35 * y, 0.25 * z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])


def vector(R):
    """Rotation vector of a matrix, rad."""
    twice = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = np.linalg.norm(twice) / 2, (np.trace(R) - 1) / 2
    return np.arctan2(sine, cosine) / (2 * sine) * twice if sine > 0 else np.zeros(3)


def steps(sim):
    """Cells [n, 3, 3] (rows a, b, c, m) without mosaic at some spindle steps."""
    return np.frombuffer(sim.crystal()["steps"]).reshape(-1, 3, 3)


def index_error(cells, q):
    """Distance of q [n, 3] (1/m) to a reflection, on the worst axis, at the best step."""
    least = np.ones(len(q))
    for cell in cells:
        h = q @ cell.T
        least = np.minimum(least, abs(h - np.rint(h)).max(axis=1))
    return least


def _indexed(cells, q):
    return (index_error(cells, q) < NEAR_INDEX).sum() / max(1, len(q))


def agreement(sim, q):
    """Part of the peaks q [n, 3] that the lattice indexes to 0.2, above chance: 1 for all
    peaks, 0 if wrong orientations index as many."""
    cells = steps(sim)
    f = _indexed(cells, q)
    p = np.mean([_indexed(cells @ turn.T, q) for turn in WRONG])
    sigma = np.sqrt(max(p * (1 - p), 0.01) / max(1, len(q)))
    return float((f - p) / (1 - p)) if f - p > SIGNIFICANT * sigma else 0.0


def _scores(cells, q):
    """Scores [t]: how well the turned cells [t, 3, 3] index q [n, 3]."""
    h = cells @ q.T
    h -= np.rint(h)
    left = np.maximum(1 - np.einsum("tin,tin->tn", h, h) / WIDE ** 2, 0)
    return (left * left).sum(axis=1)


def _grid():
    """Trial rotations about the lab axes, rad: [n, 3]."""
    line = np.arange(-GRID, GRID + 1)
    all_ = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3)
    return np.radians(GRID_STEP) * all_[(all_ ** 2).sum(axis=1) <= GRID * GRID]


def _settle(cell, q):
    """Rotation by least squares over nearly indexed peaks. A rotation vector changes h by
    its product with a x q."""
    h = q @ cell.T
    d = h - np.rint(h)
    near = (d * d).sum(axis=1) <= WIDE ** 2
    rows = np.cross(cell[None, :, :], q[near][:, None, :]).reshape(-1, 3)
    A = rows.T @ rows
    return rotation(-np.linalg.solve(A, rows.T @ d[near].ravel())) if np.linalg.det(A) > 0 else np.eye(3)


def index(sim, q):
    """Rotation from the present orientation, of 7.5 deg or less, that gives the best
    agreement; deg. None with few peaks or several spindle steps."""
    cells = steps(sim)
    if len(q) < ENOUGH or len(cells) != 1:
        return None
    cell = cells[0]
    longest = np.linalg.norm(cell, axis=1).max()
    strong = q[np.linalg.norm(q, axis=1) < GRID_REACH / (longest * np.radians(GRID_STEP))][:GRID_PEAKS]
    if len(strong) < ENOUGH:
        return None
    grid = _grid()
    turns = rotation(grid)
    scores = np.concatenate([_scores(cell @ np.swapaxes(turns[i:i + 1024], 1, 2), strong) for i in range(0, len(turns), 1024)])
    best = (-1.0, np.eye(3))
    for k in np.argsort(-scores, kind="stable")[:KEPT]:
        turn = turns[k]
        for _ in range(ROUNDS):
            turn = _settle(cell @ turn.T, q) @ turn
        found = _indexed([cell @ turn.T], q)
        best = max(best, (found, turn), key=lambda one: one[0])
    return np.degrees(vector(best[1]))
