"""Values that each kernel computes for itself instead of reading what another one wrote."""

import pytest
import torch
from ways import Way, fates

from tessiq.compile.graph import CompiledCall, Observer


def reads_and_writes(call: CompiledCall) -> list[tuple[int, int]]:
    """Of each kernel, how many tensors."""
    return [(len(one["reads"]), len(one["writes"])) for one in call.compiled.kernels()]


def sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.relu(x) * 2
    return y.sum(1), y.sum(0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
def test_sums_over_rows_and_over_columns_read_what_both_are_computed_from(
    way: Way, seen: Observer, dtype: torch.dtype
) -> None:
    way.check(sums, (torch.arange(64 * 48).reshape(64, 48) % 13 - 6).to(dtype))
    (call,) = seen.graphs
    assert reads_and_writes(call) == [(1, 1), (1, 1)]
    assert set(fates(call).values()) <= {"launched", "fused"}


def test_symbolic_sizes(way: Way, seen: Observer) -> None:
    compiled = way.compile(sums)
    for size in (8, 5, 40):
        x = torch.randn(size, 48)
        torch.testing.assert_close([one.cpu() for one in compiled(x.to(way.home))], list(sums(x)))
    assert [reads_and_writes(call) for call in seen.graphs] == [[(1, 1), (1, 1)]] * 2


def test_what_is_returned_as_well_is_written_once(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.relu(x) * 2
        return y, y.sum(1), y.sum(0)

    way.check(function, torch.randn(64, 48))
    (call,) = seen.graphs
    assert reads_and_writes(call) == [(1, 2), (1, 1)]


def test_many_functions_of_an_element_are_computed_once(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.tanh(torch.erf(torch.exp(x)))
        return y.sum(1), y.sum(0)

    way.check(function, torch.randn(64, 48))
    (call,) = seen.graphs
    assert reads_and_writes(call) == [(1, 2), (1, 1)]


def test_input_that_is_written_between_the_kernels_is_read_before(way: Way) -> None:
    def function(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.relu(x) * 2
        rows = y.sum(1)
        x.copy_(z)
        return rows, y.sum(0), x + 1

    x, z = torch.randn(64, 48), torch.randn(64, 48)
    expected = function(x.clone(), z)
    held = way.send((x.clone(), z))
    torch.testing.assert_close([one.cpu() for one in way.compile(function)(*held)], list(expected))


def test_gradients_of_a_norm_agree(way: Way) -> None:
    model = torch.nn.Sequential(torch.nn.LayerNorm(48), torch.nn.GELU(), torch.nn.LayerNorm(48))
    x = torch.randn(64, 48)

    def gradients(call: object, model: torch.nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
        x = x.requires_grad_()
        call(x).square().sum().backward()
        return [one.grad.cpu() for one in (x, *model.parameters())]

    expected = gradients(model, model, x.clone())
    model.zero_grad()
    there = model.to(way.home)
    torch.testing.assert_close(
        gradients(way.compile(there), there, x.clone().to(way.home)), expected, rtol=1e-4, atol=1e-4
    )
