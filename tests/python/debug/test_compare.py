"""``tessiq.compare``: silent over right kernels, and names the operation whose kernel is wrong."""

import pytest
import torch
from faults import RAISES, WRONG_TANH, Gated, Plant

import tessiq
from tessiq.debug.rounding import errors


def test_rounding_explains_a_right_model_forward_and_backward() -> None:
    comparison = tessiq.compare(Gated(), torch.randn(8, 16), backward=True)
    assert comparison.ok, str(comparison)
    assert [graph.direction for graph in comparison.graphs] == ["forward", "backward"]
    assert all(len(graph.nodes) > 10 for graph in comparison.graphs)
    assert "rounding explains the error" in str(comparison)


def test_first_wrong_operation_is_named_with_its_line(plant: Plant) -> None:
    plant(WRONG_TANH)
    comparison = tessiq.compare(Gated(), torch.randn(8, 16))
    assert not comparison.ok
    first = comparison.first
    assert first is not None
    assert (first.node, first.op) == ("tanh", "aten.tanh.default")
    assert first.location.startswith("faults.py:")
    assert first.error == pytest.approx(1e-3, rel=0.05)
    assert first.own_error == pytest.approx(1e-3, rel=0.05)
    assert "first beyond rounding is %tanh = aten.tanh.default (faults.py:" in str(comparison)


def test_what_follows_a_wrong_value_is_not_at_fault(plant: Plant) -> None:
    plant(WRONG_TANH)
    (graph,) = tessiq.compare(Gated(), torch.randn(8, 16)).graphs
    assert [one.node for one in graph.nodes if one.beyond] == ["tanh"]
    (after,) = [one for one in graph.nodes if one.op == "aten.mul.Tensor" and one.error > one.allowed]
    assert after.own_error <= after.allowed


def test_fault_of_a_kernel_that_keeps_no_intermediate_is_found(plant: Plant) -> None:
    # Wrong only in sources that never store the value: a kernel with one result.
    plant("H;$!d;x;/out1/!s/__builtin_tanhf\\(x\\)/(__builtin_tanhf(x) * 1.01f)/")
    comparison = tessiq.compare(lambda x: torch.relu(torch.tanh(x) - 0.25), torch.linspace(-1, 1, 64))
    first = comparison.first
    assert first is not None, str(comparison)
    assert (first.op, first.alone) == ("aten.tanh.default", True)
    assert "where the graph computes nothing else" in str(comparison)


def test_model_that_does_not_compile_says_so(plant: Plant) -> None:
    plant(RAISES)
    comparison = tessiq.compare(lambda x: torch.tanh(x) * 2, torch.ones(4))
    assert not comparison.ok
    assert comparison.first is None
    assert "planted" in str(comparison)
    assert "tessiq.reduce cuts the graph" in str(comparison)


def test_random_values_are_taken_from_the_compiled_run() -> None:
    comparison = tessiq.compare(lambda x: torch.nn.functional.dropout(x, 0.5, True) * 2, torch.randn(64))
    assert comparison.ok, str(comparison)
    assert any(graph.unjudged for graph in comparison.graphs)
    assert "not judged, random" in str(comparison)


def test_half_precision_and_masks_are_held_against_float64() -> None:
    x = torch.randn(32, 32, dtype=torch.bfloat16)
    comparison = tessiq.compare(lambda x: torch.where(x > 0.1, torch.softmax(x, -1), torch.tanh(x)).sum(-1), x)
    assert comparison.ok, str(comparison)


def test_model_on_the_device_or_compiled_for_it(device: torch.device) -> None:
    for place, options in ((device, {}), (torch.device("cpu"), {"device": device})):
        comparison = tessiq.compare(Gated().to(place), torch.randn(8, 16).to(place), options=options, backward=True)
        assert comparison.ok, str(comparison)
        assert [len(graph.nodes) > 10 for graph in comparison.graphs] == [True, True]


def test_tensor_that_repeats_its_memory_is_compared() -> None:
    x = torch.randn(1, 8).expand(4, 8)
    comparison = tessiq.compare(lambda x: torch.tanh(x) * 2, x[:, 2:])
    assert comparison.ok, str(comparison)
    assert len(comparison.graphs[0].nodes) == 2


def test_gradients_buffers_and_random_states_stay_as_they_were() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.5))
    buffers = [one.clone() for one in model.buffers()]
    x, state = torch.randn(8, 16), torch.get_rng_state()
    tessiq.compare(model, x, backward=True)
    assert all(one.grad is None for one in model.parameters())
    assert all(torch.equal(one, before) for one, before in zip(model.buffers(), buffers, strict=True))
    assert torch.equal(torch.get_rng_state(), state)


def test_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'interpret'"):
        tessiq.compare(torch.relu, torch.ones(2), options={"interprt": True})


def test_error_beyond_twice_eagers_is_beyond_and_within_it_is_not() -> None:
    exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
    eager = torch.tensor([1.0, 2.001])
    assert not errors(torch.tensor([1.0, 2.0019]), eager, exact, from_floats=True).beyond
    assert errors(torch.tensor([1.0, 2.0021]), eager, exact, from_floats=True).beyond


def test_nan_and_infinity_where_there_is_a_number_are_beyond() -> None:
    exact = torch.tensor([1.0, float("inf"), float("nan")], dtype=torch.float64)
    right = exact.float()
    assert errors(right, right, exact, from_floats=True).ours == 0
    for position, wrong in ((0, float("nan")), (1, 3.0), (2, 3.0), (1, -float("inf"))):
        ours = right.clone()
        ours[position] = wrong
        assert errors(ours, right, exact, from_floats=True).beyond


def test_other_type_or_shape_is_beyond() -> None:
    one = torch.ones(2)
    assert errors(one.double(), one, one.double(), from_floats=True).beyond
    assert errors(one[:1], one, one.double(), from_floats=True).beyond


def test_integer_that_differs_is_beyond_unless_it_follows_from_floats() -> None:
    exact = torch.zeros(4000, dtype=torch.int64)
    ours = exact.clone()
    ours[7] = 1
    assert errors(ours, exact, exact, from_floats=False).beyond
    assert not errors(ours, exact, exact, from_floats=True).beyond
