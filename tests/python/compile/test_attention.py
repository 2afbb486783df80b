"""Attention, eager and through the compiler: fused for half types, decomposed for others, with gradients.

A forward pass that saves something else than the backward pass reads still gives the right output, so only the
gradients show it.
"""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from ways import Way, same

import tessiq
from tessiq.compile.graph import Observer

HALVES = [torch.float16, torch.bfloat16]


def _heads(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(-1, (4, 8)).transpose(1, 2)


def _attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, causal: bool
) -> torch.Tensor:
    result = F.scaled_dot_product_attention(_heads(q), _heads(k), _heads(v), attn_mask=mask, is_causal=causal)
    return result.transpose(1, 2).flatten(2)


@pytest.mark.parametrize("kind", ["plain", "causal", "masked"])
def test_gradients_of_attention_are_eagers(way: Way, kind: str) -> None:
    q, k, v, grad = (torch.randn(2, 12, 32) for _ in range(4))
    mask = torch.randn(2, 1, 12, 12) if kind == "masked" else None
    compiled = way.compile(_attention)

    def gradients(call: object, home: torch.device) -> list[torch.Tensor]:
        leaves = [one.to(home).requires_grad_() for one in (q.clone(), k.clone(), v.clone())]
        assert callable(call)
        result = call(*leaves, None if mask is None else mask.to(home), kind == "causal")
        return [result, *torch.autograd.grad(result, leaves, grad.to(home))]

    same(gradients(compiled, way.home), gradients(_attention, torch.device("cpu")))


def gradients_of(
    call: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...], gradient: torch.Tensor, **more: object
) -> list[torch.Tensor]:
    """The output and the gradients of the first three inputs, in float64 on the host."""
    leaves = [one.detach().requires_grad_() for one in inputs[:3]]
    result = call(*leaves, *inputs[3:], **more)
    found = [result, *torch.autograd.grad(result, leaves, gradient.to(result))]
    return [one.detach().cpu().double() for one in found]


def agree(
    way: Way, inputs: tuple[torch.Tensor, ...], seen: Observer | None = None, *, compiled: bool = True, **more: object
) -> None:
    """In a half type, the output and the gradients are float64's but for what the type loses."""
    gradient = torch.randn(inputs[0].shape[:3] + inputs[2].shape[3:], dtype=inputs[0].dtype)

    def function(*tensors: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(*tensors, **more)

    expected = gradients_of(
        function, tuple(one if one.dtype == torch.bool else one.double() for one in inputs), gradient
    )
    sent = tuple(one.to(way.home) for one in inputs)
    actual = gradients_of(way.compile(function) if compiled else function, sent, gradient)
    loss = 4e-3 if inputs[0].dtype == torch.float16 else 3e-2
    for name, ours, wide in zip(("output", "query", "key", "value"), actual, expected, strict=True):
        error = (ours - wide).square().mean().sqrt() / wide.square().mean().sqrt()
        assert error <= loss, (name, error)
    if seen is not None:
        assert not seen.uncompiled
        ops = {fate["op"] for call in seen.graphs for fate in call.compiled.fates()}
        assert "tessiq.attention.default" in ops, ops
        assert "tessiq.attention_backward.default" in ops, ops


def tensors(
    dtype: torch.dtype,
    batch: int = 2,
    heads: int = 4,
    length: int = 33,
    keys: int = 33,
    width: int = 64,
    shared: int = 0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    query = torch.randn(batch, heads, length, width, dtype=dtype)
    key, value = (torch.randn(batch, shared or heads, keys, width, dtype=dtype) for _ in range(2))
    return query, key, value


on_the_device = pytest.mark.parametrize("way", ["device"], indirect=True)


@on_the_device
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "eager"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
class TestFused:
    """What the fused operators take."""

    def seen_if(self, compiled: bool, seen: Observer) -> Observer | None:
        return seen if compiled else None

    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("width", [8, 64, 128, 256])
    def test_plain_and_causal(
        self, way: Way, seen: Observer, dtype: torch.dtype, compiled: bool, width: int, causal: bool
    ) -> None:
        inputs = tensors(dtype, width=width)
        agree(way, inputs, self.seen_if(compiled, seen), compiled=compiled, is_causal=causal)

    @pytest.mark.parametrize("shape", [(2, 4, 33, 40), (2, 1, 1, 40), (1, 1, 33, 40), (33, 40), (2, 4, 33, 1)], ids=str)
    @pytest.mark.parametrize("kind", ["bool", "numbers"])
    def test_masks(
        self, way: Way, seen: Observer, dtype: torch.dtype, compiled: bool, kind: str, shape: tuple[int, ...]
    ) -> None:
        mask = torch.rand(shape) > 0.3 if kind == "bool" else torch.randn(shape, dtype=dtype)
        if kind == "bool":
            mask[..., 0] = True  # no row is masked everywhere
        inputs = (*tensors(dtype, keys=40), mask)
        agree(way, inputs, self.seen_if(compiled, seen), compiled=compiled)

    def test_other_lengths_scales_and_layouts(
        self, way: Way, seen: Observer, dtype: torch.dtype, compiled: bool
    ) -> None:
        query, key, value = tensors(dtype, length=7, keys=130)
        inputs = (query.transpose(1, 2).contiguous().transpose(1, 2), key[:, :, ::2], value[:, :, ::2])
        agree(way, inputs, self.seen_if(compiled, seen), compiled=compiled, scale=0.3)

    def test_keys_shared_by_several_heads(self, way: Way, seen: Observer, dtype: torch.dtype, compiled: bool) -> None:
        inputs = tensors(dtype, heads=6, shared=2)
        agree(way, inputs, self.seen_if(compiled, seen), compiled=compiled, enable_gqa=True)


@on_the_device
def test_symbolic_lengths_are_compiled_once_more(way: Way, seen: Observer) -> None:
    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    compiled = way.compile(function)
    for length in (16, 24, 40, 7):
        inputs = tensors(torch.bfloat16, length=length, keys=length)
        wide = function(*(one.double() for one in inputs))
        error = (compiled(*way.send(inputs)).cpu().double() - wide).square().mean().sqrt()
        assert error <= 2e-2
    assert len(seen.graphs) == 2


@on_the_device
@pytest.mark.parametrize(
    "inputs",
    [
        tensors(torch.float32),
        tensors(torch.bfloat16, width=12),
        tensors(torch.bfloat16, keys=40),
        tensors(torch.float64),
    ],
    ids=["float32", "odd width", "causal of two lengths", "float64"],
)
def test_what_is_not_fused_is_decomposed(way: Way, inputs: tuple[torch.Tensor, ...], seen: Observer) -> None:
    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    torch.testing.assert_close(way.compile(function)(*way.send(inputs)).cpu(), function(*inputs), rtol=2e-2, atol=2e-2)
    assert not {fate["op"] for fate in seen.graphs[0].compiled.fates() if "attention" in fate["op"]}


def test_what_no_library_takes_is_computed_in_steps(device: torch.device) -> None:
    way = Way(device, on_device=True)
    mask = torch.rand(2, 1, 33, 33) > 0.3
    mask[..., 0] = True
    before = tessiq.config.fallback
    tessiq.config.fallback = "cpu"  # nothing is lent, so no library is asked
    try:
        agree(way, (*tensors(torch.bfloat16), mask), compiled=False)
        agree(way, tensors(torch.float16, heads=6, shared=2), compiled=False, enable_gqa=True, is_causal=True)
    finally:
        tessiq.config.fallback = before
