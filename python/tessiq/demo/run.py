"""Runs the whole demonstration and says whether every error stayed within its bound."""

import sys
import time

import torch

import tessiq
from tessiq import _C
from tessiq.demo import inference, training
from tessiq.demo.data import load_digits
from tessiq.demo.models import Chain, cases
from tessiq.demo.setting import settings
from tessiq.demo.table import markdown


class Progress:
    """Lines to standard error with the seconds since the start, so that no step is silent."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, text: str) -> None:
        """Print one line."""
        print(f"[{time.monotonic() - self._started:5.1f} s] {text}", file=sys.stderr, flush=True)


def run(command: str) -> int:
    """Every part, then the table.

    Returns:
        An exit status: 0 where every error is within its bound, else 1.
    """
    progress = Progress()
    note = _C.discovery_note()
    progress(f"{tessiq.device_count() - 1} GPUs" + (f" ({note})" if note else ""))
    _print_recipe(progress)
    results = []
    for case in cases():
        for setting in settings():
            progress(f"{case.name}: {setting.label}")
            results += inference.compare(case, setting)
    digits = load_digits()
    notes = []
    for setting in settings():
        progress(f"training on {digits.source}: {setting.label}")
        result, said = training.compare(setting, digits, progress)
        results.append(result)
        notes.append(f"{setting.label}: {said}")
    print(markdown(results, command))
    print("\n".join(["", *notes]))
    failed = [one for one in results if not one.ok]
    for one in failed:
        progress(f"FAILED {one.model}, {one.setting}, {one.shape}: error {one.error:.3e}, bound {one.bound:.0e}")
    progress(f"{len(results) - len(failed)} of {len(results)} comparisons within their bounds")
    return 1 if failed else 0


def _print_recipe(progress: Progress) -> None:
    device = tessiq.gpu if tessiq.device_count() > 1 else tessiq.cpu
    progress(f"how tanh(sigmoid(relu(a + w)) @ w) compiles for {device}")
    torch.manual_seed(1)
    with torch.no_grad():
        report = tessiq.explain(Chain(64), torch.randn(64, 64), options={"device": device})
    print(report)
