"""Loops that read elsewhere than at their own position: arange, cat, flip, pad, slice_scatter."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F
from ways import Way, fates

from tessiq.compile.graph import CompiledCall, Observer

aten = torch.ops.aten

OURS = {"launched", "fused", "view"}

TYPES = [
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
]


def kernels(call: CompiledCall) -> int:
    return len(call.compiled.kernels())


def values(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Different in every place, as far as the type allows."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) % 113 + 1).reshape(shape).to(dtype)


def check(way: Way, seen: Observer, function: Callable[..., object], *inputs: object, kernels_made: int = 1) -> None:
    """Exactly eager's values and strides, from loops alone."""
    actual = way.check(function, *inputs, exact=True)
    assert not seen.uncompiled
    (call,) = seen.graphs
    assert set(fates(call).values()) <= OURS, fates(call)
    assert kernels(call) == kernels_made
    expected = function(*inputs)
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
        assert actual.stride() == expected.stride()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_cat_of_every_type(way: Way, seen: Observer, dtype: torch.dtype) -> None:
    x, y = values((3, 4), dtype), values((2, 4), dtype)
    check(way, seen, lambda x, y: torch.cat([x, y, x]), x, y)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("widths", [(4, 8), (3, 5), (1, 1), (16, 0, 8), (7,)], ids=str)
def test_cat_along_every_axis(way: Way, seen: Observer, axis: int, widths: tuple[int, ...]) -> None:
    parts = []
    for width in widths:
        shape = [4, 6, 8]
        shape[axis] = width
        parts.append(values(tuple(shape)))
    check(way, seen, lambda *parts: torch.cat([one + 1 if one.numel() else one for one in parts], axis), *parts)


def test_cat_of_mixed_types_promotes(way: Way, seen: Observer) -> None:
    check(way, seen, lambda *parts: torch.cat(parts), values((3,), torch.int32), values((2,), torch.bfloat16))


def test_cat_of_views_reads_through_their_strides(way: Way, seen: Observer) -> None:
    x = values((6, 8))
    check(way, seen, lambda x: torch.cat([x[:, ::2], x.t()[:4, :6].t(), x[:, 1:2].expand(6, 5)], 1), x)


def test_cat_of_many_parts_is_one_loop(way: Way, seen: Observer) -> None:
    parts = [values((2, width + 1)) for width in range(33)]
    check(way, seen, lambda *parts: torch.cat(parts, 1), *parts)


def test_cat_of_more_parts_than_a_loop_takes_is_left_to_pytorch(way: Way, seen: Observer) -> None:
    parts = [values((2, 3)) + part for part in range(34)]
    way.check(lambda *parts: torch.cat(parts, 1), *parts, exact=True)
    (call,) = seen.graphs
    (fate,) = (fate for fate in call.compiled.fates() if fate["op"] == "aten.cat.default")
    assert "joins 34 tensors" in fate["reason"]


def test_producers_and_readers_of_a_cat_are_in_its_loop(way: Way, seen: Observer) -> None:
    """Rotary position embedding as transformers write it."""

    def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    check(way, seen, rotate, values((2, 3, 5, 8)), values((5, 8)), values((5, 8)))


