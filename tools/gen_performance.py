"""bench/results/*.json -> docs/generated/performance.md: what the newest measurement of each benchmark says.

Decides how rows are set beside each other; what was measured, and how, is the benchmarks' to say. The page is checked
in. `./dev gen` writes it, `./dev gen --check` fails where it is stale.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from generated_files import ROOT, run

PAGE = ROOT / "docs" / "generated" / "performance.md"
PEERS = ("eager", "inductor")

Row = Mapping[str, object]


def newest(results: Path, part: str) -> tuple[Mapping[str, object], Sequence[Row]] | None:
    """The machine and the rows of the last result file in which that part went well."""
    for path in sorted(results.glob("*.json"), reverse=True):
        document = json.loads(path.read_text())
        for one in document["parts"]:
            if one["name"] == part and one["ok"]:
                return document["machine"], one["rows"]
    return None


def ratio_text(peer: float, ours: float) -> str:
    """How many times as fast ours is, with losses in bold."""
    ratio = peer / ours
    return f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}"


def table(rows: Sequence[Row]) -> list[str]:
    """One line a piece of work: kernel times, the share of the copy ceiling, the ratio to the best peer."""
    lines = [
        "| work | copy us | tessiq us | eager us | Inductor us | GB/s | of copy rate | best peer / tessiq |",
        "|---|---|---|---|---|---|---|---|",
    ]
    works: dict[str, dict[str, Row]] = {}
    for row in rows:
        works.setdefault(str(row["work"]), {})[str(row["contender"])] = row
    for work, by in works.items():
        times = {name: float(str(row["kernel_us"])) for name, row in by.items()}
        ours = by["tessiq"]
        best = min(times[name] for name in PEERS)
        lines.append(
            f"| {work} | {times['copy']:.1f} | {times['tessiq']:.1f} | {times['eager']:.1f} | {times['inductor']:.1f} "
            f"| {float(str(ours['GB_per_s'])):.0f} | {float(str(ours['of_copy_ceiling'])):.1%} "
            f"| {ratio_text(best, times['tessiq'])} |"
        )
    return lines


def models_table(rows: Sequence[Row]) -> list[str]:
    """One line a contender of a model: both clocks, and how many times as fast tessiq is."""
    lines = [
        "| work | contender | kernels | kernel us | call us | kernel / tessiq | call / tessiq |",
        "|---|---|---|---|---|---|---|",
    ]
    ours: dict[str, Row] = {str(row["work"]): row for row in rows if row["contender"] == "tessiq"}
    for row in rows:
        beside = ours[str(row["work"])]
        kernel, call = (float(str(row[clock])) for clock in ("kernel_us", "call_us"))
        ratios = [ratio_text(float(str(row[clock])), float(str(beside[clock]))) for clock in ("kernel_us", "call_us")]
        lines.append(
            f"| {row['work']} | {row['contender']} | {float(str(row['kernels'])):.0f} | {kernel:.0f} | {call:.0f} "
            f"| {' | '.join(ratios)} |"
        )
    return lines


def operations_table(rows: Sequence[Row]) -> list[str]:
    """One line a size of a custom operation, beside what the compiler generates for it."""
    lines = ["| work | operation us | generated us | generated / operation |", "|---|---|---|---|"]
    generated = {str(row["work"]): float(str(row["kernel_us"])) for row in rows if row["contender"] == "compiled"}
    for row in rows:
        if row["contender"] == "operation":
            ours, other = float(str(row["kernel_us"])), generated[str(row["work"])]
            lines.append(f"| {row['work']} | {ours:.1f} | {other:.1f} | {ratio_text(other, ours)} |")
    return lines


def first_calls_table(rows: Sequence[Row]) -> list[str]:
    """One line a contender: seconds with nothing cached, and with all of it on disk."""
    lines = ["| work | contender | cold s | warm s |", "|---|---|---|---|"]
    return lines + [f"| {row['work']} | {row['contender']} | {row['cold_s']} | {row['warm_s']} |" for row in rows]


def lengths_table(rows: Sequence[Row]) -> list[str]:
    """One line a length: the symbolic compile's times over the exact one's, by clock."""
    lines = ["| work | kernel | queued | call | host |", "|---|---|---|---|---|"]
    for row in rows:
        if row["contender"] == "symbolic":
            clocks = ("kernel_us", "queued_us", "call_us", "host_us")
            lines.append(f"| {row['work']} | {' | '.join(str(row[f'{clock}_of_exact']) for clock in clocks)} |")
    return lines


def render(results: Path) -> str:
    """The whole page."""
    lines = [
        "# Measurements",
        "",
        "Written by `tools/gen_performance.py` from `bench/results/`: never edited. `./dev gpu --only bench` measures.",
        "",
        "Clock: kernel execution (CUPTI), the sum over a call's kernels, medians. Contenders of a line ran in turn at",
        "one precision, in one process where the title says no other; results were checked before they were timed.",
        "*Copy* is a device copy of the first input: GB/s counts the bytes one pass has to move, and the share is of",
        "that copy's rate. Peers are eager and Inductor in its default mode; ratios of the better one below 1 are",
        "losses. How: [performance](../performance.md).",
    ]
    for part, title, laid_out in (
        ("bench_rows", "Rows, columns, copies", table),
        ("bench_chain", "Four elementwise operations", table),
        ("bench_models", "Whole models; each contender in a process of its own, in turn", models_table),
        ("bench_first_call", "First calls, each in a process of its own", first_calls_table),
        ("bench_operations", "Custom operations over generated kernels", operations_table),
        ("bench_lengths", "A symbolic compile over one made for the length", lengths_table),
    ):
        found = newest(results, part)
        if found is None:
            continue
        machine, rows = found
        card = str(machine["cards"][0] if isinstance(machine["cards"], list) else machine["cards"])
        lines += ["", f"## {title}", "", f"{machine['date']}, {card}, PyTorch {machine['torch']}.", "", *laid_out(rows)]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page; with --check, 1 where it is stale."""
    return run("write the page of measurements", lambda: {PAGE: render(ROOT / "bench" / "results")}, arguments)


if __name__ == "__main__":
    sys.exit(main())
