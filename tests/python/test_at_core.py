# SPDX-License-Identifier: MIT
"""Acceptance tests AT-SRC, AT-FLU, AT-STA, AT-SAM, AT-ABS, AT-BKG and AT-IO, with exact
values that do not use the library's formulas.

AT-NOISE is in tests/unit/test_poisson.c, AT-ROI in test_properties.py, AT-STR and AT-POL
in tests/unit/test_physics.c."""
import os
import re
import subprocess

import numpy as np
import pytest

import nanobragg
from suite import FLUENCE, directions, image, same, solid_angles, suite, vector

FLAT = dict(N=1, pixel=1)  # one cell: no spots, and every orientation scatters equally


def sources(**words):
    return suite(detpixels=8, **words).config["beam"]["source_list"]


def test_src_001_directions_wavelengths_and_defaults(tmp_path):
    """A source file replaces divergence and dispersion; missing columns have defaults."""
    (tmp_path / "s").write_text("# X Y Z I lambda\n-10 0 0 1 1e-10\n\n0,-2;0 3 2e-10\r\n -3 : -4\n-1")
    words = dict(wavelength=1.5, dispersion=5, dispsteps=4, hdivrange=10, sourcefile=tmp_path / "s")
    found = sources(**words)
    incident = [(1, 0, 0), (0, 1, 0), (0.6, 0.8, 0), (1, 0, 0)]
    assert np.array([s["incident"] for s in found]) == pytest.approx(np.array(incident), abs=1e-15)
    assert [s["wavelength_m"] for s in found] == pytest.approx([1e-10, 2e-10, 1.5e-10, 1.5e-10])
    assert [s["weight"] for s in found] == pytest.approx([4 / 6, 4 * 3 / 6, 4 / 6, 4 / 6])  # n I / sum of I for n sources
    assert {s["weight"] for s in sources(**words, compat=True)} == {1}


def test_src_002_weighted_mean_of_each_source_alone(tmp_path):
    """An image is the weighted mean over its sources, each with its polarization."""
    lines = ["-10 0 0 1 1e-10\n", "-10 0.05 0.1 2 1.02e-10\n", "-10 -0.2 0 0.25 0.97e-10\n"]
    base = dict(detpixels=96, oversample_polar=True, polar=0.7)
    (tmp_path / "all").write_text("".join(lines))
    mean = 0
    for line in lines:
        (tmp_path / "one").write_text(line)
        mean = mean + image(**base, sourcefile=tmp_path / "one") * float(line.split()[3]) / 3.25
    assert same(image(**base, sourcefile=tmp_path / "all"), mean, 2e-7)


@pytest.mark.parametrize("span, step, count, wanted", [
    (None, None, None, 1), (None, 2, None, 2), (3, None, None, 2), (4, 1, None, 4), (4, None, 5, 5), (4, None, 1, 2),
    (4, 1, 7, 7), (4, 1.5, None, 3)])
def test_src_003_grid_of_the_divergence(span, step, count, wanted):
    found = sources(hdivrange=span, hdivstep=step, hdivsteps=count)
    assert len(found) == wanted and sum(s["incident"][2] for s in found) == pytest.approx(0, abs=1e-15)  # the sources are centred on the beam


def test_src_003_grid_of_the_dispersion():
    found = [s["wavelength_m"] for s in sources(dispersion=10, dispsteps=5)]
    assert found == pytest.approx(1e-10 * np.linspace(0.95, 1.05, 5))
    with pytest.raises(ValueError, match="-vdivrange"):
        sources(vdivsteps=3)


def test_polarization_of_a_culled_first_source(tmp_path):
    """Without -oversample_polar all light has the polarization factor of the first
    source, even in pixels where -dmin removes the light of this source."""
    base = dict(N=1, detpixels=32, pixel=4, polar=0.8, dmin=1.4)
    (tmp_path / "two").write_text("-10 3 1 1 0.7e-10\n-10 0 0 1 1.2e-10\n")
    (tmp_path / "second").write_text("-10 0 0 1 1.2e-10\n")
    sim = suite(**base, sourcefile=tmp_path / "two")
    second = image(**base, nopolar=True, sourcefile=tmp_path / "second")
    d, beams = directions(sim), sim.config["beam"]["source_list"]
    spacing = [1e10 * s["wavelength_m"] / np.linalg.norm(d - vector(s, "incident"), axis=2) for s in beams]
    beam = vector(beams[0], "incident")
    electric = np.array((0, 0, 1)) - beam[2] * beam
    electric /= np.linalg.norm(electric)
    polar = 1 - 0.9 * (d @ electric) ** 2 - 0.1 * (d @ np.cross(beam, electric)) ** 2
    alone = (spacing[0] < 1.4) & (spacing[1] >= 1.4)
    assert alone.sum() > 50 and sim.render()[alone] == pytest.approx((0.5 * second * polar)[alone], rel=1e-6)


