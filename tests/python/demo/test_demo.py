"""The demonstration: what makes a comparison fail, and what its table says."""

import pytest
import torch

import tessiq
from tessiq.demo import inference, training
from tessiq.demo.models import Case, Chain, DigitsNet
from tessiq.demo.setting import Setting, settings
from tessiq.demo.table import markdown


def chain_case() -> Case:
    return Case("chain", lambda: Chain(16), (torch.randn(16, 16),))


def test_comparison_within_its_bound_is_ok_and_stands_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "ROUNDS", 2)
    results = [one for setting in settings() for one in inference.compare(chain_case(), setting)]
    assert all(one.ok for one in results)
    table = markdown(results, "a test")
    assert table.count("| chain |") == len(results)
    assert "everything claimed" in table


def test_comparison_over_its_bound_fails_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "ROUNDS", 1)
    monkeypatch.setattr(inference, "ERROR_BOUND", -1.0)
    (result,) = inference.compare(chain_case(), settings()[0])
    assert not result.ok
    assert "(over -1e+00)" in markdown([result], "a test")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_error_that_is_no_number_fails(value: float) -> None:
    wrong = torch.tensor([1.0, value])
    assert not inference.largest_difference(wrong, torch.ones(2)) <= inference.ERROR_BOUND


def test_other_shape_or_type_is_an_infinite_error() -> None:
    assert inference.largest_difference(torch.ones(2), torch.ones(1, 2)) == float("inf")
    assert inference.largest_difference(torch.ones(2), torch.ones(2).double()) == float("inf")


def test_relative_difference_sees_one_wrong_parameter_and_nan() -> None:
    one, other = DigitsNet(), DigitsNet()
    other.load_state_dict(one.state_dict())
    assert training.largest_relative_difference(one, other) == 0
    with torch.no_grad():
        other.out.bias[3] += 1
        assert training.largest_relative_difference(one, other) > 0.5
        one.first.bias[0] = float("nan")
    assert not training.largest_relative_difference(one, other) <= 1


def test_setting_names_where_tensors_are() -> None:
    assert Setting(tessiq.cpu, on_device=False).label == "reference, tensors on the host"
    assert Setting(tessiq.cpu, on_device=True).home == tessiq.cpu
