# SPDX-License-Identifier: MIT
"""Derivatives of an image by named parameters (docs/physics.md, section 26)."""

import sys
import typing

import numpy as np

from ._arrays import real, shaped
from ._images import Image

ALL_F = "F"  # all structure factors; only in a pullback


def keys_of(sim, names):
    """Return (keys of the result, names for the library). A group is replaced by its
    names."""
    if isinstance(names, str):
        names = [word.strip() for word in names.split(",")]
    keys, opened = [], []
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the name of a parameter is a text, not {name!r}")
        found = sim.variables(name)
        keys += [name] if len(found) == 1 else found
        opened += found
    return keys, opened


def planes(sim, shape, names, dtype, image, progress):
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype: must be float32 or float64, not {dtype}")
    keys, names = keys_of(sim, names)
    stack = np.empty((len(names), *shape), dtype=dtype)
    picture = np.empty(shape, dtype=np.float32).view(Image) if image else None
    sim.derivatives(names, dtype == np.float64, stack, picture, progress)
    found = dict(zip(keys, stack.view(Image)))
    return (found, picture) if image else found


def slopes_of(shape, dL_dimage):
    """dL/dI as float32 or float64, in the shape of the image."""
    slopes = np.asarray(dL_dimage)
    return shaped("dL_dimage", slopes, shape, slopes.dtype if slopes.dtype == np.float32 else float)


def _is_there(slopes):
    """True if slopes is a PyTorch tensor on a GPU."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(slopes, torch.Tensor) and slopes.is_cuda


def _gradient_there(sim, slopes, names):
    """Gradient on the device of the slopes; None if derivatives are made on the CPU."""
    torch = sys.modules["torch"]
    if slopes.dtype not in (torch.float32, torch.float64):
        slopes = slopes.double()
    slopes = slopes.detach().contiguous()
    torch.cuda.current_stream(slopes.device).synchronize()
    try:
        return sim.pullback_device(names, slopes.dtype == torch.float64, slopes.data_ptr(), slopes.numel())[0]
    except NotImplementedError:
        return None


def numbers_of(sim, shape, slopes, names, progress=None, want_F=False):
    """([dL/dp], dL/dF); slopes: an array or a PyTorch tensor, also on a GPU."""
    if _is_there(slopes):
        if slopes.is_complex():
            raise TypeError("dL_dimage: the values must be real, not complex")
        if tuple(slopes.shape) != shape:
            raise ValueError(f"dL_dimage: has the shape {tuple(slopes.shape)}, but the image is {shape}")
        found = None if want_F else _gradient_there(sim, slopes, names)
        if found is not None:
            return found, None
        slopes = slopes.detach().cpu().numpy()
    slopes = slopes_of(shape, slopes)
    return sim.pullback(names, slopes.dtype == np.float64, slopes, want_F, progress)


def gradient(sim, shape, dL_dimage, names, progress, opened):
    """Dict of dL/dp by name. opened: cache of the results of keys_of() by names."""
    names = [w.strip() for w in names.split(",")] if isinstance(names, str) else list(names)
    want_F = ALL_F in names
    known = tuple(name for name in names if name != ALL_F)
    if known not in opened:
        opened[known] = keys_of(sim, known)
    keys, words = opened[known]
    numbers, F = numbers_of(sim, shape, dL_dimage, words, progress, want_F)
    found = dict(zip(keys, numbers))
    if want_F:
        found[ALL_F] = (np.frombuffer(F[0], dtype=np.int32).reshape(-1, 3).copy(),
                        np.frombuffer(F[1]).copy())
    return found


class Normal(typing.NamedTuple):
    """Normal equations of a fit: a step is -solve(fisher, gradient)."""

    names: list  # names of the rows; knots are "background_0", ...
    loss: float
    gradient: np.ndarray  # [n]
    fisher: np.ndarray  # [n, n], J^T W J


def normal(sim, shape, photons, names, sigma, background, radial, progress):
    keys, words = keys_of(sim, names)
    photons = shaped("photons", photons, shape, np.float32)
    background = None if background is None else shaped("background", background, shape, np.float32)
    if np.isinf(photons).any():
        raise ValueError("photons: must be finite; nan leaves a pixel out")
    if sigma is not None and not sigma > 0:
        raise ValueError(f"sigma: must be above 0 photons, not {sigma!r}; without it counts are Poisson's")
    knots, levels = (None, None) if radial is None else (real("radial", a) for a in radial)
    count = 0 if knots is None else knots.size
    if count and levels.shape != knots.shape:
        raise ValueError(f"radial: {count} knots need as many levels")
    n = len(words) + count
    gradient, fisher = np.zeros(n), np.zeros((n, n))
    loss = sim.normal(words, 0.0 if sigma is None else float(sigma), count, photons, background, knots, levels, gradient, fisher,
                      progress)
    return Normal(keys + [f"background_{k}" for k in range(count)], loss, gradient, fisher)
