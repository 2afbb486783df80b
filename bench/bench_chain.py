"""Four elementwise operations on three float32 inputs: ``sigmoid(relu(a * b + c))``, against the copy ceiling of the
same run, eager CUDA and Inductor.

Measures memory traffic: 64 Mi elements are far larger than the last-level cache, 1 Mi far smaller. Bytes are what a
fused kernel has to move, three reads and one write, whoever moves more. Results are compared before they are timed.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch
from clocks import measure, peers

import tessiq

NEEDS_GPU = True

SIZES = {"64Mi": 64 * 1024 * 1024, "1Mi": 1024 * 1024, "1ki": 1024}


def chain(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """The work."""
    return torch.sigmoid(torch.relu(a * b + c))


def rows_of(label: str, count: int, device: torch.device) -> list[dict[str, object]]:
    """Every contender's row for one size."""
    cuda = [torch.randn(count, device="cuda") for _ in range(3)]
    ours = [x.cpu().to(device) for x in cuda]
    compiled = torch.compile(chain, backend="tessiq")
    inductor = torch.compile(chain)
    expected = chain(*(x.double() for x in cuda)).float().cpu()

    error = (compiled(*ours).cpu() - expected).abs().max().item()
    assert error <= 1e-6, error
    tessiq.reset_fallbacks()
    before = tessiq._C.kernel_counters()["cuda_launches"]
    compiled(*ours)
    launched = tessiq._C.kernel_counters()["cuda_launches"] - before
    assert launched == 1, f"{launched} launches where one kernel was expected"
    assert not tessiq.fallbacks(), f"operators fell back: {tessiq.fallbacks()}"
    timings = measure(peers(chain, compiled, inductor, ours, cuda))
    rows: list[dict[str, object]] = []
    for name, timing in timings.items():
        moved = count * 4 * (2 if name == "copy" else 4)
        row = {"work": f"chain4 {label} float32", "contender": name, **asdict(timing), "bytes": moved}
        row["GB_per_s"] = round(moved / timing.kernel_us / 1e3, 1)
        row["GB_per_s_clock"] = "kernel"
        rows.append(row)
    ceiling = rows[0]["GB_per_s"]
    for row in rows:
        rate = row["GB_per_s"]
        measured = isinstance(rate, float) and isinstance(ceiling, float)
        row["of_copy_ceiling"] = round(rate / ceiling, 4) if measured else None
    rows[1]["max_error_to_float64"] = error
    return rows


def main() -> None:
    """Writes the rows where ``--json`` says, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    device = tessiq.gpu_at(0)
    rows: list[dict[str, object]] = []
    with torch.no_grad():
        for label, count in SIZES.items():
            rows += rows_of(label, count, device)
    for row in rows:
        print(json.dumps(row))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
