"""Regions as a Chrome trace: the JSON form that Perfetto and chrome://tracing draw as a time line.

Decides the tracks: one process for the host's clock with a track for each thread, and one for each device's clock.
"""

import json
import os
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TypeAlias

import torch

from tessiq import _C
from tessiq.profiling.region import Region

Json: TypeAlias = "str | int | float | list[Json] | dict[str, Json]"

# No process of the system has such a number, so a device's track never joins that of a process.
_FIRST_DEVICE_PROCESS = (1 << 22) + 1


def write_trace(regions: Sequence[Region], path: str | PathLike[str]) -> None:
    """Writes the file, whole or not at all."""
    events = [*_tracks(regions), *_slices(regions)]
    versions = {"tessiq": _C.__version__, "PyTorch": torch.__version__}
    trace = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": versions}
    unfinished = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


def _device_process(device: str) -> int:
    return _FIRST_DEVICE_PROCESS + int(device.partition(":")[2])


def _tracks(regions: Sequence[Region]) -> Iterator[dict[str, Json]]:
    """The names of processes and threads."""
    processes = {os.getpid(): "host clock"}
    threads: dict[tuple[int, int], str] = {}
    for one in regions:
        threads[os.getpid(), one.thread] = f"thread {one.thread}"
        if one.device_us is not None:
            processes[_device_process(one.device)] = f"device clock of {one.device}"
            threads[_device_process(one.device), one.thread] = f"work of thread {one.thread}"
    for process, name in processes.items():
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
    for (process, thread), name in threads.items():
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _slices(regions: Sequence[Region]) -> Iterator[dict[str, Json]]:
    for one in regions:
        args = _arguments(one)
        title = one.name if one.kind == "call" else f"%{one.name}" if one.name else one.operation
        slice_: dict[str, Json] = {"ph": "X", "name": title, "cat": one.kind, "tid": one.thread}
        host: dict[str, Json] = {"clock": "host", "exclusive_us": one.host_exclusive_us}
        yield slice_ | {"pid": os.getpid(), "ts": one.host_start_us, "dur": one.host_us, "args": args | host}
        if one.device_start_us is not None and one.device_us is not None and one.device_exclusive_us is not None:
            place = {"pid": _device_process(one.device), "ts": one.device_start_us, "dur": one.device_us}
            device: dict[str, Json] = {"clock": "device", "exclusive_us": one.device_exclusive_us}
            yield slice_ | place | {"args": args | device}


def _arguments(one: Region) -> dict[str, Json]:
    args: dict[str, Json] = {"operation": one.operation, "graph": one.graph, "device": one.device}
    if one.kind != "call":
        args["ir"] = [f"%{value}" for value in one.covers or (one.name,)]
    if one.kind == "transfer":
        args["bytes"] = one.bytes
    if one.failed:
        args["failed"] = "an exception left it"
    return args
