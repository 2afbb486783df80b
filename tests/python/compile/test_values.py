"""Inputs chosen to break things: types that mix, values that are not numbers, extents of one and of zero."""

import pytest
import torch
import torch.nn.functional as F
from ways import Way

from tessiq.compile.graph import Observer

NAN, INF = float("nan"), float("inf")
ODD = torch.tensor([NAN, INF, -INF, -0.0, 0.0, 1.5, -2.0, 3e38, 1e-45])


def test_bool_mask_times_float(way: Way) -> None:
    way.check(lambda m, x: m * x + m, torch.rand(5, 7) > 0.5, torch.randn(5, 7))


def test_integer_times_float_and_integer_division_promote_as_pytorch_does(way: Way) -> None:
    way.check(lambda i, x: (i * x, i / 3, i // 2, i % 3), torch.arange(-6, 6), torch.randn(12))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8, torch.bool])
def test_sum_of_integers_widens(way: Way, dtype: torch.dtype) -> None:
    way.check(lambda x: x.sum(0), torch.ones(300, 2, dtype=dtype), exact=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_types_are_no_further_from_the_truth_than_twice_eager(way: Way, dtype: torch.dtype) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * y - 0.5) + y

    inputs = torch.randn(6, 9).to(dtype), torch.randn(9).to(dtype)
    truth = function(*(one.double() for one in inputs))
    actual = way.compile(function)(*way.send(inputs)).cpu()
    assert actual.dtype == dtype
    eagers_error = (function(*inputs).double() - truth).abs().max()
    assert (actual.double() - truth).abs().max() <= 2 * eagers_error


def test_double_precision_agrees(way: Way) -> None:
    way.check(lambda x, y: torch.relu(x * y - 0.5) + y, torch.randn(6, 9).double(), torch.randn(9).double())


def test_cast_to_a_narrow_type_rounds_in_the_middle_of_a_loop(way: Way) -> None:
    way.check(lambda x: (x.to(torch.bfloat16).to(torch.float32) - x) * 1024, torch.randn(64), exact=True)


def test_cast_to_integer_truncates(way: Way) -> None:
    way.check(
        lambda x: x.to(torch.int32) * 2 + (x > 0).to(torch.int64), torch.tensor([-1.7, -0.2, 0.2, 1.7]), exact=True
    )


def test_alpha_of_add_and_sub_is_kept(way: Way) -> None:
    way.check(lambda x, y: torch.add(x, y, alpha=3) * torch.sub(x, y, alpha=-0.5), torch.randn(8), torch.randn(8))


def test_alpha_and_beta_of_addmm_are_kept(way: Way) -> None:
    way.check(
        lambda c, a, b: torch.addmm(c, a, b, alpha=0.25, beta=-2), torch.randn(5), torch.randn(4, 3), torch.randn(3, 5)
    )


def test_addmm_with_beta_zero_ignores_nan_in_the_addend(way: Way) -> None:
    way.check(
        lambda c, a, b: torch.addmm(c, a, b, beta=0), torch.full((4, 5), NAN), torch.randn(4, 3), torch.randn(3, 5)
    )


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_approximation_of_gelu_is_kept(way: Way, approximate: str) -> None:
    way.check(lambda x: F.gelu(x, approximate=approximate), torch.linspace(-4, 4, 50))


def test_slope_threshold_and_bounds_are_kept(way: Way) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            F.leaky_relu(x, 0.3),
            F.elu(x, 1.7),
            F.hardtanh(x, -0.2, 0.6),
            F.softplus(x, 2, 1),
            F.threshold(x, 0.1, 7),
        )

    way.check(function, torch.linspace(-3, 3, 41))


def test_constant_on_the_left(way: Way) -> None:
    way.check(lambda x: (1 - x, 2 / x, 2**x, torch.rsub(x, 3, alpha=2)), torch.rand(9) + 0.5)


def test_operand_on_the_left_of_its_own_result(way: Way) -> None:
    way.check(lambda x, y: (x - y) - x, torch.randn(6), torch.randn(6))


def test_arithmetic_on_values_that_are_not_numbers(way: Way) -> None:
    way.check(lambda x: (x + 1, x * 0, x - x, -x, x / 2, x.abs()), ODD, exact=True)


def test_relu_maximum_and_clamp_pass_nan_on(way: Way) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.relu(x), torch.maximum(x, y), torch.minimum(y, x), x.clamp(-1, 1), x.clamp(min=0), x.clamp(max=0)

    way.check(function, ODD, ODD.flip(0))


def test_comparisons_with_nan_are_false_but_not_equal(way: Way) -> None:
    way.check(lambda x, y: (x < y, x >= y, x == x, x != x, x.isnan()), ODD, ODD.flip(0), exact=True)


def test_where_does_not_leak_the_side_not_taken(way: Way) -> None:
    way.check(lambda x: torch.where(x > 0, x.sqrt(), torch.zeros_like(x)), ODD, exact=True)


def test_sign_of_zero_survives(way: Way) -> None:
    result = way.check(lambda x: (x * 1.0, torch.neg(-x), x.clone()), torch.tensor([-0.0, 0.0]), exact=True)
    for one in result:
        assert torch.signbit(one.cpu()).tolist() == [True, False]


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (0, 4)])
def test_empty_tensors(way: Way, shape: tuple[int, ...]) -> None:
    way.check(lambda x: (torch.relu(x) * 2 + 1, x.sum(), x.sum(0)), torch.randn(shape))


