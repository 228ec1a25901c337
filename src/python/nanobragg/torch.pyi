# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from typing import Any

import torch

from . import Simulation

def render(sim: Simulation, **parameters: torch.Tensor | float | Any) -> torch.Tensor: ...


class Renderer:
    sim: Simulation
    names: list[str]
    def __init__(self, sim: Simulation, names: str | Sequence[str]) -> None: ...
    def __call__(self, values: torch.Tensor) -> torch.Tensor: ...
