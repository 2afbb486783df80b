"""Which claimed operations go to the device where tensors are on the host, and what a report says of the others."""

import pytest
import torch

import tessiq
from tessiq.explain.records import Operation


def _between(x: torch.Tensor) -> torch.Tensor:
    """One small operation between two that run on the host."""
    return torch.cummax(torch.relu(torch.cummax(x, 0).values), 0).values


def _product_between(x: torch.Tensor) -> torch.Tensor:
    y = torch.cummax(x, 0).values
    return torch.cummax(y @ y, 0).values


def _operation(report: tessiq.Report, op: str) -> Operation:
    return next(one for one in report.operations if one.op == op)


def _explain(work: object, x: torch.Tensor, device: torch.device, placement: str) -> tessiq.Report:
    return tessiq.explain(work, x, options={"device": device, "placement": placement})


def test_what_is_not_worth_its_copies_stays_on_the_host(device: torch.device) -> None:
    """On the reference device everything is placed."""
    report = _explain(_between, torch.randn(256), device, "weighed")
    relu = _operation(report, "aten.relu.default")
    on_gpu = device.index > 0
    assert relu.left_on_host == on_gpu
    assert relu.reason_id == ("not-worth-crossing" if on_gpu else "")
    assert relu.fate == ("dispatched on host" if on_gpu else "launched")
    assert (report.later_call.to_device, report.later_call.to_host) == ((0, 0) if on_gpu else (1, 1))
    # Claimed all the same, so no reason is missing a kernel.
    assert (report.totals.claimed, report.totals.left_on_host) == (1, int(on_gpu))
    assert {op for op, _ in report.unclaimed()} == {"aten.cummax.default"}


def test_everything_claimed_is_placed_where_asked(device: torch.device) -> None:
    report = _explain(_between, torch.randn(256), device, "claimed")
    assert _operation(report, "aten.relu.default").fate == "launched"
    assert (report.totals.claimed, report.totals.left_on_host) == (1, 0)


def test_work_that_is_worth_its_copies_is_placed(device: torch.device) -> None:
    report = _explain(_product_between, torch.randn(1024, 1024), device, "weighed")
    assert _operation(report, "aten.mm.default").fate == "library"


@pytest.mark.parametrize("placement", ["weighed", "claimed"])
@pytest.mark.parametrize("size", [64, 1024])
def test_results_are_the_same(device: torch.device, placement: str, size: int) -> None:
    x = torch.randn(size, size) / size
    for work in (_between, _product_between):
        compiled = torch.compile(work, backend="tessiq", options={"device": device, "placement": placement})
        torch.testing.assert_close(compiled(x), work(x))
