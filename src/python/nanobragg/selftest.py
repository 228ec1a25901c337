# SPDX-License-Identifier: MIT
"""Check that this installation works: python -m nanobragg.selftest"""

import os
import subprocess
import sys
import tempfile

import numpy as np

import nanobragg

SCENE = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=8, default_F=100, wavelength=1.0, distance=100,
             detpixels=64, misset=(10, 20, 30), fluence=1e26, seed=3)


def image_and_noise():
    sim = nanobragg.Simulation(**SCENE)
    image = sim.render()
    assert np.isfinite(image).all() and image.sum() > 0
    assert (sim.noise() == sim.noise()).all() and sim.noise().max() > 0
    sim.set(phi=1.0, osc=0.5)
    assert (sim.render() != image).any()


def reflections():
    assert len(nanobragg.Simulation(**SCENE, mosaic_spread=1, mosaic_domains=9).reflections()) > 0


def files():
    sim = nanobragg.Simulation(**SCENE)
    image = sim.render()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.bin")
        sim.write(floatfile=path)
        assert (nanobragg.read_image(path) == image).all()


def formats():
    """Check TIFF and HDF5; their libraries are loaded at the first use."""
    absent = [name for name in ("libtiff", "HDF5") if not nanobragg.features()[name]]
    if absent:
        return f"no {' and '.join(absent)}"
    sim = nanobragg.Simulation(**SCENE)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        sim.write(tifffile=path + ".tif")
        nanobragg.run_series(SCENE, frames=2, osc=0.5, hdf5=path + "_master.h5", hdf5type="float32")
        assert nanobragg.read_image(path + ".tif").shape == (64, 64)
        assert nanobragg.read_image(path + "_master.h5", frame=1).sum() > 0
    return None


def derivatives():
    sim = nanobragg.Simulation(**SCENE)
    image = sim.render()
    plane = sim.derivatives(["misset_x"])["misset_x"]
    slope = sim.pullback(image, ["misset_x"])["misset_x"]
    assert abs(slope - (plane.astype(float) * image).sum()) <= 1e-5 * abs(plane.astype(float) * image).sum()
    assert (np.asarray(sim.render(where="device")) == image).all()


def picture():
    png = nanobragg.Simulation(**SCENE).render()._repr_png_()
    assert png[1:4] == b"PNG"
    return None


def program():
    """Check that the program of this installation makes the same bytes."""
    from nanobragg_program import path_of

    if not os.path.exists(path_of()):
        return "the program is not beside the package"
    words = [w for key, value in SCENE.items()
             for w in ["-" + ("lambda" if key == "wavelength" else key),
                       *map(str, value if isinstance(value, tuple) else [value])]]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([path_of(), *words, "-floatfile", "a.bin", "-noint", "-nonoise", "-nopgm",
                        "-quiet"], cwd=folder, check=True)
        with open(os.path.join(folder, "a.bin"), "rb") as file:
            assert file.read() == nanobragg.Simulation(**SCENE).render().tobytes()
    return None


def main():
    bad = 0
    for test in (image_and_noise, reflections, derivatives, files, formats, picture, program):
        try:
            why = test()
            print(f"skip {test.__name__} # {why}" if why else f"ok {test.__name__}")
        except Exception as error:  # one line for each error
            bad += 1
            print(f"not ok {test.__name__}: {type(error).__name__}: {error}")
    print(f"nanobragg {nanobragg.__version__}: {'FAILED' if bad else 'works'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
