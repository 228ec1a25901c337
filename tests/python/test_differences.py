# SPDX-License-Identifier: MIT
"""Compares derivatives with central differences, and with theorems (docs/physics.md,
section 26), for random simulations. NB_BIG=1 runs many more simulations."""
import math
import os
import random

import numpy as np
import pytest

import nanobragg
from suite import suite

MANY = 60 if os.environ.get("NB_BIG") else 1
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden_data")
NAMES = """misset_x misset_y misset_z rot_x rot_y rot_z cell_a cell_b cell_c cell_al cell_be cell_ga N_a N_b N_c mosaic
    phi osc lambda dispersion distance close_distance Xbeam Ybeam ORGX ORGY detector_rotx detector_roty detector_rotz
    twotheta shift_x shift_y shift_z shift_fast shift_slow shift_normal rot_fast rot_slow rot_normal detector_thick
    detector_abs polar fudge fluence water default_F hdivrange vdivrange footprint_a footprint_b
    footprint_angle""".split()
PARTS = ["rot_x", "cell_a", "shift_x", "rot_slow", "footprint_a", "footprint_b", "footprint_angle", "fluence"]


class Draw(random.Random):
    def __init__(self, *key):
        super().__init__(repr(key))

    def chance(self, percent):
        return self.uniform(0, 100) < percent

    def three(self, *ends):
        return tuple(self.uniform(*ends) for _ in range(3))


def a_crystal(d):
    words = dict(cell=(*d.three(40, 90), *d.three(78, 102)), fudge=1 if d.chance(50) else d.uniform(0.6, 1.6),
                 misset=(d.uniform(-180, 180), d.uniform(-80, 80), d.uniform(-180, 180)), default_F=d.uniform(20, 200),
                 N=tuple(d.randint(2, 11) if d.chance(60) else d.uniform(1.2, 12) for _ in range(3)))
    words[d.choice(["square_xtal", "square_xtal", "round_xtal", "gauss_xtal"])] = True
    if d.chance(25):
        words["crystal_volume"] = d.uniform(0.1, 3)
    if d.chance(50):
        words.update(mosaic=d.uniform(0.2, 1.5), mosaic_dom=d.randint(2, 4),
                     mosaic_model=d.choice(["nanobragg", "uniform", "gauss"]))
    if d.chance(40):
        words.update(phi=d.uniform(-90, 90), osc=d.uniform(0.2, 2), phisteps=d.randint(1, 3))
    return words


def a_detector(d):
    words = {d.choice(["mosflm", "xds", "denzo", "adxv", "dials"]): True, "detpixels_x": d.randint(7, 9),
             "detpixels_y": d.randint(6, 8), "pixel": d.uniform(0.8, 1.6),
             "distance" if d.chance(70) else "close_distance": d.uniform(50, 120)}
    if d.chance(60):
        for name in ("detector_rotx", "detector_roty", "detector_rotz", "twotheta"):
            words[name] = d.uniform(-25, 25)
    if d.chance(30):
        words["pivot"] = d.choice(["beam", "sample"])
    if d.chance(75):
        names = d.choice([("Xbeam", "Ybeam"), ("Xbeam", "Ybeam"), ("ORGX", "ORGY")])
        words.update({name: d.uniform(-5, 12) for name in names})
    if d.chance(20):
        words.update(curved_det=True, curved_omega=d.choice(["exact", "square"]))
    elif d.chance(20):
        words["point_pixel"] = True
    if d.chance(40):
        words.update(detector_thick=d.uniform(100, 900), detector_thicksteps=d.randint(1, 3),
                     layer_depth=d.choice(["front", "mean", "mean"]))
        if d.chance(70):
            words["detector_abs"] = d.uniform(100, 900)
    return words


