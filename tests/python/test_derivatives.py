# SPDX-License-Identifier: MIT
"""Derivatives and gradients equal those of the program's files, and differences of
images; wrong arguments raise errors."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import nanobragg

PROGRAM = os.environ["NANOBRAGG"]
SMALL = dict(cell=(70, 80, 90, 90, 90, 90), N=6, default_F=100, wavelength=1.0, distance=100,
             detpixels=32, misset=(10, 20, 30), fluence=1e26, oversample=1)
FLAGS = ("-cell 70 80 90 90 90 90 -N 6 -default_F 100 -lambda 1 -distance 100 -detpixels 32 "
         "-misset 10 20 30 -fluence 1e26 -oversample 1 -noint -nopgm -nonoise").split()
NAMES = ["misset_x", "misset_y", "misset_z", "cell_a", "cell_b", "cell_c", "cell_al", "cell_be",
         "cell_ga", "N_a", "N_b", "N_c", "distance", "lambda", "fluence"]


def program(folder, *flags):
    subprocess.run([PROGRAM, *FLAGS, *flags], cwd=folder, capture_output=True, check=True)


def test_planes_are_the_programs(tmp_path):
    program(tmp_path, "-derivatives", ",".join(NAMES), "-derivfile", "d.f32", "-nofloat")
    planes = np.fromfile(tmp_path / "d.f32", dtype=np.float32).reshape(len(NAMES), 32, 32)
    J = nanobragg.Simulation(**SMALL).derivatives(NAMES)
    assert list(J) == NAMES
    for name, plane in zip(NAMES, planes):
        assert J[name].dtype == np.float32 and np.array_equal(J[name], plane), name
        assert np.isfinite(plane).all() and plane.any(), name


def check_differences(sim, steps, limit=1e-3):
    """Compare slopes with differences of images in double precision, of fourth order."""
    J = sim.derivatives(list(steps), dtype=np.float64)
    for name, step in steps.items():
        value = sim.parameter(name)["value"]
        images = []
        for k in (1, -1, 2, -2):
            sim.set_parameters({name: value + k * step})
            fluence = sim.derivatives(["fluence"], dtype=np.float64)["fluence"]
            images.append(fluence * sim.parameter("fluence")["value"])
        sim.set_parameters({name: value})
        difference = (8 * (images[0] - images[1]) - images[2] + images[3]) / (12 * step)
        assert abs(difference - J[name]).max() < limit * abs(J[name]).max(), name


LATTICES = {
    "lines": dict(crystals=[{}, {"N": 4}, {"cell": [71, 81, 91, 89, 91, 92]}, {"misset": [1, 2, 3], "mosaic": 0.5}], mosaic=0.2, mosaic_domains=3, mosaic_model="uniform"),
    "random": dict(crystals=8, crystal_volume=2e-3),
    "merohedral": dict(cell=(70, 70, 90, 90, 90, 90), twin="k,h,-l:0.3", crystals=2),
    "pseudo": dict(cell=(70, 70.5, 90, 90, 90, 90), twin="k,h,-l:0.3;-h,-k,l:0.2", osc=0.2, phisteps=2),
    "filters": dict(crystals=2, twin="k,h,-l:0.3", footprint="gauss:0.2:0.3:20", gauss_xtal=True, water=1, psf="gauss", psf_fwhm=300),
    "absorbed": dict(crystals=2, absorb="sphere:100", absorb_mu=5, background="water:0.05", beamsize=0.1, crystal_volume=1e-3, fluence=1e20),
}


@pytest.mark.parametrize("name", LATTICES)
def test_several_lattices(name, tmp_path):
    """The slopes are the limit of differences with set_parameters, and those of a flag also
    of its typed value; gradients are their sums with the loss."""
    flags = dict(LATTICES[name])
    if name == "filters":
        np.random.default_rng(2).uniform(0.2, 1, (32, 32)).astype(np.float32).tofile(tmp_path / "t.bin")
        flags["transmission"] = str(tmp_path / "t.bin")
    scene = {**SMALL, "seed": 3, "precision": "double", **flags}
    sim = nanobragg.Simulation(**scene)
    steps = {"misset_x": 2e-4, "rot_y": 2e-4, "cell_a": 1e-3, "cell_ga": 1e-3, "N_b": 1e-3, "distance": 1e-3, "lambda": 1e-5, "fluence": 1e22}
    steps.update({"mosaic": 1e-3} if "mosaic" in flags else {})
    if "absorb" in flags:  # factors of absorption depend on both
        del steps["distance"], steps["lambda"]
        steps["fluence"] = 1e16
    check_differences(sim, steps, 1e-3 if name in ("filters", "absorbed") else 2e-6)  # the background of these scenes has few correct digits
    J = sim.derivatives(list(steps), dtype=np.float64)
    loss = np.random.default_rng(1).normal(size=(32, 32))
    for key, value in sim.pullback(loss, list(steps)).items():
        assert value == pytest.approx((J[key] * loss).sum(), rel=1e-9), key
    typed = nanobragg.Simulation(**{**scene, "N": (6, 6.001, 6)})
    sim.set_parameters({"N_b": 6.001})
    assert np.allclose(sim.render(), typed.render(), rtol=1e-6)


def test_several_lattices_have_no_slope_of_F(tmp_path):
    (tmp_path / "f.hkl").write_text("0 0 1 10\n1 0 0 20\n")
    sim = nanobragg.Simulation(**SMALL, hkl=str(tmp_path / "f.hkl"), crystals=2)
    for name in ("F:0:0:1", "default_F"):
        with pytest.raises(ValueError, match="several lattices"):
            sim.derivatives([name])
    with pytest.raises(ValueError, match="several lattices"):
        sim.pullback(np.ones((32, 32)), ["F"])


@pytest.mark.parametrize("size", [{"blocks": 1e9}, {"crystal_volume": 464000}])
def test_a_crystal_clipped_to_the_beam(size):
    """With -blocks the volume of the crystal, and so its fraction in the beam, depends on
    cell and N; derivatives include this."""
    whole = nanobragg.Simulation(**SMALL, **size, precision="double", beamsize=0.005)
    sim = nanobragg.Simulation(**SMALL, **size, precision="double", beamsize=0.005, clip_crystal=True)
    assert sim.render().sum() < 0.1 * whole.render().sum()
    check_differences(sim, {"cell_b": 3e-3, "N_a": 3e-3})


def test_materials_beside_the_vector_kernel_of_the_crystal():
    scene = {**SMALL, "background": "water:1", "water": 3, "beamsize": 0.1, "blocks": 1e5, "fluence": 1e17, "oversample": 2,
             "dispersion": 1, "dispsteps": 2}
    names = ["rot_x", "N_a", "fluence", "water", "distance", "lambda", "polar"]
    fast, exact = (nanobragg.Simulation(**scene, precision=p).derivatives(names, dtype=np.float64) for p in ("mixed", "double"))
    for name in names:
        assert abs(fast[name] - exact[name]).max() < 2e-6 * abs(exact[name]).max(), name


def test_groups_synonyms_and_the_image():
    sim = nanobragg.Simulation(**SMALL)
    J, image = sim.derivatives("misset, Na", image=True)
    assert list(J) == ["misset_x", "misset_y", "misset_z", "Na"]
    assert np.allclose(image, sim.render(), rtol=1e-5, atol=1e-6 * image.max())
    assert sim.variables("cell") == [f"cell_{x}" for x in ("a", "b", "c", "al", "be", "ga")]
    assert sim.parameter("distance")["unit"] == "mm" and sim.parameter("distance")["value"] == 100
    assert sim.parameter("wavelength")["name"] == "lambda" and sim.variables("wave,Nb") == ["lambda", "N_b"]
    still = sim.parameter("mosaic")
    assert not still["can_move"] and still["why_not"]


def test_set_parameters_takes_groups_and_synonyms():
    sim, one = nanobragg.Simulation(**SMALL), nanobragg.Simulation(**SMALL)
    sim.set_parameters({"misset": np.array([11, 21, 31]), "wavelength": 1.01, "Na": 6, "beam": [16, 17.5]})
    one.set_parameters({"misset_x": 11, "misset_y": 21, "misset_z": 31, "lambda": 1.01, "N_a": 6, "Xbeam": 16, "Ybeam": 17.5})
    image = sim.render()
    assert np.array_equal(image, one.render()) and not np.array_equal(image, nanobragg.Simulation(**SMALL).render())
    with pytest.raises(ValueError, match=r"^misset: needs 3 numbers \(misset_x, misset_y, misset_z\), not 2"):
        sim.set_parameters({"distance": 90, "misset": (1, 2)})
    assert np.array_equal(sim.render(), image)


def test_pullback_is_the_sum_of_planes():
    sim = nanobragg.Simulation(**SMALL)
    loss = np.random.default_rng(1).normal(size=(32, 32))
    J = sim.derivatives(NAMES, dtype=np.float64)
    for slopes in (loss, loss.astype(np.float32)):
        g = sim.pullback(slopes, NAMES)
        assert list(g) == NAMES and all(type(x) is float for x in g.values())
        for name in NAMES:
            terms = slopes.astype(float) * J[name]
            assert g[name] == pytest.approx(terms.sum(), rel=1e-9, abs=1e-9 * abs(terms).sum()), name


def test_normal_equations_are_sums_over_planes():
    sim = nanobragg.Simulation(**SMALL, precision="double")
    image, J = sim.render().astype(float) + 2, sim.derivatives(NAMES, dtype=np.float64)
    seen = np.random.default_rng(1).poisson(image).astype(np.float32)
    seen[:, 5] = np.nan
    flat = np.full(image.shape, 2.0)
    rows = np.array([np.where(np.isnan(seen), 0, J[name]).ravel() for name in NAMES])
    of = sim.normal(seen, NAMES, background=flat)
    n, m = np.nan_to_num(seen, nan=1).astype(float).ravel(), np.where(np.isnan(seen), 1, image).ravel()
    assert of.names == NAMES and of.loss == pytest.approx((m - n + n * np.log(np.maximum(n, 1e-300) / m)).sum(), rel=1e-5)
    assert of.gradient == pytest.approx(rows @ (1 - n / m), rel=1e-4, abs=1e-4 * abs(rows).sum(1).max())
    assert of.fisher == pytest.approx((rows / m) @ rows.T, rel=1e-4)
    gauss = sim.normal(seen, "misset,N_a", sigma=3.0, radial=([0.0, 0.5], [2.0, 2.0]))
    assert gauss.names[-2:] == ["background_0", "background_1"] and gauss.fisher.shape == (6, 6)
    assert np.array_equal(gauss.fisher, gauss.fisher.T) and gauss.fisher[-1, -1] > 0
    with pytest.raises(ValueError, match="sigma"):
        sim.normal(seen, "misset", sigma=0)
    with pytest.raises(ValueError, match="photons: has the shape"):
        sim.normal(seen[1:], "misset")
    with pytest.raises(ValueError, match="knots must grow"):
        sim.normal(seen, "misset", radial=([0.5, 0.0], [1.0, 1.0]))


def test_pullback_to_structure_factors():
    h = np.array([(h, k, l) for h in range(-12, 13) for k in range(-12, 13) for l in range(-12, 13)])
    sim = nanobragg.Simulation(**{**SMALL, "hkl": (h, 50 + np.arange(len(h)) % 97)})
    image = sim.render().astype(float)
    g = sim.pullback(image, ["F", "distance"])
    hkl, slopes = g["F"]
    assert set(g) == {"F", "distance"} and hkl.shape == (len(slopes), 3) and len(hkl) > 10
    worst = hkl[abs(slopes).argmax()]
    name = "F:{}:{}:{}".format(*worst)
    assert sim.pullback(image, [name])[name] == pytest.approx(slopes[abs(slopes).argmax()], rel=1e-6)


def test_gradient_of_the_program(tmp_path):
    program(tmp_path, "-floatfile", "i.bin")
    image = np.fromfile(tmp_path / "i.bin", dtype=np.float32).reshape(32, 32)
    program(tmp_path, "-nofloat", "-derivatives", "misset", "-pullback", "i.bin", "-gradfile", "g.json")
    import json
    theirs = json.loads((tmp_path / "g.json").read_text())["gradient"]
    ours = nanobragg.Simulation(**SMALL).pullback(image, "misset")
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_errors():
    sim = nanobragg.Simulation(**SMALL)
    before = sim.render()
    with pytest.raises(ValueError, match="misset_x"):
        sim.derivatives(["misset_xx"])
    with pytest.raises(ValueError, match="twice"):
        sim.derivatives(["cell_a", "cell"])
    with pytest.raises(ValueError, match="F:1:-2:3"):
        sim.derivatives(["F"])
    with pytest.raises(TypeError, match="text"):
        sim.derivatives([3])
    with pytest.raises(ValueError, match="float32 or float64"):
        sim.derivatives("N", dtype=int)
    with pytest.raises(ValueError, match="shape"):
        sim.pullback(before[:-1], "N")
    with pytest.raises(ValueError, match="not finite"):
        sim.pullback(np.full((32, 32), np.nan), "N")
    with pytest.raises(ValueError):
        sim.set_parameters({"distance": -1})
    with pytest.raises(ValueError, match="unknown parameter 'energy' of a derivative; see docs"):
        sim.set_parameters({"energy": 12000})
    with pytest.raises(ValueError):
        nanobragg.Simulation(**{**SMALL, "compat": True}).derivatives("N")
    assert np.array_equal(sim.render(), before)


def test_rotation_is_folded():
    sim = nanobragg.Simulation(**SMALL)
    sim.set_parameters({"rot_x": 0.2, "rot_z": -0.1})
    turned = sim.render()
    sim.fold_rotation()
    assert sim.parameter("rot_x")["value"] == 0
    assert np.allclose(sim.render(), turned, rtol=1e-4, atol=1e-5 * turned.max())
    assert tuple(sim.config["crystal"]["misset_deg"]) != (10, 20, 30)


def test_one_object_in_two_threads_raises():
    sim = nanobragg.Simulation(**{**SMALL, "detpixels": 300, "isa": "scalar", "threads": 1})
    started, asked, errors = threading.Event(), threading.Event(), []

    def wait(_):  # the derivatives go on when the calls of the other thread are over
        started.set()
        asked.wait()

    def work():
        try:
            sim.derivatives("misset", progress=wait)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    for call in (lambda: sim.derivatives("N"), lambda: sim.pullback(np.zeros((300, 300)), "N"),
                 lambda: sim.parameter("N_a"), lambda: sim.set_parameters({"N_a": 3})):
        with pytest.raises(RuntimeError, match="another thread"):
            call()
    asked.set()
    thread.join()
    assert not errors


def test_ctrl_c():
    code = ("import os, signal, threading, time, nanobragg\n"
            "sim = nanobragg.Simulation(cell=100, N=8, default_F=100, detpixels=1000, isa='scalar', "
            "threads=1, mosaic=0.5, mosaic_domains=400, misset=(1, 2, 3))\n"
            "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "try:\n    sim.derivatives('misset')\n"
            "except KeyboardInterrupt:\n    sim.set(detpixels=16)\n    print(len(sim.derivatives('misset')))\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


def test_progress_can_stop():
    def fail(fraction):
        raise ZeroDivisionError("mine")

    sim = nanobragg.Simulation(**{**SMALL, "detpixels": 200, "threads": 1})
    with pytest.raises(ZeroDivisionError, match="mine"):
        sim.derivatives("misset", progress=fail)
    assert sim.derivatives("misset")
