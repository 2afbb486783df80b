"""Operators without a kernel of ours: results, aliasing, and what is refused."""

import pytest
import torch
from torch.testing import assert_close

import tessiq

library = torch.library.Library("tessiq_test", "DEF")
library.define("window(Tensor(a) self) -> Tensor(a)")
library.impl("window", lambda self: self[1:], "CPU")
library.define("nowhere(Tensor self) -> Tensor")
library.define("twice(Tensor self, *, Tensor? plus=None) -> Tensor")
library.impl("twice", lambda self, plus=None: self * 2 if plus is None else self * 2 + plus, "CPU")


def test_out_that_is_a_view_is_written_through_its_strides(device, fallback):
    buffer = torch.full((4, 6), -1.0, device=device)
    torch.add(torch.arange(6.0, device=device), 1.0, out=buffer[1])
    torch.mul(torch.arange(4.0, device=device), 10.0, out=buffer[:, 2])
    torch.neg(torch.ones(2, 3, device=device), out=buffer[2:, 3:])
    want = torch.full((4, 6), -1.0)
    want[1] = torch.arange(6.0) + 1
    want[:, 2] = torch.arange(4.0) * 10
    assert_close(buffer.cpu(), want)


def test_out_of_another_shape_is_resized_and_returned(device, fallback):
    out = torch.empty(0, device=device)
    a = torch.arange(6.0).reshape(2, 3)
    result = torch.mm(a.to(device), a.t().to(device), out=out)
    assert result is out
    assert_close(out.cpu(), a @ a.t())


def test_resized_out_is_seen_by_every_tensor_of_its_storage(device, fallback):
    out = torch.empty(0, device=device)
    other = out.detach()
    torch.cat([torch.ones(3, device=device), torch.zeros(2, device=device)], out=out)
    assert other.untyped_storage().data_ptr() == out.untyped_storage().data_ptr()
    assert other.untyped_storage().nbytes() >= 20


def test_in_place_through_a_transposed_view_changes_the_base(device, fallback):
    base = torch.arange(12.0).reshape(3, 4)
    d = base.to(device)
    d.t().addcdiv_(torch.ones(4, 3, device=device), torch.full((4, 3), 2.0, device=device), value=3.0)
    assert_close(d.cpu(), base + 1.5)


def test_in_place_returns_the_callers_own_tensor(device, fallback):
    x = torch.full((3,), 0.5, device=device)
    assert x.erfinv_() is x
    assert x.lgamma_() is x


def test_overlapping_arguments_are_refused_as_on_the_cpu(device, fallback):
    x = torch.arange(5.0, device=device)
    with pytest.raises(RuntimeError, match=r"memory overlap|single memory location"):
        torch.add(x[1:], 1.0, out=x[:-1])


