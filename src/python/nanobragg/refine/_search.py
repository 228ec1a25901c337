# SPDX-License-Identifier: MIT
"""Searches that compare images of trial values, with fitted scale and flat background:
along N and mosaic spread, where fringes and few domains make many minima, or turns."""
import time

import numpy as np

from ._fit import LEAST_MODEL, deviance, pearson, square_of
from ._parameters import ROTATIONS

REACH, ROUNDS, STEPS = 18, 2, 4
CELLS_STEP, MOSAIC_STEP = 0.03, 0.12  # steps of ln N and ln spread in the first round
MAX_MOSAIC = 90  # deg; limit of -mosaic
GOOD_FIT = 1.03  # mean square of residuals/sigma; right fits have 1
LITTLE = 0.02  # a scale is good enough if the next step lowers the loss by less than this
ENOUGH = 8192  # pixels that decide the best of a row of trials
TURN, TURN_REACH, TURN_APART, TURN_PIXELS = 1.25, 6, 2.2, 16384  # step, deg; reach and least distance, steps; pixels


def some_pixels(fit, spots, limit):
    """Places of the chosen pixels, or of chosen pixels near spots.  Above `limit` pixels,
    only every second (third, ...) row."""
    at = fit.at
    if spots and fit.spots[at].any():
        at = at[fit.spots[at]]
    every = -(-len(at) // limit)
    some = at[at // fit.picture.shape[1] % every == 0] if every > 1 else at
    return some if len(some) else at


class Search:
    """Trials of the crystal at some pixels; photons [n]: counts, under (backgrounds)."""

    def __init__(self, fit, few):
        self.fit, self.began, self.images = fit, time.monotonic(), 0
        at = some_pixels(fit, few, ENOUGH if few else fit.picture.n)
        self.pixels, self.counts, self.under = fit.pixels(at), fit.picture.photons[at].astype(float), fit.under(at)
        self.rows = np.ones((2, len(at)))  # crystal and flat background
        self.scaled = fit.moves("fluence")
        self.read = fit.picture.sigma ** 2

    def draw(self):
        self.pixels.image(self.rows[0])

    def model(self, by):
        return np.maximum(by @ self.rows + self.under, LEAST_MODEL)

    def loss(self, by):
        """Loss with scale and flat background `by` [2]."""
        m, n = self.model(by), self.counts
        if self.fit.options.gauss:
            V = m + self.read
            return float(((n - m) ** 2 / V + np.log(V)).sum() / 2)
        return deviance(n, m, None) * len(n) / 2

    def sums(self, by):
        """Gradient [2] and Fisher matrix [2, 2] of the loss."""
        m, n = self.model(by), self.counts
        if self.fit.options.gauss:
            V = m + self.read
            slope, weight = -(n - m) / V + (1 - (n - m) ** 2 / V) / (2 * V), 1 / V + 1 / (2 * V * V)
        else:
            weight = 1 / m
            slope = 1 - n * weight
        return self.rows @ slope, (self.rows * weight) @ self.rows.T

    def first_scale(self):
        """Scale by least squares, weighted by the counts."""
        w = self.rows[0] / np.maximum(self.counts + self.read, 1)
        a, b = w @ (self.counts - self.under), w @ self.rows[0]
        return a / b if a > 0 and b > 0 else 1.0

    def fit_scale(self):
        """(loss, scale) with the best scale and flat background."""
        by = np.array([self.first_scale() if self.scaled else 1.0, 0.0])
        for _ in range(STEPS):
            g, F = self.sums(by)
            if not self.scaled:
                g[0] = F[0, 1] = F[1, 0] = 0
            if not F[0, 0] * F[1, 1] > F[0, 1] ** 2:
                break
            step = -np.linalg.solve(F, g)
            by = np.array([min(max(by[0] + step[0], by[0] / 4), 4 * by[0]), by[1] + step[1]])
            if -(g @ step) < LITTLE:
                break
        return self.loss(by), by[0]

    def along(self, name, step):
        """Search along a parameter; keep the best value with its scale."""
        fit, p = self.fit, self.fit.parameters.get(name)
        if p is None or p.fixed:
            return
        best = None
        for value in p.value * np.exp(step * np.arange(-REACH, REACH + 1)):
            if (p.map == "cells" and value <= 1) or (name == "mosaic" and value > MAX_MOSAIC) or (
                    p.map == "bounded" and not p.low < value < p.high):
                continue
            fit.sim.set_parameters([name], [float(value)])
            self.draw()
            self.images += 1
            loss, scale = self.fit_scale()
            fit.alive(f"search along {name}", self.images, loss)
            if best is None or loss < best[0]:
                best = loss, scale, float(value)
        if best is None:
            return
        p.value = best[2]
        if self.scaled and fit.parameters["fluence"].map != "bounded":
            fit.parameters["fluence"].value *= best[1]
        fit.apply()

    def all(self):
        """Search along all parameters, twice; the second round begins with the spread."""
        names = ["N_a", "N_b", "N_c", "mosaic"]
        for k in range(ROUNDS):
            for name in names[-k:] + names[:-k] if k else names:
                self.along(name, (MOSAIC_STEP if name == "mosaic" else CELLS_STEP) / 2 ** k)
        self.draw()

    def end(self, name):
        self.fit.images += self.images
        if self.images:
            self.fit.note(name, self.images, self.fit_scale()[0], True, self.began, len(self.counts))


def search(fit):
    """Search N_a, N_b, N_c and mosaic spread, by images of the pixels near spots."""
    if fit.moves("mosaic"):
        fit.parameters["mosaic"].value = fit.start_mosaic
    fit.apply()
    one = Search(fit, few=True)
    one.all()
    one.end("search")


def search_again(fit):
    """Search from a finished fit if residuals exceed the noise; True if it searched."""
    one = Search(fit, few=False)
    one.draw()
    if square_of(one.counts, one.rows[0] + one.under, fit.read) > GOOD_FIT:
        one.all()
    one.end("search again")
    return one.images > 0


def _allowed(fit, turn):
    """True if the fit may turn the crystal by `turn`, deg."""
    for axis, by in zip(ROTATIONS, turn):
        p = fit.parameters.get(axis)
        if by and (p is None or p.fixed or (p.map == "bounded" and not p.low < by < p.high)):
            return False
    return True


def orientations(fit, wanted):
    """Best turns of a blurred crystal, deg, the best first, well apart.  A fit finds
    it from 1 or 2 deg off; spots of 3 cells at d = 0.07 edges are 1.2 deg wide."""
    began, at = time.monotonic(), some_pixels(fit, False, TURN_PIXELS)
    pixels, counts = fit.pixels(at), np.sqrt(np.maximum(fit.picture.photons[at].astype(float), 0))
    line, image, tried = np.arange(-TURN_REACH, TURN_REACH + 1), np.empty(pixels.n), []
    grid = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3)
    for turn in TURN * grid[(grid ** 2).sum(axis=1) <= TURN_REACH ** 2]:
        if _allowed(fit, turn):
            fit.sim.set_parameters(list(ROTATIONS), turn.tolist())
            pixels.image(image)
            fit.alive("orientations", len(tried), 0.0)
            tried.append((pearson(counts, np.sqrt(np.maximum(image, 0))), turn))  # roots: less weight for strong spots
    fit.sim.set_parameters(list(ROTATIONS), [0.0, 0.0, 0.0])
    best = []
    for _, turn in sorted(tried, key=lambda one: -one[0]):
        if len(best) < wanted and all(np.linalg.norm(turn - other) >= TURN_APART * TURN for other in best):
            best.append(turn)
    fit.images += len(tried)
    fit.note("orientations", len(tried), 0.0, True, began, len(counts))
    return best
