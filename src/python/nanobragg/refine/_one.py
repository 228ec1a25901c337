# SPDX-License-Identifier: MIT
"""One picture from its start to its Result."""
import time

from . import _result, _schedule
from ._fit import Fit


def fit_one(sim, image, options, notice, told=lambda stage: None, alive=lambda *what: None):
    """The Result of a fit of a simulation (_nanobragg.Sim), which has its values afterwards.  told: a function of each Stage; alive: of
    the name, the evaluations and the loss of the stage that is at work."""
    began = time.monotonic()
    fit = Fit(sim, image, options, notice, told)
    fit.alive = alive
    _schedule.run(fit)
    result = _result.conclude(fit)
    result.seconds = time.monotonic() - began
    return result
