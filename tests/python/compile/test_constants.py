"""Values that are one number everywhere: written into the loops that read them, and computed by none."""

from collections.abc import Callable

import pytest
import torch
from ways import Way

from tessiq.compile.graph import Observer

FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "two branches of where": lambda x, c, i: torch.where(
        c, torch.full((), 0.0, device=x.device), torch.full_like(x, float("-inf"))
    ),
    "in float64": lambda x, c, i: x.double() + torch.full((4,), 0.1, device=x.device, dtype=torch.float64),
    "integers": lambda x, c, i: (
        i * torch.full((4,), 3, device=x.device) + torch.ones(4, dtype=i.dtype, device=x.device)
    ),
    "bools": lambda x, c, i: (x > torch.zeros(4, device=x.device)) & torch.ones(4, dtype=torch.bool, device=x.device),
    "before a softmax": lambda x, c, i: torch.softmax(x * torch.full((3, 4), 0.5, device=x.device), -1),
    "rounded to float16": lambda x, c, i: x.half() * torch.full((4,), 0.1, device=x.device, dtype=torch.float16),
    "a part of a cat": lambda x, c, i: torch.cat([x, torch.zeros(2, 4, device=x.device)]),
    "promoted by a number": lambda x, c, i: i + torch.full((4,), 1.5, device=x.device),
    "NaN": lambda x, c, i: torch.maximum(x, torch.full((4,), float("nan"), device=x.device)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_constant_is_written_into_its_reader(way: Way, seen: Observer, name: str) -> None:
    x, c, i = torch.randn(3, 4), torch.rand(3, 4) > 0.5, torch.arange(12).reshape(3, 4)
    way.check(FUNCTIONS[name], x, c, i)
    (call,) = seen.graphs
    made = {"full", "full_like", "scalar_tensor", "ones", "zeros"}
    constants = [fate for fate in call.compiled.fates() if fate["op"].split(".")[1] in made]
    assert {fate["fate"] for fate in constants} <= {"fused"}
    assert len(call.compiled.kernels()) == 1


def test_constant_that_is_returned_or_multiplied_is_computed(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        two = torch.full((4, 4), 2.0, device=x.device)
        three = torch.full((4, 4), 3.0, device=x.device)
        return x + two, two, x @ three + three

    way.check(function, torch.randn(4, 4))
    assert not seen.uncompiled
