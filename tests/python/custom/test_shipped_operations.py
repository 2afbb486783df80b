"""The operations that tessiq ships, against PyTorch's own words for what they compute; by kernel on a GPU."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
import torch.nn.functional as F
from libraries import Counted

OPS = torch.ops.tessiq
HALF = (torch.float16, torch.bfloat16)
DTYPES = (torch.float32, *HALF)
HELD = [(4, 64), (9, 504), (3, 1024), (3, 2048), (2, 3, 4096), (3, 8192), (2, 16384), (2, 32768)]
# In shared memory, beside another block and alone, then read twice, with rows that start at no multiple of 16 bytes.
WALKED = [(3, 40000), (2, 57336), (3, 5025), (3, 120001), (2, 1 << 18), (5, 7), (6, 1)]
SHAPES = [*HELD, *WALKED, (0, 8), (3, 0)]


@pytest.fixture
def by_kernel(device: torch.device, counted: Counted) -> Callable[..., AbstractContextManager[None]]:
    """Asserts of one call inside it that the kernel served it on a GPU, and the reference elsewhere."""

    def within(name: str, calls: int = 1) -> AbstractContextManager[None]:
        on_gpu = device.index != 0
        return counted(name, kernel_calls=calls * on_gpu, fallbacks=calls * (not on_gpu))

    return within


ByKernel = Callable[..., AbstractContextManager[None]]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_softmax(device: torch.device, by_kernel: ByKernel, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = (torch.randn(shape) * 4).to(dtype)
    with by_kernel("softmax"):
        found = torch.softmax(x.to(device), -1)
    torch.testing.assert_close(found.cpu(), torch.softmax(x.double(), -1).to(dtype))


@pytest.mark.parametrize("columns", [5, 64, 4096, 40000, 300000])
def test_softmax_of_what_is_no_number(device: torch.device, columns: int) -> None:
    infinity = float("inf")
    x = torch.randn(5, columns)
    x[0, 1], x[1, 1], x[2, 1], x[3] = infinity, -infinity, float("nan"), -infinity
    torch.testing.assert_close(torch.softmax(x.to(device), -1).cpu(), torch.softmax(x, -1), equal_nan=True)


def test_softmax_over_another_axis_is_pytorchs(device: torch.device, counted: Counted) -> None:
    x = torch.randn(4, 6)
    with counted("softmax", kernel_calls=0, fallbacks=1):
        found = torch.softmax(x.to(device), 0)
    torch.testing.assert_close(found.cpu(), torch.softmax(x, 0))


def test_softmax_in_float64_is_pytorchs(device: torch.device, counted: Counted) -> None:
    x = torch.randn(4, 6).double()
    with counted("softmax", kernel_calls=0, fallbacks=1):
        found = torch.softmax(x.to(device), -1)
    torch.testing.assert_close(found.cpu(), torch.softmax(x, -1))


def test_training_through_softmax(device: torch.device) -> None:
    x, weights = torch.randn(5, 33), torch.randn(5, 33)
    wanted, found = x.clone().requires_grad_(), x.to(device).requires_grad_()
    (torch.softmax(wanted, -1) * weights).sum().backward()
    (torch.softmax(found, -1) * weights.to(device)).sum().backward()
    torch.testing.assert_close(found.grad.cpu(), wanted.grad)


def test_softmax_that_is_called_by_its_own_name_trains(device: torch.device) -> None:
    x = torch.randn(5, 33)
    wanted, found = x.clone().requires_grad_(), x.to(device).requires_grad_()
    torch.softmax(wanted, -1).square().sum().backward()
    OPS.softmax(found, -1, False).square().sum().backward()
    torch.testing.assert_close(found.grad.cpu(), wanted.grad)


def test_compiled_graphs_have_softmax_in_pieces(device: torch.device, fresh_compiles: None, counted: Counted) -> None:
    x = torch.randn(5, 33)
    with counted("softmax", kernel_calls=0, fallbacks=0):
        found = torch.compile(lambda x: torch.softmax(x * 2, -1), backend="tessiq")(x.to(device))
    torch.testing.assert_close(found.cpu(), torch.softmax(x * 2, -1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rms_norm(device: torch.device, by_kernel: ByKernel, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x, weight = torch.randn(shape).to(dtype), torch.randn(shape[-1]).to(dtype)
    with by_kernel("rms_norm"):
        found = OPS.rms_norm(x.to(device), weight.to(device), 1e-5)
    wanted = F.rms_norm(x.double(), (shape[-1],), weight.double(), 1e-5).to(dtype)
    torch.testing.assert_close(found.cpu(), wanted)


def _cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows = logits.float() if logits.dtype in HALF else logits
    losses = F.cross_entropy(rows.flatten(0, -2), target.flatten(), reduction="none")
    return losses.view(target.shape), rows.logsumexp(-1)


def _classes(shape: tuple[int, ...]) -> torch.Tensor:
    target = torch.randint(0, shape[-1], shape[:-1])
    target.view(-1)[::3] = -100
    return target


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(4, 64), (2, 3, 1024), (3, 50257), (5, 7), (6, 1), (0, 8)], ids=str)
def test_cross_entropy(device: torch.device, by_kernel: ByKernel, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    logits, target = (torch.randn(shape) * 4).to(dtype), _classes(shape)
    wanted = logits.clone().requires_grad_()
    losses, log_sum_exp = _cross_entropy(wanted, target)
    (losses.sum() + 0.1 * log_sum_exp.sum()).backward()
    found = logits.to(device).requires_grad_()
    with by_kernel("cross_entropy"):
        our_losses, our_log_sum_exp = OPS.cross_entropy(found, target.to(device))
    with by_kernel("cross_entropy_backward"):
        (our_losses.sum() + 0.1 * our_log_sum_exp.sum()).backward()
    torch.testing.assert_close(our_losses.cpu(), losses)
    torch.testing.assert_close(our_log_sum_exp.cpu(), log_sum_exp)
    torch.testing.assert_close(found.grad.cpu(), wanted.grad)


def test_cross_entropy_of_an_ignored_row_has_no_gradient_whatever_is_in_it(device: torch.device) -> None:
    logits = torch.randn(2, 9)
    logits[0, 3] = float("nan")
    found = logits.to(device).requires_grad_()
    losses, _ = OPS.cross_entropy(found, torch.tensor([7, 2], device=device), 7)
    losses.sum().backward()
    assert losses[0].item() == 0
    assert found.grad[0].count_nonzero().item() == 0
    assert found.grad[1].isfinite().all()


@pytest.mark.parametrize("columns", [9, 4096])
def test_cross_entropy_of_an_infinite_logit_is_pytorchs(device: torch.device, columns: int) -> None:
    infinity = float("inf")
    logits, target = torch.randn(4, columns), torch.tensor([1, 2, 1, 2])
    logits[0, 1], logits[1, 1], logits[2, 1], logits[3] = infinity, infinity, -infinity, -infinity
    losses, _ = OPS.cross_entropy(logits.to(device), target.to(device))
    torch.testing.assert_close(losses.cpu(), F.cross_entropy(logits, target, reduction="none"), equal_nan=True)


def test_cross_entropy_of_targets_of_another_shape_is_declined(device: torch.device, counted: Counted) -> None:
    with counted("cross_entropy", kernel_calls=0, fallbacks=1):
        losses, _ = OPS.cross_entropy(torch.randn(4, 9, device=device), torch.zeros(1, dtype=torch.long, device=device))
    assert losses.shape == (4,)


@pytest.mark.gpu
def test_cross_entropy_of_a_class_that_does_not_exist_is_not_a_number(device: torch.device) -> None:
    if device.index == 0:
        pytest.skip("the reference raises, as PyTorch does on the CPU")
    losses, _ = OPS.cross_entropy(torch.randn(2, 9, device=device), torch.tensor([9, -1], device=device))
    assert losses.isnan().all()


def test_cross_entropy_raises_on_the_host_for_a_class_that_does_not_exist() -> None:
    with pytest.raises(RuntimeError, match="out of bounds"):
        OPS.cross_entropy(torch.randn(2, 9), torch.tensor([9, 0]))


def _angles(positions: int, half: int) -> tuple[torch.Tensor, torch.Tensor]:
    rates = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.outer(torch.arange(positions, dtype=torch.float64), rates)
    return angles.cos().float(), angles.sin().float()


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, axis: int, *, interleaved: bool) -> torch.Tensor:
    """By complex numbers, which no part of the operation uses."""
    wide = x.double()
    half = x.shape[-1] // 2
    pairs = wide.unflatten(-1, (half, 2)) if interleaved else torch.stack((wide[..., :half], wide[..., half:]), -1)
    angles = torch.complex(cos.double(), sin.double())
    if axis == -3:
        angles = angles.unsqueeze(1)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * angles)
    flat = turned.flatten(-2) if interleaved else torch.cat((turned[..., 0], turned[..., 1]), -1)
    return flat.to(x.dtype)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((2, 4, 33, 64), -2),
        ((2, 33, 4, 64), -3),
        ((5, 6), -2),
        ((3, 128, 128), -2),
        ((2, 1, 4, 64), -3),
        ((2, 0, 8), -2),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rotary_embedding(
    device: torch.device, by_kernel: ByKernel, shape: tuple[int, ...], axis: int, dtype: torch.dtype, interleaved: bool
) -> None:
    x, gradient = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
    cos, sin = _angles(shape[axis], shape[-1] // 2)
    found = x.to(device).requires_grad_()
    with by_kernel("rotary_embedding"):
        result = OPS.rotary_embedding(found, cos.to(device), sin.to(device), axis, interleaved)
    torch.testing.assert_close(result.detach().cpu(), _turned(x, cos, sin, axis, interleaved=interleaved))
    with by_kernel("rotary_embedding"):
        result.backward(gradient.to(device))
    torch.testing.assert_close(found.grad.cpu(), _turned(gradient, cos, -sin, axis, interleaved=interleaved))


def test_rotary_embedding_of_an_odd_width_says_so(device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="last axis of x has 7 elements: give it an even number"):
        OPS.rotary_embedding(torch.randn(2, 7, device=device), *(one.to(device) for one in _angles(2, 3)))


def test_rotary_embedding_along_the_last_axis_says_so(device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="sequence_dim is -1, and x has 2 axes: name one before the last"):
        OPS.rotary_embedding(torch.randn(2, 8, device=device), *(one.to(device) for one in _angles(2, 4)), -1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_swiglu(device: torch.device, dtype: torch.dtype) -> None:
    gate, up = torch.randn(8, 32).to(dtype), torch.randn(8, 32).to(dtype)
    found = OPS.swiglu(gate.to(device), up.to(device))
    wanted = (F.silu(gate.double()) * up.double()).to(dtype)
    # The reference of half types rounds after each step.
    tolerance = {torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(dtype, 1e-5)
    torch.testing.assert_close(found.cpu(), wanted, atol=tolerance, rtol=tolerance)


def _double(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("interleaved", [False, True])
def test_gradients_of_rotary_embedding_agree_with_finite_differences(interleaved: bool) -> None:
    def turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        return OPS.rotary_embedding(x, cos, sin, -3, interleaved)

    assert torch.autograd.gradcheck(turn, (_double(2, 3, 2, 4), _double(3, 2), _double(3, 2)))


def test_gradients_agree_with_finite_differences() -> None:
    target = torch.tensor([1, -100, 3])
    assert torch.autograd.gradcheck(OPS.swiglu, (_double(3, 5), _double(3, 5)))
    assert torch.autograd.gradcheck(lambda x: OPS.softmax(x, -1, False), (_double(3, 5),))
    assert torch.autograd.gradcheck(lambda x: OPS.cross_entropy(x, target), (_double(3, 5),))
