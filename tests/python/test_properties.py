# SPDX-License-Identifier: MIT
"""Theorems about images, without reference images. The image of a square crystal, from a
typed cell, equals the coherent sum |sum exp(2 pi i q.r)|^2 over its lattice points."""
import itertools

import numpy as np
import pytest

from suite import FLUENCE, TRICLINIC, directions, image, same, solid_angles, suite

BUSY = dict(cell=TRICLINIC, misset=(10, 20, 30), pixel=0.4, polar=0.8, osc=0.5, phisteps=3, detector_thick=400,
            detector_abs=300, detector_thicksteps=2)


def rotation(axis, deg):
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    K, t = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.radians(deg)
    return np.eye(3) + np.sin(t) * K + (1 - np.cos(t)) * K @ K


def misset(x, y, z):
    """Matrix of a rotation about x, then y, then z (deg)."""
    return rotation((0, 0, 1), z) @ rotation((0, 1, 0), y) @ rotation((1, 0, 0), x)


def misset_angles(U):
    return np.degrees([np.arctan2(U[2, 1], U[2, 2]), -np.arcsin(U[2, 0]), np.arctan2(U[1, 0], U[0, 0])])


@pytest.mark.parametrize("axis, deg", [((1, 0, 0), 90), ((0, 0, 1), 180), ((1, 2, 3), 77), ((-3, 1, 1), 200)])
def test_rotating_everything_changes_nothing(axis, deg):
    vectors = dict(fdet_vector=(0, 0, 1), sdet_vector=(0, -1, 0), odet_vector=(1, 0, 0), beam_vector=(1, 0, 0),
                   polar_vector=(0, 0.2, 1), spindle_axis=(0, 0.1, 1), twotheta_axis=(0.1, 0, -1))
    base = dict(BUSY, detpixels=96, twotheta=13, hdivrange=4, vdivrange=2)
    R = rotation(axis, deg)
    turned = {name: tuple(R @ v) for name, v in vectors.items()}
    pixels = image(**base, **vectors)
    assert not same(image(**base, **turned), pixels, 0.01)  # the images differ, as the crystal rotates in only one of them
    assert same(image(**{**base, "misset": misset_angles(R @ misset(10, 20, 30))}, **turned), pixels, 1e-6)


def test_tiles_and_threads_give_the_same_bits():
    whole, statistics = suite(**BUSY, detpixels=100, threads=1).render(statistics=True)
    together = np.zeros_like(whole)
    for tile, (f, s) in enumerate(itertools.product((0, 34, 68), (0, 25, 50, 75))):
        roi = (f, min(f + 33, 99), s, s + 24)
        together += suite(**BUSY, detpixels=100, roi=roi, threads=1 + tile % 3).render()  # 0 outside the tile
    assert together.tobytes() == whole.tobytes()
    for threads in range(2, 8):
        pixels, found = suite(**BUSY, detpixels=100, threads=threads).render(statistics=True)
        assert pixels.tobytes() == whole.tobytes() and found == statistics


@pytest.mark.parametrize("words, tolerance", [
    (dict(mosaic=0, mosaic_dom=30), 0), (dict(mosaic_dom=30), 0),  # without a mosaic spread
    (dict(osc=0), 1e-7), (dict(osc=0, phisteps=5), 1e-7),  # all phi steps at one angle
    (dict(hdivrange=0, vdivrange=0, dispersion=0), 0)])
def test_nothing_to_average_changes_nothing(words, tolerance):
    base = dict(BUSY, detpixels=64, osc=None, phisteps=None, phi=12)
    assert same(image(**{**base, **words}), image(**base), tolerance)


@pytest.mark.parametrize("words, factor", [(dict(default_F=200), 4), (dict(default_F=70), 0.49),
                                           (dict(fluence=2 * FLUENCE), 2), (dict(fluence=1e15), 1e15 / FLUENCE)])
def test_intensity_scales(words, factor):
    base = dict(BUSY, detpixels=64)
    assert image(**base, **words) == pytest.approx(factor * image(**base), rel=1.5e-7)


def test_sums_are_means():
    """The image of a rotation with a spectrum is the mean of stills at the middles of the
    phi steps and at the wavelengths."""
    base = dict(BUSY, detpixels=48, osc=None, phisteps=None)
    members = [dict(phi=0.25 + 0.5 * i, wavelength=0.99 + 0.01 * k) for i in range(4) for k in range(3)]
    mean = np.mean([image(**base, **member) for member in members], axis=0)
    assert same(image(**{**base, "osc": 2, "phisteps": 4}, dispersion=2, dispsteps=3), mean, 3e-7)


def test_oversampling_converges():
    p = {n: image(**{**BUSY, "pixel": 0.3}, detpixels=48, oversample=n) for n in (1, 2, 4, 8, 16)}
    off = [abs(p[n] - p[16]).max() / p[16].max() for n in (1, 2, 4, 8)]
    assert all(b < a / 2.5 for a, b in zip(off, off[1:])) and off[-1] < 0.01  # errors go as n^-2