def a_scene(d):
    words = {**a_crystal(d), **a_detector(d), "wavelength": d.uniform(0.8, 1.6), "oversample": d.randint(1, 2),
             "isa": "scalar", "precision": "double", "device": "cpu", "threads": 1}
    words.update(dict(nopolar=True) if d.chance(20) else dict(polar=d.uniform(-1, 1)))
    for percent, more in ((40, dict(dispersion=d.uniform(0.3, 3), dispsteps=d.randint(2, 4))),
                          (20, dict(hdivrange=d.uniform(0.5, 3), hdivsteps=2)), (30, dict(oversample_polar=True)),
                          (30, dict(oversample_omega=True)), (40, dict(water=d.uniform(1, 20))),
                          (30, dict(background="water:0.5,air:30")), (20, dict(dmin=d.uniform(1.5, 4)))):
        if d.chance(percent):
            words.update(more)
    return words


def a_wide_scene(d):
    """A random scene with a footprint."""
    kind, wide, narrow, turn = d.choice(["gauss", "box"]), d.uniform(0.5, 2), d.uniform(0.3, 1.2), d.uniform(-180, 180)
    return {**a_scene(d), "footprint": f"{kind}:{wide}:{narrow}:{turn}"}


def planes_of(sim, *names):
    return [np.asarray(plane) for plane in sim.derivatives(list(names), dtype=np.float64).values()]


def image_of(sim):
    """The image in double precision: fluence times the derivative by the fluence. Photons
    of -add are not included, because they do not depend on the fluence."""
    return sim.parameter("fluence")["value"] * planes_of(sim, "fluence")[0]


def step_of(v):
    """A step of a parameter that changes the image by about 1e-4."""
    if v["unit"] == "A":
        return 1e-6 * v["value"]
    return 2e-5 if v["unit"] in ("deg", "mm", "pixels") else 1e-5 * max(abs(v["value"]), 1e-3)


def difference(sim, name, h, jump):
    """(derivative of each pixel by Richardson's extrapolation from the steps h and h / 2,
    rounding error). A pixel is NaN if its nearest index changes within the step: then the
    two central differences differ by more than `jump`."""
    value, at = sim.parameter(name)["value"], []
    for step in (h, -h, h / 2, -h / 2, 0):
        sim.set_parameters({name: value + step})
        at.append(image_of(sim))
    wide, near = (at[0] - at[1]) / (2 * h), (at[2] - at[3]) / h
    jump += 4e-15 * abs(at[0]).max() / h
    return np.where(abs(wide - near) > jump, np.nan, (4 * near - wide) / 3), 2e-14 * abs(at[4]).max() / h


class Counted:
    """Numbers of compared pixels, and of pixels whose nearest index changes."""

    def __init__(self):
        self.pixels = self.jumps = 0

    def check(self, sim, name, h=None, limit=1e-6, jump=2e-7):
        try:
            v = sim.parameter(name)
        except ValueError:
            return
        if not v["can_move"]:
            return
        plane = planes_of(sim, name)[0]
        largest = abs(plane).max()
        wanted, noise = difference(sim, name, h or step_of(v), jump * largest)
        off = abs(plane - wanted)
        assert not (off > limit * largest + noise).any(), (name, np.nanmax(off), largest)
        self.pixels += plane.size
        self.jumps += np.isnan(wanted).sum()


def is_left_out(words, name):
    """True if a rebuilt scene changes mosaic rotations that the derivative holds: angles
    are rounded to float (nanobragg), axes follow the crystal (gauss)."""
    if name == "mosaic":
        return words.get("mosaic_model", "nanobragg") == "nanobragg"
    return name.startswith(("misset", "cell")) and words.get("mosaic_model") == "gauss"


def check_names(words, names=NAMES, sim=None):
    sim, counted = sim or nanobragg.Simulation(**words), Counted()
    for name in names:
        if not is_left_out(words, name):
            counted.check(sim, name)
    return counted


def check_all(scenes, names=NAMES, allowed=1 / 20):
    all_of = [check_names(words, names) for words in scenes]
    assert sum(c.pixels for c in all_of) > 0
    assert sum(c.jumps for c in all_of) <= allowed * sum(c.pixels for c in all_of)


def test_planes_are_differences():
    check_all([a_scene(Draw("plain", i)) for i in range(5 * MANY)], allowed=1 / 50)


def test_planes_behind_a_footprint_are_differences():
    check_all([a_wide_scene(Draw("wide", i)) for i in range(6 * MANY)])


