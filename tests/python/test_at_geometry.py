# SPDX-License-Identifier: MIT
"""Acceptance tests AT-GEO and AT-PRE: positions of detectors, typed or from headers.

Solid angles of flat pixels (AT-GEO-006) are test_010 and test_017 of test_at_parallel.py;
points of a curved detector are in tests/unit/test_physics.c."""
import numpy as np
import pytest

import nanobragg
from suite import brightest, correlation, image, same, suite, vector

CONVENTIONS = ["mosflm", "xds", "adxv", "denzo", "dials", "custom"]
CUSTOM = dict(detpixels=96, fdet_vector=(0, 0, 1), sdet_vector=(0, -1, 0), odet_vector=(1, 0, 0),
              beam_vector=(1, 0, 0), twotheta_axis=(0, 0, -1))


def detector(**words):
    return suite(**words).config["detector"]


def convention(name):
    return dict(fdet_vector=(0, 0, 1)) if name == "custom" else {name: True}


def test_001_mosflm_origin():
    found = detector(detpixels=1024, Xbeam=51.2, Ybeam=51.2)
    for name, value in (("pix0_vector_m", (0.1, 0.05125, -0.05125)), ("fdet_vector", (0, 0, 1)),
                        ("sdet_vector", (0, -1, 0)), ("odet_vector", (1, 0, 0))):
        assert found[name] == pytest.approx(value, abs=1e-15)
    assert (found["ORGX_pixels"], found["ORGY_pixels"]) == pytest.approx((513, 513))


def test_002_pivots():
    """BEAM keeps the point where the beam hits the detector; SAMPLE keeps the nearest point."""
    turned = dict(detpixels=200, detector_rotx=4, detector_roty=8, detector_rotz=12, twotheta=20)
    straight, beam = detector(detpixels=200, pivot="beam"), detector(**turned, pivot="beam")
    sample = detector(**turned, pivot="sample")

    def of(found, *names):
        return [found[name + "_m"] for name in names]
    kept = ("Fbeam", "Sbeam", "distance")
    assert of(beam, *kept) == pytest.approx(of(straight, *kept), rel=1e-10)
    assert abs(beam["Fclose_m"] - straight["Fclose_m"]) > 1e-3 and abs(sample["Fbeam_m"] - straight["Fbeam_m"]) > 1e-3
    close = 0.1 * np.cos(np.radians(8)) * np.cos(np.radians(12))
    assert of(sample, "Fclose", "Sclose", "close_distance") == pytest.approx([0.01, 0.01, close], rel=1e-10)


@pytest.mark.parametrize("angles", [(0, 0, 0, 0), (10, 0, 0, 0), (0, 20, 0, 0), (0, 0, 30, 0), (0, 0, 0, 25),
                                    (5, 10, 15, 20)])
def test_003_rotations_keep_the_beam_centre(angles):
    words = dict(zip(("detector_rotx", "detector_roty", "detector_rotz", "twotheta"), angles))
    assert brightest(image(wavelength=6.2, detpixels=128, Xbeam=6.4, Ybeam=7.4, **words)) == (74, 64)


def test_004_twotheta_axes():
    """With the SAMPLE pivot, -twotheta rotates the normal, and so the nearest point,
    about the axis of each convention."""
    c, s = np.cos(np.radians(20)), np.sin(np.radians(20))
    for name, wanted in zip(CONVENTIONS, [(c, -s, 0), (0, -s, c), (0, s, c), (c, -s, 0), (s, 0, c), (c, 0, -s)]):
        found = detector(detpixels=128, pivot="sample", twotheta=20, **convention(name))
        fast, slow, normal = (vector(found, n) for n in ("fdet_vector", "sdet_vector", "odet_vector"))
        assert normal == pytest.approx(wanted, abs=1e-15) and found["close_distance_m"] == pytest.approx(0.1, rel=1e-11)
        assert vector(found, "pix0_vector_m") @ normal == pytest.approx(0.1, rel=1e-11)
        hand = -1 if name == "adxv" else 1
        assert np.cross(fast, slow) == pytest.approx(hand * normal, abs=1e-15)


CURVED = dict(detpixels=64, pixel=1, curved_det=True)


@pytest.mark.parametrize("words", [{}, dict(xds=True, ORGX=20, twotheta=15)])
def test_005_pixels_of_a_curved_detector_are_equal(words):
    """All pixels of a curved detector have the same solid angle, point pixels too. The
    typed distance is along the normal; the distance along the beam may be longer."""
    sim = suite(N=1, nopolar=True, **CURVED, **words)
    pixels, distance = sim.render(), sim.config["detector"]["distance_m"]
    assert pixels == pytest.approx(np.full(pixels.shape, 1e4 * 1e-6 / distance ** 2), rel=1e-6)
    for other in (dict(point_pixel=True), dict(point_pixel=True, compat=True)):
        assert np.array_equal(pixels, image(N=1, nopolar=True, **CURVED, **words, **other))
    thick = image(N=1, nopolar=True, **CURVED, **words, detector_abs=300, detector_thick=400,
                  detector_thicksteps=5, layer_depth="front")
    assert thick == pytest.approx(pixels * (1 - np.exp(-400 / 300)), rel=1e-6)  # rays are along the normal


