"""``python -m tessiq info | cache | bench``: what each prints for a person and for a program."""

import json
from pathlib import Path

import pytest
import torch

import tessiq
from tessiq import __main__ as command_line
from tessiq.command import bench


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TESSIQ_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)  # xdist's workers have one, which would fold the folder's name
    return tmp_path


def test_info_names_versions_devices_and_the_cache(capsys: pytest.CaptureFixture[str], cache_folder: Path) -> None:
    assert command_line.main(["info"]) == 0
    out = capsys.readouterr().out
    for word in (tessiq.__version__, torch.__version__, "tessiq:0", "kernel cache", "compiler", str(cache_folder)):
        assert word in out


def test_info_as_json_has_the_same_facts(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["torch_version"] == torch.__version__
    assert len(found["devices"]) == tessiq.device_count()
    assert found["devices"][0]["memory_bytes"] > 0


def test_cache_info_counts_what_a_compile_left(capsys: pytest.CaptureFixture[str], cache_folder: Path) -> None:
    compiled = torch.compile(lambda x: torch.relu(x * 3.25 + 7.5), backend="tessiq")
    compiled(torch.ones(8))
    assert command_line.main(["cache", "info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    files = list(cache_folder.iterdir())
    assert found["entries"] == len(files) > 0
    assert found["bytes"] == sum(file.stat().st_size for file in files)
    assert found["damaged"] == []


def test_cache_clear_removes_entries_and_nothing_else(capsys: pytest.CaptureFixture[str], cache_folder: Path) -> None:
    (cache_folder / ("a" * 32 + ".so")).write_bytes(b"damaged, which is no reason to keep it")
    (cache_folder / "thesis.txt").write_text("years of work")
    assert command_line.main(["cache", "clear"]) == 0
    assert f"removed 1 entry (38 B) from {cache_folder}" in capsys.readouterr().out
    assert [file.name for file in cache_folder.iterdir()] == ["thesis.txt"]


def test_cache_says_which_entries_it_could_not_remove(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = {"entries": 0, "bytes": 0, "left": ["0" * 32 + ".so"]}
    monkeypatch.setattr(tessiq._C, "clear_cache", lambda: removed)
    assert command_line.main(["cache", "clear"]) == 1
    said = capsys.readouterr().err
    assert "1 entry could not be removed" in said
    assert "name another folder in TESSIQ_CACHE_DIR" in said


def test_bench_lists_what_the_checkout_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["bench", "--list", "--json"]) == 0
    names = {one["name"] for one in json.loads(capsys.readouterr().out)}
    assert {"chain", "rows", "models"} <= names


@pytest.fixture
def two_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bench_here.py").write_text('"""Runs\nanywhere.\n\nMore."""\nopen(__file__ + ".ran", "w")\n')
    (tmp_path / "bench_there.py").write_text('"""Needs a card."""\nNEEDS_GPU = True\nraise SystemExit(3)\n')
    monkeypatch.setattr(bench, "bench_folder", lambda: tmp_path)
    monkeypatch.setattr(tessiq, "device_count", lambda: 1)
    return tmp_path


def test_bench_runs_what_can_run_here(two_scripts: Path) -> None:
    assert command_line.main(["bench"]) == 0
    assert (two_scripts / "bench_here.py.ran").exists()
    assert [one.measures for one in bench.scripts(two_scripts, 0)] == ["Runs anywhere.", "Needs a card."]


def test_bench_refuses_what_cannot_run_here_and_says_why(two_scripts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["bench", "there"]) == 1
    assert "there needs an NVIDIA GPU" in capsys.readouterr().err
    assert command_line.main(["bench", "heer"]) == 1
    assert "no benchmark 'heer'; did you mean 'here'?" in capsys.readouterr().err
    (two_scripts / "bench_here.py").unlink()
    assert command_line.main(["bench"]) == 1
    assert "none of there can run here: each needs an NVIDIA GPU" in capsys.readouterr().err


def test_bench_that_fails_makes_the_status_1(
    two_scripts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tessiq, "device_count", lambda: 2)
    assert command_line.main(["bench"]) == 1
    assert "failed: there" in capsys.readouterr().err


def test_bench_without_a_checkout_says_where_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "bench_folder", lambda: tmp_path)
    assert command_line.main(["bench"]) == 1
    assert "they come with the source and not with the wheel" in capsys.readouterr().err


def test_unknown_verb_is_refused_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command_line.main(["frobnicate"])
    assert stopped.value.code == 2
    assert "frobnicate" in capsys.readouterr().err
