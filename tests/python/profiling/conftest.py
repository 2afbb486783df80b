"""A compiled model with every kind of event, and calls of it that are ready to be measured."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import nn

import tessiq
from tessiq.compile.graph import Observer, observers

Call = Callable[..., torch.Tensor]


class Mixed(nn.Module):
    """A fused loop, a matrix product, and a sort, which no kernel of ours computes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(torch.tanh(torch.relu(self.layer(x)) * 2)).values


@pytest.fixture
def mixed(device: torch.device, fresh_compiles: None) -> Call:
    """Tensors on the host; compiled, and its weights kept on the device."""
    options = {"device": device, "placement": "claimed"}
    model = torch.compile(Mixed(64).eval().requires_grad_(False), backend="tessiq", options=options)
    for _ in range(2):
        model(torch.randn(32, 64))
    return model


@pytest.fixture
def on_device(device: torch.device, fresh_compiles: None) -> Call:
    """Tensors on the device; wants gradients, and both graphs are compiled."""
    model = torch.compile(Mixed(64).to(device), backend="tessiq")
    for _ in range(2):
        model(torch.randn(32, 64, device=device)).sum().backward()
    return model


@pytest.fixture
def seen() -> Iterator[Observer]:
    """Every graph that the test compiles."""
    observer = Observer()
    observers.append(observer)
    yield observer
    observers[:] = [one for one in observers if one is not observer]


@pytest.fixture
def through_the_cpu() -> Iterator[None]:
    """Operators without a kernel of ours run on the host, wherever their tensors are."""
    before = tessiq.config.fallback
    tessiq.config.fallback = "cpu"
    yield
    tessiq.config.fallback = before