def test_005_small_angles_equal_the_flat_image():
    curved, flat = (image(wavelength=6.2, detpixels=64, curved_det=shape) for shape in (True, False))
    assert same(curved, flat, 2e-3) and correlation(curved, flat) >= 0.99999


@pytest.mark.parametrize("name", CONVENTIONS)
def test_pix0_vector_of_another_run_gives_its_image(name):
    words = dict(detpixels=96, detector_rotx=3, detector_roty=-5, detector_rotz=7, twotheta=9, **convention(name))
    sim = suite(**words, Xbeam=4, Ybeam=5.5)
    found = sim.config["detector"]
    other = suite(**{**words, "distance": 250}, Xbeam=1, Ybeam=2, pix0_vector=found["pix0_vector_m"])  # pix0_vector replaces Xbeam and Ybeam
    assert np.array_equal(sim.render(), other.render())
    beam = () if name in ("xds", "dials") else ("Xbeam_mm", "Ybeam_mm")
    for key in ("distance_m", "close_distance_m", "Fbeam_m", "Sbeam_m", *beam):
        assert other.config["detector"][key] == pytest.approx(found[key], abs=1e-14)


@pytest.mark.parametrize("name", ["fdet_vector", "sdet_vector", "beam_vector", "twotheta_axis", "odet_vector"])
def test_vectors_of_any_length(name):
    longer = {**CUSTOM, name: [2.5 * x for x in CUSTOM[name]]}
    assert same(image(**longer, twotheta=12), image(**CUSTOM, twotheta=12), 1e-6)


@pytest.mark.parametrize("length", [1, 0.3, 7.5])
def test_a_normal_is_kept_as_typed(length):
    """The normal has the typed direction, also if oblique to fast and slow."""
    n = np.array([0.9, 0.2, -0.1]) / np.sqrt(0.86)
    found = detector(**{**CUSTOM, "odet_vector": length * n})
    assert found["odet_vector"] == pytest.approx(n, abs=1e-15)
    assert found["close_distance_m"] == pytest.approx(vector(found, "pix0_vector_m") @ n, abs=1e-15)


def test_a_normal_away_from_the_beam(caplog):
    """A normal against the beam puts the detector upstream, with a note. With a typed
    origin, the sign of the normal is changed to point away from the sample."""
    with caplog.at_level("INFO", "nanobragg"):
        assert detector(**{**CUSTOM, "odet_vector": (3, 0, 0)})["pix0_vector_m"][0] == pytest.approx(0.1)
        assert "upstream" not in caplog.text
        assert detector(**{**CUSTOM, "odet_vector": (-3, 0, 0)})["pix0_vector_m"][0] == pytest.approx(-0.1)
    assert "upstream" in caplog.text
    found = detector(**{**CUSTOM, "odet_vector": (-1, 0, 0)}, pix0_vector=(0.1, 0.005, -0.005))
    assert found["odet_vector"] == [1, 0, 0]
    assert (found["distance_m"], found["close_distance_m"]) == pytest.approx((0.1, 0.1))


def test_impossible_detectors():
    for axis, other, normal in (("fdet_vector", "sdet_vector", 1), ("sdet_vector", "fdet_vector", -1)):
        along = {**CUSTOM, axis: (1, 0, 0), other: (0, 0, 1), "odet_vector": (0, normal, 0)}
        suite(**along, pix0_vector=(-0.05, 0.1, 0.05))  # a flat detector may have these values
        with pytest.raises(ValueError, match="fast" if normal == 1 else "slow"):
            suite(**along, pix0_vector=(-0.05, 0.1, 0.05), curved_det=True)
    with pytest.raises(ValueError, match="through the sample"):
        suite(**CUSTOM, pix0_vector=(0, 0.01, 0.02))


def test_point_pixels_of_compat_have_no_area():
    pixels, compat = (image(detpixels=32, point_pixel=True, compat=c) for c in (False, True))
    assert compat == pytest.approx(pixels / 1e-8, rel=2e-7)


@pytest.mark.parametrize("typed", [None, "beam", "sample"])
@pytest.mark.parametrize("hint, implied", [({}, None), (dict(Xclose=4), "sample"), (dict(Xbeam=4), "beam")])
def test_pre_002_pivots_by_precedence(typed, hint, implied):
    """The pivot is that of a typed -pivot, else of the convention, else of the last flag
    that implies a pivot."""
    for name in CONVENTIONS:
        own = {"xds": "sample", "dials": "sample", "custom": None}.get(name, "beam")
        found = detector(detpixels=8, pivot=typed, **convention(name), **hint)
        assert found["pivot"] == (typed or own or implied or "beam")


SMV = "{{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER={}_endian;\nSIZE1={};\nSIZE2={};\n{}}}\f"


