"""A reduced graph as a program that anybody with tessiq can run."""

import textwrap
from collections.abc import Sequence

import torch
from torch import fx

import tessiq
from tessiq.compile.options import CompileOptions
from tessiq.debug.recording import span

_SCRIPT = '''"""Fails with tessiq {tessiq}, PyTorch {torch}: {failure}. Ends with status 1 while it does."""

from math import inf, nan
from pathlib import Path

import torch
from torch import device

import tessiq


class Reduced(torch.nn.Module):
{forward}


inputs = {inputs}
comparison = tessiq.compare(Reduced(), *inputs, options={options})
print(comparison)
raise SystemExit(not comparison.ok)
'''


def stand_in(value: object) -> object:
    """A tensor of the same type, sizes and strides with values that a line of text describes; else the value."""
    if not isinstance(value, torch.Tensor):
        return value
    return _values(span(value), value.dtype).to(value.device).as_strided(value.shape, value.stride())


def _values(count: int, dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.linspace(-1.0, 1.0, count, dtype=torch.float64).to(dtype)
    return (torch.arange(count) % 2).to(dtype)


def _source(value: object) -> str:
    """An expression that gives what :func:`stand_in` gives."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    count, shape, dtype = span(value), tuple(value.shape), value.dtype
    if dtype.is_floating_point:
        values = f"torch.linspace(-1.0, 1.0, {count}, dtype=torch.float64).to({dtype})"
    else:
        values = f"(torch.arange({count}) % 2).to({dtype})"
    placed = values if value.device.type == "cpu" else f'{values}.to("{value.device}")'
    return f"{placed}.as_strided({shape}, {value.stride()})"


def script_of(
    module: fx.GraphModule, inputs: Sequence[object], options: CompileOptions, failure: str, *, from_file: bool
) -> str:
    """The program. ``from_file``: it reads its inputs from ``inputs.pt`` beside it instead of making them."""
    made = "[\n" + "".join(f"    {_source(one)},\n" for one in inputs) + "]"
    return _SCRIPT.format(
        tessiq=tessiq.__version__,
        torch=torch.__version__,
        failure=failure,
        forward=textwrap.indent(module.code.strip(), "    "),
        inputs='torch.load(Path(__file__).with_name("inputs.pt"))' if from_file else made,
        options=options.as_given(),
    )
