"""Encoder and residual blocks agree with eager on the CPU at 1e-5, at the size they were compiled for and at others."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from ways import Way


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(6, 10, 3, stride=2, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(10)
        self.second = nn.Conv2d(10, 10, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(10)
        self.shortcut = nn.Sequential(nn.Conv2d(6, 10, 1, stride=2, bias=False), nn.BatchNorm2d(10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(out)) + self.shortcut(x))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.norm = nn.LayerNorm(32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.attention(x, x, x, need_weights=False)[0])


def normalised(block: nn.Module) -> nn.Module:
    """Normalisation layers get statistics and weights other than 0 and 1, which would hide a dropped operand."""
    for module in block.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 2)
        if isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    return block.eval()


BLOCKS = {
    "encoder": (lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), [(4, 9, 32), (7, 9, 32), (3, 5, 32)]),
    "encoder-norm-first-gelu": (
        lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True, activation="gelu"),
        [(4, 9, 32), (7, 9, 32), (3, 5, 32)],
    ),
    "attention": (Attention, [(4, 9, 32), (2, 9, 32), (2, 6, 32)]),
    "residual": (Residual, [(4, 6, 12, 12), (7, 6, 12, 12), (2, 6, 8, 8)]),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("grad", [False, True], ids=["no-grad", "grad"])
def test_blocks_agree_with_eager_at_compiled_and_at_changed_sizes(way: Way, name: str, grad: bool) -> None:
    build, shapes = BLOCKS[name]
    block = normalised(build())
    compiled = way.compile(copy.deepcopy(block).to(way.home))
    with torch.set_grad_enabled(grad):
        for shape in shapes:
            x = torch.randn(shape)
            actual = compiled(x.to(way.home))
            assert actual.device == way.home
            torch.testing.assert_close(actual.cpu(), block(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", BLOCKS)
def test_second_call_with_other_values_is_not_answered_from_the_first(way: Way, name: str) -> None:
    build, shapes = BLOCKS[name]
    block = normalised(build())
    compiled = way.compile(copy.deepcopy(block).to(way.home))
    first, second = torch.randn(shapes[0]), torch.randn(shapes[0])
    with torch.no_grad():
        kept = compiled(first.to(way.home))
        torch.testing.assert_close(compiled(second.to(way.home)).cpu(), block(second), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(kept.cpu(), block(first), rtol=1e-5, atol=1e-5)


def test_encoder_layer_with_a_padding_mask_agrees(way: Way) -> None:
    block = normalised(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True))
    compiled = way.compile(copy.deepcopy(block).to(way.home))
    x, mask = torch.randn(3, 6, 32), torch.zeros(3, 6, dtype=torch.bool)
    mask[1, 4:] = True
    with torch.no_grad():
        actual = compiled(x.to(way.home), src_key_padding_mask=mask.to(way.home)).cpu()
        expected = block(x, src_key_padding_mask=mask)
    torch.testing.assert_close(actual[~mask], expected[~mask], rtol=1e-5, atol=1e-5)
