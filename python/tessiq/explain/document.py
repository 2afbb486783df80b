"""The order of a report on a page: sections of facts, tables and text, for any face to draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tessiq.explain.report import Crossings, GraphReport, Kernel, Operation, Report

Language = Literal["text", "ir", "diff", "cpp"]


@dataclass(frozen=True)
class Facts:
    """Named values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Rows under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Text:
    """Lines to print as they are."""

    text: str
    language: Language = "text"


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Facts | Table | Text, ...]


def sections(report: Report, *, source: bool) -> Iterator[Section]:
    """Every section of the report, in reading order."""
    yield _summary(report)
    unclaimed = report.unclaimed()
    if unclaimed:
        rows = tuple((str(count), op, reason) for (op, reason), count in unclaimed.items())
        yield Section("not claimed", (Table(("count", "operation", "reason"), rows),))
    for position, graph in enumerate(report.graphs):
        where = f"graph {position} ({graph.direction})"
        yield Section(f"{where}: imported graph", (Text(graph.imported_ir, "ir"),))
        yield _passes(where, graph)
        yield _kernels(where, graph, source)
        yield Section(f"{where}: schedule", (_schedule(graph),))
        yield Section(f"{where}: program", (Text(graph.program),))


def _summary(report: Report) -> Section:
    totals = report.totals
    directions = [graph.direction for graph in report.graphs]
    named = ", ".join(f"{directions.count(one)} {one}" for one in dict.fromkeys(directions))
    facts = [
        ("versions", f"tessiq {report.tessiq_version}, PyTorch {report.torch_version}"),
        ("device", ", ".join(dict.fromkeys(graph.device for graph in report.graphs)) or "none"),
        ("graphs", f"{len(report.graphs)} compiled" + (f" ({named})" if named else "")),
        ("operations", f"{totals.operations}, of which {totals.views} are views"),
        ("claimed", f"{totals.claimed} of {totals.computing} that compute ({totals.claimed_share:.0%})"),
        ("through PyTorch", f"{totals.dispatched_on_device} on the device, {totals.dispatched_on_host} on the host"),
        ("kernels", f"{totals.kernels} generated, {totals.library_calls} library calls"),
        ("first call copies", crossings_text(report.first_call)),
        ("later calls copy", crossings_text(report.later_call)),
        ("compile time", _compile_time(report)),
    ]
    facts += [("uncompiled", f"a graph of {one.operations} operations: {one.reason}") for one in report.uncompiled]
    facts += [("graph break", f"{one.reason} ({one.times} times)") for one in report.breaks]
    return Section("summary", (Facts(tuple(facts)),))


def _compile_time(report: Report) -> str:
    passes = sum(graph.pass_milliseconds for graph in report.graphs)
    kernels = sum(graph.kernel_milliseconds for graph in report.graphs)
    first = report.first_call_seconds * 1000
    return f"{first:.0f} ms for the first call: {passes:.1f} ms passes, {kernels:.1f} ms kernels, the rest PyTorch's"


def bytes_text(count: int) -> str:
    """A number of bytes with a unit that suits it."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1024**2 else f"{count / 1024**2:.1f} MiB"


def crossings_text(crossings: Crossings) -> str:
    """Both directions in one line."""
    if not crossings.to_device and not crossings.to_host:
        return "nothing between host and device"
    return (
        f"{crossings.to_device} tensors to the device ({bytes_text(crossings.bytes_to_device)}), "
        f"{crossings.to_host} to the host ({bytes_text(crossings.bytes_to_host)})"
    )


def _passes(where: str, graph: GraphReport) -> Section:
    blocks: list[Facts | Table | Text] = []
    rows = tuple(
        (one.name, "changed" if one.changed else "no change", f"{one.milliseconds:.2f} ms") for one in graph.passes
    )
    blocks.append(Table(("pass", "", "time"), rows))
    for one in graph.passes:
        if one.diff:
            blocks.append(Text(f"{one.name}\n{one.diff}", "diff"))
    return Section(f"{where}: passes", tuple(blocks))


def _kernels(where: str, graph: GraphReport, source: bool) -> Section:
    blocks: list[Facts | Table | Text] = []
    for kernel in graph.kernels:
        blocks.append(Text(_kernel_text(kernel)))
        if source and kernel.source:
            blocks.append(Text(kernel.source, "cpp"))
    return Section(f"{where}: kernels", tuple(blocks) or (Text("none"),))


def _kernel_text(kernel: Kernel) -> str:
    extents = "extents come with the call" if kernel.symbolic else "extents known here"
    lines = [f"%{kernel.name}  {kernel.kind}, {extents}"]
    if kernel.reads:
        lines.append(f"    reads   {', '.join(kernel.reads)}")
    if kernel.writes and kernel.writes != (kernel.name,):
        lines.append(f"    writes  {', '.join(kernel.writes)}")
    lines.append(f"    covers  {', '.join(kernel.covers)}")
    return "\n".join(lines)


def _schedule(graph: GraphReport) -> Table:
    rows = tuple((one.node, one.op, fate_text(one), one.reason, one.location) for one in graph.operations)
    return Table(("node", "operation", "fate", "reason", "line"), rows)


def fate_text(operation: Operation) -> str:
    """What became of an operation, for a reader."""
    words = {
        "launched": f"kernel %{operation.kernel}",
        "fused": f"inside kernel %{operation.kernel}",
        "library": "library call",
        "view": "view",
        "packed": "copied into another layout",
        "dispatched on device": "PyTorch on the device",
        "dispatched on host": "PyTorch on the host",
    }
    return words.get(operation.fate, operation.fate) + (" (moves its inputs)" if operation.moves_inputs else "")
