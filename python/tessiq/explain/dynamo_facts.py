"""What Dynamo says about a compile: the guards it checks, where it broke a graph, why it compiled again."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch._dynamo.utils import counters, get_compilation_metrics

from tessiq.explain.records import GraphBreak, Guard, Recompile

# Dynamo puts addresses into the names of what it closes over; a report says the same of the same model.
_ADDRESS = re.compile(r"\d{9,}")


class GuardEntry(Protocol):
    """The part read here of what ``torch.compile(options={"guard_filter_fn": ...})`` hands over."""

    name: str
    guard_type: str
    value: object


class GuardLog:
    """Collects guards through ``guard_filter_fn``, and filters none."""

    def __init__(self) -> None:
        # By name and kind: a guard of two graphs, or built twice, is one line.
        self._seen: dict[tuple[str, str], Guard] = {}

    def keep_all(self, entries: Sequence[GuardEntry]) -> list[bool]:
        """For ``guard_filter_fn``."""
        for one in entries:
            for text in _conditions(one):
                name = "sizes" if one.guard_type == "SHAPE_ENV" else _ADDRESS.sub("*", one.name)
                self._seen.setdefault((name or one.guard_type, text), Guard(name, one.guard_type, text))
        return [True] * len(entries)

    def guards(self) -> tuple[Guard, ...]:
        return tuple(self._seen.values())


def _conditions(entry: GuardEntry) -> list[str]:
    if isinstance(entry.value, torch.Tensor) and entry.guard_type == "TENSOR_MATCH":
        value = entry.value
        dynamic: set[int] = getattr(value, "_dynamo_dynamic_indices", set())
        sizes = ", ".join("any" if axis in dynamic else str(size) for axis, size in enumerate(value.shape))
        gradient = ", needs a gradient" if value.requires_grad else ""
        return [f"{str(value.dtype).removeprefix('torch.')}[{sizes}] on {value.device}{gradient}"]
    if entry.guard_type == "SHAPE_ENV":
        code = getattr(getattr(entry, "orig_guard", None), "code_list", None)
        return list(dict.fromkeys(code)) if isinstance(code, list) else []
    if isinstance(entry.value, bool | int | float | str | type(None)):
        return [f"is {entry.value!r}"]
    return [f"is this {type(entry.value).__name__}"]


def graph_breaks() -> Mapping[str, int]:
    """How often each reason broke a graph in this process."""
    return dict(counters["graph_break"])


def breaks_since(before: Mapping[str, int]) -> tuple[GraphBreak, ...]:
    return tuple(
        GraphBreak(" ".join(str(reason).split()), times - before.get(reason, 0))
        for reason, times in counters["graph_break"].items()
        if times > before.get(reason, 0)
    )


def recompiles_since(seconds: float) -> tuple[Recompile, ...]:
    """Since a moment of ``time.time``. Code compiled for another report is no cause: it is a compile of its own."""
    return tuple(
        Recompile(
            f"{one.co_name} ({(one.co_filename or '').rsplit('/', 1)[-1]}:{one.co_firstlineno})", one.recompile_reason
        )
        for one in get_compilation_metrics()
        if one.recompile_reason and one.start_time is not None and one.start_time >= seconds
    )
