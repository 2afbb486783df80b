"""The order of a report on a terminal: sections of facts, tables and text, for any face of text to draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tessiq.explain.records import GraphReport, Kernel
from tessiq.explain.report import Report
from tessiq.explain.wording import BAR, change_text, covers_text, edit_text, effect_text, fate_text, summary, verdict
from tessiq.text.units import bytes_text, time_text

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
    if why_not := report.why_not():
        rows = tuple(
            (one.reason_id or "unexplained", f"%{one.node}", one.op, one.location, one.reason, effect_text(one.effect))
            for _, one in why_not
        )
        columns = ("reason", "node", "operation", "line", "because", "as a kernel it would mean")
        yield Section("through PyTorch, and why", (Table(columns, rows),))
    for position, graph in enumerate(report.graphs):
        where = f"graph {position} ({graph.direction})"
        yield Section(f"{where}: imported graph", (Text(graph.imported_ir, "ir"),))
        yield _passes(where, graph)
        yield _kernels(where, graph, source)
        yield Section(f"{where}: schedule", (_schedule(graph),))
        if graph.symbols:
            yield _symbols(where, graph)
        if graph.memory.buffers:
            yield _memory(where, graph)
        yield Section(f"{where}: program", (Text(graph.program),))
    if report.guards or report.recompiles:
        yield _reuse(report)
    yield _waterfall(report)


def _summary(report: Report) -> Section:
    facts = summary(report)
    facts += [("uncompiled", f"a graph of {one.operations} operations: {one.reason}") for one in report.uncompiled]
    facts += [("graph break", f"{one.reason} ({one.times} times)") for one in report.breaks]
    return Section("summary", (Text(verdict(report)), Facts(tuple(facts))))


def _reuse(report: Report) -> Section:
    blocks: list[Facts | Table | Text] = []
    if report.guards:
        on_values = [one for one in report.guards if one.on_values]
        # A model has some guards for each of its modules; what changes from call to call is what a caller hands in.
        handed_in = [one for one in on_values if not one.name.startswith("self.")]
        rows = tuple((one.name, one.kind, one.text) for one in handed_in)
        blocks.append(Table(("guard", "kind", "compiled code is used again while this is"), rows))
        model, rest = len(on_values) - len(handed_in), len(report.guards) - len(on_values)
        blocks.append(Text(f"and {model} on the model's modules and weights, {rest} on code and the process's state"))
    if report.recompiles:
        blocks.append(
            Table(("compiled again", "because"), tuple((one.function, one.reason) for one in report.recompiles))
        )
    return Section("guards and recompiles", tuple(blocks))


def _passes(where: str, graph: GraphReport) -> Section:
    blocks: list[Facts | Table | Text] = []
    rows = tuple((one.name, change_text(one), f"{one.milliseconds:.2f} ms") for one in graph.passes)
    blocks.append(Table(("pass", "changed", "time"), rows))
    for one in graph.passes:
        if one.edits:
            blocks.append(Text("\n".join([one.name, *(edit_text(edit) for edit in one.edits)]), "diff"))
    return Section(f"{where}: passes", tuple(blocks))


def _kernels(where: str, graph: GraphReport, source: bool) -> Section:
    if not graph.kernels:
        return Section(f"{where}: kernels", (Text("none"),))
    columns = (
        "kernel",
        "kind",
        "covers",
        "read",
        "written",
        "at least",
        "bound by",
        "registers",
        "spills",
        "took",
        "clock",
    )
    blocks: list[Facts | Table | Text] = [Table(columns, tuple(_kernel(one) for one in graph.kernels))]
    if source:
        blocks += [Text(kernel.source, "cpp") for kernel in graph.kernels if kernel.source]
    return Section(f"{where}: kernels", tuple(blocks))


def _kernel(kernel: Kernel) -> tuple[str, ...]:
    registers = max((one.registers for one in kernel.entries), default=0)
    spills = max((one.spilled_bytes for one in kernel.entries), default=0)
    bound = kernel.bound_microseconds
    return (
        f"%{kernel.name}",
        kernel.kind + (", sizes come with the call" if kernel.symbolic else ""),
        covers_text(kernel.covers),
        bytes_text(kernel.bytes_read),
        bytes_text(kernel.bytes_written),
        "" if bound is None else time_text(bound),
        "" if bound is None else kernel.bound_by,
        str(registers) if registers else "",
        f"{spills} B" if registers else "",
        time_text(kernel.time.microseconds) if kernel.time else "",
        kernel.time.clock if kernel.time else "",
    )


def _schedule(graph: GraphReport) -> Table:
    rows = tuple((one.node, one.op, fate_text(one), one.reason, one.location) for one in graph.operations)
    return Table(("node", "operation", "fate", "because", "line"), rows)


def _symbols(where: str, graph: GraphReport) -> Section:
    rows = tuple((one.name or f"#{at}", one.source, str(one.value)) for at, one in enumerate(graph.symbols))
    return Section(f"{where}: symbols", (Table(("symbol", "is", "in this call"), rows),))


def _memory(where: str, graph: GraphReport) -> Section:
    memory, last = graph.memory, max(len(graph.instructions) - 1, 1)
    rows = []
    for one in memory.buffers:
        begin = one.first * (BAR - 1) // last
        end = max(one.last * (BAR - 1) // last, begin)
        bar = " " * begin + "#" * (end - begin + 1)
        rows.append((f"%{one.value}", str(one.offset), bytes_text(one.bytes), f"{one.first} to {one.last}", bar))
    blocks = (
        Text(f"{bytes_text(memory.bytes)} in one block; no plan needs less than {bytes_text(memory.peak_bytes)}"),
        Table(("buffer", "at", "size", "instructions", "alive"), tuple(rows)),
    )
    return Section(f"{where}: memory", blocks)


def _waterfall(report: Report) -> Section:
    whole = max(report.first_call_seconds * 1000, 1e-9)
    rows = []
    for one in report.spans:
        begin = min(int(one.start / whole * BAR), BAR - 1)
        bar = " " * begin + "#" * max(1, min(round(one.milliseconds / whole * BAR), BAR - begin))
        graph = "" if one.graph < 0 else str(one.graph)
        rows.append(("  " * one.level + one.name, graph, f"{one.milliseconds:.1f} ms", bar))
    return Section("time of the first call", (Table(("stretch", "graph", "took", ""), tuple(rows)),))