def test_write_to_memory_that_overlaps_itself_is_refused(device, fallback):
    x = torch.zeros(1, device=device).expand(4)
    with pytest.raises(RuntimeError, match="single memory location"):
        x.add_(1.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        x.copy_(torch.arange(4.0))


def test_host_scalar_tensor_may_stand_beside_device_tensors(device, fallback):
    x = torch.arange(3.0, device=device)
    assert_close((x * torch.tensor(2.0)).cpu(), torch.tensor([0.0, 2.0, 4.0]))
    assert_close(torch.lerp(x, x + 1, torch.tensor(0.5)).cpu(), torch.tensor([0.5, 1.5, 2.5]))


def test_host_tensor_beside_device_tensor_is_refused_by_name(device, fallback):
    x = torch.arange(3.0, device=device)
    with pytest.raises(RuntimeError, match=rf"same device.*{device}.*cpu"):
        x + torch.arange(3.0)
    with pytest.raises(RuntimeError, match=r"same device.*tessiq"):
        torch.searchsorted(x, torch.arange(3.0))


def test_host_indices_are_allowed_where_pytorch_allows_them(device, fallback):
    x = torch.arange(12.0).reshape(3, 4)
    d = x.to(device)
    assert_close(d[torch.tensor([2, 0])].cpu(), x[[2, 0]])
    assert_close(d[None, [0, 1], :, None][:, :, torch.tensor([1])].cpu(), x[None, [0, 1], :, None][:, :, [1]])


def test_optional_tensor_list_with_holes(device, fallback):
    x = torch.arange(24.0).reshape(2, 3, 4)
    d = x.to(device)
    rows, columns = torch.tensor([0, 1]), torch.tensor([1, 3])
    got = torch.ops.aten.index.Tensor(d, [rows.to(device), None, columns.to(device)])
    assert_close(got.cpu(), torch.ops.aten.index.Tensor(x, [rows, None, columns]))
    d.index_put_((rows.to(device),), torch.tensor(-1.0, device=device), accumulate=False)
    x.index_put_((rows,), torch.tensor(-1.0))
    assert_close(d.cpu(), x)


def test_operator_with_list_results(device, fallback):
    x = torch.arange(10.0)
    got = torch.ops.aten.histogramdd(x.to(device).reshape(5, 2), [2, 2])
    want = torch.ops.aten.histogramdd(x.reshape(5, 2), [2, 2])
    assert_close(got[0].cpu(), want[0])
    assert all(edge.device == device for edge in got[1])


def test_list_of_tensors_written_in_place(device, fallback):
    grads = [torch.full((3,), 8.0, device=device), torch.full((2, 2), 4.0, device=device)]
    found_inf = torch.zeros(1, device=device)
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, torch.tensor(0.5, device=device))
    assert_close(grads[0].cpu(), torch.full((3,), 4.0))
    assert_close(grads[1].cpu(), torch.full((2, 2), 2.0))
    grads[0][0] = float("inf")
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, torch.tensor(0.5, device=device))
    assert found_inf.item() == 1.0


def test_tensors_that_share_memory_share_it_on_the_host_too(device, fallback):
    # scatter's source is a view of the tensor that index_copy_ reads next: both must see one memory.
    x = torch.arange(6.0, device=device)
    x[:3].copy_(x[3:])
    torch.maximum(x[:3], x[3:], out=x[:3])
    assert_close(x.cpu(), torch.tensor([3.0, 4.0, 5.0, 3.0, 4.0, 5.0]))


def test_undefined_arguments_and_results(device, fallback):
    x = torch.arange(8.0).reshape(2, 4)
    got = torch.ops.aten.native_layer_norm(x.to(device), [4], None, None, 1e-5)
    want = torch.ops.aten.native_layer_norm(x, [4], None, None, 1e-5)
    for g, w in zip(got, want, strict=True):
        assert_close(g.cpu(), w)
    grads = torch.ops.aten.native_layer_norm_backward(
        got[0], x.to(device), [4], got[1], got[2], None, None, [True, False, False]
    )
    assert grads[0].device == device
    assert grads[1] is None or grads[1].numel() == 0


def test_device_argument_names_the_result_device(device, fallback):
    got = torch.tril_indices(3, 3, device=device)
    assert got.device == device
    assert_close(got.cpu(), torch.tril_indices(3, 3))


def test_result_device_is_that_of_the_arguments_not_the_current_one(device, fallback):
    tessiq._C.set_device(0)
    x = torch.linspace(0.1, 0.9, 5, device=device)
    assert torch.lgamma(x).device == device
    assert torch.sort(x).values.device == device
    assert tessiq._C.current_device() == 0


def test_lazy_conjugates_are_resolved(device, fallback):
    z = torch.tensor([1 + 2j, 3 - 1j])
    d = z.to(device)
    assert d.conj().is_conj()
    assert_close((d.conj() * d).cpu(), z.conj() * z)
    assert_close(d.conj().cpu(), z.conj())
    assert_close(d.conj().imag.cpu(), z.conj().imag)
    d.conj().mul_(2j)
    assert_close(d.cpu(), z * -2j)