def test_divergence_is_a_difference():
    """Widths of the divergence move sources, and so light of crystals and materials."""
    scenes = []
    for i in range(8 * MANY):
        d = Draw("divergence", i)
        scenes.append({**(a_scene, a_wide_scene)[i % 2](d), "hdivrange": d.uniform(0.5, 3), "hdivsteps": 2 + i % 2,
                       "vdivrange": d.uniform(0.5, 3), "vdivsteps": 3, "square_div": i % 3 > 0})
    check_all(scenes, ("hdivrange", "vdivrange"))


def plane_file(path, d, n, highest):
    """Writes a random number for each pixel, sometimes 0. Returns the path."""
    np.array([0 if d.chance(20) else d.uniform(0, highest) for _ in range(n)], "f4").tofile(path)
    return path


def a_scene_of_factors(d, kind, folder):
    """A random scene with factors of pixels (files, stop, absorption) or F (dose)."""
    words = (a_scene, a_wide_scene)[kind % 2](d)
    if kind < 2:
        image = nanobragg.Simulation(**words).render()
        return {**words, "transmission": plane_file(folder / "t.bin", d, image.size, 2),
                "add": plane_file(folder / "a.bin", d, image.size, image.max())}
    if kind < 4:
        return {**words, "beamstop": f"disc:{d.uniform(4, 12)}:0.2,bar:2:{d.uniform(0, 360)}"}
    if kind < 6:
        words = {name: value for name, value in words.items() if name not in ("water", "background")}
        size = d.uniform(50, 400)
        return {**words, "absorb": f"sphere:{size}" if kind == 4 else f"box:{size}:150:40", "absorb_mu": 3}
    return {**words, "dose": d.uniform(1, 9), "damage_cell": d.uniform(0, 0.5)}


def is_held(sim, name):
    """True if the derivative is refused, because it keeps effects of flags fixed."""
    try:
        sim.derivatives([name])
    except (ValueError, NotImplementedError) as error:
        return "which derivatives and refine hold" in str(error)
    return False


@pytest.mark.parametrize("kind, least", [(0, 0), (1, 0), (2, 6), (3, 6), (4, 1), (5, 2), (6, 1), (7, 1)])
def test_planes_behind_factors_are_differences(kind, least, tmp_path):
    for i in range(MANY):
        d = Draw("factors", kind, i)
        words = a_scene_of_factors(d, kind, tmp_path)
        sim = nanobragg.Simulation(**words)
        if kind > 1:  # without -add the photons of the renderer are the whole image
            assert equal(image_of(sim), sim.render().astype(float), 2e-6)
        held = [name for name in NAMES if is_held(sim, name)]
        assert len(held) >= least and (least or not held)
        names = [name for name in NAMES if name not in held and (MANY > 1 or d.chance(33))]
        counted = check_names(words, names, sim)
        assert counted.jumps <= counted.pixels / 20 + 5


@pytest.mark.parametrize("kind", [-1, 1])
@pytest.mark.parametrize("i", range(4))
def test_products_are_those_of_planes(kind, i, tmp_path):
    """pullback and normal are sums of planes, with a footprint or (kind 1) factors."""
    d = Draw("products", kind, i)
    sim = nanobragg.Simulation(**(a_wide_scene(d) if kind < 0 else a_scene_of_factors(d, kind, tmp_path)))
    rng = np.random.default_rng(i)
    planes = np.array(planes_of(sim, *PARTS))
    loss = rng.uniform(-1, 1, planes[0].shape)
    found = np.array(list(sim.pullback(loss, PARTS).values()))
    assert (abs(found - (loss * planes).sum((1, 2))) <= 1e-12 * abs(loss * planes).sum((1, 2))).all()
    image = image_of(sim) + (np.fromfile(tmp_path / "a.bin", "f4").reshape(loss.shape) if kind > 0 else 0)
    assert equal(image, sim.render().astype(float), 2e-6)
    some = (rng.random(image.shape) < 0.6) & (image > 0)
    seen = np.where(some, image * rng.uniform(0.5, 1.5, image.shape), np.nan).astype("f4")
    equations, lit = sim.normal(seen, PARTS), ~np.isnan(seen)
    slopes, m, n = planes[:, lit], image[lit], seen[lit].astype(float)
    assert (abs(equations.gradient - slopes @ (1 - n / m)) <= 1.5e-9 * abs(slopes).sum(1)).all()
    assert np.diag(equations.fisher) == pytest.approx((slopes ** 2 / m).sum(1), rel=1e-9)


