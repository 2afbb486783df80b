"""The models of the suite, with random weights: tiny for the reference device, and of their real size for a GPU.

Tiny is two layers and 32 to 64 wide, or a stage of each kind. Nothing draws random numbers in a call: dropout and
stochastic depth are off, so that two runs can be compared.

Images are large enough for batch norm to have some dozens of values a channel in the last stage. With a handful, a
difference in the last digit decides the sign of what a ReLU reads, and float32 eager itself is a tenth off float64.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn

Inputs = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Model:
    """A model and the batches it is run with.

    Attributes:
        module: in training mode.
        inputs: keyword arguments for a batch of the given size.
    """

    module: nn.Module
    inputs: Callable[[int], Inputs]


def _generator(batch: int) -> torch.Generator:
    return torch.Generator().manual_seed(batch)


def _tokens(batch: int, length: int, words: int) -> torch.Tensor:
    return torch.randint(1, words, (batch, length), generator=_generator(batch))


def _text(length: int, words: int, *names: str) -> Callable[[int], Inputs]:
    return lambda batch: {name: _tokens(batch, length, words) for name in names}


def _images(name: str, size: int) -> Callable[[int], Inputs]:
    return lambda batch: {name: torch.randn(batch, 3, size, size, generator=_generator(batch))}


def bert(real: bool) -> Model:
    from transformers import BertConfig, BertModel

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    words, length = (30522, 128) if real else (97, 12)
    quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    inputs = _text(length, words, "input_ids")
    return Model(
        BertModel(BertConfig(vocab_size=words, **quiet, **({} if real else small))),
        lambda batch: {**inputs(batch), "attention_mask": torch.ones(batch, length, dtype=torch.long)},
    )


def gpt2(real: bool) -> Model:
    from transformers import GPT2Config, GPT2LMHeadModel

    small = {"n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4}
    words, length = (50257, 128) if real else (97, 12)
    quiet = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(vocab_size=words, use_cache=False, **quiet, **({} if real else small))
    return Model(GPT2LMHeadModel(config), _text(length, words, "input_ids", "labels"))


def llama(real: bool) -> Model:
    """Rotary positions, and two queries to each key and value."""
    from transformers import LlamaConfig, LlamaForCausalLM

    small = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
    large = {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 16, "num_key_value_heads": 8}
    words, length, layers = (32000, 128, 8) if real else (97, 12, 2)
    config = LlamaConfig(vocab_size=words, num_hidden_layers=layers, use_cache=False, **(large if real else small))
    return Model(LlamaForCausalLM(config), _text(length, words, "input_ids", "labels"))


def t5(real: bool) -> Model:
    from transformers import T5Config, T5ForConditionalGeneration

    small = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    words, length = (32128, 128) if real else (97, 12)
    config = T5Config(
        vocab_size=words, use_cache=False, decoder_start_token_id=0, dropout_rate=0.0, **({} if real else small)
    )
    source, target = _text(length, words, "input_ids"), _text(length // 2, words, "labels")
    return Model(T5ForConditionalGeneration(config), lambda batch: {**source(batch), **target(batch)})


def vit(real: bool) -> Model:
    from transformers import ViTConfig, ViTModel

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    size, patch = (224, 16) if real else (32, 8)
    config = ViTConfig(image_size=size, patch_size=patch, **({} if real else small))
    return Model(ViTModel(config), _images("pixel_values", size))


def whisper(real: bool) -> Model:
    from transformers import WhisperConfig, WhisperModel

    small = {
        **{"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64},
        **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_mel_bins": 16},
        **{"max_source_positions": 20, "max_target_positions": 16},
    }
    words, mels, frames, length = (51865, 80, 3000, 32) if real else (97, 16, 40, 6)
    markers = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = WhisperConfig(vocab_size=words, use_cache=False, **markers, **({} if real else small))
    target = _text(length, words, "decoder_input_ids")
    return Model(
        WhisperModel(config),
        lambda batch: {
            "input_features": torch.randn(batch, mels, frames, generator=_generator(batch)),
            **target(batch),
        },
    )


def resnet18(real: bool) -> Model:
    from torchvision.models import resnet18 as whole
    from torchvision.models.resnet import BasicBlock, ResNet

    module = whole(weights=None) if real else ResNet(BasicBlock, [1, 1, 1, 1], num_classes=10)
    return Model(module, _images("x", 224 if real else 96))


def mobilenet_v3_small(real: bool) -> Model:
    from torchvision.models import mobilenet_v3_small as whole
    from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3

    stages = [
        InvertedResidualConfig(16, 3, 16, 16, True, "RE", 2, 1, 1.0),
        InvertedResidualConfig(16, 5, 48, 24, True, "HS", 2, 1, 1.0),
        InvertedResidualConfig(24, 5, 72, 24, False, "HS", 1, 1, 1.0),
    ]
    module = whole(weights=None, dropout=0.0) if real else MobileNetV3(stages, 64, num_classes=10, dropout=0.0)
    return Model(module, _images("x", 224 if real else 64))


def efficientnet_b0(real: bool) -> Model:
    from torchvision.models import efficientnet_b0 as whole
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig

    quiet: dict[str, Any] = {"dropout": 0.0, "stochastic_depth_prob": 0.0}
    stages = [
        MBConvConfig(1, 3, 1, 16, 16, 1, 1.0, 1.0),
        MBConvConfig(6, 3, 2, 16, 24, 2, 1.0, 1.0),
        MBConvConfig(6, 5, 2, 24, 32, 1, 1.0, 1.0),
    ]
    module = whole(weights=None, **quiet) if real else EfficientNet(stages, num_classes=10, **quiet)
    return Model(module, _images("x", 224 if real else 64))


def convnext_tiny(real: bool) -> Model:
    from torchvision.models import convnext_tiny as whole
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    stages = [CNBlockConfig(32, 48, 1), CNBlockConfig(48, 64, 1), CNBlockConfig(64, None, 2)]
    module = (
        whole(weights=None, stochastic_depth_prob=0.0)
        if real
        else ConvNeXt(stages, stochastic_depth_prob=0.0, num_classes=10)
    )
    return Model(module, _images("x", 224 if real else 32))


def swin_t(real: bool) -> Model:
    """Two blocks a stage: windows in place and windows shifted."""
    from torchvision.models.swin_transformer import SwinTransformer

    # torchvision's own builder of the real size sets the stochastic depth itself.
    sizes = (96, [2, 2, 6, 2], [3, 6, 12, 24], [7, 7]) if real else (24, [2, 2], [2, 4], [4, 4])
    module = SwinTransformer([4, 4], *sizes, stochastic_depth_prob=0.0, num_classes=1000 if real else 10)
    return Model(module, _images("x", 224 if real else 32))


class Recurrent(nn.Module):
    """A sequence to one of five classes."""

    def __init__(self, inputs: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


def lstm(real: bool) -> Model:
    inputs, hidden, length = (128, 512, 16) if real else (16, 24, 5)
    return Model(
        Recurrent(inputs, hidden, 2),
        lambda batch: {"x": torch.randn(batch, length, inputs, generator=_generator(batch))},
    )


class Unet(nn.Module):
    """Halvings and doublings with joins between, ``width`` channels at the top."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.first = self._block(3, width)
        self.down = nn.ModuleList(self._block(a, b) for a, b in pairwise(widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * a, a, 2, 2) for a in widths[:-1])
        self.join = nn.ModuleList(self._block(2 * a, a) for a in widths[:-1])
        self.last = nn.Conv2d(width, 2, 1)

    @staticmethod
    def _block(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        levels = []
        for block in self.down:
            levels.append(x)
            x = block(nn.functional.max_pool2d(x, 2))
        for up, join, level in reversed(list(zip(self.up, self.join, levels, strict=True))):
            x = join(torch.cat([level, up(x)], 1))
        return self.last(x)


def unet(real: bool) -> Model:
    return Model(Unet(64, 4) if real else Unet(8, 2), _images("x", 256 if real else 32))


ZOO: Mapping[str, Callable[[], Model]] = {
    f"{builder.__name__}{suffix}": partial(builder, real)
    for suffix, real in (("", False), ("-real", True))
    for builder in (
        *(bert, gpt2, llama, t5, vit, whisper),
        *(resnet18, mobilenet_v3_small, efficientnet_b0, convnext_tiny, swin_t),
        *(lstm, unet),
    )
}
"""Builders by name; a name ending in ``-real`` is the model in its real size."""
