# SPDX-License-Identifier: MIT
"""Fits in Python: minimiser, variables, and starts with background or few photons."""
import copy
import math

import numpy as np
import pytest

import nanobragg
from nanobragg.refine import _minimise, _parameters, _picture

STILL = dict(default_F=100, N=20, gauss_xtal=True, wavelength=1.0, detpixels=200, pixel=0.4, distance=120, oversample=4, seed=1,
             cell=(70, 80, 90, 90, 90, 90))


def poisson(t):
    """Loss of a fit of two exponentials (t: ln amplitude, ln rate), and its value at t."""
    x = np.linspace(0, 3, 40)
    counts = np.random.default_rng(3).poisson(50 * np.exp(-1.5 * x) + 20 * np.exp(-0.2 * x))

    def loss(t):
        parts = [np.exp(t[i] - np.exp(t[i + 1]) * x) for i in (0, 2)]
        m = parts[0] + parts[1]
        rows = np.stack([p * s for i, p in ((0, parts[0]), (2, parts[1])) for s in (1, -np.exp(t[i + 1]) * x)])
        value = float(np.sum(m - counts + counts * np.log(np.maximum(counts, 1) / m)))
        return value, rows @ (1 - counts / m), rows / m @ rows.T

    return loss, loss(t)


def test_minimum_of_a_quadratic_loss_takes_few_steps():
    A, x = np.array([[4.0, 1], [1, 9]]), np.array([1.0, -2])
    found = _minimise.minimise(lambda t: (1 + (t - x) @ A @ (t - x) / 2, A @ (t - x), A), [0.5, 0.5], 20)
    assert found.converged and found.evaluations <= 4 and abs(found.x - x).max() < 1e-3 and found.loss == pytest.approx(1, abs=1e-3)
    found = _minimise.minimise(lambda t: ((t - x) @ A @ (t - x) / 2, A @ (t - x), A), [0.5, 0.5], 20, least=np.array([-9.0, 0]))
    assert found.converged and found.evaluations <= 6 and abs(found.x - (0.5, 0)).max() < 0.03


def test_minimum_of_counts_from_far_off():
    loss, _ = poisson(np.zeros(4))
    found = _minimise.minimise(loss, np.log([30.0, 3.0, 30.0, 0.4]), 100)
    gradient, matrix = loss(found.x)[1:]
    assert found.converged and found.evaluations < 40 and gradient @ np.linalg.solve(matrix, gradient) < 1e-2 and 10 < found.loss < 35


def test_impossible_points_shorten_the_step():
    def loss(t):
        if t[0] > 1.5:
            raise _minimise.Impossible("too far")
        return (t[0] - 1) ** 2 / 2, t - 1, np.array([[0.3]])  # the matrix is 0.3 where 1 is right, so steps are too long

    found = _minimise.minimise(loss, [0.0], 60)
    assert found.converged and abs(found.x[0] - 1) < 0.05
    with pytest.raises(ValueError, match="too far"):
        _minimise.minimise(loss, [2.0], 60)


def test_inverse_leaves_empty_columns_out_and_tells_what_is_not_told_apart():
    M = np.zeros((3, 3))
    M[:2, :2] = [[4, 2], [2, 9]]
    inverse, worst, _ = _minimise.invert(M)
    assert np.allclose(inverse[:2, :2], np.linalg.inv(M[:2, :2])) and not inverse[2].any()
    v = np.array([1.0, 1, 0.5])
    assert _minimise.invert(np.outer(v, v) + np.diag([1e-13, 0, 1]))[1] < _minimise.TOLD_APART < worst


@pytest.mark.parametrize("kind, value", [("linear", 3.0), ("log", 0.2), ("cells", 7.5), ("bounded", 2.5)])
def test_variables_have_the_slopes_of_their_values(kind, value):
    p = _parameters.Parameter("p", "", value, value, kind, tied="p", low=2, high=5)
    t, step = p.variable(), 1e-6
    assert p.of(t)[0] == pytest.approx(value)
    assert (p.of(t + step)[0] - p.of(t - step)[0]) / (2 * step) == pytest.approx(p.of(t)[1], rel=1e-6)


def test_counts_far_above_their_level_by_chance():
    """A normal law's bound exp(-sigma^2/2) also bounds the tail of Poisson's law."""
    for level, n in ((0.01, 3), (0.3, 8), (20, 60)):
        tail = 1 - sum(math.exp(-level) * level ** k / math.factorial(k) for k in range(n))
        sigma = _picture.excess_sigma(np.array([float(n)]), np.array([level]), 0)[0]
        assert tail <= math.exp(-sigma ** 2 / 2) and tail > math.exp(-sigma ** 2 / 2) / 60
    assert _picture.excess_sigma(np.array([2.0]), np.array([0.02]), 0)[0] < 6  # this happens in one of 5000 pixels


