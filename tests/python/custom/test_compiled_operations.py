"""Custom operations in compiled graphs: claimed, fused, replaced, and found where a model writes them out."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from libraries import Counted
from torch import nn

import tessiq
from tessiq.compile.graph import CompiledCall, Observer, observers

OPS = torch.ops.tessiq
pytestmark = pytest.mark.usefixtures("fresh_compiles")


def compiled_graph(
    function: Callable[..., torch.Tensor], *inputs: torch.Tensor, **options: object
) -> tuple[torch.Tensor, CompiledCall]:
    """The result of a compiled call, and the one graph it was compiled to."""
    observer = Observer()
    observers.append(observer)
    try:
        result = torch.compile(function, backend="tessiq", options=options)(*inputs)
    finally:
        observers.remove(observer)
    assert not observer.uncompiled
    (graph,) = observer.graphs
    return result, graph


def fates(graph: CompiledCall) -> dict[str, str]:
    return {fate["node"]: fate["fate"] for fate in graph.compiled.fates()}


def ops_in(graph: CompiledCall) -> list[str]:
    return [fate["op"] for fate in graph.compiled.fates()]


def test_an_expression_is_fused_between_its_neighbours(device: torch.device) -> None:
    x = torch.randn(8, 32)
    found, graph = compiled_graph(lambda x: torch.relu(OPS.fast_gelu(x * 3)), x.to(device))
    assert len(graph.compiled.kernels()) == 1
    assert set(fates(graph).values()) == {"launched", "fused"}
    assert graph.compiled.counters()["launches"] == 1
    torch.testing.assert_close(found.cpu(), torch.relu(OPS.fast_gelu(x * 3)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_an_expression_is_computed_in_every_declared_type(device: torch.device, dtype: torch.dtype) -> None:
    x = torch.randn(8, 32).to(dtype)
    found, graph = compiled_graph(lambda x: OPS.fast_gelu(x), x.to(device))
    assert len(graph.compiled.kernels()) == 1
    # Inside a loop half types are computed in float32 and rounded once; the reference rounds after each step.
    torch.testing.assert_close(found.cpu(), OPS.fast_gelu(x.double()).to(dtype))


def test_training_through_an_expression_matches_eager(device: torch.device) -> None:
    x = torch.randn(8, 32)
    wanted, found = x.clone().requires_grad_(), x.to(device).requires_grad_()
    OPS.fast_gelu(wanted * 2).sum().backward()
    torch.compile(lambda x: OPS.fast_gelu(x * 2).sum(), backend="tessiq")(found).backward()
    torch.testing.assert_close(found.grad.cpu(), wanted.grad)


def test_a_kernel_operation_is_claimed_and_launched_from_the_recipe(device: torch.device, counted: Counted) -> None:
    x, weight = torch.randn(6, 32), torch.randn(32)
    on_gpu = device.index != 0
    with counted("rms_norm", kernel_calls=int(on_gpu), fallbacks=int(not on_gpu)):
        found, graph = compiled_graph(
            lambda x, w: torch.relu(OPS.rms_norm(x + 1, w, 1e-5)), x.to(device), weight.to(device)
        )
    assert fates(graph)["rms_norm"] == "custom"
    counters = graph.compiled.counters()
    assert counters["dispatches_on_device"] == int(not on_gpu)
    assert counters["launches"] == 2 + int(on_gpu)
    torch.testing.assert_close(found.cpu(), torch.relu(OPS.rms_norm(x + 1, weight, 1e-5)))


def test_host_tensors_are_moved_to_a_kernel_operation() -> None:
    x, weight = torch.randn(6, 32), torch.randn(32)
    found, graph = compiled_graph(lambda x, w: OPS.rms_norm(x, w) + 1, x, weight, device=tessiq.cpu)
    assert fates(graph)["rms_norm"] == "custom"
    torch.testing.assert_close(found, OPS.rms_norm(x, weight) + 1)


def test_sizes_that_change_are_symbols_of_one_compile(device: torch.device) -> None:
    weight = torch.randn(32, device=device)
    observer = Observer()
    observers.append(observer)
    try:
        compiled = torch.compile(lambda x: OPS.rms_norm(x * 2, weight) + 1, backend="tessiq", dynamic=True)
        for rows in (3, 5, 9):
            x = torch.randn(rows, 32)
            torch.testing.assert_close(compiled(x.to(device)).cpu(), OPS.rms_norm(x * 2, weight.cpu()) + 1)
    finally:
        observers.remove(observer)
    assert len(observer.graphs) == 1
    assert fates(observer.graphs[0])["rms_norm"] == "custom"


def test_a_result_that_is_not_packed_eagerly_is_packed_in_a_graph(device: torch.device) -> None:
    x, weight = torch.randn(32, 6), torch.randn(32)
    found, _ = compiled_graph(lambda x, w: OPS.rms_norm(x.t(), w), x.to(device), weight.to(device))
    assert found.is_contiguous()
    torch.testing.assert_close(found.cpu(), OPS.rms_norm(x.t(), weight))


def test_an_undeclared_element_type_is_dispatched(device: torch.device) -> None:
    x, weight = torch.randn(6, 32).double(), torch.randn(32).double()
    found, graph = compiled_graph(lambda x, w: OPS.rms_norm(x, w), x.to(device), weight.to(device))
    (fate,) = graph.compiled.fates()
    assert fate["fate"] == "dispatched on device"
    assert fate["reason"].startswith("element-type: ")
    torch.testing.assert_close(found.cpu(), OPS.rms_norm(x, weight))


def test_several_results_and_optional_arguments(good_operations: None, device: torch.device) -> None:
    x = torch.randn(6, 7)

    def function(x: torch.Tensor) -> torch.Tensor:
        values, places = OPS.top_two(OPS.scale_shift(x, None, 3.0))
        return values + places

    found, graph = compiled_graph(function, x.to(device))
    assert sum(fate["fate"] == "custom" for fate in graph.compiled.fates()) == 2
    torch.testing.assert_close(found.cpu(), function(x))


def test_an_operation_that_writes_an_argument_gives_what_eager_gives(
    good_operations: None, device: torch.device
) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x * 2
        OPS.add_in_place(z, y)
        return z * 3

    x, y = torch.randn(6, 7), torch.randn(6, 7)
    found = torch.compile(function, backend="tessiq")(x.to(device), y.to(device))
    torch.testing.assert_close(found.cpu(), function(x, y))


def test_a_replaced_operator_stays_whole_and_becomes_the_operation(
    good_operations: None, device: torch.device, counted: Counted
) -> None:
    x = torch.randn(5, 33)
    on_gpu = device.index != 0
    with counted("replaced_log_softmax", kernel_calls=int(on_gpu), fallbacks=int(not on_gpu)):
        found, graph = compiled_graph(lambda x: torch.log_softmax(x, -1) * 2, x.to(device))
    assert "tessiq.replaced_log_softmax.default" in ops_in(graph)
    assert any(one["name"] == "replace-replaced_log_softmax" and one["changed"] for one in graph.compiled.passes())
    torch.testing.assert_close(found.cpu(), torch.log_softmax(x, -1) * 2)


def test_other_types_of_a_replaced_operator_are_decomposed_as_before(
    good_operations: None, device: torch.device
) -> None:
    x = torch.randn(5, 33).double()
    found, graph = compiled_graph(lambda x: torch.log_softmax(x, -1) * 2, x.to(device))
    assert "aten.exp.default" in ops_in(graph)
    torch.testing.assert_close(found.cpu(), torch.log_softmax(x, -1) * 2)


class Norm(nn.Module):
    """As most models write it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def test_a_rewrite_that_was_asked_for_finds_what_the_model_writes_out(device: torch.device) -> None:
    model = Norm(32).to(device)
    x = torch.randn(6, 32, device=device)
    with torch.no_grad():
        wanted, plain = compiled_graph(model, x)
        torch._dynamo.reset()
        found, graph = compiled_graph(model, x, rewrites=["rms_norm"])
    assert "tessiq.rms_norm.default" not in ops_in(plain)
    (call,) = [fate for fate in graph.compiled.fates() if fate["fate"] == "custom"]
    absorbed = {fate["node"] for fate in graph.compiled.fates() if fate["fate"] == "fused"}
    assert absorbed == {"pow_1", "mean", "add", "rsqrt", "mul"}
    assert call["node"] == "mul_1"
    assert graph.compiled.kernels() == []
    torch.testing.assert_close(found, wanted)


