"""The devices by name: the reference device, the first GPU, the n-th GPU."""

import torch

from tessiq import _C

cpu = torch.device("tessiq", 0)
"""The reference device, which is always there."""

gpu = torch.device("tessiq", 1)
"""The first GPU. Naming it looks for nothing; using it without a GPU raises."""


def gpu_at(ordinal: int) -> torch.device:
    """The GPU that the driver counts as ``ordinal``, from 0. Raises ValueError if there is no such GPU."""
    found = _C.device_count() - 1
    if not 0 <= ordinal < found:
        note = _C.discovery_note()
        raise ValueError(f"there is no GPU {ordinal}: tessiq found {found}" + (f" ({note})" if note else ""))
    return torch.device("tessiq", ordinal + 1)


def is_available() -> bool:
    """True: the reference device needs no hardware."""
    return True


def device_count() -> int:
    """The reference device and the GPUs."""
    return _C.device_count()


DeviceLike = torch.device | str | int | None


def index_of(device: DeviceLike = None) -> int:
    """The index that ``device`` means; the current device's for None or a device without one."""
    if isinstance(device, int) and not isinstance(device, bool):
        return device if device >= 0 else _C.current_device()
    if device is None:
        return _C.current_device()
    if isinstance(device, str):
        device = torch.device(device)
    if not isinstance(device, torch.device) or device.type != "tessiq":
        raise ValueError(f"expected a tessiq device, got {device!r}")
    return _C.current_device() if device.index is None else device.index
