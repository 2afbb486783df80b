"""The three clocks of a GPU measurement. Every number says which one it is.

* ``kernel``: the sum of CUPTI's records of the kernels of one call: what the generated code costs.
* ``queued``: time on the stream for one call of many queued without waiting: the least a call can take.
* ``call``: host time of one call and a synchronisation: what a caller waits.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

Call = Callable[..., object]


@dataclass(frozen=True)
class Timing:
    """Microseconds of one call by each clock; medians over repetitions."""

    kernel_us: float
    kernels: float
    queued_us: float
    call_us: float
    host_us: float


@dataclass(frozen=True)
class Contender:
    """One way to do the work: its name, the call, and how to wait for the device it uses."""

    name: str
    call: Call
    synchronize: Callable[[], None]


def peers(
    function: Call, compiled: Call, inductor: Call, ours: Sequence[torch.Tensor], cuda: Sequence[torch.Tensor]
) -> list[Contender]:
    """The usual four: a plain copy, ours, eager CUDA and Inductor, each on tensors of its own device."""
    target = torch.empty_like(ours[0])

    def wait_ours() -> None:
        torch.tessiq.synchronize(ours[0].device)

    wait_cuda = torch.cuda.synchronize
    return [
        Contender("copy", lambda: target.copy_(ours[0]), wait_ours),
        Contender("tessiq", lambda: compiled(*ours), wait_ours),
        Contender("eager", lambda: function(*cuda), wait_cuda),
        Contender("inductor", lambda: inductor(*cuda), wait_cuda),
    ]


def _kernel(contender: Contender, calls: int) -> tuple[float, float]:
    # CUPTI labels a kernel with the accelerator's own device type once a PrivateUse1 backend is registered.
    contender.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], acc_events=True) as recorded:
        for _ in range(calls):
            contender.call()
        contender.synchronize()
    device = [event for event in recorded.events() if event.device_type != torch.autograd.DeviceType.CPU]
    kernels = [event for event in device if not event.name.startswith(("Memcpy", "Memset"))]
    chosen = kernels or device
    return sum(event.time_range.elapsed_us() for event in chosen) / calls, len(chosen) / calls


def _queued(contender: Contender, calls: int) -> tuple[float, float]:
    contender.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        contender.call()
    issued = time.perf_counter()
    contender.synchronize()
    return (time.perf_counter() - start) * 1e6 / calls, (issued - start) * 1e6 / calls


def _call(contender: Contender) -> float:
    contender.synchronize()
    start = time.perf_counter()
    contender.call()
    contender.synchronize()
    return (time.perf_counter() - start) * 1e6


def measure(contenders: list[Contender], rounds: int = 7, calls: int = 50) -> dict[str, Timing]:
    """Times every contender, in turn within each round, so that what drifts drifts for all."""
    kernels: dict[str, list[tuple[float, float]]] = {one.name: [] for one in contenders}
    queued: dict[str, list[tuple[float, float]]] = {one.name: [] for one in contenders}
    calls_us: dict[str, list[float]] = {one.name: [] for one in contenders}
    for one in contenders:
        for _ in range(5):
            one.call()
        one.synchronize()
    for _ in range(rounds):
        for one in contenders:
            queued[one.name].append(_queued(one, calls))
        for one in contenders:
            calls_us[one.name].extend(_call(one) for _ in range(20))
    for _ in range(min(rounds, 3)):
        for one in contenders:
            kernels[one.name].append(_kernel(one, min(calls, 20)))
    median = statistics.median
    return {
        one.name: Timing(
            kernel_us=round(median(pair[0] for pair in kernels[one.name]), 2),
            kernels=median(pair[1] for pair in kernels[one.name]),
            queued_us=round(median(pair[0] for pair in queued[one.name]), 2),
            call_us=round(median(calls_us[one.name]), 2),
            host_us=round(median(pair[1] for pair in queued[one.name]), 2),
        )
        for one in contenders
    }
