"""What a profile costs: the same call with and without, in turn. A tool's cost is inside what it measures."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from tessiq import _C
from tessiq.profiling.profile import Profile
from tessiq.profiling.run import undisturbed

_CALLS_A_ROUND = 10


@dataclass(frozen=True)
class Cost:
    """Medians by the host's clock, over ``calls`` calls each way.

    Attributes:
        plain_us: the call without a profile.
        profiled_us: the call with one.
        regions: what the profile recorded of a call.
        calls: how many each way.
    """

    plain_us: float
    profiled_us: float
    regions: int
    calls: int

    @property
    def region_us(self) -> float:
        """What one region adds. Below the noise of the two medians it says nothing, and may be negative."""
        return (self.profiled_us - self.plain_us) / self.regions

    def __str__(self) -> str:
        return (
            f"{self.plain_us:.1f} us without a profile, {self.profiled_us:.1f} us with one "
            f"({self.regions} regions, {self.region_us:.2f} us each); host clock, medians of {self.calls} calls"
        )


def profile_cost(compiled: Callable[..., object], *inputs: object, device_time: bool = False, rounds: int = 50) -> Cost:
    """Runs a compiled call with a profile and without, in turn: ten calls each way a round.

    Args:
        compiled: what ``torch.compile(model, backend="tessiq")`` gave.
        inputs: its positional arguments.
        device_time: of the profile.
        rounds: of ten calls each way.

    Raises:
        ValueError: no compiled call ran, so there is nothing to compare.
    """
    if rounds < 1:
        raise ValueError(f"rounds={rounds}: at least one is needed")

    def call() -> None:
        compiled(*inputs)

    with undisturbed(compiled), torch.no_grad():
        call()
        call()
        with Profile(device_time=device_time, nvtx=False) as p:
            call()
        if not p.calls:
            raise ValueError('no compiled call ran: pass what torch.compile(model, backend="tessiq") gave')
        devices = sorted({int(one.device.partition(":")[2]) for one in p.calls})
        plain: list[float] = []
        profiled: list[float] = []
        for _ in range(rounds):
            _time(plain, devices, call)
            with Profile(device_time=device_time, nvtx=False):
                _time(profiled, devices, call)
    return Cost(statistics.median(plain), statistics.median(profiled), len(p.regions), len(plain))


def _time(times: list[float], devices: Sequence[int], call: Callable[[], object]) -> None:
    """Adds the times of a few calls. The first is not timed: it pays for what stood between, in caches most of all."""
    call()
    for _ in range(_CALLS_A_ROUND):
        # With the device idle, no call waits for the one before.
        for device in devices:
            _C.synchronize(device)
        start = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - start) / 1000)
