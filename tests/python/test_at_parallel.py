# SPDX-License-Identifier: MIT
"""Acceptance tests AT-PARALLEL, except for equality with the reference images.

The golden suite (golden/scalar) tests this equality for every image of
golden_data/cases.tsv. AT-PARALLEL-007, 008, 012, 016, 020, 023, 025 and 026 demand less
than the golden suite. N^6 and F^2 of 009 are in test_properties.py."""
import numpy as np
import pytest

from suite import (FLUENCE, TRICLINIC, brightest, correlation, directions, distances, image, nearest_indices,
                   peaks, same, solid_angles, suite, vector)


@pytest.mark.parametrize("n", [64, 128, 256, 512, 1024])
def test_001_beam_centre(n):
    sim = suite(wavelength=6.2, N=3, detpixels=n, Xbeam=n / 20, Ybeam=n / 20)
    detector = sim.config["detector"]
    assert (detector["Xbeam_mm"], detector["Ybeam_mm"]) == pytest.approx((n / 20, n / 20))
    assert np.abs(np.subtract(brightest(sim.render()), n / 2)).max() <= 2


def test_002_peaks_scale_with_the_pixel():
    sims = {pixel: suite(wavelength=6.2, detpixels=256, pixel=pixel, Xbeam=25.6, Ybeam=25.6)
            for pixel in (0.4, 0.2, 0.1, 0.05)}
    found = {pixel: peaks(sim.render(), 90, 3, 40) for pixel, sim in sims.items()}
    compared = 0
    for pixel, sim in sims.items():
        detector = sim.config["detector"]
        for name, offset in (("Xbeam_mm", 0), ("Fbeam_mm", 0.5), ("Sbeam_mm", 0.5)):
            assert detector[name] / pixel - offset == pytest.approx(25.6 / pixel, abs=0.1)
        wanted = found[0.4] * 0.4 / pixel
        wanted = wanted[(wanted <= 250).all(axis=1)]  # other spots are outside the smaller detector
        assert (distances(wanted, found[pixel]) <= 0.5 * 0.4 / pixel).all()
        compared += len(wanted) if pixel < 0.4 else 0
    assert len(found[0.4]) > 5 and compared > 5


@pytest.mark.parametrize("n", [256, 512, 1024])
@pytest.mark.parametrize("beam", [(20, 20), (30, 40), (45, 25), (60, 60)])
def test_003_beam_goes_along_slow_and_fast(beam, n):
    sim = suite(wavelength=6.2, detpixels=n, Xbeam=beam[0], Ybeam=beam[1])
    detector = sim.config["detector"]
    wanted = np.array([beam[1], beam[0]]) / 0.1
    assert np.divide((detector["Fbeam_mm"], detector["Sbeam_mm"]), 0.1) - 0.5 == pytest.approx(wanted, abs=1e-6)
    if max(wanted) < n:
        assert np.array(brightest(sim.render())) == pytest.approx(wanted, abs=1, rel=0.002)


def shift(a, b):
    """Returns by how many pixels along fast the spots of image b are shifted from those
    of image a: the median over the brightest spots."""
    def centroids(pixels):
        rows = np.array([pixels[s, f - 3:f + 4] for f, s in at])
        return (rows * np.arange(-3, 4)).sum(axis=1) / rows.sum(axis=1)
    at = np.rint(peaks(a, 97, 4)).astype(int)
    at = at[(at[:, 0] > 6) & (at[:, 0] < a.shape[1] - 7)]
    assert len(at) > 20
    return np.median(centroids(b) - centroids(a))


def test_004_conventions_are_half_a_pixel_apart():
    base = dict(detpixels=256, oversample=None)
    mosflm = image(**base, Xbeam=25.6, Ybeam=25.6)
    xds = image(**base, xds=True, ORGX=256.5, ORGY=256.5)
    assert 0.4 <= abs(shift(mosflm, xds)) <= 0.6
    assert correlation(mosflm, xds) < 0.9999
    assert correlation(xds, image(**base, Xbeam=25.55, Ybeam=25.55)) >= 0.9999


CENTRES = [(dict(Xbeam=9.95, Ybeam=12.95), "beam"), (dict(denzo=True, Xbeam=10, Ybeam=13), "beam"),
           (dict(adxv=True, Xbeam=13, Ybeam=15.6), "beam"),
           (dict(xds=True, ORGX=130.5, ORGY=100.5), "sample"), (dict(dials=True, ORGX=130.5, ORGY=100.5), "sample"),
           (dict(fdet_vector=(0, 0, 1), Xclose=13, Yclose=10), "sample"),
           (dict(fdet_vector=(0, 0, 1), Xbeam=13, Ybeam=10), "beam")]


