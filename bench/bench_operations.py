"""Custom operations against what the compiler generates for the same computation, written in plain PyTorch.

An operation is shipped because it is at least as fast, so that its row has to say so: ``compiled_over_operation`` is
the time of the generated kernels over that of the operation, by the kernel clock. Results are compared with float64
before they are timed; the counters say that no call ran the reference.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from clocks import Contender, measure

import tessiq
from tessiq.operations import operations

Tensors = Sequence[torch.Tensor]
OPS = torch.ops.tessiq


@dataclass(frozen=True)
class Work:
    """An operation, what it computes in plain PyTorch, and its arguments for a shape; the first is in the dtype."""

    operation: Callable[..., torch.Tensor]
    plain: Callable[..., torch.Tensor]
    arguments: Callable[[tuple[int, ...]], Tensors]
    shapes: tuple[tuple[int, ...], ...]
    counted: str
    backward: bool = False  # the time is of the backward pass alone


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """As models write it: halves of a row swapped, one negated; computed in float32 as the operation does."""
    half = x.shape[-1] // 2
    wide = x if x.dtype == torch.float64 else x.float()
    swapped = torch.cat((-wide[..., half:], wide[..., :half]), -1)
    return (wide * torch.cat((cos, cos), -1) + swapped * torch.cat((sin, sin), -1)).to(x.dtype)


def _rotary(shape: tuple[int, ...]) -> Tensors:
    angles = torch.outer(torch.arange(shape[-2], dtype=torch.float32), torch.rand(shape[-1] // 2))
    return torch.randn(shape), angles.cos(), angles.sin()


def _losses(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits if logits.dtype == torch.float64 else logits.float(), target, reduction="none")


def _classes(shape: tuple[int, ...]) -> Tensors:
    return torch.randn(shape), torch.randint(0, shape[-1], shape[:-1])


ROWS = ((65536, 1024), (8192, 4096), (8192, 16384), (2048, 50257))
WORKS = {
    "softmax": Work(
        lambda x: OPS.softmax(x, -1, False),
        lambda x: torch.softmax(x, -1),
        lambda shape: [torch.randn(shape)],
        ROWS,
        "softmax",
    ),
    "rms_norm": Work(
        lambda x, w: OPS.rms_norm(x, w, 1e-6),
        lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6),
        lambda shape: [torch.randn(shape), torch.randn(shape[-1])],
        ROWS[:3],
        "rms_norm",
    ),
    "rotary_embedding": Work(
        OPS.rotary_embedding, _turned, _rotary, ((8, 32, 2048, 128), (32, 16, 512, 64)), "rotary_embedding"
    ),
    "cross_entropy": Work(
        lambda x, t: OPS.cross_entropy(x, t)[0], _losses, _classes, ((8192, 4096), (8192, 32768), (8192, 50257)),
        "cross_entropy",
    ),
    "cross_entropy_backward": Work(
        lambda x, t: OPS.cross_entropy(x, t)[0], _losses, _classes, ((8192, 4096), (8192, 32768), (8192, 50257)),
        "cross_entropy_backward", backward=True,
    ),
}  # fmt: skip


def _call(function: Callable[..., torch.Tensor], inputs: Tensors, *, backward: bool) -> Callable[[], torch.Tensor]:
    if not backward:
        return lambda: function(*inputs)
    losses = function(inputs[0].requires_grad_(), *inputs[1:])
    gradient = torch.ones_like(losses)

    def gradient_of_first() -> torch.Tensor:
        (found,) = torch.autograd.grad(losses, inputs[0], gradient, retain_graph=True)
        return found

    return gradient_of_first


def _typed(arguments: Tensors, work: str, dtype: torch.dtype) -> list[torch.Tensor]:
    """Tables of angles stay in float32, classes are whole numbers."""
    floating = arguments if work in ("softmax", "rms_norm") else arguments[:1]
    return [one.to(dtype) for one in floating] + list(arguments[len(floating) :])


def rows_of(name: str, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> list[dict[str, object]]:
    """Both contenders' rows for one size."""
    work = WORKS[name]
    torch._dynamo.reset()
    host = _typed(work.arguments(shape), name, dtype)
    ours = [one.to(device) for one in host]
    # Both compiled, so that neither clock holds the time of PyTorch's eager dispatch.
    operation = _call(torch.compile(work.operation, backend="tessiq", dynamic=False), ours, backward=work.backward)
    plain = _call(torch.compile(work.plain, backend="tessiq", dynamic=False), ours, backward=work.backward)
    before = operations()[work.counted]
    result = operation()
    after = operations()[work.counted]
    assert (after.kernel_calls - before.kernel_calls, after.fallbacks - before.fallbacks) == (1, 0), name
    exact = _call(
        work.plain, [one.double() if one.is_floating_point() else one for one in host], backward=work.backward
    )()
    errors = [(one.detach().cpu().double() - exact).abs().max().item() for one in (result, plain())]
    assert errors[0] <= 2 * errors[1] + torch.finfo(dtype).eps * exact.abs().max().item(), (name, shape, dtype, errors)

    def wait() -> None:
        torch.tessiq.synchronize(device)

    timings = measure([Contender("operation", operation, wait), Contender("compiled", plain, wait)], rounds=5, calls=20)
    ratio = round(timings["compiled"].kernel_us / timings["operation"].kernel_us, 3)
    label = f"{name} {'x'.join(map(str, shape))} {str(dtype).removeprefix('torch.')}"
    return [
        {"work": label, "contender": contender, **asdict(timing), "compiled_over_operation": ratio}
        for contender, timing in timings.items()
    ]


def main() -> None:
    """Prints one JSON object a line; with --json, writes them all to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", default=list(WORKS), choices=list(WORKS))
    arguments = parser.parse_args()
    device = tessiq.gpu_at(0)
    rows: list[dict[str, object]] = []
    for name in arguments.only:
        for shape in WORKS[name].shapes:
            for dtype in (torch.float32, torch.bfloat16):
                for row in rows_of(name, shape, dtype, device):
                    print(json.dumps(row), flush=True)
                    rows.append(row)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
