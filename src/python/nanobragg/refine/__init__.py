# SPDX-License-Identifier: MIT
"""Fits of a simulation to pictures, pixel by pixel (docs/refine.md).

    fit = nanobragg.refine(sim, "still.img", names="rot,cell,N,mosaic,scale", system="tetragonal")
    fit.values["cell_a"], fit.sigmas["cell_a"], fit.misset_deg, fit.status
"""
import sys
import time
import types

import numpy as np

from .. import _images
from . import _options, _result, _schedule
from ._fit import Fit
from ._result import Result
from ._schedule import AUTO, NONE, PLAIN

__all__ = ["AUTO", "Fit", "NONE", "PLAIN", "Result", "refine"]


def _taken(picture, shape):
    """The picture as an Image, and its name."""
    if isinstance(picture, np.ndarray):
        return picture, None
    return _images.read_image(picture, shape=shape), str(picture)


def fit_one(sim, image, options, notice, told=lambda stage: None):
    """The Result of a fit of a simulation (_nanobragg.Sim), which has its values afterwards."""
    began = time.monotonic()
    fit = Fit(sim, image, options, notice, told)
    _schedule.run(fit)
    result = _result.conclude(fit)
    result.seconds = time.monotonic() - began
    return result


def refine(sim, picture, names, told=lambda stage: None, **keywords):
    """Fit a Simulation to a picture; it has the result afterwards.  Returns a Result; a fit that did not converge is no error.

    picture: an array [slow, fast] of ADU, an Image, or a name for read_image.  names: what is refined, names and groups of
    docs/derivatives.md: "rot,cell,N,mosaic,scale".  keywords: those of Options (system, bounds, restraints, likelihood, background,
    F_sigma, select, schedule, evaluations, ...).  told: a function of each Stage.
    Errors: ValueError (names, sets that cannot be told apart, starts, sizes), OSError, DeviceError."""
    options = _options.Options(names=names, **keywords)
    image, name = _taken(picture, sim.shape)
    result = fit_one(sim._sim, image, options, sim._notices, told)
    sim._changed()
    result.picture = name
    return result


class _Callable(types.ModuleType):
    """nanobragg.refine is this module, and the function."""

    def __call__(self, *args, **keywords):
        return refine(*args, **keywords)


sys.modules[__name__].__class__ = _Callable
