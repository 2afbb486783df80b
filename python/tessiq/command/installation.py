"""What this installation consists of and finds on its machine, as records. Judges nothing."""

import os
import platform
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

import tessiq
from tessiq import _C


@dataclass(frozen=True)
class DeviceFacts:
    """One device. ``compute_capability`` is empty where it has none."""

    name: str
    description: str
    memory_bytes: int
    compute_capability: str
    multiprocessors: int


@dataclass(frozen=True)
class Library:
    """A library of CUDA's: where it was loaded from, or why it was not."""

    name: str
    path: str
    version: str
    problem: str


@dataclass(frozen=True)
class Compiler:
    """The C++ compiler for the reference device's kernels; ``problem`` is empty where one was found."""

    path: str
    problem: str


@dataclass(frozen=True)
class Cache:
    """Compiled kernels on disk. ``problem`` says why none can be kept, empty where they can."""

    folder: str
    entries: int
    bytes: int
    limit_bytes: int
    damaged: tuple[str, ...]
    problem: str


@dataclass(frozen=True)
class Installation:
    """Everything but the cache, whose survey reads every file in it.

    Attributes:
        driver: version of NVIDIA's kernel module, empty where it is not loaded.
        has_nvidia_card: the machine has a card of NVIDIA's, whether or not it can be used.
        gpu_note: why no GPU can be used, empty where one can.
    """

    tessiq_version: str
    built_for_torch: str
    torch_version: str
    python_version: str
    platform: str
    extension: str
    driver: str
    has_nvidia_card: bool
    gpu_note: str
    devices: tuple[DeviceFacts, ...]
    libraries: tuple[Library, ...]
    compiler: Compiler
    cache_folder: str
    fallback: str

    @property
    def wants_cuda(self) -> bool:
        """Whether anything of CUDA's is needed here."""
        return self.has_nvidia_card or len(self.devices) > 1


def installation() -> Installation:
    """Look. Loads every library of CUDA's that can be loaded."""
    return Installation(
        tessiq_version=tessiq.__version__,
        built_for_torch=_C.built_for_torch,
        torch_version=torch.__version__,
        python_version=platform.python_version(),
        platform=platform.platform(),
        extension=str(_C.__file__),
        driver=driver_version(Path("/proc/driver/nvidia/version")),
        has_nvidia_card=has_nvidia_card(Path("/sys/bus/pci/devices")),
        gpu_note=_C.discovery_note(),
        devices=tuple(_device(index) for index in range(tessiq.device_count())),
        libraries=tuple(Library(**one) for one in _C.cuda_libraries()),
        compiler=compiler(),
        cache_folder=_C.cache_directory(),
        fallback=tessiq.config.fallback,
    )


def _device(index: int) -> DeviceFacts:
    name, total, major, minor, processors, _ = _C.device_properties(index)
    return DeviceFacts(f"tessiq:{index}", name, total, f"{major}.{minor}" if major else "", processors)


def driver_version(file: Path) -> str:
    """The version in what NVIDIA's kernel module says of itself: the first word that is numbers and dots."""
    try:
        words = file.read_text().split()
    except OSError:
        return ""
    return next((word for word in words if "." in word and word.replace(".", "").isdigit()), "")


def has_nvidia_card(devices: Path) -> bool:
    """Whether a display or compute controller (class 0x03) of NVIDIA's (vendor 0x10de) is on the PCI bus."""
    for folder in sorted(devices.glob("*")):
        try:
            vendor, kind = (folder / "vendor").read_text().strip(), (folder / "class").read_text().strip()
        except OSError:
            continue
        if vendor == "0x10de" and kind.startswith("0x03"):
            return True
    return False


def compiler() -> Compiler:
    """The compiler that the reference device uses."""
    try:
        return Compiler(_C.host_compiler(), "")
    except NotImplementedError as error:
        return Compiler("", str(error))


def cache() -> Cache:
    """Read every entry of the cache, and try to write one."""
    survey = _C.cache_survey()
    folder = _C.cache_directory()
    return Cache(
        folder,
        survey["entries"],
        survey["bytes"],
        _C.cache_size_limit(),
        tuple(survey["damaged"]),
        _write_problem(folder),
    )


def _write_problem(folder: str) -> str:
    if not folder:
        return "neither TESSIQ_CACHE_DIR, XDG_CACHE_HOME nor HOME is set"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        # The prefix of files that trimming the cache removes, should this process die here.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writing-") as file:
            file.write(b"tessiq")
            file.flush()
    except OSError as error:
        return f"writing to {folder} failed: {error.strerror}"
    return ""
