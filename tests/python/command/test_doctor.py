"""``python -m tessiq doctor``: each failure is found, has its remedy, and makes the status 1."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import tessiq
from tessiq.__main__ import main
from tessiq.command import doctor
from tessiq.command.doctor import Check
from tessiq.command.installation import (
    Cache,
    Compiler,
    DeviceFacts,
    Installation,
    Library,
    driver_version,
    has_nvidia_card,
    installation,
)

LOADED = tuple(
    Library(name, f"/lib/{name}", "13.0", "") for name in ("libcuda.so.1", "libcudart.so.13", "libnvrtc.so.13")
)
HOST = DeviceFacts("tessiq:0", "host reference device", 1 << 30, "", 0)
GPU = DeviceFacts("tessiq:1", "a card", 1 << 30, "9.0", 132)
WORKING = Installation(
    tessiq_version="1",
    built_for_torch="2",
    torch_version="2",
    python_version="3",
    platform="linux",
    extension="_C.so",
    driver="580.65.06",
    has_nvidia_card=True,
    gpu_note="",
    devices=(HOST, GPU),
    libraries=LOADED,
    compiler=Compiler("/usr/bin/c++", ""),
    cache_folder="/cache",
    fallback="borrow",
)
WITHOUT_CARD = replace(WORKING, driver="", has_nvidia_card=False, gpu_note="no driver", devices=(HOST,))


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tessiq", "doctor", *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
    )


def failed(found: Installation) -> dict[str, Check]:
    return {one.subject: one for one in doctor.judge(found) if one.state == "failed"}


def test_a_working_installation_has_status_0_and_runs_a_kernel_on_the_device(device: torch.device) -> None:
    done = run("--json")
    assert done.returncode == 0, done.stdout + done.stderr
    made = {one["subject"]: one for one in json.loads(done.stdout)}
    assert made[str(device)]["state"] == "ok"
    assert {one for one in made if one.startswith("tessiq:")} == {f"tessiq:{n}" for n in range(tessiq.device_count())}
    assert made["PyTorch"]["found"] == torch.__version__
    assert not any(one["state"] == "failed" or one["remedy"] for one in made.values())


def test_nothing_fails_where_all_that_is_needed_is_there() -> None:
    assert not failed(WORKING)
    assert not failed(WITHOUT_CARD)


def test_table_has_a_remedy_below_for_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = (
        Check("compiler", "ok", "/usr/bin/c++"),
        Check("kernel cache", "failed", "no room", "make some [now]"),
    )
    monkeypatch.setattr(doctor, "checks", lambda: [right, wrong])
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert said.endswith("\nkernel cache: make some [now]\n")
    assert "everything that this machine needs works" not in said
    monkeypatch.setattr(doctor, "checks", lambda: [right])
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("\neverything that this machine needs works\n")


def test_missing_compiler_is_found_with_its_remedy(tmp_path: Path) -> None:
    done = run(PATH=str(tmp_path), CXX="", TESSIQ_CXX="")
    assert done.returncode == 1
    assert "PATH has none of c++, g++ and clang++" in done.stdout
    assert "compiler: install one (apt-get install g++) or name one in TESSIQ_CXX" in done.stdout
    assert "tessiq:0: see the check of the compiler above" in done.stdout


def test_compiler_that_refuses_is_found_although_the_cache_holds_kernels(tmp_path: Path) -> None:
    broken = tmp_path / "broken-c++"
    broken.write_text("#!/bin/sh\necho it does not work >&2\nexit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    done = run("--json", TESSIQ_CXX=str(broken))
    assert done.returncode == 1
    (device,) = [one for one in json.loads(done.stdout) if one["subject"] == "tessiq:0"]
    assert "it does not work" in device["found"]
    assert device["remedy"].startswith(f"where {broken} is what failed, name g++ 12 or clang++ 15")


def test_cache_that_cannot_be_written_is_found_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("--json", TESSIQ_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert done.returncode == 1
    (cache,) = [one for one in json.loads(done.stdout) if one["state"] == "failed"]
    assert cache["subject"] == "kernel cache"
    assert "Not a directory, so every process compiles its kernels again" in cache["found"]
    assert "TESSIQ_CACHE_DIR" in cache["remedy"]


def test_damaged_entry_is_named_with_its_remedy(tmp_path: Path) -> None:
    name = "0" * 32 + ".so"
    (tmp_path / name).write_bytes(b"half an entry")
    done = run("--json", TESSIQ_CACHE_DIR=str(tmp_path))
    assert done.returncode == 1
    (cache,) = [one for one in json.loads(done.stdout) if one["state"] == "failed"]
    assert f"damaged: {name}" in cache["found"]
    assert cache["remedy"].startswith("python -m tessiq cache clear")
    assert (tmp_path / name).exists()


def test_no_temporary_folder_is_found_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessiq.command import trial

    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system", "/tmp")

    monkeypatch.setattr(trial.tempfile, "TemporaryDirectory", refuse)
    (check,) = trial.devices(WORKING)
    assert (check.state, check.found) == ("failed", "Read-only file system: /tmp")
    assert "TMPDIR" in check.remedy


def test_wrong_answer_is_found_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessiq.command import trial

    monkeypatch.setattr(torch, "compile", lambda function, **_: lambda x: function(x) + 1)
    (check,) = trial.devices(WITHOUT_CARD)
    assert (check.state, check.found) == ("failed", "gives a wrong answer")
    assert "interpret" in check.remedy


@pytest.mark.parametrize(
    ("error", "devices", "remedy"),
    [
        (torch.OutOfMemoryError("no room"), (GPU,), "another process holds the device's memory"),
        (RuntimeError("no kernel image"), (GPU,), "see that nvidia-smi works"),
        (RuntimeError("no room on the disk"), (HOST,), "where /usr/bin/c++ is what failed"),
    ],
)
def test_device_that_fails_is_found_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, error: Exception, devices: tuple[DeviceFacts, ...], remedy: str
) -> None:
    from tessiq.command import trial

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(torch, "compile", refuse)
    (check,) = trial.devices(replace(WORKING, devices=devices))
    assert (check.state, check.found) == ("failed", f"fails: {error}")
    assert check.remedy.startswith(remedy)


@pytest.mark.parametrize("name", ["libcudart.so.13", "libnvrtc.so.13", "libcublasLt.so.13", "libcudnn.so.9"])
def test_missing_library_fails_with_a_card_and_is_skipped_without(name: str) -> None:
    missing = (*LOADED[:1], Library(name, "", "", f"{name} could not be loaded"))
    check = failed(replace(WORKING, libraries=missing))[name]
    assert check.found == f"{name} could not be loaded"
    assert check.remedy.startswith("pip install nvidia-")
    assert not failed(replace(WITHOUT_CARD, libraries=missing))


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"driver": "", "gpu_note": "no NVIDIA driver is installed"}, "install NVIDIA's driver"),
        ({"gpu_note": "a newer driver is needed"}, "update NVIDIA's driver"),
        ({"libraries": (), "gpu_note": "tessiq was built without CUDA"}, "install a tessiq that was built with CUDA"),
    ],
)
def test_card_that_cannot_be_used_fails_with_what_to_do(change: dict[str, object], remedy: str) -> None:
    found = replace(WORKING, devices=(HOST,), **change)  # type: ignore[arg-type]
    check = failed(found)["NVIDIA driver"]
    assert str(change["gpu_note"]) in check.found
    assert check.remedy.startswith(remedy)


def test_a_full_cache_folder_is_a_failure() -> None:
    check = doctor.judge_cache(Cache("/cache", 3, 10, 100, (), "writing to /cache failed: No space left on device"))
    assert check.state == "failed"
    assert "make room" in check.remedy


@pytest.mark.parametrize("broken", ["unbuilt", "other PyTorch"])
def test_tessiq_that_does_not_import_says_what_to_do(tmp_path: Path, broken: str) -> None:
    package = Path(tessiq.__file__).parent
    copy = tmp_path / "tessiq"
    copy.mkdir()
    for one in package.iterdir():
        if one.name not in ("_build_info.py", "__pycache__"):
            (copy / one.name).symlink_to(one)
    if broken == "other PyTorch":
        (copy / "_build_info.py").write_text('TORCH_VERSION = "1.13.0"\n')
    done = subprocess.run(
        [sys.executable, "-m", "tessiq", "doctor"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        timeout=120,
    )
    assert done.returncode == 1
    assert ("run ./dev build" if broken == "unbuilt" else "install torch==1.13.0") in done.stderr


def test_card_and_driver_are_read_from_the_kernels_files(tmp_path: Path) -> None:
    assert not has_nvidia_card(tmp_path)
    bridge = tmp_path / "0000:00:00.0"
    bridge.mkdir()
    (bridge / "vendor").write_text("0x10de\n")
    (bridge / "class").write_text("0x068000\n")
    assert not has_nvidia_card(tmp_path), "a bridge of NVIDIA's is no GPU"
    (bridge / "class").write_text("0x030200\n")
    assert has_nvidia_card(tmp_path)
    version = tmp_path / "version"
    assert driver_version(version) == ""
    version.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n")
    assert driver_version(version) == "580.65.06"


def test_libraries_are_said_with_path_and_version() -> None:
    found = installation()
    for library in found.libraries:
        assert library.problem or (Path(library.path).exists() and library.version), library
