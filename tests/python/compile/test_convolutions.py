"""Convolutions and their gradients: every number of axes, transposed, grouped, dilated, both channel orders, each type.

The truth is eager's in float64; ours may be off by twice what eager's own answer in the same type is.
"""

import copy
from collections.abc import Sequence

import pytest
import torch
from torch.nn.functional import conv2d
from ways import Way, fates

from tessiq.compile.graph import Observer

# input channels, output channels, kernel, and what follows by name
CASES = {
    "1d": (1, 4, 6, 3, {"padding": 1}),
    "1d strided": (1, 4, 6, 4, {"stride": 2, "dilation": 2}),
    "2d": (2, 3, 8, 3, {"padding": 1}),
    "2d without padding": (2, 3, 8, 3, {}),
    "2d strided": (2, 4, 6, 3, {"stride": 2, "padding": 1}),
    "2d of one pixel": (2, 8, 16, 1, {}),
    "2d dilated": (2, 4, 4, 3, {"padding": 2, "dilation": 2}),
    "2d grouped": (2, 8, 12, 3, {"groups": 4, "padding": 1}),
    "2d depthwise": (2, 8, 8, 3, {"groups": 8, "padding": 1}),
    "2d without bias": (2, 4, 8, 3, {"bias": False}),
    "2d one channel": (2, 1, 1, 3, {"padding": 1}),
    "3d": (3, 2, 4, 3, {"padding": 1}),
    "3d strided": (3, 4, 4, 2, {"stride": 2}),
}
TRANSPOSED_CASES = {
    "1d": (1, 4, 6, 3, {"stride": 2}),
    "2d": (2, 6, 4, 3, {"padding": 1}),
    "2d strided": (2, 6, 4, 2, {"stride": 2}),
    "2d output padding": (2, 6, 4, 3, {"stride": 2, "padding": 1, "output_padding": 1}),
    "2d grouped": (2, 8, 12, 3, {"groups": 4, "dilation": 2}),
    "3d": (3, 4, 2, 3, {"stride": 2}),
}
SIZES = {1: (17,), 2: (9, 11), 3: (6, 7, 5)}


def layer_of(case: tuple[int, int, int, int, dict[str, object]], transposed: bool) -> torch.nn.Module:
    axes, channels, features, kernel, more = case
    kind = getattr(torch.nn, f"Conv{'Transpose' if transposed else ''}{axes}d")
    layer: torch.nn.Module = kind(channels, features, kernel, **more)
    return layer


def gradients(layer: torch.nn.Module, call: object, x: torch.Tensor, weights: torch.Tensor) -> list[torch.Tensor]:
    """Output, input's gradient, parameters' gradients, on the CPU in float64."""
    assert callable(call)
    x = x.detach().requires_grad_()
    layer.zero_grad()
    output = call(x)
    (output * weights.to(output)).sum().backward()
    found = [output, x.grad, *(parameter.grad for parameter in layer.parameters())]
    return [one.detach().cpu().double() for one in found if one is not None]


def check_layer(way: Way, layer: torch.nn.Module, x: torch.Tensor) -> None:
    layer = layer.to(x.dtype)
    wide = copy.deepcopy(layer).double()
    weights = torch.randn(wide(x.double()).shape).to(x.dtype)
    truth = gradients(wide, wide, x.double(), weights)
    eager = gradients(layer, layer, x, weights)
    ours_layer = copy.deepcopy(layer).to(way.home)
    ours = gradients(ours_layer, way.compile(ours_layer), x.to(way.home), weights)
    assert len(ours) == len(truth)
    for mine, theirs, right in zip(ours, eager, truth, strict=True):
        assert mine.shape == right.shape
        scale = right.abs().max().item()
        allowed = 2 * (theirs - right).abs().max().item() + 4 * torch.finfo(x.dtype).eps * scale
        assert (mine - right).abs().max().item() <= allowed


def check_it_ran_as_a_library_call(seen: Observer) -> None:
    forward, backward = seen.graphs
    assert fates(forward)["aten.convolution.default"] == "library"
    assert fates(backward)["aten.convolution_backward.default"] == "library"
    for graph in (forward, backward):
        counters = graph.compiled.counters()
        assert counters["library_calls"] == 1
        assert counters["dispatches_on_device"] == counters["dispatches_on_host"] == 0


@pytest.mark.parametrize("case", CASES)
def test_convolutions_and_their_gradients(way: Way, seen: Observer, case: str) -> None:
    axes, channels, *_ = CASES[case]
    check_layer(way, layer_of(CASES[case], transposed=False), torch.randn(2, channels, *SIZES[axes]))
    check_it_ran_as_a_library_call(seen)


