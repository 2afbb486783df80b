"""Where tables are drawn. Imports rich, which takes longer than all of tessiq: import it where something is drawn."""

import os

from rich.console import Console

WIDE = 200
"""Characters of a line where nothing says how many there are."""


def fitted() -> Console:
    """The terminal, or what output goes to instead.

    A pipe or a file has no width of its own, and lines cut to that of some terminal are cut for whoever searches them.
    COLUMNS gives them one.
    """
    out = Console(highlight=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = max(out.width, WIDE)
    return out
