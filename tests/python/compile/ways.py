"""A way into the compiler, and what it means for two answers to be the same."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_map

from tessiq.compile.graph import CompiledCall


@dataclass(frozen=True)
class Way:
    """A device to compile for, and whether the tensors are there already or on the host."""

    device: torch.device
    on_device: bool

    @property
    def home(self) -> torch.device:
        return self.device if self.on_device else torch.device("cpu")

    def compile(self, model: Callable[..., object], **more: object) -> Callable[..., object]:
        """What is claimed runs on the device, however little it is worth: tests are of that."""
        options: dict[str, object] = {} if self.on_device else {"device": self.device, "placement": "claimed"}
        return torch.compile(model, backend="tessiq", options={**options, **more})

    def send(self, value: object) -> object:
        """The value with its tensors where this way keeps them."""
        return tree_map(lambda one: one.to(self.home) if isinstance(one, torch.Tensor) else one, value)

    def check(self, model: Callable[..., object], *inputs: object, exact: bool = False) -> object:
        """Compiled, the function gives what eager gives on the CPU; returns the compiled result."""
        expected = model(*inputs)
        actual = self.compile(model)(*self.send(inputs))
        same(actual, expected, exact=exact)
        return actual


def same(actual: object, expected: object, *, exact: bool = False) -> None:
    """Structure, type and shape alike, values close (or equal), NaN equal to NaN."""
    actual = tree_map(lambda one: one.detach().cpu() if isinstance(one, torch.Tensor) else one, actual)
    expected = tree_map(lambda one: one.detach() if isinstance(one, torch.Tensor) else one, expected)
    tolerance = {"rtol": 0, "atol": 0} if exact else {}
    torch.testing.assert_close(actual, expected, equal_nan=True, **tolerance)


def fates(call: CompiledCall) -> dict[str, str]:
    """What became of each operation of a graph, by its operator."""
    return {fate["op"]: fate["fate"] for fate in call.compiled.fates()}
