"""The device's own record of each kernel, which CUPTI keeps and PyTorch's profiler exposes.

While another device type is the accelerator, PyTorch labels these records with that type, PrivateUse1: a filter on CUDA
finds nothing. So nothing here asks for a type by name: what is not the host's is the device's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch._C._autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from tessiq import _C

_RANGE = "tessiq kernel "
_NOT_KERNELS = ("Memcpy", "Memset")


class Interval(Protocol):
    """A stretch of the profiler's time."""

    @property
    def start(self) -> float:
        """Microseconds."""
        ...


class DeviceRecord(Protocol):
    """One kernel or copy, as PyTorch's profiler lists it under the function that launched it."""

    @property
    def name(self) -> str:
        """The kernel's own name."""
        ...

    @property
    def duration(self) -> float:
        """Microseconds."""
        ...


class HostFunction(Protocol):
    """A function of PyTorch's profiler: the host's, with the kernels launched in it, or the device's."""

    @property
    def name(self) -> str:
        """Of ours, the text of a region's range."""
        ...

    @property
    def device_type(self) -> DeviceType:
        """Whose clock it is by."""
        ...

    @property
    def time_range(self) -> Interval:
        """When it ran."""
        ...

    @property
    def kernels(self) -> Sequence[DeviceRecord]:
        """What it launched."""
        ...


@dataclass(frozen=True)
class Execution:
    """Kernel execution time of one launch: the sum over the kernels it consists of, microseconds."""

    total_us: float
    kernels: int


def executions(functions: Sequence[HostFunction]) -> list[Execution]:
    """What each kernel region among the functions executed, in the order they ran."""
    found = []
    for one in sorted(functions, key=lambda one: one.time_range.start):
        if one.device_type == DeviceType.CPU and one.name.startswith(_RANGE):
            kernels = [record for record in one.kernels if not record.name.startswith(_NOT_KERNELS)]
            found.append(Execution(sum(record.duration for record in kernels), len(kernels)))
    return found


def measure_executions(call: Callable[[], object], synchronize: Callable[[], None], calls: int) -> list[Execution]:
    """Means over several calls; one entry for each kernel region of a call, in order.

    Raises:
        RuntimeError: the profiler recorded no kernel, or calls differ in what they launch.
    """
    regions = 0
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], acc_events=True) as recorded:
        for _ in range(calls):
            recorder = _C.start_recorder(device_time=False, nvtx=False, torch_ranges=True, launches=0)
            try:
                call()
            finally:
                regions = sum(one["kind"] == "kernel" for one in recorder.stop())
        synchronize()
    found = executions(recorded.events())
    if not any(one.kernels for one in found):
        raise RuntimeError(
            "PyTorch's profiler recorded no kernel of this device; CUPTI may be in use by another tool (Nsight, "
            "another profiler) or forbidden to this user. tessiq.time_kernels(..., kernel_execution=False) does without"
        )
    if len(found) != regions * calls:
        raise RuntimeError(
            f"{calls} calls of {regions} kernels gave {len(found)} records: the calls differ in what they launch, "
            "as they do where a compile happens between them; call the model a few times first"
        )
    return [
        Execution(sum(one.total_us for one in same) / calls, max(one.kernels for one in same))
        for same in (found[position::regions] for position in range(regions))
    ]
