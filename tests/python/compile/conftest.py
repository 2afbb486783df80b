"""The two ways into the compiler, for every device."""

from collections.abc import Iterator

import pytest
import torch
from ways import Way

from tessiq.compile.graph import Observer, observers


@pytest.fixture(params=["host", "device"])
def way(request: pytest.FixtureRequest, device: torch.device) -> Way:
    return Way(device, on_device=request.param == "device")


@pytest.fixture(autouse=True)
def _fresh(fresh_compiles: None) -> None:
    """For every test here."""


@pytest.fixture
def seen() -> Iterator[Observer]:
    """Every graph the test compiles."""
    observer = Observer()
    observers.append(observer)
    yield observer
    observers[:] = [one for one in observers if one is not observer]
