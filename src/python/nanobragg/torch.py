# SPDX-License-Identifier: MIT
"""Images in the graph of PyTorch: nanobragg.torch.render(sim, misset=tensor, cell=tensor, ...)."""

import numpy as np
import torch

from . import _derivatives


class _Values:
    """Names and numbers of parameters, which a simulation is given when an image needs them."""

    def __init__(self, names, numbers, version):
        self.names, self.numbers, self.version = names, numbers, version

    def give(self, sim):
        if sim._version != self.version:
            raise RuntimeError("nanobragg.torch: the simulation was changed by set() after this image was "
                               "rendered; render it again before backward()")
        if sim._given is None or sim._given.names != self.names or sim._given.numbers != self.numbers:
            sim._give_parameters(self.names, self.numbers)
            sim._given = self


def _image(sim):
    """A tensor on the device that renders: float64 with precision="double", else float32."""
    if sim.get("precision") != "double":
        # the capsule alone: the image is finished, so no stream need be asked for
        return torch.from_dlpack(sim.render(where="device")._memory.capsule(*sim.shape))
    out = np.empty(sim.shape)
    sim._sim.render_double(out, None)
    device = sim.backend.split(",")[0]
    return torch.from_numpy(out).to(device if device.startswith("cuda:") else "cpu")


def _gradient(sim, names, slopes):
    """Where the slopes are, if the device makes derivatives of this simulation; else on the host."""
    if slopes.is_cuda:
        slopes = slopes.contiguous()
        torch.cuda.current_stream(slopes.device).synchronize()
        try:
            return sim._sim.pullback_device(names, slopes.dtype == torch.float64, slopes.data_ptr(),
                                            slopes.numel())[0]
        except NotImplementedError:
            pass
    dloss = _derivatives.slopes_of(sim.shape, slopes.cpu().numpy())
    return sim._sim.pullback(names, dloss.dtype == np.float64, dloss, False, None)[0]


def _pull_back(sim, values, names, slopes):
    """dL/dI -> dL/dp: float64 on the host."""
    before = sim._given
    values.give(sim)
    numbers = _gradient(sim, names, slopes.detach())
    if before is not None:
        before.give(sim)
    return torch.tensor(numbers, dtype=torch.float64)


class _Pullback(torch.autograd.Function):
    """The same in a graph, where it has no derivative."""

    @staticmethod
    def forward(ctx, sim, values, names, slopes):
        return _pull_back(sim, values, names, slopes)

    @staticmethod
    def backward(ctx, *slopes):
        raise NotImplementedError("nanobragg.torch.render has first derivatives only: the gradient cannot "
                                  "be differentiated again (double backward)")


class _Render(torch.autograd.Function):
    @staticmethod
    def forward(ctx, sim, values, parts, *tensors):
        ctx.sim, ctx.values, ctx.parts = sim, values, parts
        ctx.like = [(t.shape, t.dtype, t.device) for t in tensors]
        values.give(sim)
        return _image(sim)

    @staticmethod
    def backward(ctx, slopes):
        needed = ctx.needs_input_grad[3:]
        names = [name for part, wanted in zip(ctx.parts, needed) if wanted for name in part]
        pull_back = _Pullback.apply if torch.is_grad_enabled() else _pull_back  # enabled: create_graph
        gradient = pull_back(ctx.sim, ctx.values, names, slopes)
        devices = {like[2] for like, wanted in zip(ctx.like, needed) if wanted}
        if len(devices) == 1:
            gradient = gradient.to(devices.pop())  # all in one transfer
        out, at = [None, None, None], 0
        for part, wanted, (shape, dtype, device) in zip(ctx.parts, needed, ctx.like):
            out.append(gradient[at:at + len(part)].reshape(shape).to(device, dtype) if wanted else None)
            at += len(part) if wanted else 0
        return tuple(out)


def _names_of(sim, key, value):
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

    parameters: names and groups of docs/derivatives.md: misset [3], cell [6], N [3], distance, ...  They
    are given to `sim`.  Returns a tensor [slow, fast] on the simulation's device, float32, or float64 with
    precision="double".  Double backward raises NotImplementedError."""
    tensors = [torch.as_tensor(value, dtype=None if torch.is_tensor(value) else torch.float64)
               for value in parameters.values()]
    for key, tensor in zip(parameters, tensors):
        if not tensor.is_floating_point():
            raise TypeError(f"{key}: must be floating point, not {tensor.dtype}")
    parts = [_names_of(sim, key, tensor) for key, tensor in zip(parameters, tensors)]
    flat = [tensor.detach().reshape(-1).to(torch.float64) for tensor in tensors]
    if len({tensor.device for tensor in flat}) > 1:
        flat = [tensor.cpu() for tensor in flat]
    numbers = torch.cat(flat).tolist() if flat else []
    values = _Values([name for part in parts for name in part], numbers, sim._version)
    return _Render.apply(sim, values, parts, *tensors)
