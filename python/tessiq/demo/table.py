"""The demonstration's results as a table in Markdown, with the conditions they were measured under."""

import datetime
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

import tessiq
from tessiq import _C
from tessiq.demo.inference import ROUNDS, Result
from tessiq.text.units import bytes_text

COLUMNS = (
    "model",
    "where",
    "input",
    "largest error",
    "claimed",
    "kernels + library calls",
    "copies a call",
    "eager ms",
    "compiled ms",
)


def markdown(results: Sequence[Result], command: str) -> str:
    """The table, its conditions, and why operations were not claimed."""
    lines = [_row(COLUMNS), _row("---" for _ in COLUMNS), *(_row(_cells(one)) for one in results)]
    return "\n".join([*lines, "", *_conditions(command), "", *_unclaimed(results)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(result: Result) -> tuple[str, ...]:
    totals = result.report.totals
    copies = result.report.later_call
    moved = copies.bytes_to_device + copies.bytes_to_host
    return (
        result.model,
        result.setting,
        result.shape,
        f"{result.error:.1e}" + ("" if result.ok else f" (over {result.bound:.0e})"),
        f"{totals.claimed} of {totals.computing}",
        f"{totals.kernels} + {totals.library_calls}",
        f"{copies.to_device + copies.to_host} ({bytes_text(moved)})" if moved else "none",
        f"{result.eager_milliseconds:.2f}",
        f"{result.compiled_milliseconds:.2f}",
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _conditions(command: str) -> list[str]:
    devices = ", ".join(_C.device_properties(index)[0] for index in range(tessiq.device_count()))
    day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return [
        f"`{command}` on {day}: {_processor()}, {len(os.sched_getaffinity(0))} cores, "
        f"{torch.get_num_threads()} threads; devices: {devices}; "
        f"tessiq {tessiq.__version__}, PyTorch {torch.__version__}.",
        "Errors are against PyTorch eager on the CPU: the largest absolute difference of the output, for training the "
        "largest difference of a parameter relative to its largest element. "
        f"Times are host times of a whole call (training: a whole step), medians of {ROUNDS} (training: of all steps), "
        "clock time.perf_counter, eager and compiled in turn in the same run. Eager runs where the tensors are, in "
        "training on the CPU. *Claimed* counts the operations that compute something; views are left out.",
    ]


def _unclaimed(results: Sequence[Result]) -> list[str]:
    lines = []
    for model in dict.fromkeys(one.model for one in results):
        result = next(one for one in results if one.model == model)
        groups = [f"{op} {count} times ({reason})" for (op, reason), count in result.report.unclaimed().items()]
        groups += [f"a graph of {one.operations} ({one.reason})" for one in result.report.uncompiled]
        lines.append(f"* {model}: {', '.join(groups) if groups else 'everything claimed'}")
    return ["Not claimed, and why:", "", *lines]