def test_rotations_add_up():
    """Derivatives are right where rotations and shifts are not 0, too."""
    turned = dict(rot_x=3, rot_y=-2, rot_z=4, rot_fast=1.5, rot_slow=-2.5, rot_normal=3.5, shift_x=0.4, shift_fast=-0.7)
    for i in range(2):
        words = a_scene(Draw("turned", i))
        if "mosaic_model" in words:
            words["mosaic_model"] = "nanobragg"
        sim = nanobragg.Simulation(**words)
        sim.set_parameters(turned)
        check_names(words, sim=sim)


# --- theorems

def equal(a, b, limit):
    return abs(a - b).max() <= limit * max(abs(a).max(), abs(b).max())


def test_turning_all_changes_nothing():
    sim = suite(wavelength=1.1, N=7, detpixels=12, cell=(66, 75, 58, 84, 97, 103), misset=(35, -18, 52), pixel=1.1,
                nopolar=True)
    crystal, detector = planes_of(sim, "rot_x", "detector_rotx")
    assert equal(crystal, -detector, 1e-12)


@pytest.mark.parametrize("i", range(6))
def test_lengths_have_no_scale(i):
    """Euler's theorem: cell and wavelength times one factor do not change the image."""
    words = a_scene(Draw("lengths", i))
    for name in ("crystal_volume", "dmin", "background"):
        words.pop(name, None)
    a, b, c, wave = planes_of(nanobragg.Simulation(**words), "cell_a", "cell_b", "cell_c", "lambda")
    assert equal(np.tensordot(words["cell"][:3], [a, b, c], 1), -words["wavelength"] * wave, 1e-11)


def test_misset_is_a_rotation():
    sim = suite(N=6, detpixels=10, misset=(35, -18, 52), pixel=1.3)
    y, z = math.radians(-18), math.radians(52)
    axes = [(math.cos(y) * math.cos(z), math.cos(y) * math.sin(z), -math.sin(y)),
            (-math.sin(z), math.cos(z), 0), (0, 0, 1)]
    rot = planes_of(sim, "rot_x", "rot_y", "rot_z")
    for axis, plane in zip(axes, planes_of(sim, "misset_x", "misset_y", "misset_z")):
        assert equal(plane, np.tensordot(axis, rot, 1), 1e-12)


def test_the_image_is_linear_in_fluence():
    for i in range(5):
        sim = nanobragg.Simulation(**a_scene(Draw("linear", i)))
        assert equal(image_of(sim), sim.render().astype(float), 2e-6)


def test_a_region_is_a_part():
    words = a_scene(Draw("region", 0))
    whole, part = (planes_of(nanobragg.Simulation(**words, **roi), "rot_y")[0] for roi in ({}, dict(roi=(2, 4, 1, 3))))
    inside = np.zeros(whole.shape, bool)
    inside[1:4, 2:5] = True
    assert np.array_equal(part, np.where(inside, whole, 0))


# --- real detectors and crystals

def check_planes(sim, names, h=2e-4):
    for name in names:
        counted = Counted()
        counted.check(sim, name, h, 2e-6, 1e-4)
        assert counted.pixels > 0 and counted.jumps * 10 <= counted.pixels


GEOM = """photon_energy = 12400
clen = 0.08
res = 1000
left/fs = 0.96x +0.28z
left/ss = 1y
left/corner_x = -14
left/corner_y = -6
left/min_fs = 0
left/max_fs = 11
left/min_ss = 0
left/max_ss = 9
right/fs = -0.96y +0.28z
right/ss = 0.8x +0.168y +0.576z
right/corner_x = 4
right/corner_y = 7
right/min_fs = 0
right/max_fs = 11
right/min_ss = 10
right/max_ss = 19
"""
TWO = dict(cell=(60, 70, 80, 85, 95, 100), misset=(12, 35, -50), N=5, default_F=100, oversample=1, device="cpu",
           threads=1)


