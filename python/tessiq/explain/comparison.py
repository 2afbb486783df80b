"""What differs between two reports on the same model: counts, operations by fate, kernels, crossings.

Operations are matched by direction, graph position, name and operator; what only one report has is listed as such.
"""

from dataclasses import dataclass

from tessiq.explain.records import Operation
from tessiq.explain.report import Report
from tessiq.explain.wording import fate_text
from tessiq.text.units import bytes_text


@dataclass(frozen=True)
class Change:
    """One thing that is not the same; ``before`` or ``after`` is empty where one report has no such thing."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Comparison:
    """The differences, in reading order. Empty, and false, where the reports agree in all but times."""

    totals: tuple[Change, ...]
    operations: tuple[Change, ...]
    kernels: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.totals or self.operations or self.kernels)

    def __str__(self) -> str:
        if not self:
            return "no difference but in times"
        lines = []
        for title, changes in (("totals", self.totals), ("operations", self.operations), ("kernels", self.kernels)):
            if changes:
                width = max(len(one.what) for one in changes)
                lines.append(f"== {title} ==")
                lines += [f"  {one.what:<{width}}  {one.before or '-'} -> {one.after or '-'}" for one in changes]
        return "\n".join(lines)


def compare(before: Report, after: Report) -> Comparison:
    """See :class:`Comparison`."""
    return Comparison(
        totals=_changes(_totals(before), _totals(after)),
        operations=_changes(_operations(before), _operations(after)),
        kernels=_changes(_kernels(before), _kernels(after)),
    )


def _changes(before: dict[str, str], after: dict[str, str]) -> tuple[Change, ...]:
    names = [*before, *(name for name in after if name not in before)]
    pairs = ((name, before.get(name, ""), after.get(name, "")) for name in names)
    return tuple(Change(*pair) for pair in pairs if pair[1] != pair[2])


def _totals(report: Report) -> dict[str, str]:
    totals, later = report.totals, report.later_call
    return {
        "graphs": str(len(report.graphs)),
        "operations": str(totals.operations),
        "claimed": f"{totals.claimed} of {totals.computing}",
        "kernels": str(totals.kernels),
        "library calls": str(totals.library_calls),
        "custom kernels": str(totals.custom_kernels),
        "through PyTorch on the device": str(totals.dispatched_on_device),
        "through PyTorch on the host": str(totals.dispatched_on_host),
        "copies to the device a call": f"{later.to_device} ({bytes_text(later.bytes_to_device)})",
        "copies to the host a call": f"{later.to_host} ({bytes_text(later.bytes_to_host)})",
        "graph breaks": str(sum(one.times for one in report.breaks)),
        "uncompiled graphs": str(len(report.uncompiled)),
        "arena": bytes_text(sum(graph.memory.bytes for graph in report.graphs)),
    }


def _operations(report: Report) -> dict[str, str]:
    return {
        f"graph {position} ({graph.direction}) %{one.node} {one.op}": _fate(one)
        for position, graph in enumerate(report.graphs)
        for one in graph.operations
    }


def _fate(operation: Operation) -> str:
    return fate_text(operation) + (f" [{operation.reason_id}]" if operation.reason_id else "")


def _kernels(report: Report) -> dict[str, str]:
    found = {}
    for position, graph in enumerate(report.graphs):
        for one in graph.kernels:
            registers = max((entry.registers for entry in one.entries), default=0)
            facts = [f"covers {len(one.covers)}", f"reads {bytes_text(one.bytes_read)}"]
            facts.append(f"writes {bytes_text(one.bytes_written)}")
            facts += [f"{registers} registers"] if registers else []
            found[f"graph {position} ({graph.direction}) %{one.name} {one.kind}"] = ", ".join(facts)
    return found
