"""Streams and events. They are PyTorch's own classes, narrowed to this device so that Dynamo can trace them."""

from types import TracebackType
from typing import Self

import torch

from tessiq.device.names import DeviceLike, index_of


class Stream(torch.Stream):
    """A queue of work on one device. Streams of the pool run beside each other; events order them."""

    def __new__(
        cls,
        device: DeviceLike = None,
        priority: int = 0,
        *,
        stream_id: int | None = None,
        device_index: int = 0,
        device_type: int = 0,
    ) -> Self:
        if stream_id is not None:
            return super().__new__(cls, stream_id=stream_id, device_index=device_index, device_type=device_type)
        return super().__new__(cls, device=torch.device("tessiq", index_of(device)), priority=priority)


class Event(torch.Event):
    """A point in a stream's work."""

    def __new__(cls, device: DeviceLike = None, *, enable_timing: bool = False, blocking: bool = False) -> Self:
        target = torch.device("tessiq", index_of(device))
        return super().__new__(cls, device=target, enable_timing=enable_timing, blocking=blocking)


def as_ours(stream: torch.Stream) -> Stream:
    """The same stream as an object of this module's class."""
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)


def current_stream(device: DeviceLike = None) -> Stream:
    """The stream that work of this thread goes to."""
    return as_ours(torch.accelerator.current_stream(torch.device("tessiq", index_of(device))))


def default_stream(device: DeviceLike = None) -> Stream:
    """The device's default stream; on a GPU the legacy default stream."""
    like = torch.accelerator.current_stream(torch.device("tessiq", index_of(device)))
    return Stream(stream_id=0, device_index=like.device_index, device_type=like.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    """Make ``stream`` its device's current stream, and its device the current one."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Makes a stream current for a block; ``None`` changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self._stream = stream
        self._previous: torch.Stream | None = None
        self._previous_device = 0

    def __enter__(self) -> None:
        if self._stream is None:
            return
        self._previous_device = index_of()
        self._previous = current_stream(self._stream.device_index)
        set_stream(self._stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            set_stream(self._previous)
            torch.accelerator.set_device_index(self._previous_device)


def stream(stream: torch.Stream | None) -> StreamContext:
    """A context in which ``stream`` is current."""
    return StreamContext(stream)
