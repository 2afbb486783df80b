"""``python -m tessiq info``: versions, devices, libraries and folders."""

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tessiq.command.verb import Verb, add_json

if TYPE_CHECKING:
    from tessiq.command.installation import Installation


def facts(found: "Installation") -> Iterator[tuple[str, str]]:
    """Names and values, in the order they are printed."""
    from tessiq.text.units import bytes_text

    yield "tessiq", f"{found.tessiq_version}, built for PyTorch {found.built_for_torch}"
    yield "extension", found.extension
    yield "PyTorch", found.torch_version
    yield "Python", f"{found.python_version} on {found.platform}"
    for device in found.devices:
        capability = f", compute capability {device.compute_capability}" if device.compute_capability else ""
        processors = f", {device.multiprocessors} multiprocessors" if capability else ""
        yield device.name, f"{device.description}, {bytes_text(device.memory_bytes)}{capability}{processors}"
    if found.gpu_note:
        yield "GPUs", found.gpu_note
    if found.driver:
        yield "NVIDIA driver", found.driver
    for library in found.libraries:
        yield library.name, f"{library.version or 'unknown version'}, {library.path}" if library.path else "not loaded"
    yield "compiler", found.compiler.path or f"none: {found.compiler.problem}"
    yield "kernel cache", found.cache_folder or "none: set TESSIQ_CACHE_DIR or HOME"
    yield "fallback", found.fallback


def _run(chosen: Namespace) -> int:
    from tessiq.command import terminal
    from tessiq.command.installation import installation

    found = installation()
    if chosen.json:
        terminal.print_json(found)
    else:
        terminal.print_facts(facts(found))
    return 0


VERB = Verb("versions, devices, libraries and folders", _run, add_json)
