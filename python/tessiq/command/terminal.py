"""How the command line looks: tables for a person, JSON for a program."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from tessiq.text.console import fitted

STYLES = {"ok": "green", "failed": "bold red", "skipped": "dim"}


def print_facts(rows: Iterable[tuple[str, str]]) -> None:
    """Names and values, one pair a line; long values are folded under themselves."""
    grid = Table.grid(padding=(0, 2))
    for name, value in rows:
        grid.add_row(Text(name, style="bold"), Text(value))
    fitted().print(grid)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Rows under headings; a cell that is a state has its colour."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell, style=STYLES.get(cell, "")) for cell in row])
    fitted().print(table)


def print_json(record: object) -> None:
    """A record, or a sequence of them, as JSON."""
    records = [asdict(one) for one in record] if isinstance(record, list | tuple) else asdict(record)  # type: ignore[call-overload]
    print(json.dumps(records, indent=2))
