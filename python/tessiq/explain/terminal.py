"""The terminal's face of a report, drawn with rich."""

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text as RichText

from tessiq.explain.document import Facts, Section, Table, Text, sections
from tessiq.explain.report import Report
from tessiq.explain.wording import verdict
from tessiq.text.console import fitted


def show(report: Report, *, source: bool, console: Console | None = None) -> None:
    """Print every section of the report."""
    out = console or fitted()
    opening = verdict(report)
    for section in sections(report, source=source):
        out.print(_section(section, opening))


def _section(section: Section, opening: str) -> RenderableType:
    blocks = [RichText(opening, style="bold") if block == Text(opening) else _block(block) for block in section.blocks]
    return Group(Rule(section.title, align="left", style="dim"), *blocks, "")


def _block(block: Facts | Table | Text) -> RenderableType:
    match block:
        case Facts(rows):
            grid = RichTable.grid(padding=(0, 2))
            for name, value in rows:
                grid.add_row(RichText(f"  {name}", style="dim"), RichText(value))
            return grid
        case Table(columns, rows):
            return _table(columns, rows)
        case Text(text, "cpp"):
            return Syntax(text.rstrip("\n"), "cpp", background_color="default", word_wrap=True)
        case Text(text, "diff"):
            return Group(*(RichText(line, style=_DIFF.get(line[:1], "")) for line in text.splitlines()))
        case Text(text):
            return RichText(text.rstrip("\n"))


_DIFF = {"-": "red", "+": "green"}


def _table(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> RichTable:
    table = RichTable(box=None, header_style="dim", pad_edge=True)
    shown = [position for position in range(len(columns)) if any(row[position] for row in rows)]
    for position in shown:
        # Bars and numbers are worth nothing in pieces.
        whole = columns[position] in _WHOLE
        table.add_column(columns[position], overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*[RichText(row[position], style=_style(row[position])) for position in shown])
    return table


_WHOLE = frozenset({"", "alive", "took", "at least", "read", "written", "time", "reason", "in this call"})


def _style(cell: str) -> str:
    if cell.startswith(("kernel %", "kernel of ", "inside kernel %", "library call")):
        return "green"
    return "yellow" if cell.startswith("PyTorch on") else ""
