# SPDX-License-Identifier: MIT
"""Mosaic tensor: try it after a fit with an isotropic spread.  It stays if the deviance
falls by more than the cost of five numbers (_wide_spots)."""
from ._parameters import TENSOR, is_shape
from ._wide_spots import Before, Trial, cost

FURTHER = 5  # numbers of a tensor more than of an isotropic spread
LEAST = 1e-3  # deg: a narrower spread has no measurable tensor


def may(fit):
    """True if the fit moves the isotropic spread of normal rotations freely."""
    p = fit.parameters.get("mosaic")
    return bool(p and not p.fixed and p.width == 0 and p.map == "log" and fit.sim.get("mosaic_model") == "gauss" and
                not fit.sim.get("mosaic_aniso") and not fit.sim.get("mosaic_tensor"))


def tensor(fit):
    """Replace the isotropic spread by a tensor if this gains enough."""
    trial = fit.trials.setdefault("mosaic_tensor", Trial())
    if not may(fit) or not fit.parameters["mosaic"].value > LEAST:
        return
    marked = set(fit.parameters) if fit.kept is None else {name for name in fit.parameters if is_shape(name)}
    before, plain, square = Before(fit, marked), fit.rate(), fit.parameters["mosaic"].value ** 2
    words = [repr(square)] * 3 + ["0"] * 3
    try:
        fit.sim.change(None, [("mosaic", None), ("mosaic_tensor", words)], -1)
        fit.parameters = fit.parameters.copy()
        del fit.parameters["mosaic"]
        for name in TENSOR:
            fit.parameters.add(fit.sim, name)
        fit.stage("mosaic tensor", {*marked, *TENSOR} - {"mosaic"})
        after = fit.rate()
    except ValueError:  # an axis without rotations has no slope
        before.again(fit)
        return
    trial.tried, trial.gain, trial.cost = True, 2 * (plain.loss - after.loss), cost(fit, FURTHER, after)
    trial.kept = trial.gain > trial.cost
    if trial.kept:
        trial.value = " ".join("%.4g" % fit.parameters[name].value for name in TENSOR)
    else:
        before.again(fit)
