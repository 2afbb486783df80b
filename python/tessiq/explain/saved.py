"""A report as JSON and back: every field of every record, under its own name.

Decides what is refused when a file is read: another version, a field that is missing or of another type. Fields that
are not known are left out, since a later tessiq adds fields without a new version.
"""

import dataclasses
import json
import types
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tessiq.explain.report import REPORT_VERSION, Report

T = TypeVar("T")

FORMAT = "tessiq.explain.Report"
"""The value of ``format`` in the file: what kind of file it is."""


def to_json(report: Report) -> str:
    """The report as text, one line; the same for equal reports."""
    return json.dumps({"format": FORMAT, **dataclasses.asdict(report)}, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str, name: str) -> Report:
    """The report in a text that :func:`to_json` made; ``name`` is what errors call it.

    Raises:
        ValueError: no report, or one of another version.
    """
    try:
        read: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is not JSON ({error}): give a file that report.save_json wrote") from error
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise ValueError(f"{name} is JSON but no report of tessiq: give a file that report.save_json wrote")
    version = read.get("version")
    if version != REPORT_VERSION:
        raise ValueError(
            f"{name} is a report of version {version!r} and this tessiq reads version {REPORT_VERSION}: "
            "make the report again, or read it with the tessiq that wrote it"
        )
    try:
        return _record(Report, read, "report")
    except TypeError as error:
        raise ValueError(f"{name} is damaged: {error}. Make the report again") from error


def _record(kind: type[T], read: object, where: str) -> T:
    if not isinstance(read, dict):
        raise TypeError(f"{where} is {type(read).__name__}, not an object")
    hints = get_type_hints(kind)
    values: dict[str, object] = {}
    for one in dataclasses.fields(kind):  # type: ignore[arg-type]
        if one.name in read:
            values[one.name] = _value(hints[one.name], read[one.name], f"{where}.{one.name}")
        elif one.default is dataclasses.MISSING:
            raise TypeError(f"{where} has no {one.name}")
    return kind(**values)


def _value(kind: object, read: object, where: str) -> object:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if read is None and type(None) in arguments:
            return None
        return _value(next(one for one in arguments if one is not type(None)), read, where)
    if origin is tuple:
        if not isinstance(read, list):
            raise TypeError(f"{where} is {type(read).__name__}, not a list")
        return tuple(_value(arguments[0], one, f"{where}[{at}]") for at, one in enumerate(read))
    if origin is Literal:
        if read not in arguments:
            raise TypeError(f"{where} is {read!r}, not one of {', '.join(map(repr, arguments))}")
        return read
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record(kind, read, where)
    if kind is float and isinstance(read, int) and not isinstance(read, bool):
        return float(read)
    # A bool is an int to Python and not to a reader of the file.
    if not isinstance(kind, type) or type(read) is not kind:
        raise TypeError(f"{where} is {read!r}, not {getattr(kind, '__name__', kind)}")
    return read
