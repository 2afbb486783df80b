"""What bench_models.py measures: models of the sizes people run, each with its inputs, precision, and how far it goes.

Decides the works and how one call of each is made for a contender. Weights and inputs are random and the same for all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

Inputs = dict[str, torch.Tensor]
Call = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Work:
    """One piece of work.

    Attributes:
        module: builds the model, from torch's own random state.
        inputs: its keyword arguments, on the host.
        dtype: of weights and floating inputs.
        autocast: whether forward runs under autocast to bfloat16.
        goes: as far as the result, back to the gradients, or on to the optimiser's step.
        channels_last: the memory format of weights and inputs.
        tf32: whether float32 products may use TF32.
    """

    module: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    dtype: torch.dtype = torch.float32
    autocast: bool = False
    goes: Literal["forward", "backward", "training"] = "forward"
    channels_last: bool = False
    tf32: bool = False


def _encoder(width: int, heads: int) -> Callable[[], nn.Module]:
    return lambda: nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, dropout=0.0)


def _sequence(batch: int, length: int, width: int) -> Callable[[], Inputs]:
    return lambda: {"src": torch.randn(batch, length, width)}


def _tokens(batch: int, length: int, words: int, *names: str) -> Callable[[], Inputs]:
    return lambda: {name: torch.randint(0, words, (batch, length)) for name in names}


def _images(batch: int, channels: int, size: int) -> Callable[[], Inputs]:
    return lambda: {"x": torch.randn(batch, channels, size, size)}


def _residual_block() -> nn.Module:
    from torchvision.models.resnet import BasicBlock

    return BasicBlock(64, 64)


def _resnet50() -> nn.Module:
    from torchvision.models import resnet50

    return resnet50(weights=None)


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    quiet = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    return GPT2LMHeadModel(GPT2Config(use_cache=False, **quiet))


def _bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def _llama(width: int, inner: int, heads: int, shared: int, layers: int) -> Callable[[], nn.Module]:
    def build() -> nn.Module:
        from transformers import LlamaConfig, LlamaForCausalLM

        sizes = {"hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers}
        count = {"num_attention_heads": heads, "num_key_value_heads": shared}
        return LlamaForCausalLM(LlamaConfig(use_cache=False, **sizes, **count))

    return build


BF16 = torch.bfloat16
WORKS: Mapping[str, Work] = {
    "encoder 32, 2 x 16": Work(_encoder(32, 4), _sequence(2, 16, 32)),
    "encoder 512, 8 x 128": Work(_encoder(512, 8), _sequence(8, 128, 512), BF16),
    "encoder 1024, 16 x 512": Work(_encoder(1024, 16), _sequence(16, 512, 1024), BF16),
    "encoder 512, 8 x 128, there and back": Work(_encoder(512, 8), _sequence(8, 128, 512), goes="backward"),
    "ResNet block 64, 32 x 56 x 56": Work(_residual_block, _images(32, 64, 56)),
    "ResNet block 64, 32 x 56 x 56, TF32": Work(_residual_block, _images(32, 64, 56), tf32=True),
    "ResNet-50, batch 32": Work(_resnet50, _images(32, 3, 224), BF16, channels_last=True),
    "BERT-base, 16 x 128": Work(_bert, _tokens(16, 128, 30522, "input_ids"), BF16),
    "BERT-base, 8 x 128, there and back": Work(
        _bert, _tokens(8, 128, 30522, "input_ids"), autocast=True, goes="backward"
    ),
    "Llama 1024 wide, 8 layers, 8 x 128, there and back": Work(
        _llama(1024, 2816, 16, 8, 8), _tokens(8, 128, 32000, "input_ids", "labels"), autocast=True, goes="backward"
    ),
    "Llama 4096 wide, 4 layers, 1 x 1": Work(_llama(4096, 11008, 32, 32, 4), _tokens(1, 1, 32000, "input_ids"), BF16),
    "GPT-2, 8 x 512": Work(_gpt2, _tokens(8, 512, 50257, "input_ids"), BF16),
    "GPT-2, 8 x 512, training step": Work(
        _gpt2, _tokens(8, 512, 50257, "input_ids", "labels"), autocast=True, goes="training"
    ),
}


def describe(name: str) -> str:
    """The work in words, precision included: what a row of results is called."""
    work = WORKS[name]
    precision = "bfloat16" if work.dtype == BF16 else "autocast to bfloat16" if work.autocast else "float32"
    return f"{name}, {precision}"


def is_exact(name: str) -> bool:
    """Whether all of it is computed in float32."""
    work = WORKS[name]
    return work.dtype == torch.float32 and not work.autocast and not work.tf32


def _number(result: object) -> torch.Tensor:
    """A number to go backward from: the model's own loss, else the mean square of its first output."""
    if isinstance(result, torch.Tensor):
        return result.float().square().mean()
    loss = getattr(result, "loss", None)
    return loss if loss is not None else result[0].float().square().mean()


def _placed(work: Work, home: torch.device) -> tuple[nn.Module, Inputs]:
    torch.manual_seed(0)
    # Made on the host, so that every contender has the same numbers.
    module = work.module().to(home, work.dtype).train(work.goes != "forward")
    inputs = {
        key: value.to(home, work.dtype if value.is_floating_point() else None) for key, value in work.inputs().items()
    }
    if work.channels_last:
        module = module.to(memory_format=torch.channels_last)
        inputs = {key: value.contiguous(memory_format=torch.channels_last) for key, value in inputs.items()}
    return module, inputs


def call_of(name: str, home: torch.device, compiled: Callable[[object], object]) -> Call:
    """One call of the work on a device; ``compiled`` is what a contender makes of a callable.

    Its result is one number, to be compared between contenders.
    """
    work = WORKS[name]
    torch.set_float32_matmul_precision("high" if work.tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = work.tf32
    module, inputs = _placed(work, home)
    model = compiled(module)

    def forward() -> torch.Tensor:
        with torch.autocast(home.type, BF16, enabled=work.autocast):
            return model(**inputs)

    if work.goes == "forward":

        def infer() -> torch.Tensor:
            with torch.no_grad():
                return forward()

        return infer

    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-5)
    step = compiled(optimizer.step)

    def train() -> torch.Tensor:
        module.zero_grad(set_to_none=True)
        loss = _number(forward())
        loss.backward()
        if work.goes == "training":
            step()
        return loss

    return train