def test_cat_of_cats_moves_what_they_read_twice(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        inner = torch.cat([x * 2, y, x + 1], 0)
        return torch.cat([y - 1, inner * 3, x], 0)

    check(way, seen, function, values((4, 3)), values((2, 3)))


def test_one_value_in_two_windows_is_computed_once(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x * 3
        return torch.cat([y, y])

    check(way, seen, function, values((5,)), kernels_made=2)


def test_integer_division_before_a_cat_never_sees_the_zeros_outside_its_window(way: Way) -> None:
    x, y = values((4,), torch.int64), values((3,), torch.int64)
    way.check(lambda x, y: torch.cat([x // y[:1], (100 // x).float().long(), y]), x, y, exact=True)
    way.check(lambda x, y: torch.cat([(100 // x).float() * 2, y.float()]), x, y, exact=True)


def test_cat_and_reduction_of_it(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x * 2], 1).sum(1)

    way.check(function, values((4, 6)))
    assert not seen.uncompiled


@pytest.mark.parametrize("amounts", [(1, 2), (0, 3), (2, 1, 3, 0), (-1, 2), (-1, -2, 1, 1), (0, 0, 2, 2)], ids=str)
@pytest.mark.parametrize("value", [0.0, 1.5, float("-inf")])
def test_pad_by_a_constant(way: Way, seen: Observer, amounts: tuple[int, ...], value: float) -> None:
    check(way, seen, lambda x: F.pad(x * 2, amounts, value=value) + 1, values((3, 4, 8)))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_pad_of_every_type(way: Way, seen: Observer, dtype: torch.dtype) -> None:
    check(way, seen, lambda x: F.pad(x, (2, 1), value=1), values((3, 4), dtype))


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (-1, -2), (0, 1, 2), ()], ids=str)
def test_flip(way: Way, seen: Observer, axes: tuple[int, ...]) -> None:
    check(way, seen, lambda x: torch.flip(x, axes) + 1, values((3, 4, 8)))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_flip_of_every_type(way: Way, seen: Observer, dtype: torch.dtype) -> None:
    check(way, seen, lambda x: x.flip(0, 1), values((3, 5), dtype))


def test_flip_of_a_transposed_input(way: Way, seen: Observer) -> None:
    check(way, seen, lambda x: torch.flip(x.t(), (0, 1)) * 2, values((5, 8)))


@pytest.mark.parametrize(
    ("axis", "start", "end"), [(0, 1, 3), (1, 2, 6), (1, -3, 9), (1, 0, -2), (1, 3, 3), (1, 7, 2), (1, -99, 4)]
)
def test_slice_scatter(way: Way, seen: Observer, axis: int, start: int, end: int) -> None:
    x = values((4, 8))
    source = -values(tuple(x.narrow(axis, 0, x.shape[axis])[(slice(None),) * axis + (slice(start, end),)].shape))

    def function(x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        return torch.slice_scatter(x * 2, source, axis, start, end) + 1

    check(way, seen, function, x, source)


def test_slice_scatter_in_steps_is_left_to_pytorch(way: Way, seen: Observer) -> None:
    way.check(lambda x, y: torch.slice_scatter(x, y, 1, 0, 8, 2), values((3, 8)), -values((3, 4)), exact=True)
    (call,) = seen.graphs
    (fate,) = (fate for fate in call.compiled.fates() if fate["op"] == "aten.slice_scatter.default")
    assert "in steps other than 1" in fate["reason"]


def test_assignment_to_a_part_of_a_tensor(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = x * 2
        x[1:3, 2:6] = y
        return x

    way.check(function, values((4, 8)), -values((2, 4)), exact=True)
    assert not seen.uncompiled


def test_gradient_of_a_slice(way: Way, seen: Observer) -> None:
    def run(call: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        x = x.clone().requires_grad_()
        call(x).sum().backward()
        assert x.grad is not None
        return x.grad.cpu()

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x[1:4, :, 2:] ** 2).sum(0) + torch.cat([x[0], x[4]], 0)[:3, 1:3]

    x = values((5, 3, 4))
    torch.testing.assert_close(run(way.compile(function), x.to(way.home)), run(function, x), rtol=0, atol=0)
    assert not seen.uncompiled


@pytest.mark.parametrize("dtype", [one for one in TYPES if one != torch.bool], ids=str)
@pytest.mark.parametrize("limits", [(7,), (3, 9), (2, 15, 4), (9, -3, -2), (4, 4)], ids=str)
def test_arange(way: Way, seen: Observer, dtype: torch.dtype, limits: tuple[int, ...]) -> None:
    if dtype == torch.uint8 and min(limits) < 0:
        limits = (9, 1, -2)
    check(way, seen, lambda x: torch.arange(*limits, dtype=dtype, device=x.device) + x, values((1,), dtype))


def test_arange_of_real_steps(way: Way) -> None:
    way.check(lambda x: torch.arange(0, 1, 0.1, device=x.device) * x, values((1,)))


def test_causal_mask_from_positions_is_one_loop(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        place = torch.arange(x.shape[0], device=x.device)
        return x.masked_fill(place[None, :] > place[:, None], float("-inf"))

    way.check(function, values((8, 8)), exact=True)
    assert not seen.uncompiled


def dynamic(way: Way, seen: Observer, function: Callable[..., torch.Tensor], make: Callable[[int], object]) -> None:
    """One symbolic compile serves every size after the first two."""
    compiled = way.compile(function)
    for size in (8, 5, 16, 3, 64):
        inputs = make(size)
        expected = function(*inputs)
        torch.testing.assert_close(compiled(*way.send(inputs)).cpu(), expected, rtol=0, atol=0)
    assert len(seen.graphs) == 2
    assert not seen.uncompiled
    assert set(fates(seen.graphs[1]).values()) <= OURS, fates(seen.graphs[1])


@pytest.mark.parametrize("axis", [0, 1])
def test_cat_of_symbolic_sizes(way: Way, seen: Observer, axis: int) -> None:
    def make(size: int) -> tuple[torch.Tensor, ...]:
        return values((size, 6) if axis == 0 else (6, size)), values((3, 6) if axis == 0 else (6, 3))

    dynamic(way, seen, lambda x, y: torch.cat([x * 2, y, x], axis) + 1, make)


def test_cat_beside_a_symbolic_axis(way: Way, seen: Observer) -> None:
    dynamic(way, seen, lambda x, y: torch.cat([x, -y], -1) * 2, lambda size: (values((size, 8)), values((size, 4))))


def test_pad_flip_and_arange_of_symbolic_sizes(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        place = torch.arange(x.shape[1] + 3, device=x.device)
        return F.pad(x.flip(1), (1, 2), value=2.0) * place + F.pad(x, (3, 0))

    dynamic(way, seen, function, lambda size: (values((3, size)),))


def test_slice_scatter_of_symbolic_sizes(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.slice_scatter(x, y, 1, 2, None) + torch.slice_scatter(x, y, 1, 0, -2)

    dynamic(way, seen, function, lambda size: (values((3, size + 3)), -values((3, size + 1))))


def test_repeat_is_a_copy_of_an_expanded_view(way: Way, seen: Observer) -> None:
    check(way, seen, lambda x: x.repeat(2, 1, 3) + 1, values((4, 1)), kernels_made=2)


LAID_OUT: dict[str, Callable[..., torch.Tensor]] = {
    "cat": lambda x, y: torch.cat([x, y * 2, x], 1),
    "flip": lambda x, y: torch.flip(x + y, (1, 3)),
    "pad": lambda x, y: F.pad(x * y, (1, 2, 0, 1)) + 1,
    "slice_scatter": lambda x, y: torch.slice_scatter(x + 1, y[:, :2], 1, 1, 3),
}


@pytest.mark.parametrize("name", LAID_OUT)
@pytest.mark.parametrize("layout", ["channels last", "transposed", "every second", "expanded"])
def test_layouts(way: Way, name: str, layout: str) -> None:
    x, y = values((2, 4, 3, 5)), -values((2, 4, 3, 5))
    if layout == "channels last":
        x, y = (one.contiguous(memory_format=torch.channels_last) for one in (x, y))
    elif layout == "transposed":
        x = x.transpose(1, 3).contiguous().transpose(1, 3)
    elif layout == "every second":
        x = values((4, 8, 3, 10))[::2, ::2, :, ::2]
    else:
        x = values((1, 4, 1, 5)).expand(2, 4, 3, 5)
    expected = LAID_OUT[name](x, y)
    actual = way.check(LAID_OUT[name], x, y, exact=True)
    assert isinstance(actual, torch.Tensor)
    assert actual.stride() == expected.stride()


def test_every_index_map_of_the_table_is_tested_here() -> None:
    rows = tomllib.loads((Path(__file__).resolve().parents[3] / "ops.toml").read_text())["op"]
    lookups = {"embedding", "index_select", "gather", "index"}  # test_lookups.py
    assert {row["name"] for row in rows if "index_map" in row} == {"arange", *LAID_OUT, *lookups}
