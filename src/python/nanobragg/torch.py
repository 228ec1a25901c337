# SPDX-License-Identifier: MIT
"""Images in the graph of PyTorch: nanobragg.torch.render(sim, misset=tensor, ...), or
with parameters in one tensor: nanobragg.torch.Renderer(sim, names)(values)."""

import numpy as np
import torch

from . import _arrays, _derivatives
from ._derivatives import ALL_F


class _Values:
    """Names and values of parameters; give() sets them in a simulation."""

    def __init__(self, names, numbers, version, F=None, places=None):
        # F: all structure factors | None; places: places in F of a tensor's values | None
        self.names, self.numbers, self.version, self.F, self.places = names, numbers, version, F, places

    def give(self, sim):
        if sim._version != self.version:
            raise RuntimeError("nanobragg.torch: the simulation was changed by set() after this image was "
                               "rendered; render it again before backward()")
        given = sim._given
        if given is self:
            return
        if self.F is not None and (given is None or given.F is not self.F):
            sim._give_factors(self.F)
        if given is None or given.names != self.names or given.numbers != self.numbers:
            sim._give_parameters(self.names, self.numbers)
        sim._given = self


def _image(sim):
    """Tensor on the rendering device: float64 with precision="double", else float32."""
    if not sim._is_double():
        sim._image = None  # free the memory of the last image, so that the next image can use it
        memory, _ = sim._sim.render_device(None, False)
        # the image is finished, so that the capsule needs no stream
        return torch.from_dlpack(memory.capsule(*sim.shape))
    out = np.empty(sim.shape)
    sim._sim.render_double(out, None)
    device = sim.backend.split(",")[0]
    return torch.from_numpy(out).to(device if device.startswith("cuda:") else "cpu")


def _pull_back(sim, values, names, slopes, dtype=torch.float64, device=None):
    """Tensor of dL/dp, from slopes dL/dI."""
    before = sim._given
    values.give(sim)
    try:
        single = [name for name in names if name != ALL_F]
        numbers, F = _derivatives.numbers_of(sim._sim, sim.shape, slopes.detach(), single, want_F=len(single) < len(names))
        if F is not None:
            numbers = _with_all_F(sim, values.places, names, numbers, F)
    finally:
        if before is not None:
            before.give(sim)
    return torch.tensor(numbers, dtype=dtype, device=device)  # a single transfer to the device


def _with_all_F(sim, of_tensor, names, numbers, gradient):
    """Gradient by names; in place of ALL_F, a number for each reflection of factors(), or
    for each place in of_tensor.  The last of equal places counts."""
    hkl, slopes = np.frombuffer(gradient[0], dtype=np.int32).reshape(-1, 3), np.frombuffer(gradient[1])
    places, inside = sim._places(hkl, all_there=False)
    all_F = np.zeros(sim._count())
    all_F[places[inside]] = slopes[inside]
    if of_tensor is not None:
        _, last = np.unique(of_tensor[::-1], return_index=True)
        holds = np.zeros(len(of_tensor), dtype=bool)
        holds[len(of_tensor) - 1 - last] = True
        all_F = np.where(holds, all_F[of_tensor], 0)
    at = names.index(ALL_F)
    return np.concatenate([numbers[:at], all_F, numbers[at:]])


class _Pullback(torch.autograd.Function):
    """_pull_back in a graph, without second derivatives. It takes the parameters as
    inputs, so that the gradient is not a constant if the slopes are constants."""

    @staticmethod
    def forward(ctx, sim, values, names, slopes, dtype, device, *parameters):
        return _pull_back(sim, values, names, slopes, dtype, device)

    @staticmethod
    def backward(ctx, *slopes):
        raise NotImplementedError("nanobragg.torch.render has first derivatives only: the gradient cannot "
                                  "be differentiated again (double backward)")


def _gradient(tensors, *pull):
    """dL/dp of an image; tensors: its parameters."""
    if torch.is_grad_enabled():  # create_graph
        return _Pullback.apply(*pull, *tensors)
    return _pull_back(*pull)


