"""Intermediate results of a call lie in one block; what leaves the call never does."""

import pytest
import torch
from ways import same

import tessiq
from tessiq.compile.graph import Observer


def products(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    for _ in range(4):
        x = torch.tanh(torch.relu(x + w) @ w)
    return x


def residual(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first = x @ w
    second = first.t() @ w
    late = first[1:] * 2
    return (second @ w + first).relu(), late.sum(0)


def looked_at_by_pytorch(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(x @ w, 0) @ w @ w


def blocks(device: torch.device) -> int:
    return tessiq._C.memory_stats(device.index)["allocation"]["all"]["allocated"]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_call_takes_one_arena_and_its_results(device: torch.device, seen: Observer, dynamic: bool) -> None:
    compiled = torch.compile(products, backend="tessiq", dynamic=dynamic)
    w = torch.randn(8, 8, device=device)
    compiled(w, w)
    assert "arena" in seen.graphs[0].compiled.program
    for _ in range(3):
        before = blocks(device)
        result = compiled(w, w)
        workspaces = 4 if device.index else 0  # the library's, one a product
        assert blocks(device) - before - workspaces == 2
        same(result, products(w.cpu(), w.cpu()))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("model", [products, residual, looked_at_by_pytorch])
def test_memory_that_nothing_may_read_is_not_read(
    device: torch.device, seen: Observer, monkeypatch: pytest.MonkeyPatch, dynamic: bool, model: object
) -> None:
    monkeypatch.setenv("TESSIQ_ARENA_POISON", "1")
    compiled = torch.compile(model, backend="tessiq", dynamic=dynamic)
    for size in (8, 5, 8):
        x, w = torch.randn(size, size), torch.randn(size, size)
        same(compiled(x.to(device), w.to(device)), model(x, w))
    assert any("arena" in call.compiled.program for call in seen.graphs)


def test_results_outlive_the_next_call(device: torch.device) -> None:
    compiled = torch.compile(residual, backend="tessiq")
    inputs = [[torch.randn(6, 6) for _ in range(2)] for _ in range(3)]
    results = [compiled(*(one.to(device) for one in pair)) for pair in inputs]
    for result, pair in zip(results, inputs, strict=True):
        same(result, residual(*pair))


def test_a_returned_view_keeps_its_memory(device: torch.device) -> None:
    compiled = torch.compile(lambda x: (x @ x)[1:].t(), backend="tessiq")
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    result = compiled(x.to(device))
    compiled(y.to(device))
    same(result, (x @ x)[1:].t())


def test_gradients_are_right_with_poisoned_memory(device: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSIQ_ARENA_POISON", "1")
    x, w = torch.randn(6, 6), torch.randn(6, 6, requires_grad=True)
    products(x, w).sum().backward()
    ours = w.detach().to(device).requires_grad_()
    torch.compile(products, backend="tessiq")(x.to(device), ours).sum().backward()
    same(ours.grad, w.grad)
