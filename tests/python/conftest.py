"""Which devices and which fallback modes the tests run with."""

from collections.abc import Iterator

import pytest
import torch

import tessiq


@pytest.fixture(params=[pytest.param(0, id="reference"), pytest.param(1, id="gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """A device that exists, current for the test. A GPU runs only under the marker ``gpu``."""
    index: int = request.param
    if index >= tessiq.device_count():
        pytest.skip(f"no GPU: {tessiq._C.discovery_note()}")
    before = tessiq._C.current_device()
    tessiq._C.set_device(index)
    yield torch.device("tessiq", index)
    tessiq._C.set_device(before)


@pytest.fixture
def fresh_compiles() -> Iterator[None]:
    """The test meets neither the compiled code nor the seeds of another."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture(params=["borrow", "cpu"])
def fallback(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both ways to run an operator without a kernel of ours; the ledger starts empty."""
    before = tessiq.config.fallback
    tessiq.config.fallback = request.param
    tessiq.reset_fallbacks()
    yield request.param
    tessiq.config.fallback = before


@pytest.fixture
def tier(device: torch.device, fallback: str) -> str:
    """The ledger's name for the tier that an ordinary operator must use on ``device``."""
    return "borrow" if fallback == "borrow" and tessiq._C.can_borrow(device.index) else "cpu"
