"""Which lines of a graph's text a pass changed, for logs and reports alike."""

import re
from collections.abc import Iterator

_DEFINITION = re.compile(r"\s*%([\w.]+)\b")


def line_edits(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """What became of each line: its name, the line before and the line after, empty where there is none.

    A line is known by the value it defines, so one that only moved is no edit.
    """
    old, new = ({_defined(line): line.strip() for line in text.splitlines()} for text in (before, after))
    for name, line in old.items():
        if new.get(name, "") != line:
            yield name, line, new.get(name, "")
    for name, line in new.items():
        if name not in old:
            yield name, "", line


def _defined(line: str) -> str:
    match = _DEFINITION.match(line)
    return match.group(1) if match else line.split(maxsplit=1)[0] if line.strip() else ""
