"""Layers that PyTorch's own decomposition leaves with a graph that cannot be compiled, or cannot train."""

import copy
from collections.abc import Iterator

import pytest
import torch
from torch import nn
from ways import Way, same

from tessiq.compile.graph import Observer


def trained(call: nn.Module, module: nn.Module, *inputs: torch.Tensor) -> list[torch.Tensor | None]:
    """Outputs, gradients and buffers of one pass that gives each output element another weight."""
    module.zero_grad()
    results = call(*inputs)
    outputs = [results] if isinstance(results, torch.Tensor) else [results[0], *results[1]]
    torch.autograd.backward(outputs, [one.detach().cos() for one in outputs])
    values = [*outputs, *(one.grad for one in module.parameters()), *module.buffers()]
    return [None if one is None else one.detach().cpu().double() for one in values]


def agree(way: Way, module: nn.Module, *sizes: tuple[int, ...]) -> None:
    """Compiled, the module trains as in float64, for each size of its input in turn."""
    wide = copy.deepcopy(module).double()
    compiled = way.compile(module.to(way.home))
    for size in sizes:
        x = torch.randn(size)
        torch.testing.assert_close(
            trained(compiled, module, x.to(way.home)), trained(wide, wide, x.double()), rtol=1e-4, atol=1e-5
        )


@pytest.fixture
def recurrent_layers_in_graphs() -> Iterator[None]:
    """Dynamo leaves recurrent layers to PyTorch unless told."""
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("axes", [(7,), (5, 4), (2, 3, 4)], ids=["1d", "2d", "3d"])
def test_batch_norm_in_training_is_compiled_for_a_changed_batch(
    way: Way, seen: Observer, axes: tuple[int, ...], affine: bool
) -> None:
    convolution = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[len(axes) - 1]
    norm = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[len(axes) - 1]
    # With a layer before it, so that its own input has a gradient too.
    module = nn.Sequential(convolution(6, 6, 1, bias=False), norm(6, affine=affine))
    agree(way, module, *((batch, 6, *axes) for batch in (8, 9, 12)))
    assert len(seen.graphs) == 4
    assert not seen.uncompiled


def test_batch_norm_in_evaluation_gives_gradients(way: Way, seen: Observer) -> None:
    module = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)).eval()
    module[1].running_mean.uniform_()
    module[1].running_var.uniform_(0.5, 2)
    agree(way, module, (2, 3, 4, 4), (5, 3, 4, 4))
    assert not seen.uncompiled


def test_batch_norm_without_statistics_of_its_own(way: Way, seen: Observer) -> None:
    agree(way, nn.BatchNorm2d(3, track_running_stats=False), (2, 3, 4, 4), (5, 3, 4, 4))
    assert not seen.uncompiled


@pytest.mark.usefixtures("recurrent_layers_in_graphs")
@pytest.mark.parametrize("bidirectional", [False, True], ids=["forward", "both-ways"])
@pytest.mark.parametrize("bias", [True, False])
def test_lstm_trains_as_eager(way: Way, seen: Observer, bias: bool, bidirectional: bool) -> None:
    agree(way, nn.LSTM(4, 6, 2, bias=bias, bidirectional=bidirectional), (3, 2, 4), (3, 5, 4))
    assert not seen.uncompiled
    assert not {fate["op"] for call in seen.graphs for fate in call.compiled.fates() if "mkldnn" in fate["op"]}


@pytest.mark.usefixtures("recurrent_layers_in_graphs")
def test_gradients_reach_the_first_states_of_an_lstm(way: Way) -> None:
    module = nn.LSTM(4, 6)
    x, first = torch.randn(3, 2, 4), [torch.randn(1, 2, 6) for _ in range(2)]

    def run(call: nn.Module, kind: torch.dtype, home: torch.device) -> list[torch.Tensor]:
        states = [one.to(home, kind).requires_grad_() for one in first]
        outputs, (hidden, cell) = call(x.to(home, kind), tuple(states))
        (outputs.square().sum() + hidden.sum() + cell.square().sum()).backward()
        return [one.detach().cpu().double() for one in (outputs, hidden, cell, states[0].grad, states[1].grad)]

    expected = run(copy.deepcopy(module).double(), torch.float64, torch.device("cpu"))
    actual = run(way.compile(module.to(way.home)), torch.float32, way.home)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("recurrent_layers_in_graphs")
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_lstm_without_gradients_gives_states_of_eagers_sizes(way: Way, mode: type[torch.no_grad]) -> None:
    module, x = nn.LSTM(4, 6, 2), torch.randn(3, 2, 4)
    with mode():
        expected = module(x)
        same(way.compile(copy.deepcopy(module).to(way.home))(x.to(way.home)), expected)
