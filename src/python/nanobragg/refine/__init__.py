# SPDX-License-Identifier: MIT
"""Fits of a simulation to pictures, pixel by pixel (docs/refine.md).

    fit = nanobragg.refine(sim, "still.img", names="rot,cell,N,mosaic,scale", system="tetragonal")
    fit.values["cell_a"], fit.sigmas["cell_a"], fit.misset_deg, fit.status
"""
import os
import sys
import types

import numpy as np

from .. import _images
from .._parameters import log
from .._simulation import _NO_FILES
from . import _options, _page
from ._fit import Fit, Stage
from ._options import Options
from ._result import Result
from ._schedule import AUTO, NONE, PLAIN, fit_one

__all__ = ["AUTO", "Fit", "NONE", "Options", "PLAIN", "Result", "Stage", "refine", "refine_joint", "refine_series"]


def refine(sim, picture, names, told=lambda stage: None, report=None, **keywords):
    """Fit a Simulation to a picture, and set it to the result.  Returns a Result.

    picture: array [slow, fast] of ADU, Image, or name for read_image.  names: parameters
    to refine (docs/physics.md, section 26): "rot,cell,N,mosaic,scale".  keywords: of
    Options.  told: called with each Stage.  report: JSON file, or .html page with the
    picture and the model before and after.  No convergence is no error.  Errors:
    ValueError (names, inseparable parameters, starts, sizes), OSError, DeviceError."""
    options = _options.Options(names=names, **{"keep_start": _page.is_page(report), **keywords})
    image = picture if isinstance(picture, np.ndarray) else _images.read_image(picture, shape=sim.shape)
    try:
        result = fit_one(sim._sim, image, options, sim._notices, told)
    finally:
        sim._changed()
    result.picture = None if image is picture else str(picture)
    if report:
        _page.write_report(sim._sim, result, "", os.fspath(report))
    return result


def _start(sim, pictures, orientations):
    from ._workers import Start  # processes take a while to load

    words = _NO_FILES + list(sim._words.items())
    return Start(words, sim._sim.arrays(), sim._sim.moves(), list(map(os.fspath, pictures)), orientations)


def refine_series(sim, pictures, names, orientations=None, report=None, workers=None, **keywords):
    """Refine each picture from the start `sim`, which stays unchanged.  Returns Results
    without pixel arrays; a failed picture has the status "failed: ...".

    pictures: names for read_image ("s_master.h5:3").  orientations: file with a line of
    misset angles per picture.  With -expt a picture begins with the experiment of its
    image.  report: file of JSON lines.  workers: processes (None: one per thread); a
    script needs `if __name__ == "__main__":` for them.  keywords: as for refine."""
    options = _options.Options(names=names, **keywords)
    from . import _many

    return _many.refine_series(_start(sim, pictures, orientations), options, log, report=report, workers=workers)


def refine_joint(sim, pictures, names, joint, orientations=None, report=None, exptout=None, workers=None, **keywords):
    """Refine pictures together; `joint` names common parameters.  Returns (common Result,
    Results of pictures).  exptout: DIALS experiments.  Others: as for refine_series."""
    options = _options.Options(names=names, joint=joint, **keywords)
    from . import _joint

    return _joint.refine_joint(_start(sim, pictures, orientations), options, log, report=report,
                               exptout=exptout, workers=workers)


class _Callable(types.ModuleType):
    """Make the module nanobragg.refine also callable as the function."""

    def __call__(self, *args, **keywords):
        return refine(*args, **keywords)


sys.modules[__name__].__class__ = _Callable
