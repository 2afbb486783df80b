"""Recipes kept in memory: which compiles they save, and what keeps two apart."""

import gc
import threading
from collections.abc import Iterator

import pytest
import torch
from torch import nn
from ways import Way, same

from tessiq.compile import recipes
from tessiq.compile.graph import Observer
from tessiq.compile.recipes import CachedRecipe, RecipeCache


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    recipes.cache.clear()
    yield
    recipes.cache.clear()


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ y) * 2 + x.shape[0]


def run(way: Way, *inputs: torch.Tensor, **options: object) -> None:
    torch._dynamo.reset()
    same(way.compile(chain, **options)(*way.send(inputs)), chain(*inputs))


def test_the_same_graph_is_compiled_once_however_often_dynamo_forgets(way: Way) -> None:
    for _ in range(3):
        run(way, torch.randn(4, 4), torch.randn(4, 4))
    assert (recipes.cache.counts.misses, recipes.cache.counts.hits) == (1, 2)
    assert len(recipes.cache) == 1


@pytest.mark.parametrize(
    "inputs",
    [
        (torch.randn(5, 4), torch.randn(4, 4)),
        (torch.randn(4, 4).t(), torch.randn(4, 4)),
        (torch.randn(4, 4, dtype=torch.float64), torch.randn(4, 4, dtype=torch.float64)),
    ],
    ids=["shape", "strides", "type"],
)
def test_other_types_are_another_graph(way: Way, inputs: tuple[torch.Tensor, ...]) -> None:
    run(way, torch.randn(4, 4), torch.randn(4, 4))
    run(way, *inputs)
    assert (recipes.cache.counts.misses, recipes.cache.counts.hits) == (2, 0)


def test_options_and_observers_are_part_of_the_key(way: Way, seen: Observer) -> None:
    inputs = torch.randn(4, 4), torch.randn(4, 4)
    run(way, *inputs)
    run(way, *inputs, interpret=True)
    assert recipes.cache.counts.misses == 2
    assert [len(call.compiled.kernels()) for call in seen.graphs] == [1, 0]


def test_constants_of_type_and_value_are_part_of_the_key(way: Way) -> None:
    x = torch.randn(3)
    for number in (1, 1.0, True, 2, -0.0, 0.0, float("nan")):
        torch._dynamo.reset()
        same(way.compile(lambda x, n=number: x * n)(x.to(way.home)), x * number)
    assert recipes.cache.counts.hits == 0


def test_symbolic_graphs_are_found_again(way: Way) -> None:
    for _ in range(2):
        torch._dynamo.reset()
        compiled = way.compile(chain)
        for rows in (4, 5, 7):
            inputs = torch.randn(rows, 3), torch.randn(3, 2)
            same(compiled(*way.send(inputs)), chain(*inputs))
    assert (recipes.cache.counts.misses, recipes.cache.counts.hits) == (2, 2)


def test_two_models_of_one_graph_keep_their_own_weights(way: Way) -> None:
    """The recipe is shared; copies of weights, which a host model keeps on the device, are not."""
    x = torch.randn(2, 3)
    models = [nn.Linear(3, 4).to(way.home) for _ in range(2)]
    calls = []
    for model in models:
        torch._dynamo.reset()
        calls.append(way.compile(model))
        same(calls[-1](x.to(way.home)), nn.functional.linear(x, model.weight.cpu(), model.bias.cpu()))
    for _ in range(2):
        for model, call in zip(models, calls, strict=True):
            same(call(x.to(way.home)), nn.functional.linear(x, model.weight.cpu(), model.bias.cpu()))
    assert recipes.cache.counts.hits == 1


def test_a_tensor_held_by_the_graph_is_not_part_of_the_recipe(way: Way) -> None:
    x = torch.randn(3)
    for value in (1.0, 2.0):
        torch._dynamo.reset()
        held = torch.full((3,), value, device=way.home)
        same(way.compile(lambda x, held=held: x + held)(x.to(way.home)), x + value)


def test_recipe_outlives_the_graph_it_came_from(way: Way) -> None:
    def compiled_and_dropped() -> None:
        local = way.compile(lambda x: torch.tanh(x) + 1)
        local(torch.ones(3, device=way.home))

    compiled_and_dropped()
    torch._dynamo.reset()
    gc.collect()
    (cached,) = recipes.cache._recipes.values()
    again = recipes._C.CompiledGraph(cached.recipe, "again")
    (result,) = again([torch.zeros(3, device=way.home)])
    same(result, torch.ones(3))
    assert "tanh" in again.program + again.final_ir


def test_least_recently_used_goes_first() -> None:
    cache = RecipeCache(capacity=2)
    one, two, three = (CachedRecipe(None, (name,)) for name in "abc")  # type: ignore[arg-type]
    cache.keep("a", one)
    cache.keep("b", two)
    assert cache.find("a") is one
    cache.keep("c", three)
    assert cache.find("b") is None
    assert cache.find("a") is one
    assert cache.find("c") is three
    assert (len(cache), cache.counts.evictions) == (2, 1)


def test_threads_may_use_one_cache() -> None:
    cache = RecipeCache(capacity=8)
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(2000):
                key = (seed * 7 + step) % 16
                found = cache.find(key)
                assert found is None or found.constants == (str(key),)
                cache.keep(key, CachedRecipe(None, (str(key),)))  # type: ignore[arg-type]
                assert len(cache) <= 9
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(cache) == 8
    assert cache.counts.hits + cache.counts.misses == 16000
