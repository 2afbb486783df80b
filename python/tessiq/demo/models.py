"""The models of the demonstration, each with inputs of the size it was compiled for and of another."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


class Chain(nn.Module):
    """``tanh(sigmoid(relu(a + w)) @ w)``: five operations, one of them a matrix multiply."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(width, width) / width**0.5)

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        """``a`` has rows as long as ``w``."""
        return torch.tanh(torch.sigmoid(torch.relu(a + self.w)) @ self.w)


class ResidualBlock(nn.Module):
    """A block of a residual network: two convolutions with normalisation, and a strided shortcut."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(after)
        self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride=2, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` is (batch, channels, height, width)."""
        out = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(out)) + self.shortcut(x))


class DigitsNet(nn.Module):
    """Two convolutions and a linear layer for images of 8 by 8."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 16, 3, padding=1)
        self.out = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` is (batch, 1, 8, 8); the result is a score for each of ten digits."""
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.relu(self.second(x))
        scores: torch.Tensor = self.out(x.flatten(1))
        return scores


@dataclass(frozen=True)
class Case:
    """A model to compile, and the inputs to call it with: the size it is compiled for, then another."""

    name: str
    build: Callable[[], nn.Module]
    inputs: tuple[torch.Tensor, ...]


def trained(block: nn.Module) -> nn.Module:
    """The block with normalisation as training leaves it; the means of 0 and scales of 1 it starts with hide errors."""
    for module in block.modules():
        if isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None
            assert module.running_var is not None
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 2)
    return block


def encoder_block() -> nn.Module:
    """One layer of a transformer encoder, as PyTorch has it."""
    return trained(nn.TransformerEncoderLayer(256, 4, 512, batch_first=True))


def cases() -> list[Case]:
    """The inference part of the demonstration, the same in every run."""
    generator = torch.Generator().manual_seed(7)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    return [
        Case("chain of five", lambda: Chain(256), (random(256, 256),)),
        Case("encoder block", encoder_block, (random(8, 32, 256), random(5, 24, 256))),
        Case("residual block", lambda: trained(ResidualBlock(32, 64)), (random(8, 32, 32, 32), random(5, 32, 32, 32))),
    ]
