"""Two hundred steps of an optimiser through the compiled model end at eager's parameters, each within 1e-4 relative.

That the loss falls is not enough: a backward pass with a small error still trains, to other weights.
"""

import copy
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from ways import Way

STEPS = 200


class DigitsNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 6, 3, padding=1)
        self.second = nn.Conv2d(6, 8, 3, padding=1)
        self.out = nn.Linear(8 * 4 * 4, 10)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        return F.cross_entropy(self.out(F.relu(self.second(x)).flatten(1)), labels)


class FrozenBias(nn.Module):
    """Its backward graph has None where the frozen parameter's gradient would be."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 24)
        self.second = nn.Linear(24, 10)
        self.first.bias.requires_grad_(False)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.second(torch.tanh(self.first(x.flatten(1)))), labels)


class OwnLoss(nn.Module):
    """Its backward graph starts by spreading one value over every element, a tensor with strides of zero."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return ((self.layer(x.flatten(1)).sigmoid() - F.one_hot(labels, 10)) ** 2).mean()


class ConstantFirst(nn.Module):
    """Constants on the left of a subtraction and of a division, forward and in the derivative of the gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(64, 10)
        self.value = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = x.flatten(1)
        gate = torch.sigmoid(self.gate(x))
        return F.cross_entropy((1 - gate) * self.value(x) + 2 / (1 + gate), labels)


class Tied(nn.Module):
    """One parameter read twice; its gradient is the sum of both uses."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 16) / 8)
        self.out = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        hidden = torch.tanh(x.flatten(1) @ self.weight)
        return F.cross_entropy(self.out(hidden @ self.weight.t()), labels)


class LayerNormed(nn.Module):
    """Normalisation over rows: reductions forward, more of them backward."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 24)
        self.norm = nn.LayerNorm(24)
        self.second = nn.Linear(24, 10)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.second(F.gelu(self.norm(self.first(x.flatten(1))))), labels)


MODELS: list[Callable[[], nn.Module]] = [DigitsNet, FrozenBias, OwnLoss, ConstantFirst, Tied, LayerNormed]


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Digits where scikit-learn is installed, the stand-in of the same shape elsewhere."""
    from tessiq.demo.data import load_digits

    digits = load_digits()
    order = torch.Generator().manual_seed(4)
    picks = [torch.randint(len(digits.labels), (32,), generator=order) for _ in range(STEPS)]
    return [(digits.images[pick], digits.labels[pick]) for pick in picks]


def train(model: nn.Module, call: Callable[..., torch.Tensor], home: torch.device) -> list[float]:
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.SGD(trained, lr=0.05, momentum=0.9)
    losses = []
    for images, labels in batches():
        optimiser.zero_grad()
        loss = call(images.to(home), labels.to(home))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_parameters_after_two_hundred_steps_are_eagers(way: Way, build: Callable[[], nn.Module]) -> None:
    eager = build()
    ours = copy.deepcopy(eager).to(way.home)
    start = copy.deepcopy(eager)
    losses = train(eager, eager, torch.device("cpu"))
    assert losses[-1] < losses[0]
    train(ours, way.compile(ours), way.home)
    for (name, mine), theirs, before in zip(
        ours.named_parameters(), eager.parameters(), start.parameters(), strict=True
    ):
        here, there = mine.detach().cpu(), theirs.detach()
        assert theirs.requires_grad != torch.equal(there, before.detach()), f"{name} did not train"
        difference = (here - there).abs().max() / there.abs().max()
        assert difference <= 1e-4, f"{name} differs by {difference:.2e} of its largest element"


def test_frozen_parameter_keeps_its_value_and_has_no_gradient(way: Way) -> None:
    model = FrozenBias().to(way.home)
    before = model.first.bias.detach().clone()
    images, labels = batches()[0]
    way.compile(model)(images.to(way.home), labels.to(way.home)).backward()
    assert model.first.bias.grad is None
    assert torch.equal(model.first.bias.detach().cpu(), before.cpu())


def test_gradient_of_an_unused_parameter_is_none(way: Way) -> None:
    model = nn.ModuleDict({"used": nn.Linear(4, 4), "unused": nn.Linear(4, 4)}).to(way.home)

    def forward(x: torch.Tensor) -> torch.Tensor:
        return model["used"](x).sum()

    way.compile(forward)(torch.randn(2, 4, device=way.home)).backward()
    assert model["unused"].weight.grad is None
    torch.testing.assert_close(model["used"].bias.grad.cpu(), torch.full((4,), 2.0))
