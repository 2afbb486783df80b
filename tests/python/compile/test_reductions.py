"""Reductions: every kind, over every place of the axes, joined with the loops before and after them.

Each answer is compared with eager's on the CPU, and the counters say that kernels of ours gave it.
"""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from ways import Way, fates, same

from tessiq.compile.graph import Observer

NAN, INF = float("nan"), float("inf")
Function = Callable[..., object]

KINDS: dict[str, Function] = {
    "sum": lambda x, dim, keep: torch.sum(x, dim, keepdim=keep),
    "mean": lambda x, dim, keep: torch.mean(x, dim, keepdim=keep),
    "amax": lambda x, dim, keep: torch.amax(x, dim, keepdim=keep),
    "amin": lambda x, dim, keep: torch.amin(x, dim, keepdim=keep),
    "any": lambda x, dim, keep: torch.any(x > 1, dim, keepdim=keep),
    "all": lambda x, dim, keep: torch.all(x > -1, dim, keepdim=keep),
    "var": lambda x, dim, keep: torch.var(x, dim, keepdim=keep),
    "std": lambda x, dim, keep: torch.std(x, dim, keepdim=keep),
    "logsumexp": lambda x, dim, keep: torch.logsumexp(x, dim, keepdim=keep),
    "norm": lambda x, dim, keep: torch.linalg.vector_norm(x, dim=dim, keepdim=keep),
}
AXES = [(0,), (1,), (2,), (-1,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]


def claimed_all(seen: Observer, computes: set[str] | None = None) -> None:
    """Nothing of a graph but views went through PyTorch."""
    for call in seen.graphs:
        left = {op for op, fate in fates(call).items() if fate.startswith("dispatched")}
        assert not left - (computes or set()), left


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_over_every_axis(way: Way, seen: Observer, kind: str) -> None:
    def function(x: torch.Tensor) -> tuple[object, ...]:
        return tuple(KINDS[kind](x, axes, keep) for axes in AXES for keep in (False, True))

    x = torch.randn(5, 33, 12)
    same(way.compile(function)(*way.send((x,))), function(x))
    claimed_all(seen)


@pytest.mark.parametrize("kind", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 1, 2])
def test_first_extreme_wins_and_nan_is_extreme(way: Way, seen: Observer, kind: str, dim: int | None) -> None:
    x = torch.randint(-3, 3, (6, 50, 4)).float()
    x[2, 7, 1] = NAN
    x[2, 9, 1] = NAN
    way.check(lambda x: getattr(torch, kind)(x, dim), x, exact=True)
    way.check(lambda x: getattr(torch, kind)(x, dim, keepdim=True), x, exact=True)
    claimed_all(seen)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_integers(way: Way, seen: Observer, dtype: torch.dtype) -> None:
    x = torch.randint(0, 100, (7, 130)).to(dtype)
    way.check(lambda x: (x.sum(1), x.sum(0), x.amax(1), x.amin(0), x.argmax(1), x.prod(1), x.sum()), x, exact=True)
    claimed_all(seen)


def test_booleans(way: Way, seen: Observer) -> None:
    x = torch.rand(9, 40) > 0.3
    way.check(lambda x: (x.sum(1), x.any(0), x.all(1), x.any(), x.all(), x.amax(1)), x, exact=True)
    claimed_all(seen)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_types_accumulate_in_float32(way: Way, seen: Observer, dtype: torch.dtype) -> None:
    x = (torch.randn(4, 3000) + 0.5).to(dtype)
    compiled = way.compile(lambda x: (x.sum(1), x.mean(0), torch.softmax(x, 1)))
    for actual, exact in zip(
        compiled(*way.send((x,))), (x.double().sum(1), x.double().mean(0), torch.softmax(x.double(), 1)), strict=True
    ):
        assert actual.dtype == dtype
        # No more than the rounding of the result.
        torch.testing.assert_close(actual.cpu(), exact.to(dtype), rtol=torch.finfo(dtype).eps, atol=1e-6)
    claimed_all(seen)


def test_double_precision(way: Way, seen: Observer) -> None:
    x = torch.randn(11, 700, dtype=torch.float64)
    way.check(lambda x: (x.sum(1), x.mean(0), torch.softmax(x, 1), x.var(1)), x)
    claimed_all(seen)


def test_values_that_are_no_numbers(way: Way) -> None:
    x = torch.tensor([[1, NAN, 2], [INF, -INF, 0], [INF, 1, 2], [-INF, -INF, -INF], [-0.0, 0.0, -0.0]])
    way.check(lambda x: (x.sum(1), x.amax(1), x.amin(1), x.mean(1), torch.softmax(x, 1), x.argmax(1)), x)


def test_no_elements_and_one_element(way: Way) -> None:
    way.check(lambda x: (x.sum(1), x.mean(1), x.sum(), (x > 0).any(1), (x > 0).all(1)), torch.empty(3, 0))
    way.check(lambda x: (x.sum(1), x.amax(1), x.sum(0)), torch.empty(0, 3))
    way.check(lambda x: (x.sum(), x.mean(), x.amax(), x.argmax()), torch.tensor(2.5))
    way.check(lambda x: (x.sum(1), x.sum(0, keepdim=True), x.mean((0, 1)), x.amax(1)), torch.randn(1, 1))
    way.check(lambda x: (x.sum(1) + 1, x.amax(1, keepdim=True) * x), torch.randn(5, 1))