@pytest.mark.parametrize("words, wanted", [({}, FLUENCE), (dict(fluence=3e20), 3e20), (dict(flux=1e12), 1e12 / 1e-8),
                                           (dict(flux=1e12, exposure=0.25, beamsize=0.02), 0.25e12 / 4e-10)])
def test_flu_001_fluence(words, wanted):
    """The default fluence is 1 / r_e^2. -flux has the defaults 1 s and 0.1 mm."""
    assert suite(detpixels=8, **words).config["beam"]["fluence_photons_per_m2"] == pytest.approx(wanted, rel=1e-12)


def test_the_beam_clips_a_crystal_along_b_and_c():
    def cells(**words):
        return suite(detpixels=8, N=None, **words).config["crystal"]["N"]
    assert cells(samplesize=3e-4, beamsize=1.5e-4) == [30, 15, 15]
    assert cells(sample_x=3e-4, sample_y=2.5001e-4, sample_z=1e-9) == [30, 26, 1]


def test_sta_001_statistics_of_a_region():
    pixels, found = suite(detpixels=64, misset=(10, 20, 30), roi=(3, 40, 10, 63)).render(statistics=True)
    inside = pixels[10:64, 3:41].astype(float)
    slow, fast = np.unravel_index(pixels.argmax(), pixels.shape)
    wanted = dict(max=inside.max(), max_fast=fast, max_slow=slow, sum=inside.sum(), mean=inside.mean(),
                  rms=np.sqrt((inside ** 2).mean()), rmsd=inside.std(ddof=1), rendered=inside.size,
                  roi_pixels=inside.size)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-12)


def test_sam_001_steps_are_normalised():
    base = dict(FLAT, detpixels=32)
    pixels = image(**base)
    sweep = dict(base, osc=10, phisteps=7, mosaic=3, mosaic_dom=5)
    beams = dict(sweep, hdivrange=1e-6, hdivsteps=3, dispersion=1, dispsteps=2)
    fine = dict(beams, oversample=3, oversample_omega=True, oversample_polar=True)
    for words, steps, tolerance in ((sweep, 35, 1e-6), (beams, 210, 1e-6), (fine, 1890, 2e-4)):
        sim = suite(**words)  # `fine` averages omega and polarization over 1 mm pixels
        assert sim.config["sampling"]["steps_per_pixel"] == steps and same(sim.render(), pixels, tolerance)


def test_sam_002_cached_against_exact_factors():
    base = dict(detpixels=32, pixel=3, xds=True, polar=0.9)
    exact = dict(base, oversample_omega=True, oversample_polar=True, oversample_thick=True)
    assert same(image(**exact), image(**base), 1e-6)  # equal with one sub-pixel and one source
    fine = image(**{**exact, "detpixels": 96, "pixel": 1}).reshape(32, 3, 32, 3).sum(axis=(1, 3))
    assert same(image(**{**exact, "oversample": 3}), fine, 1e-6)
    cached = image(**{**base, "oversample": 3})
    assert same(cached, fine, 0.05) and not same(cached, fine, 1e-3)  # `cached` has the factors of the first sub-pixel


def test_sam_003_dmin():
    base = dict(FLAT, detpixels=64)
    sim, whole = suite(**base, dmin=4), image(**base)
    theta = np.arccos(directions(sim)[..., 0]) / 2
    inside = 1 / (2 * np.sin(theta)) >= 4
    assert inside.sum() > 500 and (~inside).sum() > 500 and np.array_equal(sim.render(), np.where(inside, whole, 0))
    wet, water = image(**base, dmin=4, water=0.05), image(**{**base, "default_F": 0}, water=0.05)  # -dmin does not remove water
    assert wet[0, 0] == pytest.approx(water[0, 0], rel=1e-6) and water[0, 0] > 1e-9 and wet[32, 32] > water[32, 32]


