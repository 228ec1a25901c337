#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time calls from Python in turn: median and least host time of each call, microseconds.

usage: python3 tests/bench/python_host.py [--device cpu|cuda] [--detpixels 64] [--repeats 201] [--hkl FILE]
PYTHONPATH: folder of the package (build/gcc-release/python).  Calls of nanobragg.torch
need torch.  `build/SET/tests/bench/bench host` times the same calls in C."""
import argparse
import statistics
import time

import numpy as np

import nanobragg

NAMES = ["misset_x", "misset_y", "misset_z", "cell_a", "cell_b", "cell_c", "N_a", "N_b", "N_c"]
VALUES = [10.0, 20.0, 30.0, 70.0, 80.0, 90.0, 12.0, 11.0, 10.0]


def simulation(options):
    source = dict(hkl=options.hkl) if options.hkl else dict(default_F=100)
    return nanobragg.Simulation(cell=(70, 80, 90, 90, 90, 90), N=12, misset=(10, 20, 30), wavelength=1.0, distance=100,
                                pixel=0.1, detpixels=options.detpixels, oversample=1, device=options.device,
                                threads=options.threads, **source)


def parts(sim):
    """Dict from the name of a call to its function of i, the number of the repeat."""
    out = np.empty(sim.shape, np.float32)
    slopes = np.random.default_rng(1).normal(size=sim.shape).astype(np.float32)

    def new_values(i):
        sim.set_parameters(dict(zip(NAMES, [10 + i * 1e-3, *VALUES[1:]])))

    def both(i):
        new_values(i)
        sim.render(where="device")

    return {"set(misset=...)": lambda i: sim.set(misset=(10 + i * 1e-3, 20, 30)),
            "set_parameters, nine": new_values,
            "render(out=a)": lambda i: sim.render(out=out),
            "render(where='device')": lambda i: sim.render(where="device"),
            "nine values, render(where='device')": both,
            "pullback of an array, nine": lambda i: sim.pullback(slopes, NAMES)}


def torch_parts(sim):
    try:
        import torch

        from nanobragg.torch import Renderer, render
    except ImportError as error:
        print(f"skip nanobragg.torch # {error}")
        return {}
    device = sim.render(where="device").device
    if device != "cpu" and not torch.cuda.is_available():
        print("skip nanobragg.torch # torch sees no CUDA device")
        return {}
    there = dict(dtype=torch.float64, device=device)
    leaves = [torch.tensor(x, **there, requires_grad=True) for x in (VALUES[:3], *VALUES[3:6], VALUES[6:])]
    slopes = torch.randn(sim.shape, device=device)

    def wait():
        if slopes.is_cuda:
            torch.cuda.synchronize()

    def image(i):
        with torch.no_grad():
            leaves[0][0] = 10 + i * 1e-3
        return render(sim, misset=leaves[0], cell_a=leaves[1], cell_b=leaves[2], cell_c=leaves[3], N=leaves[4])

    def forward(i):
        with torch.no_grad():
            image(i)
        wait()

    def both(i):
        for leaf in leaves:
            leaf.grad = None
        (image(i) * slopes).sum().backward()
        wait()

    def backward(i):
        sim.pullback(slopes, NAMES)

    draw = Renderer(sim, NAMES)
    flat = torch.tensor(VALUES, dtype=torch.float64, requires_grad=True)

    def one_tensor(i):
        flat.grad = None
        return draw(flat)

    def both_of_one(i):
        (one_tensor(i) * slopes).sum().backward()

    def same_thread(i):
        with torch.autograd.set_multithreading_enabled(False):
            both_of_one(i)

    def loss_alone(i):
        (picture * slopes).sum()

    def torch_alone(i):
        picture.grad = None
        (picture * slopes).sum().backward()

    picture = torch.randn(sim.shape, device=device, requires_grad=True)
    return {"torch.render, nine values": forward, "its pullback alone": backward,
            "torch.render and backward, nine values": both, "Renderer": one_tensor,
            "Renderer and backward": both_of_one, "the same, backward in the calling thread": same_thread,
            "(image * w).sum()": loss_alone, "the same and backward, of a plain tensor": torch_alone}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--detpixels", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=201)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hkl")
    options = parser.parse_args()
    sim = simulation(options)
    calls = {**parts(sim), **torch_parts(sim)}
    took = {name: [] for name in calls}
    for i in range(-3, options.repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call(i)
            if i >= 0:
                took[name].append((time.perf_counter() - start) * 1e6)
    print(f"{sim!r}, numpy {np.__version__}\n\n| call | median, us | least, us |\n| --- | --- | --- |")
    for name, times in took.items():
        print(f"| {name} | {statistics.median(times):.1f} | {min(times):.1f} |")


if __name__ == "__main__":
    main()
