"""What AOTAutograd breaks into smaller operations before the compiler sees a graph.

The rule: decompose until the pieces are operations with a kernel, and stop there. PyTorch's core table, the operations
it keeps whole for backends with fused kernels of their own, and entries of ours where PyTorch's go down to ``prims`` or
where it has none.
"""

import math
from collections.abc import Callable

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._prims_common import suggest_memory_format

from tessiq import _C
from tessiq.compile.batch_norm import batch_norm, batch_norm_backward, batch_norm_with_update
from tessiq.compile.element_types import ELEMENT_TYPES
from tessiq.compile.recurrent import lstm_layer, lstm_layer_backward
from tessiq.device.encoder_layer import encoder_layer

_aten = torch.ops.aten

_BEYOND_CORE = (
    _aten._softmax,
    _aten._log_softmax,
    _aten.native_layer_norm,
    _aten.native_group_norm,
    _aten.native_batch_norm,
    _aten._native_batch_norm_legit,
    _aten._native_batch_norm_legit_functional,
    _aten._native_batch_norm_legit_no_training,
    _aten._batch_norm_with_update,
    _aten._batch_norm_with_update_functional,
)

Decomposition = Callable[..., object]

# Stride, padding, dilation, transposed, padding of the output, groups.
_ConvolutionNumbers = tuple[list[int], list[int], list[int], bool, list[int], int]


def _var_mean(
    x: torch.Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two passes, ``sum((x - mean)**2) / max(n - correction, 0)``: one pass of squares loses values far from zero."""
    if x.is_complex():
        return NotImplemented  # type: ignore[no-any-return]
    narrow = x.dtype in (torch.float16, torch.bfloat16)
    wide = x.to(torch.float32) if narrow else x
    axes = list(range(x.dim())) if dim is None or len(dim) == 0 else list(dim)
    mean = torch.mean(wide, axes, True)
    centred = wide - mean
    total = torch.sum(centred * centred, axes, keepdim)
    count: int | torch.SymInt = 1
    for axis in axes:
        count = count * x.shape[axis]
    lost = 1 if correction is None else correction
    divisor = torch.sym_max(count - lost, 0)  # type: ignore[no-untyped-call, operator]
    # A tensor divides by zero as PyTorch's variance does: to NaN or infinity, with no exception.
    variance = (
        total / divisor if not isinstance(divisor, (int, float)) or divisor != 0 else total / torch.zeros_like(total)
    )
    if not keepdim:
        for axis in sorted((axis % x.dim() for axis in axes), reverse=True) if x.dim() else []:
            mean = mean.squeeze(axis)
    return (variance.to(x.dtype), mean.to(x.dtype)) if narrow else (variance, mean)


def _var(
    x: torch.Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> torch.Tensor:
    result = _var_mean(x, dim, correction=correction, keepdim=keepdim)
    return result if result is NotImplemented else result[0]


def _vector_norm(
    x: torch.Tensor,
    ord: float = 2,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """As a reduction with loops around it, in float32 for narrower types."""
    if x.is_complex() or (x.numel() == 0 and (ord < 0 or ord == math.inf)):
        return NotImplemented  # type: ignore[no-any-return]
    result_type = dtype or x.dtype
    axes = list(range(x.dim())) if dim is None else list(dim)
    wide = x.to(torch.float32 if result_type in (torch.float16, torch.bfloat16) else result_type)
    if abs(ord) == math.inf:
        result = torch.amax(wide.abs(), axes, keepdim) if ord > 0 else torch.amin(wide.abs(), axes, keepdim)
    elif ord == 0:
        result = torch.sum((wide != 0).to(wide.dtype), axes, keepdim)
    elif ord == 1:
        result = torch.sum(wide.abs(), axes, keepdim)
    elif ord == 2:
        result = torch.sqrt(torch.sum(wide * wide, axes, keepdim))
    else:
        result = torch.pow(torch.sum(torch.pow(wide.abs(), ord), axes, keepdim), 1 / ord)
    return result.to(result_type)


def _extreme(values: Callable[..., torch.Tensor], places: Callable[..., torch.Tensor]) -> Decomposition:
    """``max`` or ``min`` over one axis, which give the place of the extreme as well: the first of several."""

    def decomposition(x: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        if x.dtype == torch.bool or x.dim() == 0:
            return NotImplemented  # type: ignore[no-any-return]
        return values(x, [dim], keepdim), places(x, dim, keepdim)

    return decomposition


def _channels_last(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether eager gives a result with its channels last, and tracing on this device does not: see the operators."""
    return x.device.type == "tessiq" and any(
        suggest_memory_format(one) in (torch.channels_last, torch.channels_last_3d) for one in (x, weight)
    )


def _convolution(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *numbers: *_ConvolutionNumbers
) -> torch.Tensor:
    """The bias added by a loop, which takes in what follows it."""
    channels_last = _channels_last(x, weight)
    if x.is_complex() or (bias is None and not channels_last):
        return NotImplemented  # type: ignore[no-any-return]
    operator = torch.ops.tessiq.convolution_channels_last if channels_last else _aten.convolution
    result: torch.Tensor = operator(x, weight, None, *numbers)
    return result if bias is None else result + bias.reshape([-1] + [1] * (result.dim() - 2))


def _convolution_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor,
    bias_sizes: list[int] | None,
    *rest: *tuple[*_ConvolutionNumbers, list[bool]],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """The gradient of the bias as a sum, which is a reduction like any other."""
    *numbers, output_mask = rest
    channels_last = _channels_last(x, weight)
    if x.is_complex() or not (output_mask[2] or channels_last):
        return NotImplemented  # type: ignore[no-any-return]
    of_bias = gradient.sum([axis for axis in range(gradient.dim()) if axis != 1]) if output_mask[2] else None
    if not output_mask[0] and not output_mask[1]:
        return None, None, of_bias
    operator = torch.ops.tessiq.convolution_backward_channels_last if channels_last else _aten.convolution_backward
    mask = [output_mask[0], output_mask[1], False]
    of_input, of_weight, _ = operator(gradient, x, weight, None, *numbers, mask)
    return of_input, of_weight, of_bias


def _repeat(x: torch.Tensor, repeats: list[int]) -> torch.Tensor:
    """A copy of a view in which every repeated axis has one of its own before it."""
    shape = [1] * (len(repeats) - x.dim()) + list(x.shape)
    apart: list[int] = []
    wide: list[int] = []
    for size, times in zip(shape, repeats, strict=True):
        apart += [size] if times == 1 else [1, size]
        wide += [size] if times == 1 else [times, size]
    result = x.reshape(apart).expand(wide).clone(memory_format=torch.contiguous_format)
    return result.reshape([size * times for size, times in zip(shape, repeats, strict=True)])


def _fused_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[object, ...]:
    """As an operator of ours, which gives what is kept for the backward pass and nothing else."""
    output, logsumexp = torch.ops.tessiq.attention(query, key, value, bias, is_causal, scale)
    return output, logsumexp, None, None, query.shape[2], key.shape[2], None, None, None


def _fused_attention_backward(
    gradient: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    mask: list[bool],
    output: torch.Tensor,
    logsumexp: torch.Tensor,
    *rest: *tuple[object, object, object, object, float, bool, object, object],
    scale: float | None = None,
) -> tuple[torch.Tensor | None, ...]:
    is_causal = rest[5]
    results: tuple[torch.Tensor | None, ...] = torch.ops.tessiq.attention_backward(
        gradient, query, key, value, bias, output, logsumexp, is_causal, scale
    )
    return *results, None


def _whole_where_replaced(decomposition: Decomposition, kept: frozenset[torch.dtype]) -> Decomposition:
    """The entry of an operator that a custom operation replaces: whole for the types that operation declares."""

    def whole_or_in_pieces(*args: object, **kwargs: object) -> object:
        first = next((one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)), None)
        if first is not None and first.dtype in kept:
            return NotImplemented
        return decomposition(*args, **kwargs)

    return whole_or_in_pieces


