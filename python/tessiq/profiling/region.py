"""The records of a profile, and their sums. Times are microseconds; the name of a time says its clock."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tessiq import _C

Kind = Literal["call", "kernel", "interpreted", "transfer"]
Grouping = Literal["name", "kind"]


@dataclass(frozen=True)
class Region:
    """A stretch of a compiled call: the call itself, or one of its events.

    Attributes:
        index: its position among the profile's regions; what is inside a region comes after it.
        kind: ``call``; ``kernel``, a kernel's launch or a library call; ``interpreted``, a node without a kernel that
            PyTorch's dispatcher runs; ``transfer``, a copy between host and device.
        name: the IR value that it computes or moves, of a call which of AOTAutograd's graphs it ran.
        operation: what kind of kernel, which operator, or the direction of the copy.
        covers: the IR values that its kernel computes, in order.
        graph: a number for each compiled graph of the profile, in the order of their first calls.
        device: such as ``tessiq:0``.
        thread: the operating system's number of the thread.
        parent: index of the region around it, None for a call that no other is around.
        failed: an exception left it.
        bytes: that a transfer moved.
        host_start_us: since the profile began.
        host_us: from its begin to its end.
        host_exclusive_us: of that, outside the regions inside it.
        device_start_us: on the same line as ``host_start_us``, some microseconds exact. The device's times are None
            without ``device_time``, and for work of the host.
        device_us: between the events around it, on the stream.
        device_exclusive_us: of that, outside the regions inside it.
    """

    index: int
    kind: Kind
    name: str
    operation: str
    covers: tuple[str, ...]
    graph: int
    device: str
    thread: int
    parent: int | None
    failed: bool
    bytes: int
    host_start_us: float
    host_us: float
    host_exclusive_us: float
    device_start_us: float | None
    device_us: float | None
    device_exclusive_us: float | None


@dataclass(frozen=True)
class Total:
    """The sum of regions that are alike.

    Attributes:
        kind: the regions' kind; ``executor`` is what the calls spent in no event.
        name: empty where the kind alone is summed.
        operation: empty where the kind alone is summed.
        graph: None where the kind alone is summed.
        count: how many regions.
        host_exclusive_us: over the profile, these add up to its calls.
        device_exclusive_us: None where no region has a device time.
        bytes: that transfers moved.
    """

    kind: Kind | Literal["executor"]
    name: str
    operation: str
    graph: int | None
    count: int
    host_exclusive_us: float
    device_exclusive_us: float | None
    bytes: int


def regions_from(records: Sequence["_C.RegionRecord"], start_ns: int) -> tuple[Region, ...]:
    """Typed regions with times since the profile began."""
    return tuple(_region(index, record, start_ns) for index, record in enumerate(records))


def _region(index: int, record: "_C.RegionRecord", start_ns: int) -> Region:
    device = record["device_ns"]
    return Region(
        index=index,
        kind=record["kind"],
        name=record["name"],
        operation=record["operation"],
        covers=tuple(record["covers"]),
        graph=record["graph"],
        device=f"tessiq:{record['device']}",
        thread=record["thread"],
        parent=None if record["parent"] < 0 else record["parent"],
        failed=record["failed"],
        bytes=record["bytes"],
        host_start_us=(record["host_start_ns"] - start_ns) / 1000,
        host_us=record["host_ns"] / 1000,
        host_exclusive_us=record["host_exclusive_ns"] / 1000,
        device_start_us=None if device is None else (device[0] - start_ns) / 1000,
        device_us=None if device is None else device[1] / 1000,
        device_exclusive_us=None if device is None else device[2] / 1000,
    )


def totals(regions: Iterable[Region], by: Grouping) -> tuple[Total, ...]:
    """Sums by kind, or by kernel, node and copy; the longest first, the executor's own last."""
    groups: dict[tuple[str, str, str, int | None], list[Region]] = {}
    calls: list[Region] = []
    for one in regions:
        if one.kind == "call":
            calls.append(one)
        else:
            key = (one.kind, "", "", None) if by == "kind" else (one.kind, one.name, one.operation, one.graph)
            groups.setdefault(key, []).append(one)
    sums = [_total(group[0].kind, key[1], key[2], key[3], group) for key, group in groups.items()]
    sums.sort(key=lambda total: -total.host_exclusive_us)
    return (*sums, _total("executor", "", "", None, calls)) if calls else tuple(sums)


def _total(
    kind: Kind | Literal["executor"], name: str, operation: str, graph: int | None, group: Sequence[Region]
) -> Total:
    device = [one.device_exclusive_us for one in group if one.device_exclusive_us is not None]
    return Total(
        kind=kind,
        name=name,
        operation=operation,
        graph=graph,
        count=len(group),
        host_exclusive_us=sum(one.host_exclusive_us for one in group),
        device_exclusive_us=sum(device) if device else None,
        bytes=sum(one.bytes for one in group),
    )
