# SPDX-License-Identifier: MIT
"""Copies and pickles are separate simulations with the same values."""
import copy
import pickle

import numpy as np
import pytest

import nanobragg

SMALL = dict(cell=(70, 80, 90, 90, 90, 90), N=5, distance=100, detpixels=48, pixel=1.5, fluence=1e26, oversample=1,
             threads=1, device="cpu")
H = np.array([(h, k, l) for h in range(-9, 10) for k in range(-9, 10) for l in range(-9, 10)])
F = 50 + np.arange(len(H)) % 97 + 0.125
MASK = np.ones((48, 48), dtype=bool)
MASK[5:9] = False
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda sim: pickle.loads(pickle.dumps(sim))}


class Labelled(nanobragg.Simulation):
    label = None


@pytest.fixture(params=WAYS)
def duplicate(request):
    return WAYS[request.param]


def with_everything(kind=nanobragg.Simulation):
    sim = kind(**SMALL, hkl=(H, F), mask=MASK, sources=([1.0, 1.01], [1, 2]), misset=(1, 2, 3))
    sim.set(misset=(10, 20, 30), phi=0.5)
    sim.set_parameters({"rot_x": 0.1, "cell_a": 70.5, "shift_fast": 0.2})
    sim.fold_rotation()
    sim.set(distance=101, F=sim.factors()[1] * 1.5)
    sim.set_parameters({"rot_y": 0.2, "F:1:2:3": 500})
    return sim


def test_copy_renders_the_same_and_shares_nothing(duplicate):
    sim = with_everything(Labelled)
    sim.label = ["mine"]
    image = sim.render()
    other = duplicate(sim)
    assert type(other) is Labelled and other.label == ["mine"] and other is not sim
    assert np.array_equal(other.render(), image) and image.max() > 1 and not image[5:9].any()
    assert np.array_equal(other.noise(seed=3), sim.noise(seed=3))
    assert other.parameter("rot_y")["value"] == 0.2
    other.set(misset=(40, 50, 60))
    assert not np.array_equal(other.render(), image)
    assert np.array_equal(sim.noise(), sim.noise(image))  # noise() uses the last image
    assert np.array_equal(sim.render(), image)
    again = duplicate(duplicate(sim))
    assert np.array_equal(again.render(), image)


def test_copy_has_the_seed_that_the_clock_gave(duplicate):
    sim = nanobragg.Simulation(**SMALL, default_F=100, misset="random")
    other = duplicate(sim)
    assert other.seed == sim.seed and np.array_equal(other.render(), sim.render())
    assert np.array_equal(other.noise(), sim.noise())


def test_deepcopy_copies_more_and_copy_shares_it():
    sim = Labelled(**SMALL, default_F=100)
    sim.label = ["mine"]
    assert copy.copy(sim).label is sim.label and copy.deepcopy(sim).label is not sim.label


def test_history_does_not_grow_with_a_loop():
    sim = nanobragg.Simulation(**SMALL, default_F=100)
    for i in range(50):
        sim.set(misset=(i, 0, 0), wavelength=1 + i / 1000)
        sim.set_parameters({"rot_x": i / 100})
    assert len(pickle.dumps(sim)) < 2000


def test_file_is_read_again(tmp_path):
    path = tmp_path / "a.hkl"
    path.write_text("".join(f"{h} {k} {l} {f}\n" for (h, k, l), f in zip(H.tolist(), F.tolist())))
    sim = nanobragg.Simulation(**SMALL, hkl=path)
    data = pickle.dumps(sim)
    assert len(data) < 2000 and np.array_equal(pickle.loads(data).render(), sim.render())
    path.unlink()
    with pytest.raises(OSError, match="a.hkl"):
        pickle.loads(data)


def test_copy_says_nothing_twice(capfd):
    sim = nanobragg.Simulation(**SMALL, default_F=100)
    sim.set(mosaic_seed=5)
    capfd.readouterr()
    copy.copy(sim)
    assert capfd.readouterr().err.count("mosaic") <= 1  # printed before; copies are quiet
