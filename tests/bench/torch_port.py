#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nanobragg and the PyTorch port of nanoBragg: forward, and forward + backward, in alternation in one run.

usage: python3 tests/bench/torch_port.py --port FOLDER [--device cpu|cuda] [--sizes 256,1024] [--repeats 5]
           [--threads 2] [--domains 1] [--compile]
FOLDER holds nanobrag_torch (the port's src).  PYTHONPATH names nanobragg (build/gcc-release/python).

N: the port's image of a crystal with a fractional N has no period (at h = 1 and N = 12.5 its factor is
1/0), so that its derivative by N, though right for that image, differs from nanobragg's.

The simple case: one wavelength, one step per pixel, F constant.  A loss sum(w I) is differentiated by nine
parameters: misset, a b c, N.  The port builds crystal and simulator for each image, as its tutorial of
refinement does; --compile also tries the port's compiled kernel.  Prints a table (least times), and
compares images and gradients.
"""
import argparse
import os
import platform
import sys
import time

import numpy as np

CELL, N, MISSET = (70.0, 80.0, 90.0), (12.0, 11.0, 10.0), (10.0, 20.0, 30.0)
NAMES = ["misset_x", "misset_y", "misset_z", "cell_a", "cell_b", "cell_c", "N_a", "N_b", "N_c"]
FLUENCE, DISTANCE, PIXEL = 1e28, 100.0, 0.1


class Port:
    """Images of the PyTorch port, made as in its tutorial."""

    def __init__(self, torch, device, size, dtype, domains=1):
        from nanobrag_torch.config import BeamConfig, DetectorConfig
        from nanobrag_torch.models.detector import Detector
        self.torch, self.device, self.dtype, self.domains = torch, device, dtype, domains
        self.detector = Detector(DetectorConfig(distance_mm=DISTANCE, pixel_size_mm=PIXEL, spixels=size,
                                                fpixels=size, oversample=1), device=device, dtype=dtype)
        self.beam = BeamConfig(wavelength_A=1.0, fluence=FLUENCE)

    def simulator(self, values):
        from nanobrag_torch.config import CrystalConfig
        from nanobrag_torch.models.crystal import Crystal
        from nanobrag_torch.simulator import Simulator
        config = CrystalConfig(cell_a=values[3], cell_b=values[4], cell_c=values[5], N_cells=tuple(values[6:]),
                               misset_deg=tuple(values[:3]), default_F=100.0, mosaic_domains=self.domains,
                               mosaic_spread_deg=0.5 if self.domains > 1 else 0.0)
        crystal = Crystal(config, beam_config=self.beam, device=self.device, dtype=self.dtype)
        return Simulator(crystal=crystal, detector=self.detector, beam_config=self.beam,
                         crystal_config=config, device=self.device, dtype=self.dtype)

    def leaves(self):
        return [self.torch.tensor(x, device=self.device, dtype=self.dtype, requires_grad=True)
                for x in (*MISSET, *CELL, *N)]

    def gradient(self, weight):
        leaves = self.leaves()
        image = self.simulator(leaves).run()
        (image * weight).sum().backward()
        return image, [float(x.grad) if x.grad is not None else float("nan") for x in leaves]


def ours(nanobragg, device, size, threads, domains=1, **more):
    if domains > 1:
        more.update(mosaic=0.5, mosaic_domains=domains)
    return nanobragg.Simulation(cell=(*CELL, 90, 90, 90), Na=N[0], Nb=N[1], Nc=N[2], misset=MISSET,
                                default_F=100, wavelength=1.0, fluence=FLUENCE, distance=DISTANCE, pixel=PIXEL,
                                detpixels=size, oversample=1, device=device, threads=threads, **more)


def take_turns(torch, calls, repeats, device):
    """{name: [least wall time, least processor time]} in s; the calls alternate."""
    least = {name: [float("inf")] * 2 for name in calls}
    for turn in range(repeats + 1):  # turn 0 is not counted
        for name, call in calls.items():
            start, processor = time.perf_counter(), time.process_time()
            call()
            if device == "cuda":
                torch.cuda.synchronize()
            if turn:
                took = time.perf_counter() - start, time.process_time() - processor
                least[name] = [min(pair) for pair in zip(least[name], took)]
    return least


def calls_of(torch, nanobragg, port, sim, weight):
    from nanobragg.torch import Renderer, render
    device = port.device
    fixed = port.simulator([float(x) for x in (*MISSET, *CELL, *N)])
    w = torch.from_numpy(weight).to(device)
    leaves = [torch.tensor(x, dtype=torch.float64, device=device, requires_grad=True)
              for x in (MISSET, CELL, N)]
    host = np.empty(sim.shape, np.float32)

    def port_forward():
        with torch.no_grad():
            fixed.run()

    def both():
        for leaf in leaves:
            leaf.grad = None
        given = dict(zip(("cell_a", "cell_b", "cell_c"), leaves[1]))
        image = render(sim, misset=leaves[0], N=leaves[2], **given)
        (image * w).sum().backward()

    def plain():
        sim.render(out=host)
        sim.pullback(weight, NAMES)

    draw = Renderer(sim, NAMES)
    flat = torch.tensor((*MISSET, *CELL, *N), dtype=torch.float64, requires_grad=True)

    def one_tensor():
        flat.grad = None
        (draw(flat) * w).sum().backward()

    def same_thread():
        with torch.autograd.set_multithreading_enabled(False):
            one_tensor()

    def there():
        sim.render(where="device")
        sim.pullback(w, NAMES)

    ours = {"nanobragg.torch forward + backward": both, "nanobragg.torch.Renderer, values on the host": one_tensor,
            "the same, backward in the calling thread": same_thread,
            "nanobragg render + pullback": plain}
    if device == "cuda":
        kept = torch.empty(sim.shape, pin_memory=True).numpy()
        ready = torch.from_numpy(weight).pin_memory().numpy()

        def pinned():
            sim.render(out=kept)
            sim.pullback(ready, NAMES)

        ours["nanobragg render + pullback, pinned arrays"] = pinned
        ours["nanobragg render + pullback, images on the device"] = there
    forward = (lambda: sim.render(where="device")) if device == "cuda" else (lambda: sim.render(out=host))
    return ({"port forward": port_forward, "nanobragg forward": forward},
            {"port forward + backward": lambda: port.gradient(w), **ours})


def slope_of_images(port, weight, k):
    """Derivative of the loss by parameter k, from differences of the port's images."""
    step = 1e-4
    losses = []
    for sign in (1, -1):
        values = [float(x) for x in (*MISSET, *CELL, *N)]
        values[k] += sign * step
        with port.torch.no_grad():
            losses.append(float((port.simulator(values).run() * weight).sum()))
    return (losses[0] - losses[1]) / (2 * step)


