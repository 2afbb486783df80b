"""The extension's claim reasons and csrc's table of errors -> docs/generated/reasons.md.

The ids of reasons are asked of the built extension, the only place that has all of them; error codes are read from
the two files that define them, since nothing else says which exception each becomes. The page is checked in.
`./dev gen` writes it and `./dev gen --check` fails where it is stale. Operations are generated before there is an
extension, so without one this page is left as it is, with a line that says so; a test asks for a fresh page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from generated_files import ROOT, run

PAGE = ROOT / "docs" / "generated" / "reasons.md"
CODES = ROOT / "csrc" / "support" / "result.h"
EXCEPTIONS = ROOT / "csrc" / "bindings" / "exceptions.cpp"

_CODE = re.compile(r"^  (k\w+),\s+// (.+)$", re.MULTILINE)
_CASE = re.compile(r"^    case ErrorCode::(k\w+):\n(?:      return (\w+)[(;])?", re.MULTILINE)
_EXCEPTIONS = {"out_of_memory_error": "torch.OutOfMemoryError"}

HEAD = """# Reasons and errors

Written by `tools/gen_reasons.py` from the extension and `csrc/`: never edited.

## Why no kernel runs an operation

An operation in a report has one of these as its `reason_id`, and the IR has it before the colon of the attribute
`tessiq.reason`. An id keeps its meaning when the sentence beside it is worded anew. They are in the order in which they
are asked.

| id | meaning |
|---|---|
"""

WHOLE_GRAPHS = """
A graph that the compiler cannot represent runs uncompiled as a whole. That has a sentence and no id: in
`report.uncompiled`, and once in the log `tessiq.compile`.

## Errors

Every failure of the core has one of these codes. Python sees an exception whose text says what was found and, where it
is known, what to try. Code should look at the type and never at the text.

| exception | when | code in C++ |
|---|---|---|
"""


class SourceError(Exception):
    """A source that no longer has the form this file reads."""


def error_codes(header: str) -> dict[str, str]:
    """What each code of `enum class ErrorCode` means, by its name in C++."""
    body = header.partition("enum class ErrorCode {\n")[2].partition("};")[0]
    codes = dict(_CODE.findall(body))
    if not codes or len(codes) != len(body.strip().splitlines()):
        raise SourceError("enum class ErrorCode is not one code with its meaning a line")
    return codes


def exceptions(source: str) -> dict[str, str]:
    """The Python exception of each code; a case without a return of its own has the next one's."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    for code, returned in _CASE.findall(source):
        waiting.append(code)
        if returned:
            name = _EXCEPTIONS.get(returned, returned.removeprefix("PyExc_"))
            found.update(dict.fromkeys(waiting, name))
            waiting = []
    return found


def render(reasons: Sequence[tuple[str, str]], header: str, source: str) -> str:
    """The whole page.

    Raises:
        SourceError: a source of another form, or a code that becomes no exception.
    """
    codes, raised = error_codes(header), exceptions(source)
    if missing := sorted(codes.keys() ^ raised.keys()):
        raise SourceError(f"no exception and meaning for {', '.join(missing)}")
    rows = [f"| `{name}` | {meaning} |\n" for name, meaning in reasons]
    errors = [f"| `{raised[code]}` | {meaning} | `{code}` |\n" for code, meaning in codes.items()]
    return HEAD + "".join(rows) + WHOLE_GRAPHS + "".join(errors)


def outputs() -> dict[Path, str]:
    """The page as the extension here makes it, nothing where there is none."""
    try:
        from tessiq import _C
    except ImportError as error:
        print(f"{PAGE.relative_to(ROOT)} is left as it is: {error}", file=sys.stderr)
        return {}
    return {PAGE: render(_C.claim_reasons(), CODES.read_text(), EXCEPTIONS.read_text())}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page; with --check, 1 where it is stale."""
    return run("write the page of reasons and errors", outputs, arguments)


if __name__ == "__main__":
    sys.exit(main())
