"""Where the libraries of operations are that the build made for these tests, and what a counting fixture is."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

LIBRARIES = Path(__file__).parent / "operations"


class Counted(Protocol):
    """``with counted(name, kernel_calls=1, fallbacks=0):`` what calls of the operation have to come to."""

    def __call__(self, name: str, *, kernel_calls: int, fallbacks: int) -> AbstractContextManager[None]: ...