def test_ledger_names_the_tier_that_ran(device, fallback, tier):
    x = torch.rand(5).to(device)
    tessiq.reset_fallbacks()
    torch.lgamma(x)
    counts = tessiq.fallbacks()["aten::lgamma.out"]
    assert counts == {"borrow": int(tier == "borrow"), "cpu": int(tier == "cpu")}


def test_reset_empties_the_ledger(device, fallback):
    torch.ones(2, device=device).lgamma()
    assert tessiq.fallbacks()
    tessiq.reset_fallbacks()
    assert tessiq.fallbacks() == {}


def test_error_mode_refuses_and_names_the_operator(device):
    x = torch.zeros(2).to(device)
    before = tessiq.config.fallback
    tessiq.config.fallback = "error"
    try:
        with pytest.raises(NotImplementedError, match=r"aten::lgamma.*tessiq\.config\.fallback"):
            torch.lgamma(x)
    finally:
        tessiq.config.fallback = before


@pytest.mark.parametrize("mode", ["gpu", "", None, 3, "Borrow"])
def test_unknown_mode_is_refused_with_the_choices(mode):
    before = tessiq.config.fallback
    with pytest.raises(ValueError, match="'borrow', 'cpu', 'error'"):
        tessiq.config.fallback = mode
    assert tessiq.config.fallback == before


def test_view_without_a_kernel_is_an_error_not_a_copy(device):
    with pytest.raises(RuntimeError, match=r"tessiq_test::window.*view"):
        torch.ops.tessiq_test.window(torch.arange(3.0, device=device))


def test_operator_without_any_kernel_is_not_implemented(device, fallback):
    with pytest.raises(NotImplementedError, match="tessiq_test::nowhere"):
        torch.ops.tessiq_test.nowhere(torch.ones(2, device=device))


def test_users_operator_with_a_cpu_kernel_runs(device, fallback):
    x = torch.arange(3.0)
    tessiq.reset_fallbacks()
    got = torch.ops.tessiq_test.twice(x.to(device), plus=x.to(device))
    assert got.device == device
    assert_close(got.cpu(), x * 3)
    assert tessiq.fallbacks()["tessiq_test::twice"] == {"borrow": 0, "cpu": 1}


def test_bad_call_raises_pytorchs_own_error(device, fallback):
    a, b = torch.ones(2, 3, device=device), torch.ones(4, 5, device=device)
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"):
        a @ b
    with pytest.raises(IndexError, match="Dimension out of range"):
        a.sort(dim=7)
    # The device works afterwards.
    assert_close((a + 1).cpu(), torch.full((2, 3), 2.0))


def test_sparse_results_are_refused_by_name(device, fallback):
    with pytest.raises(NotImplementedError):
        torch.eye(3, device=device).to_sparse()


def test_results_keep_their_memory_alive(device, fallback):
    def make():
        x = torch.linspace(0.1, 1.0, 1000, device=device)
        return torch.sort(x, descending=True).values

    kept = [make() for _ in range(20)]
    for values in kept:
        assert_close(values[0].cpu(), torch.tensor(1.0))


def test_operator_defined_after_another_was_unloaded_is_not_taken_for_it(device, fallback):
    for name, returns in (("first", "Tensor(a)"), ("second", "Tensor"), ("third", "Tensor")):
        with torch.library._scoped_library("tessiq_test_scoped", "DEF") as scoped:
            scoped.define(
                f"{name}(Tensor(a) self) -> {returns}" if "(a)" in returns else f"{name}(Tensor self) -> Tensor"
            )
            scoped.impl(name, lambda self: self + 1, "CPU")
            call = getattr(torch.ops.tessiq_test_scoped, name)
            if name == "first":
                with pytest.raises(RuntimeError, match="view"):
                    call(torch.ones(2, device=device))
            else:
                assert call(torch.ones(2, device=device)).tolist() == [2.0, 2.0]
