"""Tables of times, drawn with rich. Each column of times names its clock."""

import io
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tessiq.profiling.region import Region, Total
from tessiq.text.console import fitted
from tessiq.text.units import bytes_text

_STYLES = {"kernel": "green", "interpreted": "yellow", "transfer": "magenta", "executor": "dim"}


def draw(renderable: RenderableType, console: Console | None) -> None:
    """Prints to the console, by default the terminal."""
    (console or fitted()).print(renderable)


def plain(renderable: RenderableType) -> str:
    """The same as text without colour."""
    out = io.StringIO()
    Console(file=out, width=120, color_system=None).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def budget(totals: Sequence[Total], calls: Sequence[Region], wall_us: float, rows: int) -> RenderableType:
    """What the calls' time was spent on; the rows add up to the last."""
    whole = sum(one.host_us for one in calls)
    device_times = [one.device_us for one in calls if one.device_us is not None]
    kinds_only = all(not one.name for one in totals)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("kind")
    if not kinds_only:
        table.add_column("name", overflow="fold")
        table.add_column("operation", overflow="fold")
        table.add_column("graph", justify="right")
    for heading in ("count", "host us", "of calls", *(("device us",) if device_times else ()), "bytes"):
        table.add_column(heading, justify="right")

    def add(first: Sequence[str], count: str, host: float, device: float | None, moved: int, style: str) -> None:
        named = first[:1] if kinds_only else first
        clock = (f"{device:.1f}" if device is not None else "",) if device_times else ()
        share = f"{host / whole:.1%}" if whole else ""
        cells = (*named, count, f"{host:.1f}", share, *clock, bytes_text(moved) if moved else "")
        table.add_row(*[Text(cell) for cell in cells], style=style)

    events, executor = [one for one in totals if one.kind != "executor"], totals[len(totals) - bool(calls) :]
    for one in events[:rows]:
        first = (one.kind, one.name, one.operation, "" if one.graph is None else str(one.graph))
        add(first, str(one.count), one.host_exclusive_us, one.device_exclusive_us, one.bytes, _STYLES[one.kind])
    if rest := events[rows:]:
        known = [one.device_exclusive_us for one in rest if one.device_exclusive_us is not None]
        host, moved = sum(one.host_exclusive_us for one in rest), sum(one.bytes for one in rest)
        add((f"{len(rest)} more", "", "", ""), "", host, sum(known) if known else None, moved, "dim")
    for one in executor:
        add(("executor", "", "in no event", ""), "", one.host_exclusive_us, one.device_exclusive_us, 0, "dim")
    moved = sum(one.bytes for one in events)
    add(("all", "", "", ""), str(len(calls)), whole, sum(device_times) if device_times else None, moved, "bold")
    return Group(table, Text(_caption(len(calls), whole, wall_us, bool(device_times)), style="dim"))


def _caption(calls: int, whole: float, wall_us: float, has_device: bool) -> str:
    lines = [
        f"{calls} compiled calls, {whole:.1f} us of {wall_us:.1f} us in the profile. "
        "host: exclusive time on the calling thread; a launch returns once it is queued."
    ]
    if has_device:
        lines.append("device: exclusive time between two events on the stream, which add their own time to each.")
    return "\n".join(lines)
