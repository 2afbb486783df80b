"""The page: one HTML file that a browser shows without a network (docs/design/0080).

Decides what is left out where a page would become too large, and says so on the page. Leaves how it looks to page/.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tessiq.explain.panes import edit_line, fx_pane, ir_pane, python_text, source_pane
from tessiq.explain.records import COMPUTED_BY_US, DISPATCHED, GraphReport, Memory, Operation, Span
from tessiq.explain.report import Report
from tessiq.explain.wording import change_text, covers_text, effect_text, fate_text, summary, verdict
from tessiq.text.units import bytes_text, time_text

LIMIT = 2_000_000
"""Bytes of a page. Browsers open it at once, and it fits into a bug report."""

_FOLDER = Path(__file__).parent / "page"
_WIDTH, _HEIGHT = 1200, 260


@dataclass(frozen=True)
class _Detail:
    """How much of a report goes onto the page.

    Attributes:
        note: what is left out, for the reader.
        once: code that kernels share is shown once.
        edits: the lines that passes changed.
        lines: of each text, over all graphs.
    """

    note: str = ""
    once: bool = False
    edits: bool = True
    lines: int | None = None


_DETAILS = (
    _Detail(),
    _Detail("code that several kernels share stands with the first of them", once=True),
    _Detail("the lines that passes changed, and code that several kernels share", once=True, edits=False),
    _Detail("the lines that passes changed, and the ends of long texts and tables", once=True, edits=False, lines=4000),
    _Detail("the lines that passes changed, and most of every text and table", once=True, edits=False, lines=800),
)


@dataclass(frozen=True)
class _GraphView:
    index: int
    facts: GraphReport
    fx: Markup
    ir: Markup
    imported: Markup
    source: Markup
    repro: Markup
    memory: Markup
    operations: Sequence[Operation]
    with_edits: bool
    bounds: bool  # whether ceilings were measured
    on_gpu: bool  # whether registers and the like mean something for the target
    timed: bool


def page(report: Report, limit: int = LIMIT) -> str:
    """The page's text, below ``limit`` bytes: what does not fit is left out, in the order a reader misses it least."""
    text = ""
    for detail in _DETAILS:
        text = _render(report, detail)
        if len(text.encode()) < limit:
            break
    return text


def _render(report: Report, detail: _Detail) -> str:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters.update(
        bytes=bytes_text,
        time=time_text,
        effect=effect_text,
        fate=fate_text,
        fate_class=_fate_class,
        change=change_text,
        covers=covers_text,
        edit=edit_line,
        verdict=verdict,
        because=lambda operation: operation.reason.removeprefix(f"{operation.op} "),
    )
    left_out = f"Left out to keep the page below {LIMIT // 1_000_000} MB: {detail.note}. report.save_json keeps it."
    return environment.get_template(
        "page.html"
    ).render(
        report=report,
        css=Markup((_FOLDER / "page.css").read_text(encoding="utf-8")),
        js=Markup((_FOLDER / "page.js").read_text(encoding="utf-8")),
        summary=[fact for fact in summary(report) if fact[0] != "versions"],  # they stand in the heading
        notes=[left_out] if detail.note else [],
        why_not=report.why_not()[: detail.lines],
        graphs=[_graph(at, graph, detail, len(report.graphs)) for at, graph in enumerate(report.graphs)],
        fall=[(one, *_stretch(one, report.first_call_seconds * 1000)) for one in report.spans],
        guard_groups=(
            ("guards on tensors, numbers and sizes", [one for one in report.guards if one.on_values]),
            ("guards on code, modules and the process's state", [one for one in report.guards if not one.on_values]),
        ),
    )


def _graph(index: int, graph: GraphReport, detail: _Detail, graphs: int) -> _GraphView:
    kept = None if detail.lines is None else max(detail.lines // graphs, 10)
    return _GraphView(
        index=index,
        facts=graph,
        fx=fx_pane(graph.fx[:kept]),
        ir=ir_pane(_cut(graph.final_ir, kept)),
        imported=ir_pane(_cut(graph.imported_ir, kept)),
        source=_cut_markup(source_pane(graph, once=detail.once), kept),
        repro=python_text(_cut(graph.repro, kept)),
        memory=memory_chart(graph.memory, len(graph.instructions)),
        operations=graph.operations[:kept],
        with_edits=detail.edits,
        bounds=all(one.bound_microseconds is not None for one in graph.kernels),
        on_gpu=any(entry.registers for one in graph.kernels for entry in one.entries),
        timed=any(one.time for one in graph.kernels),
    )


def _cut(text: str, lines: int | None) -> str:
    parts = text.splitlines()
    return text if lines is None or len(parts) <= lines else "\n".join([*parts[:lines], "..."])


def _cut_markup(text: Markup, lines: int | None) -> Markup:
    """Between lines no element is open: marks never span them."""
    return Markup(_cut(str(text), lines))


def _fate_class(operation: Operation) -> str:
    if operation.fate in COMPUTED_BY_US:
        return "ours"
    return "" if operation.fate in DISPATCHED else "dim"


def _stretch(span: Span, whole: float) -> tuple[str, str]:
    """Left edge and width, in percent."""
    whole = max(whole, 1e-9)
    return f"{min(span.start / whole, 1) * 100:.2f}", f"{min(span.milliseconds / whole, 1) * 100:.2f}"


def memory_chart(memory: Memory, instructions: int) -> Markup:
    """Buffers as rectangles: across, the instructions they are alive for; up, their part of the block."""
    across = _WIDTH / max(instructions, 1)
    up = _HEIGHT / max(memory.bytes, 1)
    shapes = [Markup('<line x1="0" x2="{0}" y1="{1}" y2="{1}"/>').format(_WIDTH, _HEIGHT)]
    labels = []
    for one in memory.buffers:
        x, width = one.first * across, (one.last - one.first + 1) * across
        height = max(one.bytes * up, 1.0)
        y = _HEIGHT - one.offset * up - height
        title = f"%{one.value}: {bytes_text(one.bytes)} at {one.offset}, instructions {one.first} to {one.last}"
        shapes.append(
            Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>').format(
                x, y, width, height, title
            )
        )
        if height >= 11 and width >= 6.2 * len(one.value) + 6:
            labels.append(
                Markup('<text class="label" x="{:.1f}" y="{:.1f}">{}</text>').format(x + 3, y + 10, one.value)
            )
    axis = Markup('<text x="0" y="{0}">0</text><text x="{1}" y="{0}" text-anchor="end">{2}</text>').format(
        _HEIGHT + 13, _WIDTH, f"instruction {instructions - 1}"
    )
    box = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="lifetimes of buffers">').format(_WIDTH, _HEIGHT + 16)
    return box + Markup("").join([*shapes, *labels, axis]) + Markup("</svg>")