@pytest.mark.parametrize("sensor", [{}, dict(detector_thick=450, sensor="Si", oversample=2)])
def test_panels_move_by_themselves(sensor, tmp_path):
    (tmp_path / "two.geom").write_text(GEOM)
    sim = nanobragg.Simulation(**{**TWO, **sensor}, geom=tmp_path / "two.geom", precision="double")
    moves = """shift_x shift_x@left shift_y@right shift_z@left shift_fast@right shift_slow@left shift_normal@right
        rot_fast rot_fast@left rot_slow@right rot_normal@left""".split()
    check_planes(sim, moves)
    for name in moves:
        if "@" in name:  # the derivative is 0 on the other panel
            left, right = sim.panels(planes_of(sim, name)[0])
            assert not (right if "left" in name else left).any()
    check_planes(sim, ["detector_thick"] if sensor else [], 1)


def test_panels_on_vectors(tmp_path):
    """The widest instruction set gives the derivatives of the scalar renderer."""
    (tmp_path / "two.geom").write_text(GEOM)
    names = ["shift_x@left", "rot_fast@right", "rot_normal@left", "shift_normal", "cell_a"]
    sensor = dict(detector_thick=450, detector_abs=300, detector_thicksteps=2)
    scalar, wide = (planes_of(nanobragg.Simulation(**TWO, **sensor, geom=tmp_path / "two.geom", isa=isa), *names)
                    for isa in ("scalar", "auto"))
    assert all(equal(a, b, 5e-6) for a, b in zip(scalar, wide))


SIXTEEN = dict(wavelength=1.1, detpixels=16, misset=(35, -18, 52), pixel=1.5)


def test_a_sensor_of_a_material():
    try:
        sim = suite(**SIXTEEN, sensor="CdTe", detector_thick=60, detector_thicksteps=2)
    except (ValueError, NotImplementedError) as error:
        assert "xraylib" in str(error)
        pytest.skip("this build has no xraylib")
    check_planes(sim, ["rot_y", "shift_normal", "distance", "detector_rotx", "detector_roty"])
    check_planes(sim, ["detector_thick"], 0.01)


def test_aniso_mosaic_spread():
    sim = suite(**SIXTEEN, mosaic_model="gauss", mosaic_aniso=(0.3, 0.9, 0.6), mosaic_domains=6)
    check_planes(sim, ["mosaic", "rot_z", "N_b"])


TENSOR = ["mosaic_xx", "mosaic_yy", "mosaic_zz", "mosaic_xy", "mosaic_xz", "mosaic_yz"]


@pytest.mark.parametrize("more", [dict(osc=0.5, phisteps=2, phi=20, gauss_xtal=True), dict(mosaic_frame="lab", mosaic_tail=0.2)])
def test_mosaic_tensor(more):
    words = dict(SIXTEEN, mosaic_tensor=(0.3, 0.9, 0.6, 0.2, -0.1, 0.3), mosaic_domains=6, **more)
    sim = suite(**words)
    check_planes(sim, ["mosaic", *TENSOR])
    planes = planes_of(sim, "mosaic", *TENSOR)
    tensor, spread = words["mosaic_tensor"], np.sqrt(sum(words["mosaic_tensor"][:3]) / 3)
    rate = sum(2 * x / spread * plane for x, plane in zip(tensor, planes[1:]))
    assert equal(rate, planes[0], 1e-9) and equal(planes_of(sim, "mosaic")[0], planes[0], 1e-9)
    wide = suite(**{**words, "isa": "auto", "precision": "mixed"})
    assert all(equal(a, b, 5e-6) for a, b in zip(planes_of(wide, "mosaic", *TENSOR), planes))


def test_a_table_for_each_wavelength(tmp_path):
    """An iron protein, with a table of F for each of three wavelengths at the K edge."""
    (tmp_path / "three.src").write_text("-10 0 0 1 1.741e-10\n-10 0 0 2 1.75e-10\n-10 0 0 3 1.73e-10\n")
    words = dict(N=3, detpixels=16, pixel=6, cell=None, default_F=3, dmin=4, misset=(20, 30, 40), anomalous_tol=0,
                 isa=None, pdb=os.path.join(ROOT, "structure_factors", "models", "1dur.pdb"),
                 sourcefile=tmp_path / "three.src")
    try:
        sims = [suite(**words, precision=precision) for precision in ("double", "mixed")]
    except NotImplementedError:
        pytest.skip("this build has no gemmi")
    names = ["rot_x", "rot_z", "N_a", "shift_fast", "fluence", "cell_a"]
    check_planes(sims[0], names[:4])
    assert all(equal(a, b, 5e-6) for a, b in zip(*(planes_of(sim, *names) for sim in sims)))


