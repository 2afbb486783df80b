"""Custom operations: which exist, what their calls came to, and libraries of more of them.

An operation ``name`` is called as ``torch.ops.tessiq.name``. What one is, and how to add one, is in CONTRIBUTING.
"""

import os
from dataclasses import dataclass

from tessiq import _C


@dataclass(frozen=True)
class Operation:
    """One custom operation, and its calls on tessiq devices so far.

    Attributes:
        name: as in ``torch.ops.tessiq``.
        schema: its signature, in PyTorch's syntax.
        kind: ``expression`` (the compiler fuses it), ``kernel`` (compiled by NVRTC) or ``precompiled`` (by nvcc).
        element_types: of the tensors that its kernel handles, as the compiler names them.
        replaces: the PyTorch operator that it stands in for, or nothing.
        replaces_in_graphs: whether compiled graphs call it too, and keep that operator whole for it.
        has_pattern: whether a compile can be asked to look for its computation: ``options={"rewrites": [name]}``.
        kernel_calls: calls that its kernel served.
        fallbacks: calls that its reference served, or PyTorch's own kernel of the operator that it replaces.
    """

    name: str
    schema: str
    kind: str
    element_types: tuple[str, ...]
    replaces: str
    replaces_in_graphs: bool
    has_pattern: bool
    kernel_calls: int
    fallbacks: int


def operations() -> dict[str, Operation]:
    """Every custom operation by name. The counts are those of this moment."""
    return {
        entry["name"]: Operation(
            name=entry["name"],
            schema=entry["schema"],
            kind=entry["kind"],
            element_types=tuple(entry["element_types"]),
            replaces=entry["replaces"],
            replaces_in_graphs=entry["replaces_in_graphs"],
            has_pattern=entry["has_pattern"],
            kernel_calls=entry["kernel_calls"],
            fallbacks=entry["fallbacks"],
        )
        for entry in _C.operations()
    }


def load_operations(path: str | os.PathLike[str]) -> None:
    """Adds the operations of a library that CMake's ``tessiq_operation_library`` built.

    Raises:
        LookupError: there is no such library, or it cannot be loaded.
        NotImplementedError: it holds no operations, or was built for another version of tessiq's interface.
        ValueError: an operation of it is refused; the message names the operation and the problem, and none is added.
    """
    _C.load_operations(os.fspath(path))


def check_operations() -> list[str]:
    """Compiles the kernel of every custom operation for each element type that it declares.

    For the GPUs of this machine; without one, for the oldest and the newest architecture that NVRTC knows.

    Returns:
        What was compiled, as in ``rms_norm f32``.

    Raises:
        RuntimeError: a kernel does not compile; the message has NVRTC's log.
        NotImplementedError: there is no NVRTC here.
    """
    return _C.check_operations()


def register() -> None:
    """Adds the operations compiled into tessiq. Raises ImportError, naming the operation and what is wrong with it."""
    try:
        _C.register_operations()
    except ValueError as error:
        raise ImportError(str(error)) from error


def cmake_directory() -> str:
    """Where CMake finds tessiq, to build a library of operations with: ``cmake -Dtessiq_DIR=<this>``."""
    return os.path.join(os.path.dirname(__file__), "sdk", "cmake")