def _keep_replaced(table: dict[torch._ops.OperatorBase, Decomposition]) -> None:
    for operation in _C.operations():
        if not operation["replaces_in_graphs"]:
            continue
        namespace, _, name = operation["replaces"].partition("::")
        packet, _, overload = name.partition(".")
        replaced = getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
        if replaced in table:
            kept = frozenset(one for one, name in ELEMENT_TYPES.items() if name in operation["element_types"])
            table[replaced] = _whole_where_replaced(table[replaced], kept)


def decomposition_table() -> dict[torch._ops.OperatorBase, Decomposition]:
    """A fresh table for one compile, since AOTAutograd changes the one it is given."""
    table: dict[torch._ops.OperatorBase, Decomposition] = dict(core_aten_decompositions())
    table.update(get_decompositions(_BEYOND_CORE))
    table[_aten.var_mean.correction] = _var_mean
    table[_aten.var.correction] = _var
    table[_aten.linalg_vector_norm.default] = _vector_norm
    table[_aten.max.dim] = _extreme(torch.amax, torch.argmax)
    table[_aten.min.dim] = _extreme(torch.amin, torch.argmin)
    table[_aten._native_batch_norm_legit_functional.default] = batch_norm
    table[_aten._batch_norm_with_update_functional.default] = batch_norm_with_update
    table[_aten.native_batch_norm_backward.default] = batch_norm_backward
    table[_aten.batch_norm_backward.default] = batch_norm_backward
    table[_aten.mkldnn_rnn_layer.default] = lstm_layer
    table[_aten.mkldnn_rnn_layer_backward.default] = lstm_layer_backward
    table[_aten.repeat.default] = _repeat
    table[_aten.convolution.default] = _convolution
    table[_aten.convolution_backward.default] = _convolution_backward
    table[_aten._scaled_dot_product_fused_attention_overrideable.default] = _fused_attention
    table[_aten._scaled_dot_product_fused_attention_overrideable_backward.default] = _fused_attention_backward
    # In pieces it fills a table of gradients, selects rows and adds them up through index_put, which sorts; whole,
    # PyTorch has a kernel for it.
    table.pop(_aten.embedding_dense_backward.default, None)
    # PyTorch's entry gives the weights where the operator's backward reads their log-sum-exp: training would go wrong.
    table.pop(_aten._scaled_dot_product_flash_attention_for_cpu.default, None)
    table[_aten._transformer_encoder_layer_fwd.default] = encoder_layer
    _keep_replaced(table)
    return table