# --- results that sum planes, and other calls for derivatives

SOME = ["rot_x", "cell_b", "N_c", "lambda", "shift_fast", "fluence"]
KNOTS = [0.05, 0.15, 0.2, 0.4]
FOURTEEN = dict(wavelength=1.1, N=6, detpixels=14, misset=(35, -18, 52), pixel=1.3, fluence=1e28)


def terms(n, m, sigma):
    """(loss, slope by m, weight) of pixels: counts n, model m, read-out noise sigma."""
    V, d = m + sigma ** 2, n - m
    if sigma:
        return (d * d / V + np.log(V)) / 2, -d / V + (1 - d * d / V) / (2 * V), 1 / V + 1 / (2 * V * V)
    return m - n + n * np.log(np.maximum(n, 1) / m), 1 - n / m, 1 / m


def counts(rng, shape, every):
    """(counts below 40, NaN in unseen pixels; array that is True in seen pixels)."""
    seen = np.floor(rng.uniform(0, 40, shape)).astype("f4")
    seen.flat[3::every] = np.nan
    return seen, ~np.isnan(seen)


@pytest.mark.parametrize("sigma", [0, 1.7])
def test_normal_equations_are_those_of_planes(sigma):
    sim, rng = suite(**FOURTEEN), np.random.default_rng(3)
    (seen, lit), flat = counts(rng, (14, 14), 7), rng.uniform(0.5, 2, (14, 14)).astype("f4")
    image, planes = image_of(sim), np.array(planes_of(sim, *SOME))[:, lit]
    found = sim.normal(seen, SOME, sigma=sigma or None, background=flat)
    loss, slope, weight = terms(seen[lit].astype(float), (image + flat)[lit], sigma)
    assert found.loss == pytest.approx(loss.sum(), rel=1e-11)
    assert found.gradient == pytest.approx(planes @ slope, rel=1e-9)
    assert found.fisher == pytest.approx((planes * weight) @ planes.T, rel=1e-10)

    def loss_at(levels):
        return sim.normal(seen, SOME, sigma=sigma or None, background=flat, radial=(KNOTS, levels))
    levels = np.array([3, 2, 1.5, 1])
    gradient = loss_at(levels).gradient[-4:]
    for k, step in enumerate(np.diag(1e-5 * levels)):
        slope = (loss_at(levels + step).loss - loss_at(levels - step).loss) / (2 * step[k])
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_wide_rows_and_hats():
    """normal() splits rows of 530 pixels into pieces. Equal levels at all knots make a flat
    background, as the linear functions (hats) of the knots add up to 1 in each pixel."""
    sim = suite(**{**FOURTEEN, "detpixels": None, "pixel": 0.1}, detpixels_x=530, detpixels_y=3)
    seen, lit = counts(np.random.default_rng(4), (3, 530), 11)
    image, planes = image_of(sim), np.array(planes_of(sim, *SOME))[:, lit]
    loss, slope, weight = terms(seen[lit].astype(float), image[lit] + 2, 0)
    found = sim.normal(seen, SOME, radial=(KNOTS, [2, 2, 2, 2]))
    assert found.loss == pytest.approx(loss.sum(), rel=1e-11)
    assert found.gradient[:6] == pytest.approx(planes @ slope, rel=1e-9)
    assert found.fisher[:6, :6] == pytest.approx((planes * weight) @ planes.T, rel=1e-10)
    assert found.fisher[6:, :6].sum(0) == pytest.approx(planes @ weight, rel=1e-10, abs=1e-9)
    hats = found.fisher[6:, 6:]
    assert found.gradient[6:].sum() == pytest.approx(slope.sum(), rel=1e-10) and np.array_equal(hats, hats.T)
    assert hats.sum() == pytest.approx(weight.sum(), rel=1e-11) and not np.triu(hats, 2).any()