def agreement(torch, nanobragg, options, size):
    """Compares image and gradients of both programs in double precision."""
    weight = np.random.default_rng(1).normal(size=(size, size))
    port = Port(torch, options.device, size, torch.float64)
    w = torch.from_numpy(weight).to(options.device)
    image, theirs = port.gradient(w)
    image = image.detach().cpu().numpy()
    sim = ours(nanobragg, "cpu", size, options.threads, precision="double")
    mine = np.empty((size, size))
    sim._sim.render_double(mine, None)
    print(f"images of {size}x{size} in double: correlation {np.corrcoef(image.ravel(), mine.ravel())[0, 1]:.10f}, "
          f"largest difference {abs(image - mine).max() / mine.max():.1e} of the largest pixel")
    g = sim.pullback(weight, NAMES)
    print("| parameter | nanobragg | port | difference | differences of the port's images |\n"
          "| --- | --- | --- | --- | --- |")
    for k, (name, value) in enumerate(zip(NAMES, theirs)):
        print(f"| {name} | {g[name]:.6g} | {value:.6g} | {abs(value / g[name] - 1):.1e} | "
              f"{slope_of_images(port, w, k):.6g} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", required=True)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--sizes", default="256,1024")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--domains", type=int, default=1, help="mosaic domains in the table of times")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    os.environ["NANOBRAGG_DISABLE_COMPILE"] = "0" if options.compile else "1"
    sys.path.insert(0, options.port)
    import torch

    import nanobragg

    torch.set_num_threads(options.threads)
    where = torch.cuda.get_device_name() if options.device == "cuda" else platform.processor() or "cpu"
    print(f"{time.strftime('%Y-%m-%d')}, {where}, {options.threads} threads, torch {torch.__version__}, "
          f"nanobragg {nanobragg.__version__}, port {'compiled' if options.compile else 'not compiled'}, float32, "
          f"{options.domains} mosaic domains, least of {options.repeats} by turns; load {os.getloadavg()[0]:.1f}")
    agreement(torch, nanobragg, options, 128)
    print("| pixels | what | ms | port / this | processor ms | port / this |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for size in (int(x) for x in options.sizes.split(",")):
        weight = np.random.default_rng(2).normal(size=(size, size)).astype(np.float32)
        port = Port(torch, options.device, size, torch.float32, options.domains)
        sim = ours(nanobragg, options.device, size, options.threads, options.domains)
        for calls in calls_of(torch, nanobragg, port, sim, weight):
            least = take_turns(torch, calls, options.repeats, options.device)
            first = next(iter(least.values()))
            for name, seconds in least.items():
                print(f"| {size}x{size} | {name} | " + " | ".join(
                    f"{one * 1e3:.3f} | {other / one:.1f}" for one, other in zip(seconds, first)) + " |", flush=True)


if __name__ == "__main__":
    main()
