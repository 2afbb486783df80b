"""Libraries of operations, and how to count what became of calls."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from libraries import LIBRARIES, Counted

import tessiq
from tessiq.operations import operations


def _library(name: str) -> str:
    path = LIBRARIES / f"{name}.so"
    if not path.exists():
        pytest.skip(f"{path.name} is not built: ./dev build dev")
    return str(path)


@pytest.fixture(scope="session")
def good_operations() -> None:
    """The sound operations of ``tests/operations/good``, loaded once a process: they stay."""
    if "scale_shift" not in operations():
        tessiq.load_operations(_library("good"))


@pytest.fixture(scope="session")
def bad_library() -> str:
    return _library("bad")


@pytest.fixture(scope="session")
def broken_library() -> str:
    """Loads, and stays in the process that loads it: load it in one of its own."""
    return _library("broken")


@pytest.fixture(scope="session")
def library_of_another_interface() -> str:
    return _library("other_interface")


@pytest.fixture
def counted() -> Counted:
    """Asserts how many calls of an operation its kernel served, and how many its reference."""

    @contextmanager
    def within(name: str, *, kernel_calls: int, fallbacks: int) -> Iterator[None]:
        before = operations()[name]
        yield
        after = operations()[name]
        found = (after.kernel_calls - before.kernel_calls, after.fallbacks - before.fallbacks)
        assert found == (kernel_calls, fallbacks), f"{name}: {found} calls by kernel and reference"

    return within
