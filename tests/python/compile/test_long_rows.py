"""Softmax, norms and cross-entropy over rows as long as a vocabulary, forward and backward, against float64."""

import pytest
import torch
import torch.nn.functional as F
from ways import Way

ROWS_ON_A_GPU = 8192
ROWS = 24


def softmax(x: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def cross_entropy(x: torch.Tensor, _w: torch.Tensor, _b: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, labels)


@pytest.mark.parametrize("width", [1024, 4096, 32768, 50257])
@pytest.mark.parametrize("function", [softmax, layer_norm, rms_norm, cross_entropy])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_no_further_from_the_truth_than_twice_eager(
    device: torch.device, function: object, width: int, dtype: torch.dtype
) -> None:
    assert callable(function)
    way = Way(device, on_device=True)
    rows = ROWS if way.device.index == 0 else ROWS_ON_A_GPU
    x = torch.randn(rows, width, device=way.home).to(dtype)
    weight, bias = (torch.randn(width, device=way.home).to(dtype) for _ in range(2))
    labels = torch.randint(0, width, (rows,), device=way.home)
    factor = torch.randn(rows, width, device=way.home).to(dtype)

    def results(call: object, wide: bool) -> list[torch.Tensor]:
        assert callable(call)
        leaves = [(one.double() if wide else one).detach().requires_grad_() for one in (x, weight, bias)]
        output = call(*leaves, labels)
        loss = output if output.dim() == 0 else (output * factor.to(output.dtype)).sum()
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
        return [output, *(one for one in gradients if one is not None)]

    ours = results(way.compile(function), wide=False)
    eager = results(function, wide=False)
    truth = results(function, wide=True)
    assert len(ours) == len(truth)
    for mine, theirs, right in zip(ours, eager, truth, strict=True):
        assert mine.dtype == dtype
        scale = right.abs().max()
        allowed = 2 * (theirs.double() - right).abs().max() + torch.finfo(dtype).eps * scale
        assert bool((mine.double() - right).abs().max() <= allowed)
