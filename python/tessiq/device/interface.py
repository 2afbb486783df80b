"""What PyTorch looks for at ``torch.tessiq``: this module is registered there."""

from dataclasses import dataclass
from types import TracebackType

import torch

from tessiq import _C
from tessiq.device.inductor import CppWrapperCodegen, PythonWrapperCodegen, Scheduling, WrapperFxCodegen
from tessiq.device.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from tessiq.device.names import DeviceLike, device_count, index_of, is_available
from tessiq.device.random import (
    _get_generator,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from tessiq.device.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "CppWrapperCodegen",
    "DeviceProperties",
    "Event",
    "PythonWrapperCodegen",
    "Scheduling",
    "Stream",
    "StreamContext",
    "WrapperFxCodegen",
    "_get_generator",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]

_initialized = False


def _lazy_init() -> None:
    global _initialized
    if not _initialized:
        _C.device_count()
        _initialized = True


def init() -> None:
    """Look for the devices now instead of at first use."""
    _lazy_init()


def is_initialized() -> bool:
    """Whether the devices have been looked for."""
    return _initialized


def _is_in_bad_fork() -> bool:
    return _C.in_bad_fork()


def current_device() -> int:
    """The index of this thread's current device."""
    return _C.current_device()


def set_device(device: DeviceLike) -> None:
    """Make ``device`` this thread's current device. Raises ValueError if it does not exist."""
    _C.set_device(index_of(device))


def synchronize(device: DeviceLike = None) -> None:
    """Wait for everything queued on the device, on every stream."""
    _C.synchronize(index_of(device))


class device:
    """Makes a device current for a block. A negative index or None changes nothing."""

    def __init__(self, device: DeviceLike) -> None:
        self.idx = index_of(device) if device is not None and device != -1 else -1
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _C.current_device()
        if self.idx >= 0:
            _C.set_device(self.idx)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _C.set_device(self.prev_idx)


class device_of(device):
    """Makes the device of a tensor current for a block; a tensor elsewhere changes nothing."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.get_device() if tensor.device.type == "tessiq" else None)


def _exchange_device(index: int) -> int:
    previous = _C.current_device()
    if index >= 0:
        _C.set_device(index)
    return previous


def _maybe_exchange_device(index: int) -> int:
    return _exchange_device(index) if index >= 0 else -1


@dataclass(frozen=True)
class DeviceProperties:
    """What a device is. Sizes are in bytes; the reference device has compute capability 0.0."""

    name: str
    total_memory: int
    major: int
    minor: int
    multi_processor_count: int
    L2_cache_size: int


def get_device_properties(device: DeviceLike = None) -> DeviceProperties:
    """The properties of a device."""
    return DeviceProperties(*_C.device_properties(index_of(device)))


def get_device_name(device: DeviceLike = None) -> str:
    """The name of a device, as its driver gives it."""
    return get_device_properties(device).name


def get_device_capability(device: DeviceLike = None) -> tuple[int, int]:
    """CUDA compute capability, or (0, 0) for the reference device."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Element types that torch.autocast may lower to."""
    return [torch.bfloat16, torch.float16, torch.float32]


def is_bf16_supported() -> bool:
    """True: what the hardware lacks is computed in float32."""
    return True
