# SPDX-License-Identifier: MIT
from typing import Any

import torch

from . import Simulation

def render(sim: Simulation, **parameters: torch.Tensor | float | Any) -> torch.Tensor: ...
