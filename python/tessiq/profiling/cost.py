"""What a profile costs: the same call with and without, in turn. A tool's cost is inside what it measures."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from tessiq import _C
from tessiq.profiling.profile import Profile
from tessiq.profiling.run import undisturbed


@dataclass(frozen=True)
class Cost:
    """Medians by the host's clock, over ``rounds`` calls each way.

    Attributes:
        plain_us: the call without a profile.
        profiled_us: the call with one.
        regions: what the profile recorded of a call.
        rounds: calls each way.
    """

    plain_us: float
    profiled_us: float
    regions: int
    rounds: int

    @property
    def region_us(self) -> float:
        """What one region adds. Below the noise of the two medians it says nothing, and may be negative."""
        return (self.profiled_us - self.plain_us) / self.regions

    def __str__(self) -> str:
        return (
            f"{self.plain_us:.1f} us without a profile, {self.profiled_us:.1f} us with one "
            f"({self.regions} regions, {self.region_us:.2f} us each); host clock, medians of {self.rounds} calls"
        )


def profile_cost(
    compiled: Callable[..., object], *inputs: object, device_time: bool = False, rounds: int = 200
) -> Cost:
    """Runs a compiled call with a profile and without, in turn.

    Args:
        compiled: what ``torch.compile(model, backend="tessiq")`` gave.
        inputs: its positional arguments.
        device_time: of the profile.
        rounds: calls each way.

    Raises:
        ValueError: no compiled call ran, so there is nothing to compare.
    """
    if rounds < 1:
        raise ValueError(f"rounds={rounds}: at least one call each way is needed")
    with undisturbed(compiled), torch.no_grad():
        for _ in range(3):
            compiled(*inputs)
        plain: list[float] = []
        profiled: list[float] = []
        regions = 0
        for _ in range(rounds):
            with _timed(plain):
                compiled(*inputs)
            with Profile(device_time=device_time, nvtx=False) as p, _timed(profiled):
                compiled(*inputs)
            regions = len(p.regions)
    if not regions:
        raise ValueError('no compiled call ran: pass what torch.compile(model, backend="tessiq") gave')
    return Cost(statistics.median(plain), statistics.median(profiled), regions, rounds)


@contextmanager
def _timed(times: list[float]) -> Iterator[None]:
    """Adds the block's time; the device is idle at its begin, so no call waits for the one before."""
    _C.synchronize(_C.current_device())
    start = time.perf_counter_ns()
    yield
    times.append((time.perf_counter_ns() - start) / 1000)
