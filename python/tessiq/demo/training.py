"""Trains a network twice from the same seed, compiled and eager, step by step in turn, and compares each parameter."""

import statistics
import time
from collections.abc import Callable

import torch
from torch import nn

from tessiq.demo.data import Digits
from tessiq.demo.inference import Result
from tessiq.demo.models import DigitsNet
from tessiq.demo.setting import Setting
from tessiq.explain.capture import recording

ERROR_BOUND = 1e-4
"""Largest difference of a parameter after training, relative to that parameter's largest element."""

STEPS = 200
"""Two trainings in float32 part by jumps, not by drift. From this seed the first is at step 251, where eager's own
gradients in float32 and float64 differ by 0.3 %, as they do when rounding decides whether an activation is zero."""

BATCH = 64


class Side:
    """One of the two trainings."""

    def __init__(self, home: torch.device, wait: Callable[[], None]) -> None:
        torch.manual_seed(5)
        self.model = DigitsNet().to(home)
        self.call: Callable[[torch.Tensor], torch.Tensor] = self.model
        self._optimiser = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self._home = home
        self._wait = wait
        self.milliseconds: list[float] = []

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> None:
        """One step of the optimiser on one batch."""
        images, labels = images.to(self._home), labels.to(self._home)
        self._wait()
        started = time.perf_counter()
        self._optimiser.zero_grad()
        nn.functional.cross_entropy(self.call(images), labels).backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self._wait()
        self.milliseconds.append((time.perf_counter() - started) * 1000)

    def accuracy(self, digits: Digits) -> float:
        """Share of the images whose digit it names."""
        with torch.no_grad():
            guesses = self.model(digits.images.to(self._home)).argmax(1).cpu()
        return float((guesses == digits.labels).double().mean())


def largest_relative_difference(actual: nn.Module, expected: nn.Module) -> float:
    """Over all parameters, the largest difference relative to the parameter's largest element."""
    worst = 0.0
    for one, other in zip(actual.parameters(), expected.parameters(), strict=True):
        here, there = one.detach().cpu().double(), other.detach().cpu().double()
        difference = float(((here - there).abs().max()) / there.abs().max())
        worst = difference if difference != difference else max(worst, difference)
    return worst


def compare(setting: Setting, digits: Digits, progress: Callable[[str], None]) -> tuple[Result, str]:
    """Trains both sides. The eager side is PyTorch on the CPU, for the error as for the time."""
    torch._dynamo.reset()
    eager = Side(torch.device("cpu"), lambda: None)
    ours = Side(setting.home, setting.wait)
    ours.call = setting.compile(ours.model)
    order = torch.Generator().manual_seed(9)
    with recording() as recorder:
        for step in range(STEPS):
            picked = torch.randint(len(digits.labels), (BATCH,), generator=order)
            for side in (eager, ours):
                side.step(digits.images[picked], digits.labels[picked])
            if step == 0:
                recorder.end_first_call()
            if step == 1:
                report = recorder.report()
            if (step + 1) % 100 == 0:
                progress(f"step {step + 1} of {STEPS}")
    result = Result(
        model=f"digits, {STEPS} training steps",
        setting=setting.label,
        shape=f"{BATCH}x1x8x8",
        error=largest_relative_difference(ours.model, eager.model),
        bound=ERROR_BOUND,
        report=report,
        eager_milliseconds=statistics.median(eager.milliseconds),
        compiled_milliseconds=statistics.median(ours.milliseconds),
    )
    note = f"accuracy on {digits.source}: compiled {ours.accuracy(digits):.4f}, eager {eager.accuracy(digits):.4f}"
    return result, note
