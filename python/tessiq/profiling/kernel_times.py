"""What each kernel of a compiled model takes, launched many times in place: the times that may be added up.

Each kernel is launched again where a real call launches it, on that call's own memory, so sizes, strides, alignment and
the variant taken are those of the call. The recording is csrc/profiling, the records of CUPTI kernel_execution.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tessiq import _C
from tessiq.profiling.kernel_execution import Execution, measure_executions
from tessiq.profiling.run import run, undisturbed

if TYPE_CHECKING:
    from rich.console import Console

CALLS_WITH_CUPTI = 10
"""Kernel execution times are means over so many calls."""


@dataclass(frozen=True)
class KernelTime:
    """One kernel of one compiled graph. Microseconds; the name of a time says its clock.

    Attributes:
        name: the IR value it ends in.
        operation: ``loop``, ``reduction``, ``matmul``, or the operator of a library call.
        covers: the IR values it computes.
        graph: which of AOTAutograd's graphs it is in, with a number: ``forward 0``.
        device: such as ``tessiq:0``.
        launches: how many of them the means are over.
        back_to_back_us: the stream's time for one of many launches queued without waiting, gaps between them included:
            the least this kernel adds to a call.
        issue_us: the host's time to launch it once. Where it is the longer of the two, the device waited for the host,
            and ``back_to_back_us`` is the host's time too.
        kernel_execution_us: from a kernel's start to its end, as CUPTI records it; None where nothing records it.
        kernels: how many kernels of the device one launch is; None where nothing records it.
    """

    name: str
    operation: str
    covers: tuple[str, ...]
    graph: str
    device: str
    launches: int
    back_to_back_us: float
    issue_us: float
    kernel_execution_us: float | None
    kernels: int | None


@dataclass(frozen=True)
class KernelTimes:
    """Every kernel of the model, in the order a call launches them."""

    rows: tuple[KernelTime, ...]

    @property
    def back_to_back_us(self) -> float:
        """The sum, which is the least the kernels of a call could take if the host issued everything at once."""
        return sum(one.back_to_back_us for one in self.rows)

    @property
    def kernel_execution_us(self) -> float | None:
        """The sum, None where a kernel has no such time."""
        times = [one.kernel_execution_us for one in self.rows if one.kernel_execution_us is not None]
        return sum(times) if times and len(times) == len(self.rows) else None

    def show(self, console: "Console | None" = None) -> None:
        """Prints the times as a table."""
        from tessiq.profiling.kernel_table import kernel_table
        from tessiq.profiling.table import draw

        draw(kernel_table(self), console)

    def __str__(self) -> str:
        from tessiq.profiling.kernel_table import kernel_table
        from tessiq.profiling.table import plain

        return plain(kernel_table(self))


def time_kernels(
    compiled: Callable[..., object],
    *inputs: object,
    launches: int = 100,
    backward: bool = False,
    kernel_execution: bool | None = None,
) -> KernelTimes:
    """Times each kernel of a compiled model, library calls included, on the memory of a real call.

    A kernel is launched on the same memory again and again, so what it reads and writes stays in a cache that holds it.
    Buffers and random states are put back afterwards, gradients are not touched.

    Args:
        compiled: what ``torch.compile(model, backend="tessiq")`` gave.
        inputs: its positional arguments. What the model writes into them stays written.
        launches: of each kernel, between one pair of events.
        backward: also the kernels of the backward pass.
        kernel_execution: also read CUPTI's records; by default where the kernels run on a GPU.

    Raises:
        ValueError: no compiled call ran, or a number or flag that cannot be served.
        RuntimeError: CUPTI recorded nothing; a profile is being recorded in this thread.
    """
    if launches < 1:
        raise ValueError(f"launches={launches}: a mean needs at least one launch")
    if _C.is_recording():
        raise RuntimeError("a profile is being recorded in this thread: end it before kernels are timed")

    def call() -> None:
        with torch.set_grad_enabled(backward):
            run(compiled, inputs, backward)

    with undisturbed(compiled):
        # The first compiles and the second finds its weights on the device, as every later call does.
        call()
        call()
        records = _recorded(call, launches)
        kernels = [one for one in records if one["kind"] == "kernel"]
        recorded = _executions(call, kernels, kernel_execution)
    labels = {one["graph"]: f"{one['name']} {one['graph']}" for one in records if one["kind"] == "call"}
    return KernelTimes(
        tuple(_row(one, labels[one["graph"]], execution) for one, execution in zip(kernels, recorded, strict=True))
    )


def _recorded(call: Callable[[], None], launches: int) -> list["_C.RegionRecord"]:
    recorder = _C.start_recorder(device_time=False, nvtx=False, torch_ranges=False, launches=launches)
    try:
        call()
    finally:
        records = recorder.stop()
    if not records:
        raise ValueError('no compiled call ran: pass what torch.compile(model, backend="tessiq") gave')
    return records


def _executions(
    call: Callable[[], None], kernels: Sequence["_C.RegionRecord"], wanted: bool | None
) -> Sequence[Execution | None]:
    devices = sorted({one["device"] for one in kernels})
    on_gpu = bool(devices) and all(_C.device_kind(device) == "cuda" for device in devices)
    if wanted and not on_gpu:
        raise ValueError("kernel_execution=True: CUPTI records the kernels of NVIDIA GPUs, and these run elsewhere")
    if wanted is False or not on_gpu:
        return [None] * len(kernels)

    def synchronize() -> None:
        for device in devices:
            _C.synchronize(device)

    return measure_executions(call, synchronize, CALLS_WITH_CUPTI)


def _row(record: "_C.RegionRecord", graph: str, execution: Execution | None) -> KernelTime:
    assert record["back_to_back"] is not None
    launches, device_ms, host_ms = record["back_to_back"]
    return KernelTime(
        name=record["name"],
        operation=record["operation"],
        covers=tuple(record["covers"]),
        graph=graph,
        device=f"tessiq:{record['device']}",
        launches=launches,
        back_to_back_us=device_ms * 1000 / launches,
        issue_us=host_ms * 1000 / launches,
        kernel_execution_us=None if execution is None else execution.total_us,
        kernels=None if execution is None else execution.kernels,
    )