@pytest.mark.parametrize("words, pivot", CENTRES)
def test_005_settings_of_one_centre(words, pivot):
    detector = suite(detpixels=256, **words).config["detector"]
    assert (detector["Fbeam_mm"] / 0.1, detector["Sbeam_mm"] / 0.1) == pytest.approx((130, 100), abs=0.5)
    assert detector["pivot"] == pivot


def test_005_distances_are_one_without_tilts():
    base = dict(detpixels=256, Xbeam=25.6, Ybeam=25.6)
    assert np.array_equal(image(**base), image(**base, distance=None, close_distance=100))


def test_006_reflection_at_the_bragg_angle():
    found = np.empty((3, 3))
    tangents = np.array([np.tan(2 * np.arcsin(wavelength / 200)) for wavelength in (1, 1.5, 2)])
    for i, distance in enumerate((50, 100, 200)):
        for j, wavelength in enumerate((1, 1.5, 2)):
            pixels = image(N=3, detpixels=256, wavelength=wavelength, distance=distance, oversample=4,
                           Xbeam=12.8, Ybeam=12.8)
            at, wanted = peaks(pixels, 50, 2, 300), np.array([128 + distance * tangents[j] / 0.1, 128])
            found[i, j] = at[np.linalg.norm(at - wanted, axis=1).argmin(), 0] - 128
            assert found[i, j] == pytest.approx(wanted[0] - 128, abs=0.5)
    assert found[1:] / found[0] == pytest.approx(np.array([[2] * 3, [4] * 3]), rel=0.02)
    assert found[:, 1:] / found[:, :1] == pytest.approx(np.tile(tangents[1:] / tangents[0], (3, 1)), rel=0.01)


def corner_angle(a, b, c):
    """Solid angle of a triangle seen from the origin (van Oosterom & Strackee 1983)."""
    A, B, C = (np.linalg.norm(x) for x in (a, b, c))
    return 2 * np.arctan2(abs(a @ np.cross(b, c)), A * B * C + a @ b * C + a @ c * B + b @ c * A)


@pytest.mark.parametrize("distance", [50, 100, 200, 400])
@pytest.mark.parametrize("tilt, point", [(0, True), (0, False), (10, False), (20, False), (30, False)])
def test_010_a_pixel_is_its_solid_angle(distance, tilt, point):
    """Light goes as the solid angle: 1/R^2 for point pixels, or close_distance/R^3."""
    sim = suite(wavelength=6.2, N=1, detpixels=64, nopolar=True, distance=distance, detector_roty=tilt,
                point_pixel=point)
    assert sim.render() == pytest.approx(1e4 * solid_angles(sim, point), rel=1e-6)


@pytest.mark.parametrize("angles", [(50, 45, 0, 60), (50, 0, 0, 0), (-60, 50, 30, 0), (0, 0, 0, 75), (0, 85, 0, 0)])
def test_017_steep_detectors(angles):
    words = dict(zip(("detector_rotx", "detector_roty", "detector_rotz", "twotheta"), angles))
    sim = suite(wavelength=1.5, detpixels=256, oversample=2, **words)
    pixels, statistics = sim.render(statistics=True)
    panel = sim.config["detector"]["panels"][0]
    origin, fast, slow = (vector(panel, name) for name in ("origin_mm", "fast", "slow"))
    corner = [origin + 25.6 * (k & 1) * fast + 25.6 * (k >> 1) * slow for k in range(4)]
    assert np.isfinite(pixels).all()
    wanted = corner_angle(*corner[:3]) + corner_angle(corner[3], *corner[1:3])
    assert statistics["solid_angle"] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("K", [0, 0.95])
def test_011_polarization_of_each_pixel(K):
    base = dict(wavelength=6.2, N=1, detpixels=128, pixel=0.8)
    sim = suite(**base, polar=K)
    beam, electric = (vector(sim.config["beam"], name) for name in ("beam_vector", "polar_vector"))
    d = directions(sim)
    wanted = 1 - (1 + K) / 2 * (d @ electric) ** 2 - (1 - K) / 2 * (d @ np.cross(beam, electric)) ** 2  # sum of two dipoles
    assert sim.render() / image(**base, nopolar=True) == pytest.approx(wanted, rel=1e-6)
    if K == 0:
        assert wanted == pytest.approx(0.5 * (1 + (d @ beam) ** 2))


