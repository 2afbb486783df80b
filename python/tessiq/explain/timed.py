"""Puts measured times beside the kernels of a report. Leaves measuring to whoever holds a stopwatch: rows that name a
kernel and its graph are enough, such as those of a table of kernel times.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from tessiq.explain.records import GraphReport, Kernel, MeasuredTime
from tessiq.explain.report import Report


class TimedKernel(Protocol):
    """One kernel's times, in microseconds; ``graph`` is a direction and a number, such as ``forward 0``."""

    @property
    def name(self) -> str: ...
    @property
    def graph(self) -> str: ...
    @property
    def back_to_back_us(self) -> float: ...
    @property
    def kernel_execution_us(self) -> float | None: ...


def with_times(report: Report, rows: Iterable[TimedKernel]) -> Report:
    """The report with a time for every kernel that a row names.

    Graphs of one direction are matched in the order in which they first appear; the device's own record of a kernel is
    preferred to its share of many launches.

    Raises:
        ValueError: a row names a graph or kernel that the report does not have: the times are of another model.
    """
    by_graph: dict[str, dict[str, MeasuredTime]] = {}
    for row in rows:
        by_graph.setdefault(row.graph, {})[row.name] = _time(row)
    labels: dict[str, list[str]] = {}
    for label in by_graph:
        labels.setdefault(label.partition(" ")[0], []).append(label)
    graphs = []
    for graph in report.graphs:
        waiting = labels.get(graph.direction, [])
        graphs.append(_timed(graph, by_graph.pop(waiting.pop(0))) if waiting else graph)
    if by_graph:
        raise ValueError(f"the report has no graph {', '.join(by_graph)}: measure the model that was explained")
    return replace(report, graphs=tuple(graphs))


def _time(row: TimedKernel) -> MeasuredTime:
    if row.kernel_execution_us is not None:
        return MeasuredTime(row.kernel_execution_us, "kernel execution")
    return MeasuredTime(row.back_to_back_us, "back-to-back")


def _timed(graph: GraphReport, times: Mapping[str, MeasuredTime]) -> GraphReport:
    missing = times.keys() - {kernel.name for kernel in graph.kernels}
    if missing:
        names = ", ".join(f"%{name}" for name in sorted(missing))
        raise ValueError(f"the {graph.direction} graph has no kernel {names}: measure the model that was explained")

    def one(kernel: Kernel) -> Kernel:
        return replace(kernel, time=times[kernel.name]) if kernel.name in times else kernel

    return replace(graph, kernels=tuple(one(kernel) for kernel in graph.kernels))
