"""Calls of custom operations: by kernel on a GPU, by reference everywhere else, and counted."""

import pytest
import torch
import torch.nn.functional as F
from libraries import Counted

import tessiq
from tessiq.operations import operations

OPS = torch.ops.tessiq


def is_gpu(device: torch.device) -> bool:
    return device.index != 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(4, 64), (3, 5, 1000), (1, 1), (0, 8), (2, 0), (7, 33)], ids=str)
def test_rms_norm_gives_what_its_reference_gives(
    device: torch.device, dtype: torch.dtype, shape: tuple[int, ...], counted: Counted
) -> None:
    x, weight = torch.randn(shape).to(dtype), torch.randn(shape[-1]).to(dtype)
    with counted("rms_norm", kernel_calls=int(is_gpu(device)), fallbacks=int(not is_gpu(device))):
        found = OPS.rms_norm(x.to(device), weight.to(device), 1e-5)
    torch.testing.assert_close(found.cpu(), OPS.rms_norm(x, weight, 1e-5))
    assert found.device == device


def test_the_reference_of_rms_norm_is_pytorchs(device: torch.device) -> None:
    x, weight = torch.randn(4, 32), torch.randn(32)
    torch.testing.assert_close(OPS.rms_norm(x, weight), F.rms_norm(x, (32,), weight, 1e-6))


def test_an_undeclared_element_type_runs_the_reference(device: torch.device, counted: Counted) -> None:
    x, weight = torch.randn(4, 32, dtype=torch.float64), torch.randn(32, dtype=torch.float64)
    with counted("rms_norm", kernel_calls=0, fallbacks=1):
        found = OPS.rms_norm(x.to(device), weight.to(device))
    torch.testing.assert_close(found.cpu(), OPS.rms_norm(x, weight))


def test_a_declined_launch_runs_the_reference(device: torch.device, counted: Counted) -> None:
    x, weight = torch.randn(4, 32), torch.randn(1)
    with counted("rms_norm", kernel_calls=0, fallbacks=1):
        found = OPS.rms_norm(x.to(device), weight.to(device))
    torch.testing.assert_close(found.cpu(), OPS.rms_norm(x, weight))


def test_arguments_that_are_not_packed_are_packed(device: torch.device, counted: Counted) -> None:
    x, weight = torch.randn(32, 6).t(), torch.randn(64)[::2]
    with counted("rms_norm", kernel_calls=int(is_gpu(device)), fallbacks=int(not is_gpu(device))):
        found = OPS.rms_norm(x.to(device), weight.to(device))
    torch.testing.assert_close(found.cpu(), OPS.rms_norm(x, weight))
    assert found.is_contiguous()


def test_host_and_meta_tensors_are_not_counted(counted: Counted) -> None:
    with counted("rms_norm", kernel_calls=0, fallbacks=0):
        OPS.rms_norm(torch.randn(2, 4), torch.randn(4))
        shaped = OPS.rms_norm(torch.empty(8, 4, device="meta"), torch.empty(4, device="meta"))
    assert shaped.shape == (8, 4)
    assert shaped.device.type == "meta"


def test_the_gradient_of_rms_norm_is_that_of_its_reference(device: torch.device) -> None:
    x, weight = torch.randn(4, 32), torch.randn(32)
    wanted = [one.clone().requires_grad_() for one in (x, weight)]
    F.rms_norm(wanted[0], (32,), wanted[1], 1e-6).square().sum().backward()
    found = [one.to(device).detach().requires_grad_() for one in (x, weight)]
    OPS.rms_norm(*found).square().sum().backward()
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.grad.cpu(), other.grad)


