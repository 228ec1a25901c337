# SPDX-License-Identifier: MIT
"""nanobragg.simtbx: images and noise of the class against the program with the same flags."""
import subprocess

import numpy as np
import pytest

import nanobragg
from nanobragg.simtbx import convention, nanoBragg, pivot, shapetype


def program(folder, nanobragg_program, *flags):
    path = folder / "a.bin"
    subprocess.run([nanobragg_program, *map(str, flags), "-floatfile", path, "-noint", "-nonoise", "-nopgm", "-quiet"],
                   check=True, capture_output=True)
    return np.fromfile(path, np.float32)


def small(**words):
    sim = nanoBragg(detpixels_slowfast=(96, 128), pixel_size_mm=0.8, Ncells_abc=(5, 6, 7), wavelength_A=1.1, **words)
    sim.default_F, sim.F000, sim.oversample, sim.missets_deg = 100, 10, 1, (10, 20, 30)
    return sim


FLAGS = ("-detpixels_x 128 -detpixels_y 96 -pixel 0.8 -Na 5 -Nb 6 -Nc 7 -lambda 1.1 -default_F 100 -F000 10 "
         "-oversample 1 -misset 10 20 30 -cell 78 78 38 90 90 90 -distance 100 -polar 0").split()


@pytest.mark.parametrize("values, flags", [
    ({}, ""), ({"xtal_shape": shapetype.Gauss, "flux": 1e12, "beamsize_mm": 0.05}, "-gauss_xtal -fluence 4e20"),
    ({"beamcenter_convention": convention.ADXV, "beam_center_mm": (40, 41)}, "-adxv -Xbeam 40 -Ybeam 41"),
    ({"XDS_ORGXY": (60, 50)}, "-xds -ORGX 60 -ORGY 50"), ({"phi_deg": 12}, "-phi 12"),
    ({"region_of_interest": ((3, 40), (5, 200))}, "-roi 3 40 5 95")])
def test_the_image_is_that_of_the_program(tmp_path, values, flags):
    import os

    sim = small()
    for name, value in values.items():
        setattr(sim, name, value)
    sim.add_nanoBragg_spots()
    seen = program(tmp_path, os.environ["NANOBRAGG"], *FLAGS, *flags.split())
    assert seen.any() and np.array_equal(sim.raw_pixels.as_numpy_array().ravel().astype(np.float32), seen)


def test_spots_add_up_and_Amatrix_returns_the_crystal():
    a, b = small(), small()
    a.add_nanoBragg_spots()
    b.Amatrix, b.missets_deg = a.Amatrix, (0, 0, 0)
    b.add_nanoBragg_spots_nks()
    assert np.allclose(a.raw_pixels, b.raw_pixels, rtol=0, atol=1e-5 * a.raw_pixels.max())
    once = a.raw_pixels.deep_copy()
    a.add_nanoBragg_spots()
    assert np.array_equal(a.raw_pixels, 2 * once) and a.raw_pixels[130] == a.raw_pixels[1, 2]


def test_noise_and_smv(tmp_path):
    sim = small()
    sim.raw_pixels = np.full(96 * 128, 50.0)
    sim.add_noise()
    sim.to_smv_format(fileout=str(tmp_path / "a.img"), intfile_scale=1)
    seen = np.asarray(nanobragg.read_image(tmp_path / "a.img"))
    assert abs(seen.mean() - 90) < 1 and np.array_equal(seen, sim.raw_pixels)


def test_background_grows_with_the_path():
    sim = small()
    sim.Fbg_vs_stol, sim.amorphous_sample_thick_mm = [(0, 2.57), (0.2, 6.75), (0.18, 7.32), (0.5, 3.17)], 0.1
    sim.add_background()
    once = sim.raw_pixels.deep_copy()
    sim.raw_pixels *= 0
    sim.amorphous_sample_thick_mm = 0.2
    sim.add_background()
    assert once.min() > 0 and np.allclose(sim.raw_pixels, 2 * once, rtol=1e-5)


def test_what_is_not_taken_raises_by_name():
    sim = small()
    with pytest.raises(AttributeError, match="apply_psf.*detector_psf_type"):
        sim.apply_psf()
    with pytest.raises(AttributeError, match="Ncell_abc"):
        sim.Ncell_abc = (1, 2, 3)
    with pytest.raises(ValueError, match="Fbg_vs_stol"):
        sim.add_background()
    assert pivot.Beam.name == "Beam" and str(shapetype.Tophat) == "Tophat"


class Panel:
    """Methods of a panel and a beam of dxtbx, for a detector upright across the beam -z."""

    get_fast_axis, get_slow_axis = lambda self: (1, 0, 0), lambda self: (0, -1, 0)
    get_origin, get_pixel_size = lambda self: (-40, 36, -100), lambda self: (0.8, 0.8)
    get_image_size, get_thickness = lambda self: (128, 96), lambda self: 0
    get_gain, get_mu = lambda self: 1, lambda self: 0
    get_unit_s0 = get_s0 = lambda self: (0, 0, -1)
    get_wavelength, get_polarization_fraction = lambda self: 1.1, lambda self: 1
    get_polarization_normal, get_flux = lambda self: (0, 1, 0), lambda self: 0


def test_models_of_dxtbx_place_the_panel():
    sim = nanoBragg([Panel()], Panel())
    geometry = sim.simulation.config["detector"]
    assert np.allclose(geometry["pix0_vector_mm"], (-40, 36, -100)) and sim.detpixels_fastslow == (128, 96)
    assert np.allclose(geometry["fdet_vector"], (1, 0, 0)) and np.allclose(geometry["odet_vector"], (0, 0, -1))
    assert sim.simulation.config["beam"]["wavelength_A"] == pytest.approx(1.1)