@pytest.mark.parametrize("tilt", [0, 35])
@pytest.mark.parametrize("layers", [None, 1, 2, 3, 10, 57])
def test_abs_001_layers_sum_to_the_capture(layers, tilt):
    base = dict(FLAT, detpixels=32, detector_roty=tilt)
    sim = suite(**base, detector_thick=450, detector_abs=300, detector_thicksteps=layers, layer_depth="front")
    cosine = directions(sim) @ vector(sim.config["detector"], "odet_vector")
    assert sim.config["detector"]["layers"] == (layers or 2)
    # for deeper layers the ray has a slightly different angle
    assert sim.render() / image(**base) == pytest.approx(1 - np.exp(-1.5 / cosine), rel=1e-6 if layers == 1 else 3e-4)


@pytest.mark.parametrize("thick, depth", [(0, None), (500, 0), (500, "inf"), (0, 300)])
def test_no_sensor_captures_all(thick, depth):
    base = dict(FLAT, detpixels=16)
    sensor = dict(detector_thick=thick, detector_abs=depth, oversample_thick=True)
    assert np.array_equal(image(**base), image(**base, **sensor))


def test_a_thickness_alone_is_one_attenuation_length():
    detector = suite(**FLAT, detpixels=16, detector_thick=320, detector_thicksteps=1).config["detector"]
    assert detector["attenuation_per_m"] == pytest.approx(1 / 320e-6)


def test_nopolar_wins():
    base = dict(FLAT, detpixels=16)
    assert np.array_equal(image(**base, nopolar=True), image(**base, polar=0.9, oversample_polar=True, nopolar=True))


def test_bkg_001_water():
    """Water goes with the fluence, not with the sampling, and adds to the crystal."""
    base = dict(FLAT, detpixels=16, default_F=0, water=1, nopolar=True, oversample_omega=True)
    sim = suite(**base)
    pixels, molecules = sim.render(), 1e-18 * 1e6 * 6.02214179e23 / 18  # number of molecules in 1 um^3 of water of 1 g/cm^3
    assert pixels == pytest.approx(2.57 ** 2 * molecules * solid_angles(sim), rel=1e-6)
    assert image(**base, fluence=1e-3 * FLUENCE) == pytest.approx(1e-3 * pixels, rel=1e-6)
    assert image(**{**base, "oversample": 4}) == pytest.approx(pixels, rel=1e-4)
    dry = dict(detpixels=16, pixel=1, nopolar=True, mosaic=0.5, mosaic_dom=3, osc=1, phisteps=2)
    assert image(**dry, water=1) == pytest.approx(image(**dry) + pixels, rel=1e-5)


SMALL = dict(detpixels_x=60, detpixels_y=40, misset=(10, 20, 30), seed=5)


def test_io_001_smv(tmp_path):
    sim = suite(**{**SMALL, "wavelength": 1.23456789, "distance": 123.456789}, roi=(2, 59, 3, 39),
                Xbeam=2.3456789, Ybeam=3.4567891)
    sim.write(intfile=tmp_path / "a.img")
    data = (tmp_path / "a.img").read_bytes()
    head = data[:data.index(b"}")].decode()
    keys = dict(re.findall(r"^(\w+)=([^\n]*);$", head, re.M))
    size = int(keys["HEADER_BYTES"])
    assert head.startswith("{\nHEADER_BYTES=") and size % 512 == 0 and len(data) == size + 2 * 2400
    assert all(line.endswith(";") for line in head.strip("{}\n").split("\n")) and keys["TYPE"] == "unsigned_short"
    wanted = dict(SIZE1=60, SIZE2=40, DIM=2, PIXEL_SIZE=0.1, WAVELENGTH=1.23456789, DISTANCE=123.456789, PHI=0,
                  CLOSE_DISTANCE=123.456789, MOSFLM_CENTER_X=2.3456789, MOSFLM_CENTER_Y=3.4567891,
                  DENZO_X_BEAM=2.3956789, ADXV_CENTER_X=3.5067891, ADXV_CENTER_Y=4 - 2.3956789, XDS_ORGX=35.067891 + 0.5)
    assert {name: float(keys[name]) for name in wanted} == pytest.approx(wanted, rel=1e-8)
    # a pixel is floor(v scale + adc + 1/2), at most 55000 + adc, or 0 outside the region
    pixels, counts = sim.render().astype(float), np.frombuffer(data[size:], "<u2").reshape(40, 60).astype(float)
    assert abs(counts - np.floor(pixels * 55000 / pixels.max() + 40.5))[3:, 2:].max() <= 1
    assert counts.flat[pixels.argmax()] == 55040 and not counts[:3].any() and not counts[:, :2].any()


def test_io_001_typed_scale():
    sim = suite(**SMALL, scale=1000, adc=7.5)
    assert abs(sim.integers() - np.minimum(np.floor(sim.render() * 1000.0 + 8), 65535)).max() <= 1


