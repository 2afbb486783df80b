"""The end of every generator: its outputs are written, or with --check compared with what is checked in."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(description: str, outputs: Callable[[], Mapping[Path, str]], arguments: Sequence[str] | None = None) -> int:
    """Writes what `outputs` gives, by file; with --check, says which files are stale and returns 1 where some are.

    Only what differs is written, so that a build does not take it for new.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where an output is stale")
    check: bool = parser.parse_args(arguments).check
    texts = outputs()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if check:
            print(f"{name} is stale: run ./dev gen and commit what changed", file=sys.stderr)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path])
        print(f"wrote {name}")
    return int(check and bool(stale))