def test_012_high_resolution_region():
    pixels = image(wavelength=0.5, detpixels=4096, roi=(2900, 3411, 2900, 3411), Xbeam=204.8, Ybeam=204.8)
    alone = image(wavelength=0.5, detpixels=512, Xbeam=204.8 - 290, Ybeam=204.8 - 290)
    assert same(pixels[2900:3412, 2900:3412], alone, 1e-6)


def test_013_instruction_sets_give_the_bytes_of_the_reference():
    base = dict(detpixels=128, cell=TRICLINIC, misset=(-89.968546, -31.328953, 177.753396),
                oversample=None)
    pixels, ran = image(**base), 0
    for isa in ("sse2", "avx2", "avx512", "neon"):
        try:
            assert np.array_equal(image(**base, isa=isa), pixels)
        except NotImplementedError:  # this processor or build lacks the instruction set
            continue
        assert same(image(**base, isa=isa, precision="mixed"), pixels, 1e-6)
        ran += 1
    assert ran > 0


def test_014_noise_of_two_seeds():
    base = dict(wavelength=2, detpixels=256)
    fluence = FLUENCE * 1000 / image(**base).mean()
    sims = [suite(**base, fluence=fluence, seed=seed) for seed in (123, 456)]
    pixels, counts = sims[0].render().astype(float), [sim.noise().astype(float) for sim in sims]
    assert pixels.mean() == pytest.approx(1000, rel=1e-5) and (counts[0] != counts[1]).any()
    assert [c.mean() for c in counts] == pytest.approx([np.minimum(pixels + 40, 65535).mean()] * 2, rel=0.01)
    overloads = [(c == 65535).sum() for c in counts]
    assert overloads[0] > 20 and overloads[1] == pytest.approx(overloads[0], rel=0.1)

    def centroid(image, f, s):
        spot = image[s - 3:s + 4, f - 3:f + 4] - 40
        return np.array([(spot * np.arange(-3, 4)).sum(), (spot.T * np.arange(-3, 4)).sum()]) / spot.sum()
    at = np.rint(peaks(pixels, 99, 3)).astype(int)
    at = at[((at >= 4) & (at <= 251)).all(axis=1)][:20]
    off = [np.linalg.norm(centroid(counts[0], f, s) - centroid(counts[1], f, s)) for f, s in at]
    assert len(off) == 20 and np.median(off) <= 0.5 and np.percentile(off, 90) <= 1


@pytest.mark.parametrize("words", [dict(wavelength=None, energy=12398.419843320026), dict(detpixels=None, detsize=25.6),
                                   dict(N=None, samplesize=5e-5)])
def test_015_the_same_in_other_units(words):
    base = dict(detpixels=256)
    assert same(image(**{**base, **words}), image(**base), 1e-7)


def test_018_aligned_axes_are_continuous():
    aligned = dict(detpixels=256, misset=(90, 0, 0))
    assert same(image(**{**aligned, "misset": (90 + 1e-7, 1e-7, -1e-7)}), image(**aligned), 1e-5)
    exact = dict(N=21, detpixels=100, pixel=1, distance=80, xds=True, ORGX=1, ORGY=1)
    pixels = image(**exact)  # pixel (0, 0) has q = 0; rows are along h and k
    assert np.isfinite(pixels).all() and brightest(pixels) == (0, 0)
    assert pixels[0, 0] == pytest.approx(1e4 * 21 ** 6 * 1e-6 / 0.08 ** 2, rel=1e-6)
    for other in (dict(misset=(1e-7, 1e-7, 1e-7)), dict(distance=80 * (1 + 1e-7))):
        assert same(image(**{**exact, **other}), pixels, 1e-4)


SWEEP = dict(wavelength=6.2, detpixels=256)
TILTS = [{}, dict(detector_rotx=5, detector_roty=3, detector_rotz=2, twotheta=10)]


@pytest.mark.parametrize("tilts", TILTS)
def test_021_a_still_at_phi_is_a_misset_about_the_spindle(tilts):
    still = dict(SWEEP, cell=TRICLINIC, **tilts)
    pixels = image(**still, phi=33)
    assert same(pixels, image(**still, misset=(0, 0, 33)), 1e-6)
    assert correlation(pixels, image(**still)) < 0.9


