"""The plain-text face of a report: no colour, no drawing characters, fit for a log or a diff."""

from tessiq.explain.document import Facts, Section, Table, Text, sections
from tessiq.explain.report import Report


def plain_text(report: Report, *, source: bool) -> str:
    """The whole report as lines of text."""
    return "\n".join(_section(section) for section in sections(report, source=source))


def _section(section: Section) -> str:
    return "\n".join([f"== {section.title} ==", "", *[f"{_block(block)}\n" for block in section.blocks]])


def _block(block: Facts | Table | Text) -> str:
    match block:
        case Facts(rows):
            width = max((len(name) for name, _ in rows), default=0)
            return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)
        case Table(columns, rows):
            return _table(columns, rows)
        case Text(text):
            return text.rstrip("\n")


def _table(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    shown = [position for position in range(len(columns)) if any(row[position] for row in rows)]
    lines = [columns, *rows] if any(columns) else list(rows)
    widths = {position: max(len(line[position]) for line in lines) for position in shown}
    return "\n".join(
        ("  " + "  ".join(f"{line[position]:<{widths[position]}}" for position in shown)).rstrip() for line in lines
    )
