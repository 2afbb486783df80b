"""What the terminal shows, word for word. TESSIQ_UPDATE_GOLDENS=1 rewrites the file; look at the difference."""

import io
import os
import re
from pathlib import Path

import pytest
import torch
from explained_models import Sandwich
from rich.console import Console

import tessiq
from tessiq.explain.report import Report
from tessiq.explain.terminal import show

GOLDEN = Path(__file__).with_name("terminal.golden.txt")

# What differs between two runs on one machine, or between machines; their columns stay as wide as they are.
_MEASURED = re.compile(
    r"\d[\d.e+-]*(?= (us|ms|s|GB/s|GFLOP/s)\b)"  # times and rates
    r"|(?<=tessiq )\d\S*(?=,)|(?<=PyTorch )\d\S+"  # versions
)
_BAR = re.compile(r" *#+ *$", re.MULTILINE)


class Smoothing(torch.nn.Module):
    """Two loops around an operation that is not claimed, with a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(4))
        self.inner = Sandwich()

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return self.inner(a * self.scale)


def drawn(report: Report, width: int) -> str:
    out = io.StringIO()
    show(report, source=False, console=Console(file=out, width=width, color_system=None, legacy_windows=False))
    return out.getvalue()


def stable(text: str) -> str:
    """The report without what was measured: numbers become N, bars of time go, and so do the spaces that align them."""
    head, title, times = text.partition("time of the first call")
    times = _BAR.sub("", times)
    masked = _MEASURED.sub("N", head + title + times)
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line.rstrip()) for line in masked.splitlines()) + "\n"


@pytest.fixture
def report(fresh_compiles: None) -> Report:
    with torch.no_grad():
        return tessiq.explain(Smoothing(), torch.randn(16, 4), options={"device": tessiq.cpu})


def test_terminal_shows_what_the_golden_file_says(report: Report) -> None:
    shown = stable(drawn(report, 240))
    if os.environ.get("TESSIQ_UPDATE_GOLDENS") == "1":
        GOLDEN.write_text(shown)
    assert shown == GOLDEN.read_text()


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(report: Report, width: int) -> None:
    assert max(map(len, drawn(report, width).splitlines())) <= width
