"""One report: how a model compiles, what can be asked of it, and the faces it has."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tessiq.explain.records import (
    COMPUTED_BY_US,
    DISPATCHED,
    Ceiling,
    Crossings,
    GraphBreak,
    GraphReport,
    Guard,
    Operation,
    Recompile,
    Span,
    Totals,
    UncompiledGraph,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tessiq.explain.comparison import Comparison
    from tessiq.explain.timed import TimedKernel

REPORT_VERSION = 2
"""Rises when a field changes its meaning or goes; a new field leaves it as it is."""


@dataclass(frozen=True)
class Report:
    """How one model compiles. ``print(report)`` gives plain text, ``report.show()`` a terminal's face.

    Attributes:
        title: the model's name, or the file's.
        later_calls: calls of the model after its first; 0 where calls were not told apart.
        spans: where the time of the first call went.
    """

    version: int
    title: str
    tessiq_version: str
    torch_version: str
    graphs: tuple[GraphReport, ...]
    uncompiled: tuple[UncompiledGraph, ...]
    breaks: tuple[GraphBreak, ...]
    guards: tuple[Guard, ...]
    recompiles: tuple[Recompile, ...]
    ceilings: tuple[Ceiling, ...]
    spans: tuple[Span, ...]
    first_call_seconds: float
    later_calls: int

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Every operation of every compiled graph, in order."""
        return tuple(operation for graph in self.graphs for operation in graph.operations)

    @property
    def totals(self) -> Totals:
        """Sums over all graphs."""
        real = [operation for operation in self.operations if not operation.inserted]
        fates = [operation.fate for operation in real]
        kernels = [kernel for graph in self.graphs for kernel in graph.kernels]
        launched = sum(fate in COMPUTED_BY_US for fate in fates)
        left = sum(one.left_on_host for one in real)
        on_device, on_host = fates.count("dispatched on device"), fates.count("dispatched on host")
        uncompiled = sum(graph.operations for graph in self.uncompiled)
        return Totals(
            operations=len(real) + uncompiled,
            computing=launched + on_device + on_host + fates.count("packed") + uncompiled,
            claimed=launched + left,
            left_on_host=left,
            views=fates.count("view"),
            kernels=sum(kernel.kind == "fused" for kernel in kernels),
            library_calls=sum(kernel.kind == "library" for kernel in kernels),
            custom_kernels=sum(kernel.kind == "custom" for kernel in kernels),
            dispatched_on_device=on_device,
            dispatched_on_host=on_host + uncompiled,
        )

    @property
    def first_call(self) -> Crossings:
        """Copies between host and device in the first call."""
        return sum((graph.first_call for graph in self.graphs), Crossings())

    @property
    def later_call(self) -> Crossings:
        """Copies between host and device in the calls after it."""
        return sum((graph.later_call for graph in self.graphs), Crossings())

    def why_not(self) -> tuple[tuple[int, Operation], ...]:
        """The operations that the dispatcher runs and the graph of each; what saves most bytes comes first."""
        rows = [
            (position, one)
            for position, graph in enumerate(self.graphs)
            for one in graph.operations
            if one.fate in DISPATCHED
        ]
        return tuple(sorted(rows, key=lambda row: -(row[1].effect.bytes if row[1].effect else 0)))

    def unclaimed(self) -> dict[tuple[str, str], int]:
        """How many operations tessiq has no kernel for, by operator and reason, the commonest first."""
        counts: dict[tuple[str, str], int] = {}
        for one in self.operations:
            if one.fate in DISPATCHED and not one.left_on_host:
                key = (one.op, one.reason_id or "unexplained")
                counts[key] = counts.get(key, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def with_times(self, rows: "Iterable[TimedKernel]") -> "Report":
        """The report with measured times beside its kernels; see :func:`tessiq.explain.timed.with_times`."""
        from tessiq.explain.timed import with_times

        return with_times(self, rows)

    def text(self, *, source: bool = False) -> str:
        """The report as plain text; ``source`` adds the text of every kernel."""
        from tessiq.explain.plain import plain_text

        return plain_text(self, source=source)

    def show(self, *, source: bool = False) -> None:
        """Print the report to the terminal, in colour where it has any; ``source`` adds the text of every kernel."""
        from tessiq.explain.terminal import show

        show(self, source=source)

    def html(self) -> str:
        """The report as one HTML page that refers to nothing outside itself."""
        from tessiq.explain.webpage import page

        return page(self)

    def save_html(self, path: str | Path) -> None:
        """Write :meth:`html` to a file."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def save_json(self, path: str | Path) -> None:
        """Write every fact to a file that :meth:`load_json` reads back."""
        from tessiq.explain.saved import to_json

        Path(path).write_text(to_json(self), encoding="utf-8")

    @staticmethod
    def load_json(path: str | Path) -> "Report":
        """Read a report that :meth:`save_json` wrote.

        Raises:
            ValueError: the file is no report, or one of another version.
        """
        from tessiq.explain.saved import from_json

        return from_json(Path(path).read_text(encoding="utf-8"), str(path))

    def diff(self, other: "Report") -> "Comparison":
        """What is different in ``other``, a later report on the same model."""
        from tessiq.explain.comparison import compare

        return compare(self, other)

    def __str__(self) -> str:
        return self.text()