def test_the_peak_grows_as_N6():
    """In the pixel of the direct beam, where q = 0, light goes as N^6."""
    top = {N: image(N=N, detpixels=9, Xbeam=0.4, Ybeam=0.4)[4, 4] for N in (1, 2, 4, 8, 16, 32, 64)}
    assert [top[N] / N ** 6 for N in top] == pytest.approx([top[1]] * len(top), rel=1e-6)


def test_a_spot_integrates_to_N3():
    """Photons of the spot 0 5 0 go as N^3, if the crystal rotates by a whole reciprocal
    cell along h through the Ewald sphere."""
    def spot(N):
        osc = 36 / np.pi  # a rotation by 1/5 rad about z moves 5 b* by the length of a*
        return image(N=N, detpixels=30, distance=300, nopolar=True, point_pixel=True, pix0_vector=(0.3, 165e-4, -15e-4),
                     osc=osc, phisteps=40 * N, phi=np.degrees(np.arcsin(5 / 200)) - osc / 2).sum()
    two = spot(2)
    assert [spot(N) / two for N in (4, 6, 8)] == pytest.approx([8, 27, 64], rel=0.03)


# --- the coherent sum

def coherent_sum(cell, N, q):
    """|sum over N cells of exp(2 pi i q.r)|^2. cell: rows a, b, c."""
    r = np.array(list(itertools.product(*map(range, N)))) @ cell
    return abs(np.exp(2j * np.pi * q @ r.T).sum(axis=-1)) ** 2


def cell_vectors(a, b, c, alpha, beta, gamma):
    """Rows a, b, c, by other formulas than the library's. "a* along x, b* in the xy
    plane" is the same as "c along z, b in the yz plane"."""
    ca, cb, cg = np.cos(np.radians((alpha, beta, gamma)))
    sa = np.sqrt(1 - ca * ca)
    ay = (cg - ca * cb) / sa
    return np.array([[a * np.sqrt(1 - cb * cb - ay * ay), a * ay, a * cb], [0, b * sa, b * ca], [0, 0, c]])


def scattering(sim):
    """Scattering vector q of each pixel in 1/A."""
    beam = sim.config["beam"]
    return (directions(sim) - beam["beam_vector"]) / beam["wavelength_A"]


@pytest.mark.parametrize("turn", [{}, dict(misset=(40, -50, 60)), dict(misset=(40, -50, 60), phi=25)])
@pytest.mark.parametrize("cell, N", [
    ((100, 100, 100, 90, 90, 90), (5, 5, 5)), ((30, 40, 50, 90, 100, 90), (3, 4, 2)),
    ((60, 60, 60, 60, 60, 60), (4, 4, 4)), (TRICLINIC, (1, 6, 3)), ((40, 40, 70, 90, 90, 120), (2, 2, 7)),
    ((25, 35, 45, 110, 95, 70), (5, 1, 1))])
def test_still_crystals(cell, N, turn):
    sim = suite(cell=cell, N=N, wavelength=1.3, detpixels=48, pixel=0.9, distance=60, detector_rotx=5, detector_roty=10,
                detector_rotz=-15, **turn)
    U = rotation((0, 0, 1), turn.get("phi", 0)) @ misset(*turn.get("misset", (0, 0, 0)))  # the spindle is along z
    c = directions(sim) @ np.array(sim.config["beam"]["beam_vector"])
    truth = 1e4 * coherent_sum(cell_vectors(*cell) @ U.T, N, scattering(sim)) * solid_angles(sim) * 0.5 * (1 + c * c)
    assert same(sim.render(), truth, 3e-7)


def test_mosaic_domains_turn_with_phi():
    """The axis a of a mosaic block is R_phi U a: first the block's U, then phi."""
    cell, N = (30, 35, 40, 80, 95, 100), (3, 3, 3)
    blocks = np.array([misset(*angles) for angles in ((5, 0, 0), (-2, 4, 1), (0, -3, 5), (1, 1, -4))])
    sim = suite(cell=cell, N=N, wavelength=1.3, detpixels=32, pixel=1, nopolar=True, point_pixel=True, phi=50,
                mosaic_blocks=blocks)
    pixels, q, R = sim.render(), scattering(sim), rotation((0, 0, 1), 50)

    def mean(rotations):
        sums = [coherent_sum(cell_vectors(*cell) @ T.T, N, q) for T in rotations]
        return 1e4 * solid_angles(sim, point=True) * np.mean(sums, axis=0)
    assert same(pixels, mean([R @ U for U in blocks]), 1e-6)
    assert not same(pixels, mean([U @ R for U in blocks]), 1e-2)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_cell_along_an_axis(axis):
    """With N = 1 along an axis its factor is 1: the length of the axis has no effect."""
    N, cell = [4, 4, 4], [100, 100, 100, 90, 90, 90]
    N[axis], stretched = 1, [*cell[:axis], 137, *cell[axis + 1:]]
    base = dict(N=N, wavelength=1.3, detpixels=32, pixel=0.8)
    assert same(image(**base, cell=stretched), image(**base, cell=cell), 1e-6)