class _Render(torch.autograd.Function):
    @staticmethod
    def forward(ctx, sim, values, parts, *tensors):
        ctx.sim, ctx.values, ctx.parts = sim, values, parts
        ctx.like = [(t.shape, t.dtype, t.device) for t in tensors]
        ctx.tensors = tensors  # kept only for the graph, not by save_for_backward, because steps may change them
        values.give(sim)
        return _image(sim)

    @staticmethod
    def backward(ctx, slopes):
        needed = ctx.needs_input_grad[3:]
        parts = [part for part, wanted in zip(ctx.parts, needed) if wanted]
        like = [one for one, wanted in zip(ctx.like, needed) if wanted]
        names = [name for part in parts for name in part]
        alike = len({one[1:] for one in like}) == 1  # all values in one transfer
        gradient = _gradient(ctx.tensors, ctx.sim, ctx.values, names, slopes,
                             *(like[0][1:] if alike else (torch.float64, None)))
        pieces = list(gradient.split([_size(one[0]) for one in like]))
        for i, (shape, dtype, device) in enumerate(like):
            if len(shape) != 1:
                pieces[i] = pieces[i].reshape(shape)
            if not alike:
                pieces[i] = pieces[i].to(device, dtype)
        pieces = iter(pieces)
        return (None, None, None, *(next(pieces) if wanted else None for wanted in needed))


class _Flat(torch.autograd.Function):
    """Image of the parameters in one tensor."""

    @staticmethod
    def forward(ctx, numbers, sim, names):
        values = _Values(names, numbers.tolist(), sim._version)
        ctx.sim, ctx.values, ctx.like = sim, values, (numbers.dtype, numbers.device)
        ctx.tensors = (numbers,)
        values.give(sim)
        return _image(sim)

    @staticmethod
    def backward(ctx, slopes):
        return _gradient(ctx.tensors, ctx.sim, ctx.values, ctx.values.names, slopes, *ctx.like), None, None


def _numbers(tensors):
    """Values of tensors as a list, from a device in one transfer."""
    on_host = [not tensor.is_cuda for tensor in tensors]
    with torch.no_grad():
        if not tensors:
            return []
        if all(on_host):
            lists = [tensor.reshape(-1).tolist() if tensor.dim() != 1 else tensor.tolist() for tensor in tensors]
            return [number for numbers in lists for number in numbers]
        flat = [tensor.reshape(-1) if tensor.dim() != 1 else tensor for tensor in tensors]
        if any(on_host) or len({tensor.device for tensor in tensors}) > 1:
            flat = [tensor.cpu() for tensor in flat]
        return torch.cat(flat).tolist()  # mixed types become the widest type


def _size(shape):
    """Number of values in a tensor of this shape."""
    return int(np.prod(shape))


def _names_of(sim, key, value):
    if not value.is_floating_point():
        raise TypeError(f"{key}: must be floating point, not {value.dtype}")
    if key == ALL_F:
        sim._places_of(value.numel())
        return [ALL_F]
    part = sim._opened.get(key)
    if part is None:
        try:
            part = sim._opened[key] = sim.variables([key])
        except ValueError as error:
            raise TypeError(str(error)) from None
    if value.numel() != len(part):
        raise ValueError(f"{key}: needs {len(part)} number{'s'[:len(part) != 1]} "
                         f"({', '.join(part)}), not {tuple(value.shape)}")
    return part


def render(sim, **parameters):
    """Render an image that can be differentiated by the parameters which are tensors.

    parameters, set in `sim`: names and groups of docs/physics.md, section 26 (misset [3],
    ...), and F [n] in the order of sim.factors() or the last sim.reflections().  Returns
    a tensor [slow, fast] on the device of `sim`, float32, or float64 with
    precision="double".  Double backward raises NotImplementedError."""
    tensors = [value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=torch.float64)
               for value in parameters.values()]
    parts = [_names_of(sim, key, tensor) for key, tensor in zip(parameters, tensors)]
    plain = [(part, tensor) for part, tensor in zip(parts, tensors) if part != [ALL_F]]
    F = places = None
    if ALL_F in parameters:
        given = _arrays.amplitudes(tensors[list(parameters).index(ALL_F)]).reshape(-1)
        places = sim._places_of(len(given))
        F = sim._put(places, given).copy()  # a step may change the tensor in place
    values = _Values([name for part, _ in plain for name in part], _numbers([t for _, t in plain]), sim._version, F,
                     places)
    return _Render.apply(sim, values, parts, *tensors)


class Renderer:
    """Images of parameters in one tensor: r = Renderer(sim, names); image = r(values).

    names: as for pullback.  values: [n] in the order of Renderer.names (without groups).
    As render() with fewest calls; quickest with host values, also if a GPU renders."""

    def __init__(self, sim, names):
        self.sim, self.names = sim, _derivatives.keys_of(sim._sim, names)[1]

    def __call__(self, values):
        if values.dim() != 1 or len(values) != len(self.names) or not values.is_floating_point():
            raise ValueError(f"values: must be {len(self.names)} floating-point numbers "
                             f"({', '.join(self.names)}), not {tuple(values.shape)} of {values.dtype}")
        return _Flat.apply(values, self.sim, self.names)
