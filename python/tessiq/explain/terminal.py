"""The terminal's face of a report, drawn with rich."""

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text as RichText

from tessiq.explain.document import Facts, Section, Table, Text, sections
from tessiq.explain.report import Report


def show(report: Report, *, source: bool, console: Console | None = None) -> None:
    """Print every section of the report."""
    out = console or Console()
    for section in sections(report, source=source):
        out.print(_section(section))


def _section(section: Section) -> RenderableType:
    return Group(Rule(section.title, align="left", style="cyan"), *[_block(block) for block in section.blocks], "")


def _block(block: Facts | Table | Text) -> RenderableType:
    match block:
        case Facts(rows):
            grid = RichTable.grid(padding=(0, 2))
            for name, value in rows:
                grid.add_row(RichText(f"  {name}", style="bold"), RichText(value))
            return grid
        case Table(columns, rows):
            return _table(columns, rows)
        case Text(text, "diff" | "cpp" as language):
            return Syntax(text.rstrip("\n"), language, background_color="default", word_wrap=True)
        case Text(text):
            return RichText(text.rstrip("\n"))


def _table(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> RichTable:
    table = RichTable(box=None, header_style="bold", pad_edge=True)
    shown = [position for position in range(len(columns)) if any(row[position] for row in rows)]
    for position in shown:
        table.add_column(columns[position], overflow="fold")
    for row in rows:
        table.add_row(*[RichText(row[position], style=_style(row[position])) for position in shown])
    return table


def _style(cell: str) -> str:
    if cell.startswith(("kernel %", "library call")):
        return "green"
    return "yellow" if cell.startswith("PyTorch on") else ""