@pytest.mark.parametrize("length", [1, 7, 32, 100, 1000, 1024, 1025, 4096, 10000, 16384, 32768, 50257])
def test_softmax_of_every_length_of_row_is_one_kernel(way: Way, seen: Observer, length: int) -> None:
    x = torch.randn(33, length) * 3
    compiled = way.compile(lambda x: torch.softmax(x, -1))
    same(compiled(*way.send((x,))), torch.softmax(x, -1))
    (call,) = seen.graphs
    # A row of one element is no row to walk: two reductions that copy, and the loop after them.
    assert call.compiled.counters()["launches"] == (1 if length > 1 else 3)
    claimed_all(seen)


def test_layer_norm_is_one_kernel(way: Way, seen: Observer) -> None:
    x, w, b = torch.randn(6, 20, 768) + 3, torch.randn(768), torch.randn(768)
    compiled = way.compile(lambda x, w, b: F.layer_norm(x, (768,), w, b))
    same(compiled(*way.send((x, w, b))), F.layer_norm(x, (768,), w, b))
    (call,) = seen.graphs
    assert call.compiled.counters()["launches"] == 1
    claimed_all(seen)


def test_rms_norm_with_a_residual_before_and_a_product_after(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + y
        return F.rms_norm(total, (512,), w) * 2, total

    inputs = torch.randn(8, 512), torch.randn(8, 512), torch.randn(512)
    same(way.compile(function)(*way.send(inputs)), function(*inputs))
    (call,) = seen.graphs
    assert call.compiled.counters()["launches"] == 1


def test_loops_before_and_after_a_sum_of_columns(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        product = x * y
        return torch.sqrt(product.sum(0).abs() + 1), product

    inputs = torch.randn(65, 40), torch.randn(65, 40)
    same(way.compile(function)(*way.send(inputs)), function(*inputs))
    (call,) = seen.graphs
    assert call.compiled.counters()["launches"] == 1


def test_reader_between_two_members_waits_for_neither(way: Way) -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shifted = x - x.amax(1, keepdim=True)
        product = shifted @ w
        return shifted.exp() / shifted.exp().sum(1, keepdim=True), product.sum(1) + product.amax(1)

    way.check(function, torch.randn(12, 16), torch.randn(16, 9))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)])
def test_layouts_are_read_in_place(way: Way, seen: Observer, order: tuple[int, int, int]) -> None:
    x = torch.randn(6, 10, 17).permute(order)
    way.check(lambda x: (x.sum(0), x.sum(2), x.sum((0, 2)), torch.softmax(x, 1), x.argmax(1)), x)
    claimed_all(seen)


def test_channels_last_batch_norm_in_training(way: Way) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return F.batch_norm(x, None, None, training=True)

    way.check(function, (torch.randn(4, 6, 8, 8) + 2).contiguous(memory_format=torch.channels_last))


def test_sizes_that_change_share_one_graph(way: Way, seen: Observer) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.softmax(x, -1), x.mean(0), x.sum((0, 1)), F.layer_norm(x, x.shape[-1:])

    compiled = way.compile(function)
    for shape in [(4, 100), (5, 100), (6, 301), (7, 1024), (2, 5000), (3, 20000), (1, 40001)]:
        x = torch.randn(shape)
        same(compiled(*way.send((x,))), function(x))
    assert len(seen.graphs) <= 4
    claimed_all(seen)


@pytest.mark.parametrize("loss", ["cross_entropy", "mse", "smooth_l1"])
def test_losses_and_their_gradients(way: Way, loss: str) -> None:
    x = torch.randn(24, 100)
    target = torch.randint(0, 100, (24,)) if loss == "cross_entropy" else torch.randn(24, 100)
    function = {"cross_entropy": F.cross_entropy, "mse": F.mse_loss, "smooth_l1": F.smooth_l1_loss}[loss]
    mine, theirs = way.send(x.clone()).requires_grad_(), x.clone().requires_grad_()
    value, expected = way.compile(function)(mine, way.send(target)), function(theirs, target)
    value.backward()
    expected.backward()
    same((value, mine.grad), (expected, theirs.grad))


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm", "softmax", "log_softmax"])
def test_gradients_of_normalisations(way: Way, norm: str) -> None:
    x, w, dy = torch.randn(40, 256) + 1, torch.randn(256), torch.randn(40, 256)

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        if norm == "layer_norm":
            return F.layer_norm(x, (256,), w, w)
        if norm == "rms_norm":
            return F.rms_norm(x, (256,), w)
        return getattr(F, norm)(x * w, -1)

    leaves = [way.send(one.clone()).requires_grad_() for one in (x, w)]
    expected = [one.clone().requires_grad_() for one in (x, w)]
    way.compile(function)(*leaves).backward(way.send(dy))
    function(*expected).backward(dy)
    for mine, theirs in zip(leaves, expected, strict=True):
        torch.testing.assert_close(mine.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [torch.max, torch.min])
def test_extremes_come_with_their_places(way: Way, seen: Observer, kind: Function) -> None:
    x = torch.randint(0, 9, (14, 30)).float()
    x[3, 4] = NAN
    way.check(lambda x: (*kind(x, 1), *kind(x, 0, keepdim=True)), x, exact=True)
    claimed_all(seen)


@pytest.mark.parametrize("order", [0, 1, 2, 3, INF, -INF])
def test_every_order_of_norm(way: Way, seen: Observer, order: float) -> None:
    way.check(lambda x: torch.linalg.vector_norm(x, order, 1), torch.randn(6, 50))
    claimed_all(seen)


def test_sum_of_many_is_as_exact_as_eagers(way: Way) -> None:
    x = torch.rand(1 << 20) + 0.5
    exact = x.double().sum()
    total = way.compile(lambda x: x.sum())(*way.send((x,)))
    assert (total.cpu().double() - exact).abs() <= 2 * max((x.sum().double() - exact).abs(), 0.5)
