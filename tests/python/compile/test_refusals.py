"""Refusals: a bad option is an error that names the remedy, a graph that cannot be held runs as it is."""

import logging

import pytest
import torch
from ways import Way

import tessiq
from tessiq.compile.graph import Observer
from tessiq.compile.options import parse_options


def first_call(**arguments: object) -> None:
    torch.compile(lambda x: x + 1, backend="tessiq", **arguments)(torch.ones(2))


def test_unknown_option_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Exception, match="unknown option 'devise'; did you mean 'device'"):
        first_call(options={"devise": tessiq.cpu})


def test_unknown_option_unlike_any_is_refused_with_all_names() -> None:
    with pytest.raises(
        ValueError, match="unknown option 'zebra': the options are 'device', 'placement', 'interpret', 'rewrites'"
    ):
        parse_options(None, {"zebra": 1})


def test_unknown_mode_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="unknown mode 'reduce-overheads'; did you mean 'reduce-overhead'"):
        parse_options("reduce-overheads", None)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
def test_known_modes_compile(mode: str) -> None:
    first_call(mode=mode)


def test_device_that_does_not_exist_is_refused_with_how_many_there_are() -> None:
    found = tessiq.device_count()
    with pytest.raises(Exception, match=f"there is no device tessiq:{found}, tessiq found {found}"):
        first_call(options={"device": torch.device("tessiq", found)})


@pytest.mark.parametrize("value", ["cpu", "tesiq:0", 3.5, None, "meta"])
def test_device_of_another_kind_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="option 'device' is a tessiq device"):
        parse_options(None, {"device": value})


@pytest.mark.parametrize("value", [1, "yes", None])
def test_interpret_that_is_no_truth_value_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="option 'interpret' is True or False"):
        parse_options(None, {"interpret": value})


@pytest.mark.parametrize("value", ["weihged", True, None])
def test_placement_that_does_not_exist_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="option 'placement' is 'weighed' or 'claimed', not"):
        parse_options(None, {"placement": value})


def test_misspelled_placement_is_told_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'weighed'"):
        parse_options(None, {"placement": "weihged"})


def test_options_written_down_give_the_same_options() -> None:
    chosen = parse_options(None, {"device": tessiq.cpu, "placement": "claimed", "interpret": True})
    assert parse_options(None, chosen.as_given()) == chosen


def test_device_without_an_index_is_the_reference_device() -> None:
    assert parse_options(None, {"device": "tessiq"}).device == tessiq.cpu
    assert parse_options(None, None).device == tessiq.cpu


def uncompiled(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "runs uncompiled" in record.getMessage()]


def test_complex_graph_runs_uncompiled_and_says_why_once(
    way: Way, seen: Observer, caplog: pytest.LogCaptureFixture
) -> None:
    compiled = way.compile(lambda x, y: (x * y).sum())
    x, y = torch.randn(4, dtype=torch.complex64), torch.randn(4, dtype=torch.complex64)
    with caplog.at_level(logging.WARNING, logger="tessiq.compile"):
        for _ in range(2):
            torch.testing.assert_close(compiled(x.to(way.home), y.to(way.home)).cpu(), (x * y).sum())
    assert not seen.graphs
    (line,) = uncompiled(caplog)
    assert "element type torch.complex64" in line
    assert [reason for _, reason in seen.uncompiled] == [line.partition("uncompiled: ")[2]]


def test_graph_with_a_complex_middle_agrees(way: Way, caplog: pytest.LogCaptureFixture) -> None:
    way.check(lambda x: torch.fft.fft(x).abs() + 1, torch.randn(8))


def test_representable_graph_after_an_unrepresentable_one_is_compiled(way: Way, seen: Observer) -> None:
    way.compile(lambda x: x * 2)(torch.ones(3, dtype=torch.complex64, device=way.home))
    way.check(lambda x: x * 3, torch.ones(3))
    assert len(seen.graphs) == 1


def test_sparse_tensor_is_no_crash(seen: Observer) -> None:
    matrix = torch.eye(3).to_sparse()
    compiled = torch.compile(lambda m, x: torch.sparse.mm(m, x) * 2, backend="tessiq")
    torch.testing.assert_close(compiled(matrix, torch.ones(3, 2)), torch.full((3, 2), 2.0))


@pytest.mark.parametrize("exponent", [-1, -2])
def test_integer_to_a_negative_power_is_refused_as_pytorch_refuses_it(way: Way, exponent: int) -> None:
    with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
        way.compile(lambda x: x**exponent)(torch.tensor([1, 2], device=way.home))


def test_float_to_a_negative_power_is_computed(way: Way, seen: Observer) -> None:
    way.check(lambda x: (x**-1, x**-2), torch.tensor([1.5, -2.0, 0.25]))
    assert {fate["fate"] for fate in seen.graphs[0].compiled.fates()} <= {"fused", "launched"}


@pytest.mark.gpu
def test_tensors_on_two_devices_run_uncompiled(seen: Observer, caplog: pytest.LogCaptureFixture) -> None:
    compiled = torch.compile(lambda x, y: (x * 2, y * 3), backend="tessiq")
    with caplog.at_level(logging.WARNING, logger="tessiq.compile"):
        first, second = compiled(torch.ones(2, device="tessiq:0"), torch.ones(2, device="tessiq:1"))
    assert (first.tolist(), second.tolist()) == ([2, 2], [3, 3])
    assert "several devices" in uncompiled(caplog)[0]
