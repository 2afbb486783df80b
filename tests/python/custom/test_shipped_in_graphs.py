"""The operations that tessiq ships in compiled graphs: for sizes that change, forward and backward, and fused."""

from collections.abc import Callable, Sequence

import pytest
import torch

from tessiq.compile.graph import CompiledCall, Observer, observers

OPS = torch.ops.tessiq
pytestmark = pytest.mark.usefixtures("fresh_compiles")

Tensors = Sequence[torch.Tensor]


def _rotary(rows: int) -> Tensors:
    angles = torch.outer(torch.arange(5.0), torch.rand(4))
    return torch.randn(rows, 5, 8), angles.cos(), angles.sin()


WORKS: dict[str, tuple[Callable[..., torch.Tensor], Callable[[int], Tensors]]] = {
    "fast_gelu": (lambda x: OPS.fast_gelu(x * 2), lambda rows: [torch.randn(rows, 8)]),
    "swiglu": (lambda x, y: OPS.swiglu(x * 2, y), lambda rows: [torch.randn(rows, 8), torch.randn(rows, 8)]),
    "rms_norm": (lambda x, w: OPS.rms_norm(x * 2, w), lambda rows: [torch.randn(rows, 8), torch.randn(8)]),
    "softmax": (lambda x: OPS.softmax(x * 2, -1, False), lambda rows: [torch.randn(rows, 8)]),
    "rotary_embedding": (lambda x, cos, sin: OPS.rotary_embedding(x * 2, cos, sin), _rotary),
    "cross_entropy": (
        lambda x, target: OPS.cross_entropy(x * 2, target)[0],
        lambda rows: [torch.randn(rows, 8), torch.randint(0, 8, (rows,))],
    ),
}


@pytest.fixture
def graphs() -> Sequence[CompiledCall]:
    observer = Observer()
    observers.append(observer)
    yield observer.graphs
    observers.remove(observer)


@pytest.mark.parametrize("name", WORKS)
def test_one_compile_trains_every_size(device: torch.device, graphs: Sequence[CompiledCall], name: str) -> None:
    function, inputs = WORKS[name]
    compiled = torch.compile(function, backend="tessiq", dynamic=True)
    for rows in (3, 6, 9):
        host = inputs(rows)
        ours = [one.to(device) for one in host]
        for one in (host[0], ours[0]):
            one.requires_grad_()
        wanted, found = function(*host), compiled(*ours)
        gradient = torch.randn(wanted.shape)
        wanted.backward(gradient)
        found.backward(gradient.to(device))
        torch.testing.assert_close(found.detach().cpu(), wanted.detach())
        torch.testing.assert_close(ours[0].grad.cpu(), host[0].grad)
    assert len(graphs) == 2
    called = [fate["op"] for fate in graphs[0].compiled.fates()]
    assert f"tessiq.{name}.default" in called


@pytest.mark.parametrize("name", ["rms_norm", "softmax", "rotary_embedding", "cross_entropy"])
def test_a_kernel_is_claimed(device: torch.device, graphs: Sequence[CompiledCall], name: str) -> None:
    function, inputs = WORKS[name]
    torch.compile(function, backend="tessiq")(*(one.to(device) for one in inputs(4)))
    (call,) = [fate for fate in graphs[0].compiled.fates() if fate["op"] == f"tessiq.{name}.default"]
    assert call["fate"] == "custom"


def test_swiglu_is_one_kernel_with_its_neighbours(device: torch.device, graphs: Sequence[CompiledCall]) -> None:
    gate, up = torch.randn(6, 32), torch.randn(6, 32)

    def function(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        return torch.relu(OPS.swiglu(gate * 2, up + 1))

    found = torch.compile(function, backend="tessiq")(gate.to(device), up.to(device))
    assert len(graphs[0].compiled.kernels()) == 1
    torch.testing.assert_close(found.cpu(), function(gate, up))


def test_the_gradient_of_cross_entropy_is_one_kernel(device: torch.device, graphs: Sequence[CompiledCall]) -> None:
    logits, target = torch.randn(4, 8, device=device), torch.randint(0, 8, (4,)).to(device)
    torch.compile(lambda x, y: OPS.cross_entropy(x, y)[0].sum(), backend="tessiq")(
        logits.requires_grad_(), target
    ).backward()
    (call,) = [fate for fate in graphs[1].compiled.fates() if fate["op"] == "tessiq.cross_entropy_backward.default"]
    assert call["fate"] == "custom"
