"""Compiles and runs one kernel on a device, and says what went wrong: the part of ``doctor`` that acts.

The trial keeps its kernels in a folder of its own, so that an old entry of the cache cannot answer for a compiler that
no longer works.
"""

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import torch

from tessiq import _C
from tessiq.command.doctor import Check
from tessiq.command.installation import Installation
from tessiq.device import logs


def devices(found: Installation) -> Iterator[Check]:
    """One check a device."""
    try:
        with _own_cache(), _only_errors():
            for device in found.devices:
                yield _trial(int(device.name.partition(":")[2]), found.compiler.path)
    except OSError as error:
        yield Check(
            "temporary folder",
            "failed",
            f"{error.strerror}: {error.filename or tempfile.gettempdir()}",
            "name a folder that you can write to in TMPDIR; kernels are compiled there",
        )


def _trial(index: int, compiler: str) -> Check:
    subject = f"tessiq:{index}"

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * 2 - 1).sum(0)

    x = torch.linspace(-1, 1, 64).reshape(8, 8)
    before = _launches()
    try:
        options: dict[str, Any] = {"device": torch.device(subject)}
        compiled = torch.compile(function, backend="tessiq", options=options)
        actual = compiled(x)
    except Exception as error:  # a check reports whatever goes wrong
        return Check(subject, "failed", f"fails: {error}", _remedy(error, index, compiler))
    if not torch.allclose(actual, function(x), atol=1e-5):
        return Check(
            subject,
            "failed",
            "gives a wrong answer",
            "report it with the output of TESSIQ_LOGS=ir,cuda,program; until then "
            'torch.compile(..., backend="tessiq", options={"interpret": True}) uses no kernel of tessiq\'s',
        )
    if _launches() == before:
        return Check(
            subject,
            "failed",
            "answers through PyTorch: no generated kernel ran",
            _remedy(None, index, compiler),
        )
    return Check(subject, "ok", "a kernel was compiled, ran and gave the right answer")


def _remedy(error: Exception | None, index: int, compiler: str) -> str:
    """What to do about an error, or about a kernel that did not run."""
    if isinstance(error, torch.OutOfMemoryError):
        return "another process holds the device's memory: nvidia-smi lists them"
    if index:
        return "see that nvidia-smi works and that every check above passed; TESSIQ_LOGS=cuda,program shows what ran"
    if not compiler:
        return "see the check of the compiler above: without one no kernel is made for this device"
    return (
        f"where {compiler} is what failed, name g++ 12 or clang++ 15, or a later one, in TESSIQ_CXX; "
        "TESSIQ_LOGS=cuda,program shows what ran"
    )


def _launches() -> int:
    counters = _C.kernel_counters()
    return counters["host_launches"] + counters["cuda_launches"]


@contextlib.contextmanager
def _own_cache() -> Iterator[None]:
    before = os.environ.get("TESSIQ_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="tessiq-doctor-") as folder:
        os.environ["TESSIQ_CACHE_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["TESSIQ_CACHE_DIR"]
            if before is not None:
                os.environ["TESSIQ_CACHE_DIR"] = before


@contextlib.contextmanager
def _only_errors() -> Iterator[None]:
    """The checks say what a warning would."""
    before = logs.root.level
    logs.root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logs.root.setLevel(before)
