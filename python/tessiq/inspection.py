"""What this installation is and whether it works: the verbs ``info`` and ``doctor`` of the command line."""

import logging
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import tessiq
from tessiq import _C
from tessiq.device.extension import wheel_library_folders
from tessiq.text.units import bytes_text

_LIBRARIES = ("libcublasLt.so", "libcudnn.so", "libnvrtc.so")

Facts = Iterator[tuple[str, str]]


def print_info() -> int:
    """Versions, devices, libraries and folders. Returns exit status 0."""
    for name, value in facts():
        print(f"{name:<14} {value}")
    return 0


def facts() -> Facts:
    """Names and values, in the order they are printed."""
    yield "tessiq", f"{tessiq.__version__}, built for PyTorch {_C.built_for_torch}"
    yield "PyTorch", torch.__version__
    yield "Python", f"{platform.python_version()} on {platform.platform()}"
    for index in range(tessiq.device_count()):
        name, total, major, minor, processors, _ = _C.device_properties(index)
        kind = f", compute capability {major}.{minor}, {processors} multiprocessors" if major else ""
        yield f"tessiq:{index}", f"{name}, {bytes_text(total)}{kind}"
    if note := _C.discovery_note():
        yield "GPUs", note
    for library in _LIBRARIES:
        yield library, ", ".join(_found(library)) or "not in this environment's packages; the system's is used if any"
    yield "compiler", _answer(_C.host_compiler)
    yield "kernel cache", _C.cache_directory() or "none: set TESSIQ_CACHE_DIR or HOME"
    yield "fallback", tessiq.config.fallback


def _found(library: str) -> list[str]:
    return [str(path) for folder in wheel_library_folders() for path in sorted(Path(folder).glob(f"{library}.*"))][:1]


def _answer(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except (NotImplementedError, RuntimeError) as error:
        return f"none: {error}"


def print_checks() -> int:
    """Tries what tessiq needs. Returns exit status 1 where something it cannot do without fails."""
    failed = False
    for index in range(tessiq.device_count()):
        problem = _check(index)
        failed = failed or problem is not None
        print(f"tessiq:{index:<8} {problem or 'compiles and computes'}")
    compiler = _answer(_C.host_compiler)
    slow = " (the reference device interprets; answers stay right)" if compiler.startswith("none") else ""
    print(f"compiler        {compiler}{slow}")
    print(f"GPUs            {tessiq.device_count() - 1}" + (f" ({note})" if (note := _C.discovery_note()) else ""))
    return int(failed)


def _check(index: int) -> str | None:
    """What is wrong with a device, None where a compiled function gives the right answer on it."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * 2 - 1) @ x

    x = torch.linspace(-1, 1, 64).reshape(8, 8)
    logging.getLogger("tessiq").setLevel(logging.ERROR)
    try:
        options: dict[str, Any] = {"device": torch.device("tessiq", index)}
        compiled = torch.compile(function, backend="tessiq", options=options)
        actual = compiled(x)
    except Exception as error:  # a check reports whatever goes wrong
        return f"fails: {error}"
    return None if torch.allclose(actual, function(x), atol=1e-5) else "gives a wrong answer"
