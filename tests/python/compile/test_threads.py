"""Several threads call, and compile, at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from ways import same

THREADS = 4


@pytest.fixture(autouse=True)
def dynamos_settings_come_back() -> Iterator[None]:
    """Each call of a function compiled with ``dynamic=`` sets and restores global settings of Dynamo; from several
    threads at once, the last to restore may put back what another had set.
    """
    config = torch._dynamo.config
    before = (config.automatic_dynamic_shapes, config.assume_static_by_default)
    yield
    config.automatic_dynamic_shapes, config.assume_static_by_default = before


def products(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = torch.tanh(torch.relu(x + w) @ w)
    return x


def side_by_side(call: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(call, number) for number in range(THREADS)]:
            done.result(timeout=120)


@pytest.mark.parametrize("dynamic", [False, True])
def test_one_compiled_function_called_from_several_threads(device: torch.device, dynamic: bool) -> None:
    compiled = torch.compile(products, backend="tessiq", dynamic=dynamic)
    compiled(torch.randn(8, 8, device=device), torch.randn(8, 8, device=device))

    def call(number: int) -> None:
        size = 8 + (number if dynamic else 0)
        x, w = torch.randn(size, size), torch.randn(size, size)
        expected = products(x, w)
        ours = x.to(device), w.to(device)
        for _ in range(50):
            same(compiled(*ours), expected)

    side_by_side(call)


def test_several_threads_compile_models_of_their_own(device: torch.device) -> None:
    def call(number: int) -> None:
        x = torch.randn(6, 6)
        compiled = torch.compile(lambda y: torch.relu(y @ y) * (number + 1), backend="tessiq")
        same(compiled(x.to(device)), torch.relu(x @ x) * (number + 1))

    side_by_side(call)


def test_several_threads_compile_the_same_model(device: torch.device) -> None:
    def call(number: int) -> None:
        x, w = torch.randn(5, 5), torch.randn(5, 5)
        same(torch.compile(products, backend="tessiq")(x.to(device), w.to(device)), products(x, w))

    side_by_side(call)
