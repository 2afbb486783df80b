"""Custom operations in reports: kernels of their own, with the operations that a rewrite put into them."""

import pytest
import torch
from torch import nn

import tessiq

pytestmark = pytest.mark.usefixtures("fresh_compiles")


def test_a_rewritten_model_says_what_its_kernel_absorbed(device: torch.device) -> None:
    model = nn.Sequential(nn.RMSNorm(32, eps=0.01), nn.ReLU()).to(device)
    with torch.no_grad():
        report = tessiq.explain(model, torch.randn(6, 32, device=device), options={"rewrites": ["rms_norm"]})
    (kernel,) = [one for graph in report.graphs for one in graph.kernels if one.kind == "custom"]
    assert kernel.covers == ("pow_1", "mean", "add", "rsqrt", "mul", "mul_1")
    assert kernel.bytes_written == 6 * 32 * 4
    assert kernel.bytes_read == (6 + 1) * 32 * 4
    assert report.totals.custom_kernels == 1
    assert report.totals.claimed == report.totals.computing
    text = str(report)
    assert "1 custom kernel" in text
    assert "kernel of a custom operation" in text
    assert "inside kernel %mul_1" in text
    assert "'rewrites': ['rms_norm']" in report.graphs[0].repro


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(6, 32), (2, 3, 32)], ids=str)
def test_pytorchs_own_module_is_found(device: torch.device, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    model = nn.RMSNorm(32, eps=0.01).to(device, dtype)
    x = torch.randn(shape).to(device, dtype)
    with torch.no_grad():
        report = tessiq.explain(model, x, options={"rewrites": ["rms_norm"]})
        found = torch.compile(model, backend="tessiq", options={"rewrites": ["rms_norm"]})(x)
        wanted = model(x)
    assert report.totals.custom_kernels == 1
    assert report.totals.kernels == 0
    torch.testing.assert_close(found, wanted)
