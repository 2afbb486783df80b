"""One layer of an LSTM as the library of PyTorch's CPU names it, and its gradients, in operations with a kernel.

PyTorch traces that operator with a workspace that the operator does not give, so a graph that keeps it cannot train.
Sizes: T steps, B sequences, I inputs, H hidden; gates in PyTorch's order input, forget, cell, output, one after the
other along the last axis. The number of steps is a number of the graph: another length is another compile.
"""

from collections.abc import Sequence
from typing import TypeAlias

import torch
import torch.nn.functional as F

_LSTM = 2  # what the operator's argument `mode` calls it

Numbers: TypeAlias = tuple[torch.Tensor, ...]


def _activated(gates: torch.Tensor) -> Numbers:
    enter, forget, cell, leave = gates.chunk(4, -1)
    return torch.sigmoid(enter), torch.sigmoid(forget), torch.tanh(cell), torch.sigmoid(leave)


def _cells(gates: Numbers, first: torch.Tensor, order: Sequence[int]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The cell before and after each step, both by place in time."""
    enter, forget, cell, _ = gates
    before, after = [first] * len(order), [first] * len(order)
    for step in order:
        before[step] = first
        first = forget[step] * first + enter[step] * cell[step]
        after[step] = first
    return before, after


def lstm_layer(
    x: torch.Tensor,
    of_input: torch.Tensor,
    of_hidden: torch.Tensor,
    bias_of_input: torch.Tensor,
    bias_of_hidden: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    reverse: bool,
    batch_sizes: list[int],
    mode: int,
    hidden_size: int,
    layers: int,
    has_biases: bool,
    *rest: object,
) -> Numbers:
    """``x`` (T, B, I), ``hidden`` and ``cell`` (1, B, H): all outputs (T, B, H), the last two states, a workspace.

    Without biases the operator is given zeros of the weights' shapes in their place.
    """
    if mode != _LSTM:
        return NotImplemented  # type: ignore[no-any-return]
    of_both = bias_of_input + bias_of_hidden if has_biases else None
    projected = F.linear(x, of_input, of_both)
    shape, hidden, cell = hidden.shape, hidden.reshape(hidden.shape[-2:]), cell.reshape(cell.shape[-2:])
    outputs = [hidden] * x.shape[0]
    for step in reversed(range(x.shape[0])) if reverse else range(x.shape[0]):
        enter, forget, new, leave = _activated(projected[step] + F.linear(hidden, of_hidden))
        cell = forget * cell + enter * new
        hidden = leave * torch.tanh(cell)
        outputs[step] = hidden
    return torch.stack(outputs), hidden.reshape(shape), cell.reshape(shape), x.new_empty(0, dtype=torch.uint8)


def lstm_layer_backward(
    x: torch.Tensor,
    of_input: torch.Tensor,
    of_hidden: torch.Tensor,
    bias_of_input: torch.Tensor,
    bias_of_hidden: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    outputs: torch.Tensor,
    last_hidden: torch.Tensor,
    last_cell: torch.Tensor,
    to_outputs: torch.Tensor | None,
    to_hidden: torch.Tensor | None,
    to_cell: torch.Tensor | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    layers: int,
    has_biases: bool,
    *rest: object,
) -> Numbers:
    """Gradients of the input, both weights, both biases, and both first states.

    The gates are computed anew from the outputs: the hidden state before a step is the output of the step before it.
    """
    if mode != _LSTM:
        return NotImplemented  # type: ignore[no-any-return]
    shape = hidden.shape
    hidden, cell = hidden.reshape(1, *shape[-2:]), cell.reshape(shape[-2:])
    steps = range(x.shape[0])
    order = steps[::-1] if reverse else steps
    previous = torch.cat([outputs[1:], hidden] if reverse else [hidden, outputs[:-1]])
    of_both = bias_of_input + bias_of_hidden if has_biases else None
    gates = _activated(F.linear(x, of_input, of_both) + F.linear(previous, of_hidden))
    enter, forget, new, leave = gates
    before, after = _cells(gates, cell, order)

    h = torch.zeros_like(cell) if to_hidden is None else to_hidden.reshape(cell.shape)
    c = torch.zeros_like(cell) if to_cell is None else to_cell.reshape(cell.shape)
    to_gates = [cell] * len(order)
    for step in reversed(order):
        h = h if to_outputs is None else h + to_outputs[step]
        squashed = torch.tanh(after[step])
        c = c + h * leave[step] * (1 - squashed * squashed)
        parts = (
            c * new[step] * enter[step] * (1 - enter[step]),
            c * before[step] * forget[step] * (1 - forget[step]),
            c * enter[step] * (1 - new[step] * new[step]),
            h * squashed * leave[step] * (1 - leave[step]),
        )
        to_gates[step] = torch.cat(parts, -1)
        h = to_gates[step] @ of_hidden
        c = c * forget[step]

    of_gates = torch.stack(to_gates)
    flat = of_gates.reshape(-1, of_gates.shape[-1])
    bias = flat.sum(0) if has_biases else torch.zeros_like(bias_of_input)
    return (
        of_gates @ of_input,
        flat.t() @ x.reshape(-1, x.shape[-1]),
        flat.t() @ previous.reshape(-1, previous.shape[-1]),
        bias,
        bias.clone() if has_biases else torch.zeros_like(bias_of_hidden),
        h.reshape(shape),
        c.reshape(shape),
    )
