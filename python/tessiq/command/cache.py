"""``python -m tessiq cache info|clear``: the compiled kernels that are kept on disk."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tessiq.command.verb import Verb, add_json

if TYPE_CHECKING:
    from tessiq.command.installation import Cache


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("info", "clear"), help="say what is kept, or remove it")
    add_json(parser)


def facts(found: "Cache") -> Iterator[tuple[str, str]]:
    """Names and values, in the order they are printed."""
    from tessiq.text.units import bytes_text

    yield "folder", found.folder or "none"
    yield "entries", str(found.entries)
    yield "size", f"{bytes_text(found.bytes)} of at most {bytes_text(found.limit_bytes)} (TESSIQ_CACHE_LIMIT_MB)"
    yield "damaged", ", ".join(found.damaged) or "none"
    if found.problem:
        yield "not writable", found.problem


def _run(chosen: Namespace) -> int:
    from tessiq.command import terminal
    from tessiq.command.installation import cache

    if chosen.action == "clear":
        return _clear(as_json=chosen.json)
    found = cache()
    if chosen.json:
        terminal.print_json(found)
    else:
        terminal.print_facts(facts(found))
    return 0


def _clear(*, as_json: bool) -> int:
    import json
    import sys

    from tessiq import _C
    from tessiq.text.units import bytes_text, count_text

    folder, removed = _C.cache_directory(), _C.clear_cache()
    left = removed["left"]
    if as_json:
        print(json.dumps({"folder": folder, **removed}, indent=2))
    else:
        entries = count_text(removed["entries"], "entry")
        print(f"removed {entries} ({bytes_text(removed['bytes'])}) from {folder or 'no folder'}")
    if left:
        print(
            f"{count_text(len(left), 'entry')} could not be removed from {folder}: they belong to "
            "another user, or the folder is read-only; remove them as their owner, or name another folder in "
            "TESSIQ_CACHE_DIR",
            file=sys.stderr,
        )
    return int(bool(left))


VERB = Verb("say what compiled kernels are kept on disk, or remove them", _run, _add_arguments)
