"""Small models that the tests of the report share."""

import torch
from torch import nn


class Chain(nn.Module):
    """Claimed whole: two generated loops and a product between them."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(8, 8))

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.sigmoid(torch.relu(a + self.w)) @ self.w)


class Sandwich(nn.Module):
    """A running maximum, which nothing of the compiler's runs, between two loops."""

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.cummax(torch.exp(a), 0).values) + 1