def fit(truth, start, **options):
    counts = nanobragg.Simulation(**STILL, **truth).noise(dtype=np.int32).astype(np.float32)
    sim = nanobragg.Simulation(**STILL, **{**truth, **start})
    return nanobragg.refine(sim, counts, "rot,scale,N", F_sigma=0, schedule="plain", mask="file", **options)


def test_few_photons_keep_a_right_start():
    found = fit(dict(fluence=6e24, water=0.1, misset=(10, 20, 30)), {})
    assert found.converged and found.start_agreement > 0.9 and found.stages[0].name == "true shape"
    assert np.median(found.observed) == 0 and abs(np.array(found.misset_deg) - (10, 20, 30)).max() < 0.1


def test_a_background_is_no_sign_of_an_orientation():
    truth = dict(fluence=2e24, water=2.0, misset=(10, 20, 30))
    found = fit(truth, dict(misset=(40, -20, 5)), evaluations=5)
    assert not found.converged and "orientation" in found.status and found.given_F_correlation > 0.7


def test_a_background_in_the_start_leaves_the_pixels_of_spots():
    scene = dict(fluence=2e16, background="water:1", beamsize=0.1, blocks=1e9, misset=(10, 20, 30))
    found = fit(scene, dict(misset=(10.1, 20, 30)))
    assert found.converged and found.pixels < 0.7 * found.used.size and found.evaluations < 20
    assert abs(np.array(found.misset_deg) - (10, 20, 30)).max() < 0.03


def test_a_picture_has_the_gaps_between_its_panels(tmp_path):
    """An image with the file's gap between panels gives the same fit as their stack."""
    text = "photon_energy = 12398.42\nclen = 0.1\nres = 2500\n"
    for k, (x, ss) in enumerate(((-52, 0), (2, 60))):
        text += (f"p{k}/fs = 1x\np{k}/ss = 1y\np{k}/corner_x = {x}\np{k}/corner_y = -25\np{k}/min_fs = 0\np{k}/max_fs = 49\n"
                 f"p{k}/min_ss = {ss}\np{k}/max_ss = {ss + 49}\n")
    (tmp_path / "two.geom").write_text(text)
    sim = nanobragg.Simulation(**{k: STILL[k] for k in ("default_F", "N", "gauss_xtal", "oversample", "cell", "seed")},
                               geom=tmp_path / "two.geom", fluence=1e26, water=0.2, misset=(10, 20, 30))
    stack = sim.noise(dtype=np.int32).astype(np.float32)
    file = np.full((110, 50), np.nan, dtype=np.float32)
    file[:50], file[60:] = stack[:50], stack[50:]
    a, b = (nanobragg.refine(copy.copy(sim), picture, "rot,scale", schedule="none") for picture in (stack, file))
    assert a.converged and a.values == b.values and np.array_equal(a.observed, b.observed)


def test_too_few_samples_are_said(caplog):
    caplog.set_level("INFO", "nanobragg")
    sim = nanobragg.Simulation(**{**STILL, "oversample": 1}, fluence=1e25, water=0.2)
    nanobragg.refine(sim, sim.noise(), "scale,N", schedule="none", evaluations=1)
    assert "too coarse for a fit of cells" in caplog.text


def test_results_and_schedules_of_ones_own(tmp_path):
    sim = nanobragg.Simulation(**STILL, fluence=1e25, water=0.2, misset=(10, 20, 30))
    counts, told = sim.noise(), []

    def alone(one):
        one.stage("scale", {"fluence"}, evaluations=5)

    found = nanobragg.refine(sim, counts, "rot,scale", told.append, schedule=[alone, *nanobragg.refine.NONE],
                             report=tmp_path / "fit.html")
    assert "<html" in (tmp_path / "fit.html").read_text() and found.before.shape == sim.shape
    assert [s.name for s in found.stages] == [s.name for s in told] and told[0].name == "scale"
    assert found.names == ["fluence", "rot_x", "rot_y", "rot_z"] and found.model.shape == sim.shape
    assert found.sigmas["fluence"] ** 2 == pytest.approx(found.covariance[0, 0]) and "misset_deg" in found.to_dict()
    assert sim.parameter("fluence")["value"] == found.values["fluence"]
    with pytest.raises(ValueError, match="moves no pixel"):
        nanobragg.refine(sim, counts, "polar,scale,mosaic")


def test_a_width_that_vanishes_takes_no_long_steps():
    """The first column of J is the width, which goes to 0."""
    def loss(t):
        width = np.exp(t[0])
        rows, J = np.array([2 + width, t[1] - 3]), np.array([[width, 0], [0, 1]])
        return float(rows @ rows / 2), J.T @ rows, J.T @ J

    found = _minimise.minimise(loss, [0.0, 0.0], 100)
    assert found.converged and -100 < found.x[0] < -5 and abs(found.x[1] - 3) < 0.05


def test_a_fit_ends_where_no_step_lowers_the_loss():
    found = _minimise.minimise(lambda t: (float(abs(t[0] - 1)) + 1, np.array([np.sign(t[0] - 1)]), np.eye(1)), [1.0 + 1e-9], 40)
    assert found.converged and found.evaluations < 10
