"""Faults to plant in generated sources, and a model that meets them."""

from collections.abc import Callable

import torch
from torch import nn

Plant = Callable[[str], None]
"""Plants a fault: a command of sed on every generated source."""

WRONG_TANH = "s/__builtin_tanhf\\(x\\)/(__builtin_tanhf(x) * 1.001f)/"
RAISES = "s/^namespace tessiq \\{/#error planted/"


class Gated(nn.Module):
    """Normalised, gated, summed: a reduction, a product, loops before and after."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(16, 16), nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(self.linear(self.norm(x)))
        return (y * torch.sigmoid(x)).softmax(-1).sum(0)
