# SPDX-License-Identifier: MIT
"""Mosaic tensors: images against blocks that numpy draws, and fits."""
import math
import os

import numpy as np
import pytest

import nanobragg
from nanobragg.refine import _parameters

BIG = bool(os.environ.get("NB_BIG"))
TENSOR = (0.5, 0.1, 1.2, 0.1, -0.3, 0.2)  # deg^2
SCENE = dict(default_F=100, cell=(50, 60, 70, 80, 95, 100), N=8, gauss_xtal=True, wavelength=1, detpixels=24, pixel=2, distance=60,
             oversample=2, misset=(10, 50, -20), osc=1, phisteps=2, phi=35, device="cpu", threads=1)


def matrix(tensor):
    return np.array(tensor)[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]


def moments(sims):
    """Mean and variance of the mean of the images."""
    images = np.array([sim.render() for sim in sims], float)
    return images.mean(0), images.var(0, ddof=1) / len(images)


@pytest.mark.parametrize("frame", ["crystal", "lab"])
def test_drawn_blocks(frame):
    """The mean image is that of 1e5 (short: 8,000) independent normal rotation vectors: chi-square of the pixels."""
    runs, domains = 40, 2500 if BIG else 200
    tensor = [nanobragg.Simulation(**SCENE, mosaic_tensor=TENSOR, mosaic_frame=frame, mosaic_domains=domains, mosaic_seed=i)
              for i in range(runs)]
    crystal, turn = tensor[0].config["crystal"], np.eye(3)
    if frame == "lab":  # blocks are about a*, c x a* and c
        a, c = (np.array(crystal[name]) / np.linalg.norm(crystal[name]) for name in ("a_star_per_A", "c_m"))
        turn = np.array([a, np.cross(c, a), c])
    rng = np.random.default_rng(5)
    vectors = rng.multivariate_normal(np.zeros(3), matrix(TENSOR), (runs, domains)) @ turn.T
    blocks = [nanobragg.Simulation(**SCENE, mosaic_blocks=x) for x in vectors]
    wide = [nanobragg.Simulation(**SCENE, mosaic_model="gauss", mosaic=0.77, mosaic_domains=domains, mosaic_seed=i) for i in range(runs)]
    (one, e1), (two, e2), (other, e3) = moments(tensor), moments(blocks), moments(wide)
    lit = one > 1e-3 * one.max()
    z, far = (one - two)[lit] ** 2 / (e1 + e2)[lit], (other - two)[lit] ** 2 / (e3 + e2)[lit]
    assert lit.sum() > 100 and 0.6 < z.mean() < 1.5 and z.max() < 25  # pixels of a spot are correlated
    assert far.mean() > 2  # an isotropic spread of the same r.m.s. is another image


def test_lab_is_crystal_turned():
    """A tensor about the lab's axes is the image of the tensor that is turned to the crystal's axes, for many domains."""
    words = dict(SCENE, mosaic_domains=3000)
    crystal = nanobragg.Simulation(**words).config["crystal"]
    a, c = (np.array(crystal[name]) / np.linalg.norm(crystal[name]) for name in ("a_star_per_A", "c_m"))
    R = np.array([a, np.cross(c, a), c])
    C = R @ matrix(TENSOR) @ R.T
    turned = [C[0, 0], C[1, 1], C[2, 2], C[0, 1], C[0, 2], C[1, 2]]
    lab, own, wrong = (nanobragg.Simulation(**words, **more).render().astype(float) for more in
                       (dict(mosaic_tensor=TENSOR, mosaic_frame="lab"), dict(mosaic_tensor=turned), dict(mosaic_tensor=TENSOR)))
    assert abs(lab - own).sum() < 0.1 * own.sum() < 0.3 * abs(wrong - own).sum()


NAMES = _parameters.TENSOR


def test_root_of_a_tensor():
    C = np.array(TENSOR)
    t = _parameters.root_of(C)
    value, slopes = _parameters.tensor_of(t)
    assert abs(value - C).max() < 1e-15
    for k, step in enumerate(1e-6 * np.eye(6)):
        difference = (_parameters.tensor_of(t + step)[0] - _parameters.tensor_of(t - step)[0]) / 2e-6
        assert abs(difference - slopes[:, k]).max() < 1e-8


def picture(number, osc, tensor=(0.02, 0.005, 0.03, 0.004, -0.006, 0.002)):
    """A still or rotation with counts, and the truth."""
    words = dict(default_F=100, cell=(60, 70, 80, 90, 90, 90), N=15, gauss_xtal=True, wavelength=1, detpixels=120, pixel=0.5, distance=90,
                 oversample=3, misset="random", seed=number, mosaic_domains=40, fluence=2e27, device="cpu", threads=2)
    sim = nanobragg.Simulation(**words, mosaic_tensor=tensor, **(dict(osc=osc, phisteps=4) if osc else {}))
    return sim, sim.noise(), np.array(tensor)


@pytest.mark.parametrize("osc", [0, 0.2])
def test_refined_tensors(osc):
    """Errors of fits from an isotropic start are 0.7 to 1.4 sigma (short: fewer pictures, 0.5 to 1.7)."""
    off = []
    for number in range(1, (11 if osc else 31) if BIG else 4):
        sim, counts, truth = picture(number, osc)
        sim.set(mosaic_tensor=(0.015, 0.015, 0.015, 0, 0, 0))
        found = nanobragg.refine(sim, counts, "mosaic_tensor,scale", schedule="none", F_sigma=0)
        off += [(found.parameters[name].value - true) / found.parameters[name].sigma for name, true in zip(NAMES, truth)]
    rms = math.sqrt(np.mean(np.square(off)))
    assert 0.7 < rms < 1.4 if BIG else 0.5 < rms < 1.7


def test_a_tensor_is_tried_after_an_isotropic_spread():
    """It stays if it gains enough: with a tensor in the picture, and not without it."""
    for tensor in ((0.02, 0.005, 0.03, 0.004, -0.006, 0.002), (0.02, 0.02, 0.02, 0, 0, 0)):
        sim, counts, truth = picture(2, 0, tensor)
        sim.set(mosaic_tensor=None, mosaic_model="gauss", mosaic=0.1)
        found = nanobragg.refine(sim, counts, "mosaic,scale", schedule="plain", F_sigma=0)
        if truth[3]:
            assert all(abs(found.parameters[name].value - true) < 5 * found.parameters[name].sigma for name, true in zip(NAMES, truth))
            assert sim.get("mosaic_tensor")
        else:
            assert "mosaic" in found.parameters and found.parameters["mosaic"].value == pytest.approx(math.sqrt(0.02), rel=0.05)
