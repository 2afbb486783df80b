"""Work that memory decides: normalisations, softmax, sums over rows, columns and everything, a permuted copy; against
the copy ceiling of the same run, eager CUDA and Inductor.

Bytes are what one pass over the data has to move, whoever moves more. Results are compared with float64 before they
are timed, beside eager's own error; the counters say that nothing of ours fell back to PyTorch's kernels.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from clocks import measure, peers

import tessiq

NEEDS_GPU = True

Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class Work:
    """A function of one large tensor and perhaps weights, and the shapes it is measured at."""

    function: Callable[..., torch.Tensor]
    shapes: tuple[tuple[int, ...], ...]
    weights: int = 0  # how many tensors of the last axis' length it takes besides
    writes_all: bool = True  # as many bytes as it reads, else next to none


ROWS = ((65536, 256), (65536, 1024), (8192, 4096), (8192, 8192), (8192, 16384), (4096, 32768), (2048, 50257))
WORKS = {
    "softmax": Work(lambda x: torch.softmax(x, -1), ROWS),
    "layer_norm": Work(lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), ROWS[1:6], 2),
    "rms_norm": Work(lambda x, w: F.rms_norm(x, x.shape[-1:], w), ROWS[1:6], 1),
    "row_sum": Work(lambda x: x.sum(-1), ((65536, 1024), (8192, 4096), (4096, 32768), (32, 1 << 20)), 0, False),
    "column_sum": Work(lambda x: x.sum(0), ((8192, 4096), (32768, 256), (32768, 4096)), 0, False),
    "full_sum": Work(lambda x: x.sum(), ((1 << 26,), (1 << 20,)), 0, False),
    "permuted_copy": Work(lambda x: x.permute(0, 2, 1).contiguous(), ((64, 1024, 1024),)),
}


def error_to(exact: torch.Tensor, result: torch.Tensor) -> float:
    """Largest difference, relative to the largest value."""
    return ((result.double() - exact).abs().max() / exact.abs().max()).item()


def rows_of(name: str, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> list[dict[str, object]]:
    """Every contender's row for one size."""
    work = WORKS[name]
    # Off zero, so that a sum is not what rounding leaves of it.
    cuda = [(torch.randn(shape, device="cuda") + 0.5).to(dtype)]
    cuda += [torch.randn(shape[-1], device="cuda").to(dtype) for _ in range(work.weights)]
    ours = [x.cpu().to(device) for x in cuda]
    torch._dynamo.reset()
    compiled = torch.compile(work.function, backend="tessiq", dynamic=False)
    inductor = torch.compile(work.function, dynamic=False)
    exact = work.function(*(x.double() for x in cuda))
    error = error_to(exact, compiled(*ours).cpu().to("cuda"))
    eagers = error_to(exact, work.function(*cuda))
    del exact
    assert error <= 2 * eagers + torch.finfo(dtype).eps, (name, shape, dtype, error, eagers)
    tessiq.reset_fallbacks()
    compiled(*ours)
    assert not tessiq.fallbacks(), f"operators fell back: {tessiq.fallbacks()}"
    timings = measure(
        peers(work.function, compiled, inductor, ours, cuda),
        rounds=5,
        calls=20,
    )
    size = cuda[0].numel() * cuda[0].element_size()
    label = f"{name} {'x'.join(map(str, shape))} {str(dtype).removeprefix('torch.')}"
    rows: list[dict[str, object]] = []
    for contender, timing in timings.items():
        moved = size * (2 if contender == "copy" or work.writes_all else 1)
        row = {"work": label, "contender": contender, **asdict(timing), "bytes": moved}
        row["GB_per_s"] = round(moved / timing.kernel_us / 1e3, 1)
        row["GB_per_s_clock"] = "kernel"
        row["of_copy_ceiling"] = round(row["GB_per_s"] / (2 * size / timings["copy"].kernel_us / 1e3), 4)
        if contender == "tessiq":
            row["error_to_float64"], row["eager_error_to_float64"] = error, eagers
            best = min(timings["eager"].kernel_us, timings["inductor"].kernel_us)
            row["best_peer_over_tessiq"] = round(best / timing.kernel_us, 3)
        rows.append(row)
    return rows


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