def test_matrix_multiply_over_no_elements_is_zero(way: Way) -> None:
    way.check(lambda a, b: (a @ b) + 1, torch.randn(3, 0), torch.randn(0, 4), exact=True)


def test_scalars_of_no_dimensions(way: Way) -> None:
    way.check(lambda x, y: (x * 2 + y, x.sum(), y.exp()), torch.tensor(1.5), torch.tensor(-0.5))


def test_zero_dimensional_integer_does_not_promote_a_float(way: Way) -> None:
    way.check(lambda x, n: x * n, torch.randn(4, dtype=torch.float16), torch.tensor(3), exact=True)


@pytest.mark.parametrize(
    ("one", "other"), [((4, 1), (1, 5)), ((1,), (3, 2)), ((2, 1, 3), (4, 1)), ((1, 1), (1, 1)), ((3, 1, 2), (3, 4, 1))]
)
def test_extents_of_one_broadcast(way: Way, one: tuple[int, ...], other: tuple[int, ...]) -> None:
    way.check(lambda x, y: torch.tanh(x + y) * x, torch.randn(one), torch.randn(other))


def test_extent_that_becomes_one_broadcasts(way: Way) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + y) * y

    compiled = way.compile(function)
    for rows in (4, 6, 1, 3):
        x, y = torch.randn(rows, 5), torch.randn(1, 5)
        torch.testing.assert_close(compiled(x.to(way.home), y.to(way.home)).cpu(), function(x, y))


def test_two_sizes_that_were_equal_may_come_apart(way: Way) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(x).sum(0), torch.relu(y) * x.shape[0]

    compiled = way.compile(function)
    for first, second in ((4, 4), (5, 5), (6, 3), (2, 7)):
        x, y = torch.randn(first, 3), torch.randn(second, 3)
        actual = compiled(x.to(way.home), y.to(way.home))
        for one, other in zip(actual, function(x, y), strict=True):
            torch.testing.assert_close(one.cpu(), other)


def test_variance_far_from_zero_keeps_its_digits(way: Way) -> None:
    way.check(lambda x: (x.var(1), torch.var_mean(x, 0, correction=0)), torch.randn(6, 50) + 10_000)


def test_variance_of_one_element_is_nan(way: Way) -> None:
    way.check(lambda x: x.var(1), torch.randn(3, 1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_products_of_every_floating_type(way: Way, seen: Observer, dtype: torch.dtype) -> None:
    def function(x: torch.Tensor, w: torch.Tensor, row: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        batched = torch.bmm(y, y.transpose(1, 2))
        return (
            x @ w,
            torch.addmm(row, x, w),
            torch.addmm(x @ w, x, w, beta=0.5, alpha=2),
            torch.baddbmm(batched, y, y.transpose(1, 2), beta=0.5),
            w.t() @ x.t(),
        )

    inputs = [torch.randn(size).to(dtype) for size in ((24, 40), (40, 33), (33,), (5, 7, 9))]
    truth = function(*(one.double() for one in inputs))
    eager = function(*inputs)
    actual = way.compile(function)(*way.send(inputs))
    for ours, theirs, exact in zip(actual, eager, truth, strict=True):
        assert ours.dtype == dtype
        error, eagers = ((one.cpu().double() - exact).abs().max() for one in (ours, theirs))
        # The truth of float64 is eager's own: another order of its sums is allowed their rounding.
        rounding = (8 if dtype == torch.float64 else 1) * torch.finfo(dtype).eps
        assert error <= 2 * eagers + rounding * exact.abs().max()
    (call,) = seen.graphs
    products = [fate["fate"] for fate in call.compiled.fates() if "mm" in fate["op"]]
    assert set(products) == {"library"}, products


def test_tf32_follows_pytorchs_switch(way: Way) -> None:
    x, w = torch.randn(256, 512), torch.randn(512, 256)
    compiled, (x_there, w_there) = way.compile(torch.mm), way.send((x, w))
    exact = x.double() @ w.double()
    errors = {}
    for precision in ("highest", "high", "highest"):
        torch.set_float32_matmul_precision(precision)
        try:
            errors[precision] = (compiled(x_there, w_there).cpu().double() - exact).abs().max().item()
        finally:
            torch.set_float32_matmul_precision("highest")
    assert errors["highest"] < 1e-3
    if way.device.index and torch.cuda.get_device_capability() >= (8, 0):
        assert errors["high"] > 4 * errors["highest"]
