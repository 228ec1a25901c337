# SPDX-License-Identifier: MIT
"""Train a small network on simulated frames: PyTorch's DataLoader renders them in processes of its own.

usage: python3 train_on_frames.py [FRAMES [WORKERS]]

The network finds how many photons of background a pixel has, from a frame with spots and counting noise.
It prints its error before and after.
"""
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import nanobragg

SIZE = 32  # pixels
BRIGHTEST = 8.0  # photons of background in a pixel


class Frames(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Frame i is the same every time and in every process: its seed is its number."""

    def __init__(self, count: int, first: int = 0) -> None:
        self.count, self.first = count, first
        # one thread: there are as many processes as the DataLoader has workers.  A worker gets a copy of it, by fork
        # or, with spawn, by pickle.
        self.sim = nanobragg.Simulation(cell=(70, 80, 90, 90, 90, 90), N=5, default_F=30, gauss_xtal=True, distance=100,
                                        detpixels=SIZE, pixel=2, fluence=1e24, threads=1, device="cpu")

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        seed = self.first + i
        rng = np.random.default_rng(seed)
        level = BRIGHTEST * rng.random()
        self.sim.set(misset=tuple(rng.uniform(0, 90, 3)))
        counts = rng.poisson(self.sim.render() + level)
        return torch.from_numpy(counts.astype(np.float32))[None], torch.tensor([level], dtype=torch.float32)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Conv2d(4, 8, 3, stride=2), nn.ReLU(),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = BRIGHTEST * self.layers(torch.log1p(frames))
        return answer


def error(network: nn.Module, frames: DataLoader[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Root mean square, photons."""
    with torch.no_grad():
        squares = [(network(seen) - level).square() for seen, level in frames]
    return float(torch.cat(squares).mean().sqrt())


def train(count: int, workers: int, start: str = "fork") -> tuple[float, float]:
    """The error on frames that were not seen, before and after."""
    torch.manual_seed(1)
    more: Mapping[str, Any] = {"num_workers": workers, "multiprocessing_context": start if workers else None}
    frames = DataLoader(Frames(count), batch_size=16, shuffle=True, **more)
    others = DataLoader(Frames(64, first=1_000_000), batch_size=16, **more)
    network = Network()
    before = error(network, others)
    step = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(8):
        for seen, level in frames:
            step.zero_grad()
            (network(seen) - level).square().mean().backward()
            step.step()
    return before, error(network, others)


def main() -> None:
    count, workers = (int(word) for word in (sys.argv[1:] + ["256", "2"][len(sys.argv) - 1:]))
    before, after = train(count, workers)
    print(f"background: off by {before:.2f} photons before, {after:.2f} after {8 * count} frames")


if __name__ == "__main__":
    main()
