"""bench/results/*.json -> docs/generated/*.svg: the newest measurement of each benchmark, drawn.

Decides what is drawn beside what; the numbers are those of the tables (gen_performance.py). The drawings are checked
in. `./dev gen` writes them, `./dev gen --check` fails where one is stale.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from gen_performance import PEERS, Row, newest
from generated_files import ROOT, run

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

FOLDER = ROOT / "docs" / "generated"
# Text stays text, and identifiers do not depend on the run: the file is compared as it is.
STYLE = {"svg.hashsalt": "tessiq", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False}
COLORS = {"float32": "#2563ad", "bfloat16": "#c4622d"}
TICKS = (0.8, 0.9, 1, 1.25, 1.5, 2, 3)
FASTER, SLOWER = "#2f7d4f", "#b3403a"


def by_work(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    """Contenders of each work, works in the order they were measured in."""
    works: dict[str, dict[str, Row]] = {}
    for row in rows:
        works.setdefault(str(row["work"]), {})[str(row["contender"])] = row
    return works


def number(row: Row, key: str) -> float:
    """One reading."""
    return float(str(row[key]))


def _ratio_axis(axes: Axes, label: str) -> None:
    axes.axvline(1, color="#555555", linewidth=1)
    axes.set_xlabel(label)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def draw_rows(rows: Sequence[Row]) -> Figure:
    """Each piece of work as a point: how many times as fast as the best peer, by kernel time."""
    works = by_work(rows)
    names = list(dict.fromkeys(work.rsplit(" ", 1)[0] for work in works))
    figure, axes = plt.subplots(figsize=(7.5, 0.22 * len(names) + 0.9), layout="constrained")
    for dtype, color in COLORS.items():
        points = [
            (
                min(number(by[peer], "kernel_us") for peer in PEERS) / number(by["tessiq"], "kernel_us"),
                names.index(name),
            )
            for name in names
            if (by := works.get(f"{name} {dtype}")) is not None
        ]
        axes.scatter(*zip(*points, strict=True), color=color, label=dtype, s=18)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log", base=2)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.xaxis.set_minor_locator(NullLocator())
    _ratio_axis(axes, "best peer / tessiq, kernel time (right of 1: tessiq is faster)")
    axes.margins(x=0.08)
    axes.legend(loc="lower right")
    return figure


def draw_models(rows: Sequence[Row]) -> Figure:
    """Each model as a bar a clock: how many times as fast as the best peer."""
    works = by_work(rows)
    figure, axes = plt.subplots(figsize=(7.5, 0.46 * len(works) + 0.9), layout="constrained")
    for place, by in enumerate(works.values()):
        for offset, clock in ((-0.2, "kernel_us"), (0.2, "call_us")):
            best = min(number(row, clock) for who, row in by.items() if who != "tessiq")
            ratio = best / number(by["tessiq"], clock)
            bar = axes.barh(place + offset, ratio, 0.36, color=FASTER if ratio >= 1 else SLOWER)
            axes.bar_label(bar, [f"{clock.removesuffix('_us')} {ratio:.2f}"], padding=3, fontsize=8)
    axes.set_yticks(range(len(works)), list(works))
    axes.invert_yaxis()
    _ratio_axis(axes, "best of eager and Inductor's modes / tessiq (above 1: tessiq is faster)")
    axes.margins(x=0.15)
    return figure


DRAWINGS: Mapping[str, Callable[[Sequence[Row]], Figure]] = {"bench_rows": draw_rows, "bench_models": draw_models}
"""By the part of a result file that is drawn; the drawing is called after it."""


def drawn(part: str) -> str | None:
    """The text of a part's drawing; nothing where no result file has the part."""
    found = newest(ROOT / "bench" / "results", part)
    if found is None:
        return None
    with mpl.rc_context(STYLE):
        figure = DRAWINGS[part](found[1])
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=False)
        plt.close(figure)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def outputs() -> dict[Path, str]:
    """Every drawing that something was measured for."""
    texts = {FOLDER / f"{part}.svg": drawn(part) for part in DRAWINGS}
    return {page: text for page, text in texts.items() if text is not None}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the drawings; with --check, 1 where one is stale."""
    return run("draw the newest measurements", outputs, arguments)


if __name__ == "__main__":
    sys.exit(main())