def smv(path, pixels, lines="", order="little"):
    """Writes an SMV file with these pixels and header lines; returns its path."""
    head = SMV.format(order, *pixels.shape[::-1], lines).encode().ljust(512)
    path.write_bytes(head + pixels.astype("<u2" if order == "little" else ">u2").tobytes())
    return path


def test_pre_001_headers_are_defaults(tmp_path):
    """Values of -img replace those of -mask; typed flags replace both."""
    ones = np.ones((8, 8))
    img = smv(tmp_path / "a.img", ones, "PIXEL_SIZE=0.2;\nDISTANCE=150;\nWAVELENGTH=1.1;\nBEAM_CENTER_X=0.5;\n")
    mask = smv(tmp_path / "m.img", ones, "PIXEL_SIZE=0.3;\nDISTANCE=250;\nCLOSE_DISTANCE=11;\nWAVELENGTH=1.2;\n"
               "PHI=17;\n")
    base = dict(img=img, mask=mask, cell=50, N=3, default_F=1)

    def of(**words):
        config = nanobragg.Simulation(**base, **words).config
        found = [config["detector"][name] for name in ("pixel_mm", "distance_mm", "Xbeam_mm")]
        return [*found, config["beam"]["wavelength_A"], config["spindle"]["phi_deg"]]
    assert of() == pytest.approx([0.2, 150, 0.5, 1.1, 17])  # only the file of -mask has the angle
    assert of(distance=99, energy=12000) == pytest.approx([0.2, 99, 0.5, 12398.419843320026 / 12000, 17])


@pytest.mark.parametrize("pivot", ["beam", "sample"])
def test_close_distance_of_a_header_is_after_the_swing(pivot, tmp_path):
    """CLOSE_DISTANCE and TWOTHETA of a header describe the detector after its swing,
    so it is not swung again. The header of the new image has the same distance."""
    base = dict(misset=(10, 20, 30), pivot=pivot)
    sim = suite(**{**base, "distance": 120}, detpixels=8, twotheta=25)
    found, pixels = sim.config["detector"], sim.render()
    other = smv(tmp_path / "swung.img", np.zeros((8, 8)), "PIXEL_SIZE={pixel_mm!r};\nDISTANCE=1;\n"
                "CLOSE_DISTANCE={close_distance_mm!r};\nTWOTHETA=25;\n".format(**found))
    read = suite(**{**base, "distance": None, "pixel": None}, img=other)
    assert same(read.render(), pixels, 1e-6)
    for name in ("distance_mm", "close_distance_mm"):
        assert read.config["detector"][name] == pytest.approx(found[name])
    read.write(intfile=tmp_path / "own.img")
    base["pivot"] = None  # the header that this program wrote has the pivot
    again = suite(**{**base, "distance": None, "pixel": None}, img=tmp_path / "own.img")
    assert np.array_equal(again.render(), read.render())


@pytest.mark.parametrize("words", [
    {}, dict(detector_rotx=3.3, detector_roty=-4.4, detector_rotz=5.5, twotheta=7.7, distance=123.456, wavelength=1 / 3,
             Xbeam=1.7, Ybeam=3.1),
    dict(xds=True, ORGX=17.3, ORGY=22.9, distance=None, close_distance=77.7),
    dict(fdet_vector=(0.1, 0.3, 0.9), sdet_vector=(0, -0.9, 0.3), spindle_axis=(0.1, 0.2, 1),
         pix0_vector=(0.1, 0.002, -0.003), phi=12.34567890123),
    dict(dials=True, wavelength=None, energy=12658.1, pivot="beam", osc=0.7, phisteps=3, pixel=0.172)])
def test_img_of_our_own_header_gives_the_same_picture(words, tmp_path):
    crystal = dict(misset=(10, 20, 30))  # a header does not set these values
    sim = suite(**{**crystal, "detpixels_x": 60, "detpixels_y": 40, **words})
    pixels = sim.render()
    sim.write(intfile=tmp_path / "a.img")
    again = suite(**crystal, wavelength=None, distance=None, pixel=None, img=tmp_path / "a.img")
    assert np.array_equal(pixels, again.render())


def test_mask_of_both_byte_orders_is_a_cut(tmp_path):
    base = dict(misset=(3, 2, 1), detpixels_x=64, detpixels_y=48)
    whole, all_of = suite(**base).render(statistics=True)
    i = np.arange(64 * 48).reshape(48, 64)
    mask = np.where(i * 7919 % 5 == 0, 0, np.where(i % 3, 1, 256))
    for order in ("little", "big"):
        path = smv(tmp_path / "m.img", mask, order=order)
        pixels, statistics = suite(**base, mask=path).render(statistics=True)
        assert np.array_equal(pixels, np.where(mask, whole, 0))
        assert (statistics["rendered"], statistics["roi_pixels"]) == ((mask != 0).sum(), 64 * 48)
        assert statistics["solid_angle"] < all_of["solid_angle"]
    with pytest.raises(ValueError, match="-mask"):
        suite(**{**base, "detpixels_x": 48, "detpixels_y": 64}, mask=path)
