"""What a verb of the command line is. Its module is imported for every call, so it imports what it works with late."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        summary: one line for ``--help``.
        run: does it; the process's exit status.
        add_arguments: what it takes besides its name.
    """

    summary: str
    run: Callable[[Namespace], int]
    add_arguments: Callable[[ArgumentParser], None] = lambda parser: None


def add_json(parser: ArgumentParser) -> None:
    """The flag that every verb with a machine's face has under the same name."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