def test_a_training_graph_runs_as_written(device: torch.device) -> None:
    model, oracle = Norm(32), Norm(32)
    oracle.load_state_dict(model.state_dict())
    model = model.to(device)
    x = torch.randn(6, 32)
    observer = Observer()
    observers.append(observer)
    try:
        compiled = torch.compile(model, backend="tessiq", options={"rewrites": ["rms_norm"]})
        compiled(x.to(device)).square().sum().backward()
    finally:
        observers.remove(observer)
    oracle(x).square().sum().backward()
    assert len(observer.graphs) == 2
    assert not observer.uncompiled
    assert all("tessiq.rms_norm.default" not in ops_in(graph) for graph in observer.graphs)
    torch.testing.assert_close(model.weight.grad.cpu(), oracle.weight.grad)


@pytest.mark.parametrize(
    ("rewrites", "message"),
    [
        (["rms_nrom"], "no custom operation with a pattern is named 'rms_nrom'; did you mean 'rms_norm'\\?"),
        (["fast_gelu"], "no custom operation with a pattern is named 'fast_gelu'"),
        ("rms_norm", "option 'rewrites' is a list of names such as \\['rms_norm'\\], not 'rms_norm'"),
    ],
)
def test_a_rewrite_that_does_not_exist_is_refused(rewrites: object, message: str) -> None:
    compiled = torch.compile(lambda x: x + 1, backend="tessiq", options={"rewrites": rewrites})
    with pytest.raises(Exception, match=message):
        compiled(torch.randn(2))


def test_a_block_in_plain_pytorch_is_three_kernels_with_the_rewrite(device: torch.device) -> None:
    model = nn.Sequential(Norm(32), nn.Linear(32, 16), nn.GELU(approximate="tanh")).to(device)
    x = torch.randn(6, 32, device=device)
    with torch.no_grad():
        _, plain = compiled_graph(model, x)
        torch._dynamo.reset()
        found, graph = compiled_graph(model, x, rewrites=["rms_norm"])
        wanted = F.gelu(model[1](model[0](x)), approximate="tanh")
    torch.testing.assert_close(found, wanted)

    def kernels(one: CompiledCall) -> int:
        return sum(fate["fate"] in ("launched", "library", "custom") for fate in one.compiled.fates())

    assert kernels(graph) == 3
    assert kernels(graph) <= kernels(plain)
