"""Compares compiled inference with PyTorch: error against the CPU, and time beside eager in the same run."""

import copy
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from tessiq.demo.models import Case
from tessiq.demo.setting import Setting
from tessiq.explain import Report
from tessiq.explain.capture import recording

ERROR_BOUND = 1e-5
"""Largest absolute difference from PyTorch on the CPU; both sides compute in float32."""

ROUNDS = 15


@dataclass(frozen=True)
class Result:
    """One row: a model at one input size in one setting. Times are medians of calls, in milliseconds."""

    model: str
    setting: str
    shape: str
    error: float
    bound: float
    report: Report
    eager_milliseconds: float
    compiled_milliseconds: float

    @property
    def ok(self) -> bool:
        """A NaN is no small error."""
        return self.error <= self.bound


def compare(case: Case, setting: Setting) -> list[Result]:
    """Compiles the model for its first input, then calls it with the others."""
    # PyTorch remembers which sizes of a code have changed; without this, only the first setting would compile for one.
    torch._dynamo.reset()
    torch.manual_seed(3)
    model = case.build().eval()
    at_home = copy.deepcopy(model).to(setting.home)
    compiled = setting.compile(at_home)
    results: list[Result] = []
    for x in case.inputs:
        moved = x.to(setting.home)
        with torch.no_grad(), recording() as recorder:
            expected = model(x)
            actual = compiled(moved).cpu()
            recorder.end_first_call()
            again = compiled(moved).cpu()
            report = recorder.report()
            eager, fast = alternate(partial(at_home, moved), partial(compiled, moved), setting.wait)
        error = max(largest_difference(actual, expected), largest_difference(again, expected))
        shape = "x".join(map(str, x.shape))
        results.append(Result(case.name, setting.label, shape, error, ERROR_BOUND, report, eager, fast))
    return results


def largest_difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest absolute difference. NaN where either side has one, infinity where shape or type differ."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return float("inf")
    return float((actual.double() - expected.double()).abs().max())


def alternate(
    first: Callable[[], object], second: Callable[[], object], wait: Callable[[], None]
) -> tuple[float, float]:
    """Median milliseconds of a call of each, in turn, so that both see the same machine. Clock: time.perf_counter."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for call, taken in zip((first, second), times, strict=True):
            wait()
            started = time.perf_counter()
            call()
            wait()
            taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[0]), statistics.median(times[1])
