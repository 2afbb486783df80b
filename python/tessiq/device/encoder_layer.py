"""``nn.TransformerEncoderLayer``'s inference path, one operator that PyTorch decomposes nowhere.

Eager code and compiled graphs both run this. PyTorch's CUDA kernel is not borrowed: its GELU is the tanh form, which
differs from the layer's own by 2e-4.
"""

import torch
import torch.nn.functional as F


def _hide(scores: torch.Tensor, mask: torch.Tensor, mask_type: int | None) -> torch.Tensor:
    """Scores (batch, heads, length, length) with minus infinity where the mask is True.

    The operator's mask types: 0 is (length, length), 1 is key padding (batch, length), 2 is the scores' own shape.
    """
    hidden = mask.to(torch.bool)
    if mask_type == 1:
        hidden = hidden[:, None, None, :]
    return scores.masked_fill(hidden, float("-inf"))


def encoder_layer(
    src: torch.Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor,
    proj_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: torch.Tensor,
    norm_bias_1: torch.Tensor,
    norm_weight_2: torch.Tensor,
    norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor,
    ffn_bias_1: torch.Tensor,
    ffn_weight_2: torch.Tensor,
    ffn_bias_2: torch.Tensor,
    mask: torch.Tensor | None = None,
    mask_type: int | None = None,
) -> torch.Tensor:
    """``aten::_transformer_encoder_layer_fwd``: ``src`` (batch, length, embed_dim) to the same shape.

    Raises:
        NotImplementedError: a nested tensor.
    """
    if src.is_nested:
        raise NotImplementedError("tessiq: the encoder layer takes no nested tensors; pad the batch instead")

    def attend(x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        heads = F.linear(x, qkv_weight, qkv_bias).view(batch, length, 3, num_heads, embed_dim // num_heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(query * (embed_dim // num_heads) ** -0.5, key.transpose(-2, -1))
        shown = scores if mask is None else _hide(scores, mask, mask_type)
        mixed = torch.matmul(torch.softmax(shown, -1), value)
        return F.linear(mixed.transpose(1, 2).reshape(batch, length, embed_dim), proj_weight, proj_bias)

    def expand(x: torch.Tensor) -> torch.Tensor:
        hidden = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(hidden) if use_gelu else F.relu(hidden), ffn_weight_2, ffn_bias_2)

    def norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, [embed_dim], weight, bias, eps)

    if norm_first:
        middle = src + attend(norm(src, norm_weight_1, norm_bias_1))
        return middle + expand(norm(middle, norm_weight_2, norm_bias_2))
    middle = norm(src + attend(src), norm_weight_1, norm_bias_1)
    return norm(middle + expand(middle), norm_weight_2, norm_bias_2)


def _shape(src: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
    return torch.empty_like(src, memory_format=torch.contiguous_format)


_library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]


def register() -> None:
    """Makes it the operator's kernel on tessiq devices, and lets Dynamo trace it at symbolic sizes.

    Without a shape function PyTorch stops a graph at this operator as soon as the batch size is symbolic.
    """
    _library.impl("_transformer_encoder_layer_fwd", encoder_layer, "PrivateUse1")  # type: ignore[no-untyped-call]
    _library.impl("_transformer_encoder_layer_fwd", _shape, "Meta")  # type: ignore[no-untyped-call]