def test_threads_change_no_byte():
    found = []
    for threads in (1, 2, 7):
        sim, seen = suite(detpixels=40, threads=threads), np.arange(1600, dtype="f4").reshape(40, 40) % 5
        normal = sim.normal(seen, SOME)
        found.append([*planes_of(sim, *SOME), list(sim.pullback(seen, SOME).values()), normal.loss, normal.gradient,
                      normal.fisher])
    assert all(np.array_equal(a, b) for other in found[1:] for a, b in zip(other, found[0]))


@pytest.mark.parametrize("interpolate", ["interpolate", "nointerpolate"])
def test_the_gradient_of_F(interpolate):
    """The image is quadratic in F: the sum of F x gradient is twice sum(loss x image)."""
    sim = suite(wavelength=1.4, N=4, detpixels=12, pixel=1.2, hkl=os.path.join(ROOT, "dense.hkl"), default_F=0,
                **{interpolate: True})
    loss = np.random.default_rng(5).uniform(-1, 1, (12, 12))
    hkl, slopes = sim.pullback(loss, ["F"])["F"]
    names = ["F:{}:{}:{}".format(*h) for h in hkl]
    dot = sum(sim.parameter(name)["value"] * s for name, s in zip(names, slopes))
    assert len(hkl) > 10 and dot == pytest.approx(2 * (loss * image_of(sim)).sum(), rel=1e-9, abs=1e-6)
    for name, s in list(zip(names, slopes))[::17]:
        assert sim.pullback(loss, [name])[name] == pytest.approx(s, rel=1e-10, abs=1e-9)


def test_lists_open():
    sim = suite(detpixels=8)
    for names, opened in (("misset,Na", "misset_x misset_y misset_z N_a"), ("F:1:-2:3", "F:1:-2:3"),
                          ("beam,tilt", "Xbeam Ybeam detector_rotx detector_roty detector_rotz twotheta")):
        assert sim.variables(names) == opened.split()
    assert suite(detpixels=8, xds=True).variables("beam") == ["ORGX", "ORGY"]
    for names, says in (("cel_a", "did you mean 'cell_a'"), ("F:1:2", "F:h:k:l"), ("rot,", "unknown|no parameter"),
                        ("shift_x@p0", "detector from a file")):
        with pytest.raises(ValueError, match=says):
            sim.derivatives(names)
    with pytest.raises(ValueError, match="rot_x is named twice"):
        sim.derivatives("rot_x,rot")


@pytest.mark.parametrize("words, name, why", [
    ({}, "close_distance", "use distance"), ({}, "F:1:2:3", "no such entry"),
    (dict(tophat_spots=True), "rot_x", "top-hat"), (dict(compat=True), "fluence", "-compat"),
    (dict(pix0_vector=(0.1, -0.004, 0.004)), "distance", "-pix0_vector"),
    (dict(pix0_vector=(0.1, -0.004, 0.004)), "detector_rotx", "-pix0_vector")])
def test_what_has_no_derivative(words, name, why):
    with pytest.raises(ValueError, match=why):
        suite(detpixels=8, **words).parameter(name)


@pytest.mark.parametrize("i", range(5))
def test_rotations_fold(i):
    """fold_rotation moves a rotation into the misset angles and keeps the image."""
    d = Draw("fold", i)
    sim = suite(N=6, detpixels=10, pixel=1.2, misset=(d.uniform(-180, 180), d.uniform(-90, 90), d.uniform(-180, 180)))
    sim.set_parameters({"rot": d.three(-40, 40)})
    before = image_of(sim)
    sim.fold_rotation()
    assert equal(before, image_of(sim), 1e-10) and sim.parameter("rot_y")["value"] == 0


@pytest.mark.parametrize("values", [dict(distance=90, cell_al=200), dict(distance=math.nan)])
def test_an_error_changes_nothing(values):
    sim = suite(N=6, detpixels=10)
    before = image_of(sim)
    with pytest.raises(ValueError):
        sim.set_parameters(values)
    assert np.array_equal(before, image_of(sim))
