"""What the device's caching allocator holds, in bytes, under PyTorch's own names."""

from collections import OrderedDict
from collections.abc import Iterator

from tessiq import _C
from tessiq.device.names import DeviceLike, index_of


def _flat(prefix: str, tree: "_C.StatTree") -> Iterator[tuple[str, int]]:
    for key, value in tree.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            yield from _flat(name, value)
        else:
            yield name, value


def memory_stats(device: DeviceLike = None) -> OrderedDict[str, int]:
    """Every counter by name, such as ``allocated_bytes.all.current``, and ``num_cache_hits``."""
    return OrderedDict(sorted(_flat("", _C.memory_stats(index_of(device)))))


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes in live blocks, rounded up to size classes."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: DeviceLike = None) -> int:
    """The most that memory_allocated has been since the peak was reset."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: DeviceLike = None) -> int:
    """Bytes taken from the driver and not given back."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: DeviceLike = None) -> int:
    """The most that memory_reserved has been since the peak was reset."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Free and total bytes of the device, as its driver counts them."""
    return _C.memory_info(index_of(device))


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Peaks start again from what is held now."""
    _C.reset_peak_memory_stats(index_of(device))


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Sums of what was allocated and freed start again from nothing."""
    _C.reset_accumulated_memory_stats(index_of(device))


def empty_cache() -> None:
    """Give cached blocks of every device back to its driver."""
    for index in range(_C.device_count()):
        _C.empty_cache(index)
