"""What two reports differ in, and that equal compiles differ in nothing."""

from dataclasses import replace

import torch
from explained_models import Chain, Sandwich

import tessiq


def test_same_model_twice_is_no_difference() -> None:
    model, x = Chain(), torch.randn(8, 8)
    comparison = tessiq.explain(model, x).diff(tessiq.explain(model, x))
    assert not comparison
    assert str(comparison) == "no difference but in times"


def test_interpreting_shows_in_totals_fates_and_kernels() -> None:
    model, x = Chain(), torch.randn(8, 8)
    with torch.no_grad():
        comparison = tessiq.explain(model, x).diff(tessiq.explain(model, x, options={"interpret": True}))
    totals = {one.what: (one.before, one.after) for one in comparison.totals}
    assert totals["claimed"] == ("5 of 5", "0 of 5")
    assert totals["kernels"] == ("2", "0")
    assert "operations" not in totals
    fates = {one.what: one.after for one in comparison.operations}
    assert fates["graph 0 (inference) %mm aten.mm.default"] == "PyTorch on the host [no-library]"
    assert {one.after for one in comparison.kernels} == {""}
    assert "  claimed" in str(comparison)


def test_other_model_lists_what_only_one_has() -> None:
    x = torch.randn(8, 8)
    with torch.no_grad():
        comparison = tessiq.explain(Chain(), x).diff(tessiq.explain(Sandwich(), x))
    assert any(one.before == "" for one in comparison.operations)
    assert any(one.after == "" for one in comparison.operations)


def test_times_are_no_difference() -> None:
    report = tessiq.explain(Chain(), torch.randn(8, 8))
    assert not report.diff(replace(report, first_call_seconds=99.0))
