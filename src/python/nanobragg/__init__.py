# SPDX-License-Identifier: MIT
"""X-ray diffraction of nanocrystals on an absolute scale, from Python.

    import nanobragg
    sim = nanobragg.Simulation(cell=(79.1, 79.1, 37.9, 90, 90, 90), N=20, default_F=100,
                               wavelength=1.0, distance=100, detpixels=1024)
    image = sim.render()

Keywords are the flags of the program (docs/options.md) without their dash.
"""

from ._nanobragg import DeviceError, features, version as __version__
from ._derivatives import Normal
from ._device import DeviceImage
from ._images import Image, Page, compare, page, read_image
from ._parameters import parameters
from ._series import draws, noise, run_series
from ._simulation import Simulation

# Keywords in a dict: `more: nanobragg.Parameters = {"N": 5}`; the stub has their types.
Parameters = SeriesParameters = dict


def __getattr__(name):
    """Load the fits at their first use."""
    if name not in ("refine", "refine_joint", "refine_series"):
        raise AttributeError(f"module 'nanobragg' has no attribute '{name}'")
    import importlib

    fits = importlib.import_module("nanobragg.refine")
    return fits if name == "refine" else getattr(fits, name)


__all__ = ["DeviceError", "DeviceImage", "Image", "Normal", "Page", "Parameters", "SeriesParameters", "Simulation",
           "__version__", "compare", "draws", "features", "noise", "page", "parameters", "read_image", "refine", "refine_joint", "refine_series",
           "run_series"]
