"""Batch norm and its gradients where PyTorch's decomposition divides one size by another.

A quotient of sizes is no number where a size may change. Here values are divided by the count of them, which is a size:
the form every mean has. What needs no such quotient stays PyTorch's.
"""

import torch
from torch._decomp.decompositions import native_batch_norm_helper
from torch._prims_common import get_computation_dtype

Results = tuple[torch.Tensor | None, ...]


def _reduced(x: torch.Tensor) -> list[int]:
    return [axis for axis in range(x.dim()) if axis != 1]


def batch_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Results:
    """The output, the saved mean and reciprocal deviation, the new running mean and variance."""
    kept = None if training else running_var
    result: Results = native_batch_norm_helper(
        x, weight, bias, running_mean, kept, training, momentum, eps, functional=True
    )
    if not training or running_var is None:
        return result
    axes = _reduced(x)
    # With the axes kept, as the normalisation itself has it: both read one sum.
    variance, _ = torch.var_mean(x.to(get_computation_dtype(x.dtype)), axes, correction=1, keepdim=True)
    return *result[:4], momentum * variance.squeeze(axes) + (1 - momentum) * running_var


def batch_norm_with_update(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> Results:
    """The same in training, with the reserve that a library's backward pass would read: empty."""
    result = batch_norm(x, weight, bias, running_mean, running_var, True, momentum, eps)
    return *result[:3], x.new_empty(0, dtype=torch.uint8), *result[3:]


def batch_norm_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    save_mean: torch.Tensor | None,
    save_invstd: torch.Tensor | None,
    train: bool,
    eps: float,
    output_mask: list[bool],
    reserve: torch.Tensor | None = None,
) -> Results:
    """Gradients of the input, the weight and the bias.

    With ``y = (x - mean) * invstd`` and ``g`` the gradient times the weight, that of the input is ``invstd * g`` where
    the statistics are given, and ``invstd * (g - mean(g) - y * mean(g * y))`` where they are the input's own.
    """
    wide = get_computation_dtype(x.dtype)
    axes, channels = _reduced(x), [-1 if axis == 1 else 1 for axis in range(x.dim())]
    gradient, centre = gradient.to(wide), save_mean if train else running_mean
    assert centre is not None
    if train:
        assert save_invstd is not None
        invstd = save_invstd.to(wide)
    else:
        assert running_var is not None
        invstd = torch.rsqrt(running_var.to(wide) + eps)
    centred = x.to(wide) - centre.to(wide).reshape(channels)
    total = gradient.sum(axes)
    product = (gradient * centred).sum(axes)
    scale = invstd if weight is None else invstd * weight.to(wide)
    if train:
        count: int | torch.SymInt = 1
        for axis in axes:
            count = count * x.shape[axis]
        along = (product / count * invstd * invstd).reshape(channels)
        of_input = (gradient - centred * along - (total / count).reshape(channels)) * scale.reshape(channels)
    else:
        of_input = gradient * scale.reshape(channels)
    kept = x.dtype if weight is None else weight.dtype
    return (
        of_input.to(x.dtype) if output_mask[0] else None,
        (product * invstd).to(kept) if output_mask[1] else None,
        total.to(kept) if output_mask[2] else None,
    )