@pytest.mark.parametrize("case", TRANSPOSED_CASES)
def test_transposed_convolutions_and_their_gradients(way: Way, seen: Observer, case: str) -> None:
    axes, channels, *_ = TRANSPOSED_CASES[case]
    check_layer(way, layer_of(TRANSPOSED_CASES[case], transposed=True), torch.randn(2, channels, *SIZES[axes]))
    check_it_ran_as_a_library_call(seen)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("case", ["1d", "2d", "2d depthwise", "3d"])
def test_convolutions_of_every_type(way: Way, seen: Observer, case: str, dtype: torch.dtype) -> None:
    axes, channels, *_ = CASES[case]
    check_layer(way, layer_of(CASES[case], transposed=False), torch.randn(2, channels, *SIZES[axes]).to(dtype))
    assert fates(seen.graphs[0])["aten.convolution.default"] == "library"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("case", ["2d", "2d strided", "2d depthwise", "2d one channel"])
def test_channels_last(way: Way, seen: Observer, case: str, dtype: torch.dtype) -> None:
    layer = layer_of(CASES[case], transposed=False).to(memory_format=torch.channels_last)
    x = torch.randn(2, CASES[case][1], 9, 11).to(dtype).to(memory_format=torch.channels_last)
    eager = layer.to(dtype)(x)
    check_layer(way, layer, x)
    for graph in seen.graphs:
        assert graph.compiled.counters()["library_calls"] == 1
        assert {"dispatched on device", "dispatched on host"}.isdisjoint(fates(graph).values())
    torch._dynamo.reset()
    ours = copy.deepcopy(layer).to(way.home)
    result = way.compile(ours)(x.to(way.home))
    assert isinstance(result, torch.Tensor)
    # Not the strides: that of an axis of one element is anything.
    for one in (eager, result):
        assert one.is_contiguous(memory_format=torch.channels_last)
    result.sum().backward()
    assert ours.weight.grad is not None
    assert ours.weight.grad.is_contiguous(memory_format=torch.channels_last)


def strided_inputs() -> Sequence[torch.Tensor]:
    x = torch.randn(2, 4, 10, 12)
    return (
        x[:, :, 1:, ::2],
        x.transpose(2, 3),
        x[:, :2].expand(2, 2, 10, 12),
        torch.randn(2, 2, 5, 1).expand(2, 2, 5, 6),
    )


@pytest.mark.parametrize("place", range(4))
def test_inputs_that_are_not_dense(way: Way, place: int) -> None:
    x = strided_inputs()[place]
    way.check(lambda x, w: conv2d(x, w, padding=1), x, torch.randn(5, x.shape[1], 3, 3))


def test_a_gradient_of_stride_zero(way: Way) -> None:
    layer = torch.nn.Conv2d(3, 4, 3)
    x = torch.randn(2, 3, 6, 6)
    layer(x).sum().backward()
    assert layer.weight.grad is not None
    expected = layer.weight.grad.clone()
    layer.zero_grad()
    ours = layer.to(way.home)
    way.compile(ours)(x.to(way.home)).sum().backward()
    assert ours.weight.grad is not None
    torch.testing.assert_close(ours.weight.grad.cpu(), expected)


def test_frozen_weights_and_inputs_get_no_gradient(way: Way) -> None:
    layer = torch.nn.Conv2d(3, 4, 3)
    layer.weight.requires_grad_(False)
    x = torch.randn(2, 3, 6, 6)
    expected = layer(x).square()
    ours = layer.to(way.home)
    got = way.compile(ours)(x.to(way.home)).square()
    got.sum().backward()
    torch.testing.assert_close(got.cpu(), expected)
    assert ours.weight.grad is None
    assert ours.bias is not None
    assert ours.bias.grad is not None


def test_an_empty_batch_is_left_to_pytorch(way: Way) -> None:
    result = way.check(lambda x, w: conv2d(x, w), torch.randn(0, 3, 6, 6), torch.randn(4, 3, 3, 3))
    assert isinstance(result, torch.Tensor)
    assert result.shape == (0, 4, 4, 4)


def test_one_compile_serves_every_batch(way: Way, seen: Observer) -> None:
    weight = torch.randn(8, 3, 3, 3)
    function = way.compile(lambda x, w: torch.relu(conv2d(x, w, padding=1)))
    for batch in (2, 5, 3):
        x = torch.randn(batch, 3, 10, 10)
        sent = x.to(way.home)
        torch._dynamo.mark_dynamic(sent, 0)
        result = function(sent, weight.to(way.home))
        torch.testing.assert_close(result.cpu(), torch.relu(conv2d(x, weight, padding=1)))
    assert len(seen.graphs) == 1


def test_a_wrong_number_of_channels_is_pytorchs_error(way: Way) -> None:
    with pytest.raises(RuntimeError, match=r"channels"):
        way.compile(lambda x, w: conv2d(x, w))(*way.send((torch.randn(1, 4, 6, 6), torch.randn(4, 3, 3, 3))))