@pytest.mark.parametrize("typed", [None, 3.25])
def test_io_002_pgm(typed, tmp_path):
    sim = suite(**SMALL, pgmscale=typed)
    pixels, statistics = sim.render(statistics=True)
    sim.write(pgmfile=tmp_path / "a.pgm", floatfile=tmp_path / "a.bin")
    scale = typed or 250 / (5 * statistics["rmsd"])
    body = np.minimum(np.floor(pixels.astype(float) * scale), 255).astype(np.uint8).tobytes()
    assert (tmp_path / "a.pgm").read_bytes() == f"P5\n60 40\n# pixels scaled by {scale:g}\n255\n".encode() + body
    assert (tmp_path / "a.bin").read_bytes() == pixels.tobytes()


def test_io_003_dump(tmp_path):
    """The cache of F (-dump) has the documented bytes and gives the same image, also if
    its first value begins with a white-space byte, which old readers skipped."""
    F = np.frombuffer(b"\n\f" + np.float64(1.0001).tobytes()[2:])[0]
    (tmp_path / "a.hkl").write_text(f"-1 -2 0 {F:.17g}\n3 2 1 25\n0 1 0 100\n")
    flags = ("-cell 100 100 100 -N 5 -lambda 1 -pixel 0.1 -distance 100 -detpixels 60 -nointerpolate -dump F.bin "
             "-noint -nopgm -nonoise -floatfile").split()

    def run(*words):
        return subprocess.run([os.environ["NANOBRAGG"], *flags, *words], cwd=tmp_path, capture_output=True, check=False)
    assert run("a.bin", "-hkl", "a.hkl", "-default_F", "3").returncode == 0
    data = (tmp_path / "F.bin").read_bytes()
    assert data[:15] == b"-1 3 -2 2 0 1\n\f" and len(data) == 15 + 6 * 6 * 3 * 8
    assert np.frombuffer(data[15:])[[0, 2]].tolist() == [F, 0]  # a plane of zeros is at l = lmax + 1
    assert run("b.bin", "-default_F", "3").returncode == 0
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()
    (tmp_path / "F.bin").unlink()
    assert b"-dump" in run("c.bin").stderr


@pytest.mark.parametrize("text", [
    "# comment\n 0 1 0 50 # trailing\n\n\t0\t0 1 20\r\n0 -1 0 70\r\n", "0 1 0 50 0.5\n0 0 1 20 0.1\n0 -1 0 70 1",
    "0 1 0 50 0.5 180\n0 0 1 20 0.1 0\n0 -1 0 7e1 1 12.5\n",
    "0 1 0 1\n0 0 1 20\n0 -1 0 70\n0 1 0 50\n",  # of two rows of one reflection the last is used
    "0.0 1.0 0 50\n0 0 1e0 20\n! comment\n0 -1 0 70\n"])
def test_io_004_variants_of_a_list(text, tmp_path):
    (tmp_path / "a.hkl").write_text(text)
    base = dict(SMALL, default_F=1, nointerpolate=True)
    listed = ([(0, 1, 0), (0, 0, 1), (0, -1, 0)], [50., 20., 70.])
    assert np.array_equal(image(**base, hkl=tmp_path / "a.hkl"), image(**base, hkl=listed))


@pytest.mark.parametrize("text, line", [("0 1 0 50\n0 0.5 1 20\n", 2), ("1 2 3 4 5 6 7\n", 1), ("0 1 99999999 5\n", 1)])
def test_io_004_bad_lists(text, line, tmp_path):
    (tmp_path / "a.hkl").write_text(text)
    with pytest.raises(ValueError, match=f"a.hkl:{line}:"):
        nanobragg.Simulation(cell=50, N=5, hkl=tmp_path / "a.hkl")


@pytest.mark.parametrize("typed, cells, table, wanted", [
    (None, 1, True, True), (None, 2, True, True), (None, 3, True, False), ("interpolate", 9, True, True),
    ("nointerpolate", 1, True, False), (None, 1, False, False), ("interpolate", 9, False, False)])
def test_str_002_choice_of_the_interpolation(typed, cells, table, wanted):
    """F is interpolated if typed, or by default if an axis has two cells or fewer; never
    without a table of F."""
    words = dict(hkl=([(0, 0, 1), (1, 2, 3)], [5., 6.])) if table else {}
    sim = suite(**words, detpixels=8, Na=9, Nb=cells, Nc=9, N=None, **({typed: True} if typed else {}))
    assert sim.config["crystal"]["interpolate"] is wanted