def test_gradients_agree_with_finite_differences(good_operations: None) -> None:
    def double(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    assert torch.autograd.gradcheck(lambda x, w: OPS.rms_norm(x, w, 1e-3), (double(3, 5), double(5)))
    assert torch.autograd.gradcheck(OPS.fast_gelu, (double(3, 5),))
    assert torch.autograd.gradcheck(lambda x, s: OPS.scale_shift(x, s, 3.0), (double(3, 5), double(3, 5)))
    assert torch.autograd.gradcheck(OPS.scale_shift, (double(3, 5),))


def test_an_operation_without_a_backward_says_so(good_operations: None, device: torch.device) -> None:
    values, _ = OPS.top_two(torch.randn(3, 5, device=device, requires_grad=True))
    with pytest.raises(RuntimeError, match="derivative for tessiq::top_two is not implemented"):
        values.sum().backward()


@pytest.mark.parametrize("shift", [True, False])
def test_optional_arguments_and_defaults(
    good_operations: None, device: torch.device, counted: Counted, shift: bool
) -> None:
    x = torch.randn(300)
    other = torch.randn(300) if shift else None
    with counted("scale_shift", kernel_calls=int(is_gpu(device)), fallbacks=int(not is_gpu(device))):
        found = OPS.scale_shift(x.to(device), other.to(device) if other is not None else None)
    torch.testing.assert_close(found.cpu(), x * 2 + (0 if other is None else other))


def test_several_results_of_different_types(good_operations: None, device: torch.device, counted: Counted) -> None:
    x = torch.randn(200, 7)
    with counted("top_two", kernel_calls=int(is_gpu(device)), fallbacks=int(not is_gpu(device))):
        values, places = OPS.top_two(x.to(device))
    wanted = torch.topk(x, 2)
    torch.testing.assert_close(values.cpu(), wanted.values)
    torch.testing.assert_close(places.cpu(), wanted.indices)


def test_an_argument_that_is_written_is_the_result(
    good_operations: None, device: torch.device, counted: Counted
) -> None:
    x, other = torch.randn(300), torch.randn(300)
    ours = x.to(device)
    version = ours._version
    with counted("add_in_place", kernel_calls=int(is_gpu(device)), fallbacks=int(not is_gpu(device))):
        found = OPS.add_in_place(ours, other.to(device))
    assert found is ours
    assert ours._version > version
    torch.testing.assert_close(ours.cpu(), x + other)


def test_a_written_argument_that_is_not_packed_is_written_where_it_lies(
    good_operations: None, device: torch.device, counted: Counted
) -> None:
    whole = torch.zeros(6, 4, device=device)
    with counted("add_in_place", kernel_calls=0, fallbacks=1):
        OPS.add_in_place(whole.t(), torch.ones(4, 6, device=device))
    torch.testing.assert_close(whole.cpu(), torch.ones(6, 4))


def test_tensors_of_two_devices_are_refused(device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="same device"):
        OPS.rms_norm(torch.randn(2, 4, device=device), torch.randn(4))


def test_a_replaced_operator_reaches_the_kernel(good_operations: None, device: torch.device, counted: Counted) -> None:
    x = torch.randn(5, 33)
    with counted("replaced_log_softmax", kernel_calls=int(is_gpu(device)), fallbacks=int(not is_gpu(device))):
        found = torch.log_softmax(x.to(device), -1)
    torch.testing.assert_close(found.cpu(), torch.log_softmax(x, -1))
    with counted("replaced_log_softmax", kernel_calls=0, fallbacks=1):
        found = F.log_softmax(x.double().to(device), -1)
    torch.testing.assert_close(found.cpu(), torch.log_softmax(x.double(), -1))


def test_a_replaced_operator_keeps_pytorchs_backward(good_operations: None, device: torch.device) -> None:
    x = torch.randn(5, 33)
    wanted, found = x.clone().requires_grad_(), x.to(device).requires_grad_()
    torch.log_softmax(wanted, -1)[:, 3].sum().backward()
    torch.log_softmax(found, -1)[:, 3].sum().backward()
    torch.testing.assert_close(found.grad.cpu(), wanted.grad)


def test_every_kernel_compiles(good_operations: None) -> None:
    compiled = tessiq.check_operations()
    declared = [
        f"{name} {element}"
        for name, operation in operations().items()
        if operation.kind == "kernel"
        for element in operation.element_types
    ]
    assert sorted(compiled) == sorted(declared)
    assert "rms_norm bf16" in compiled
