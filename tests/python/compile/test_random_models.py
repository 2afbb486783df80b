"""A few of the random models of ``./dev fuzz models``, so that a broken step of the compiler is seen in CI."""

import pytest
import torch
from models import check, difference
from random_model import random_model


@pytest.mark.parametrize("seed", range(24))
def test_random_models_agree_with_eager(device: torch.device, seed: int) -> None:
    assert check(seed, device) == ""


def test_a_seed_always_gives_the_same_model() -> None:
    one, other = random_model(7), random_model(7)
    assert str(one) == str(other)
    assert all(torch.equal(x, y) for x, y in zip(one.inputs, other.inputs, strict=True))


def test_wrong_answers_are_noticed() -> None:
    right = torch.randn(40)
    slightly_off = right.clone()
    slightly_off[13] += 1e-3
    assert difference(slightly_off, right, right.double(), torch.finfo(torch.float32).eps)
    assert difference(right[:39], right, right.double(), 1e-7)
    assert difference(right.double(), right, right.double(), 1e-7)
    assert difference(torch.full_like(right, float("nan")), right, right.double(), 1e-7)
    assert difference(torch.arange(4), torch.arange(4) + 1, torch.arange(4), 0.0)
    assert not difference(right, right, right.double(), 1e-7)
