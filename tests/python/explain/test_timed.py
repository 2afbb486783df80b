"""Times find the kernel and graph they are of, say their clock, and those of another model are refused."""

from dataclasses import dataclass

import pytest
import torch
from explained_models import Chain

import tessiq
from tessiq.explain.report import Report


@dataclass(frozen=True)
class Row:
    name: str
    graph: str
    back_to_back_us: float
    kernel_execution_us: float | None = None


@pytest.fixture(scope="module")
def report() -> Report:
    torch._dynamo.reset()
    return tessiq.explain(Chain(), torch.randn(8, 8), backward=True)


def test_times_stand_beside_the_kernels_they_are_of(report: Report) -> None:
    forward, backward = (graph.kernels[0].name for graph in report.graphs)
    timed = report.with_times([Row(backward, "backward 1", 5.0), Row(forward, "forward 0", 9.0, 3.0)])
    first, second = (graph.kernels[0].time for graph in timed.graphs)
    assert first is not None
    assert second is not None
    assert (first.microseconds, first.clock) == (3.0, "kernel execution")
    assert (second.microseconds, second.clock) == (5.0, "back-to-back")
    assert timed.graphs[0].kernels[1].time is None
    assert "back-to-back" in timed.text()
    assert '<td class="dim">kernel execution</td>' in timed.html()
    assert "times were not measured" not in timed.html()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Row("nothing", "forward 0", 1.0), "the forward graph has no kernel %nothing"),
        (Row("nothing", "inference 0", 1.0), "the report has no graph inference 0"),
    ],
)
def test_times_of_another_model_are_refused(report: Report, row: Row, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        report.with_times([row])