@pytest.mark.parametrize("tilts, ratio", [({}, 135532.791 / 152405.463), (TILTS[1], 128272.228 / 151181.732)])
def test_022_sums_of_sweeps_are_the_references(tilts, ratio):
    one, nine = (image(**SWEEP, phi=0, osc=90, phisteps=steps, **tilts).sum() for steps in (1, 9))
    assert nine / one == pytest.approx(ratio, rel=1e-6) and nine / one == pytest.approx(1, abs=0.16)


@pytest.mark.parametrize("compat", [True, False])
def test_024_random_missets(compat):
    base = dict(detpixels=256, compat=compat)
    a, b, again = (suite(**base, misset="random", misset_seed=seed) for seed in (12345, 54321, 12345))
    pixels = a.render()
    assert np.array_equal(pixels, again.render()) and correlation(pixels, b.render()) <= 0.7
    assert same(image(**base, misset=a.config["crystal"]["misset_deg"]), pixels, 1e-6)


PATTERN = {(0, 0, 0): 100, (0, 1, 0): 25, (0, 2, 0): 150, (1, 0, 0): 50, (1, 1, 0): 12.5, (2, 0, 0): 200}


@pytest.mark.parametrize("listed, other, words", [
    (PATTERN, 0, dict(wavelength=6.2, detpixels=320, xds=True)),
    ({(0, 2, 0): 7, (0, -1, 3): 40, (0, 4, -2): 9}, 2, dict(detpixels=128))])
def test_027_pixels_have_the_F_of_their_reflection(listed, other, words, tmp_path):
    """Pixels are F^2 times pixels of F = 1; unlisted F are default_F (AT-STR-004)."""
    (tmp_path / "a.hkl").write_text("".join(f"{h} {k} {l} {F} 0.5\n\n" for (h, k, l), F in listed.items()))
    sim = suite(hkl=tmp_path / "a.hkl", default_F=other or None, nointerpolate=True, **words)
    pixels, flat, hkl = sim.render(), image(default_F=1, **words), nearest_indices(sim)
    rest = np.ones(flat.shape, bool)
    for index, F in listed.items():
        at = (hkl == index).all(axis=2)
        assert at.sum() > 20 and pixels[at] == pytest.approx(F ** 2 * flat[at], rel=1e-6)
        rest &= ~at
    assert rest.sum() > 20 and pixels[rest] == pytest.approx(other ** 2 * flat[rest], rel=1e-6, abs=0)


def high_power(pixels, floor):
    """Power of an image at spatial frequencies above `floor` cycles per pixel."""
    frequency = np.abs(np.fft.fftfreq(len(pixels)))
    return (abs(np.fft.fft2(pixels)) ** 2)[np.hypot(frequency[:, None], frequency) > floor].sum()


def width(pixels, f, s):
    """Full width at half maximum along fast in pixels, by linear interpolation."""
    row, edge = pixels[s], []
    for step in (-1, 1):
        at = f
        while row[at] > row[f] / 2:
            at += step
        edge.append(at - step * (row[f] / 2 - row[at]) / (row[at - step] - row[at]))
    return edge[1] - edge[0]


def test_029_subpixels_against_aliasing():
    """Spots 5 pixels apart have harmonics at 0.2, 0.4, 0.6 and 0.8 cycles per pixel. With
    one sub-pixel, 0.6 appears at 0.4 and 0.8 at 0.2: aliases. With two sub-pixels the
    power above 0.375 must halve, and so must the power above 0.25 in excess of that of
    the converged image (8 sub-pixels)."""
    p = {n: image(detpixels=256, distance=50, oversample=n) for n in (1, 2, 4, 8)}
    assert high_power(p[2], 0.375) < 0.5 * high_power(p[1], 0.375)
    power = {n: high_power(p[n], 0.25) for n in (1, 2, 8)}
    assert power[1] > 1.5 * power[8] and power[2] - power[8] < 0.5 * (power[1] - power[8])
    assert same(p[4], p[8], 0.02)
    top = peaks(p[8], 95, 2, 10)
    assert len(top) == 10
    for n in (1, 2, 4):
        assert (distances(top, peaks(p[n], 50, 1, 200)) <= 0.5).all()
    for f, s in np.rint(top).astype(int):
        assert width(p[4], f, s) == pytest.approx(width(p[8], f, s), rel=0.05)
