"""``python -m tessiq doctor``: whether this installation works, and what to do where it does not.

Decides what counts as a failure: whatever a user would notice as an error, a wrong answer or a slow one. What is not
needed on this machine is skipped. A tessiq that does not import never gets here; the ImportError says what to do.
"""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tessiq.command.verb import Verb, add_json

if TYPE_CHECKING:
    from tessiq.command.installation import Cache, Installation, Library

PACKAGES = {
    "libcudart": "nvidia-cuda-runtime",
    "libnvrtc": "nvidia-cuda-nvrtc",
    "libcublasLt": "nvidia-cublas",
    "libcudnn": "nvidia-cudnn-cu13",
}
"""Which package of PyPI brings a library."""


@dataclass(frozen=True)
class Check:
    """One thing tessiq needs. ``remedy`` says what to do where it failed, and is empty elsewhere."""

    subject: str
    state: Literal["ok", "failed", "skipped"]
    found: str
    remedy: str = ""


def judge(found: "Installation") -> Iterator[Check]:
    """What can be judged without running anything."""
    yield Check("tessiq", "ok", f"{found.tessiq_version}, built for PyTorch {found.built_for_torch}")
    yield Check("PyTorch", "ok", found.torch_version)
    yield _driver(found)
    for library in found.libraries:
        if not library.name.startswith("libcuda.so"):
            yield _library(library, wanted=found.wants_cuda)
    yield _compiler(found)


def _driver(found: "Installation") -> Check:
    driver = next((one for one in found.libraries if one.name.startswith("libcuda.so")), None)
    supports = f", supports CUDA {driver.version}" if driver is not None and driver.version else ""
    if len(found.devices) > 1:
        return Check("NVIDIA driver", "ok", f"{found.driver or 'version unknown'}{supports}")
    if not found.has_nvidia_card:
        return Check(
            "NVIDIA driver", "skipped", f"no NVIDIA card here, so tessiq:0 is the only device ({found.gpu_note})"
        )
    if not found.libraries:
        remedy = "install a tessiq that was built with CUDA, or build it again beside PyTorch's nvidia packages"
    elif not found.driver:
        remedy = (
            "install NVIDIA's driver and check that nvidia-smi lists the card; in a container, start it with the card "
            "(docker run --gpus all)"
        )
    else:
        remedy = "update NVIDIA's driver to one for the CUDA of PyTorch, and check that nvidia-smi lists the card"
    return Check("NVIDIA driver", "failed", f"the card cannot be used: {found.gpu_note}", remedy)


def _library(library: "Library", *, wanted: bool) -> Check:
    if not library.problem:
        return Check(library.name, "ok", f"{library.version or 'unknown version'}, {library.path}")
    if not wanted:
        return Check(library.name, "skipped", "not found, and not needed without a GPU")
    package = PACKAGES[library.name.split(".")[0]]
    remedy = f"pip install {package} beside PyTorch, or name the library's folder in LD_LIBRARY_PATH"
    return Check(library.name, "failed", library.problem, remedy)


def _compiler(found: "Installation") -> Check:
    if found.compiler.path:
        return Check("compiler", "ok", found.compiler.path)
    return Check(
        "compiler",
        "failed",
        found.compiler.problem,
        "install one (apt-get install g++) or name one in TESSIQ_CXX; until then graphs on tessiq:0 run through "
        "PyTorch, right but slower",
    )


def judge_cache(found: "Cache") -> Check:
    """Whether compiled kernels are kept for the next process."""
    from tessiq.text.units import bytes_text, count_text

    if found.problem:
        return Check(
            "kernel cache",
            "failed",
            f"{found.problem}, so every process compiles its kernels again",
            "name a folder that you can write to in TESSIQ_CACHE_DIR, or make room on its disk",
        )
    held = f"{count_text(found.entries, 'entry')}, {bytes_text(found.bytes)}, {found.folder}"
    if found.damaged:
        return Check(
            "kernel cache",
            "failed",
            f"{held}; damaged: {', '.join(found.damaged)}",
            "python -m tessiq cache clear removes every entry, and what is needed is compiled again; "
            "where damage comes back, check the disk",
        )
    return Check("kernel cache", "ok", held)


def checks() -> list[Check]:
    """Look, judge, and compile and run one kernel on each device."""
    from tessiq.command import trial
    from tessiq.command.installation import cache, installation

    found = installation()
    return [*judge(found), judge_cache(cache()), *trial.devices(found)]


def _run(chosen: Namespace) -> int:
    from tessiq.command import terminal
    from tessiq.text.console import fitted

    made = checks()
    failed = [one for one in made if one.state == "failed"]
    if chosen.json:
        terminal.print_json(made)
        return int(bool(failed))
    terminal.print_table(("", "state", "found"), [(one.subject, one.state, one.found) for one in made])
    out = fitted()
    for one in failed:
        out.print(f"\n{one.subject}: {one.remedy}", markup=False)
    if not failed:
        out.print("\neverything that this machine needs works", markup=False)
    return int(bool(failed))


VERB = Verb("try what tessiq needs and say what to do about what fails; status 1 where something does", _run, add_json)
