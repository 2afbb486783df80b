"""Attention through the compiler: the forward pass saves what the operator's backward pass reads.

A forward pass that saves something else still gives the right output, so only the gradients show it.
"""

import pytest
import torch
import torch.nn.functional as F
from ways import Way, same


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
