"""A compiler that gets one thing wrong, so that a kernel is wrong and nothing of PyTorch or tessiq is touched."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import Plant

from tessiq.compile.recipes import cache


@pytest.fixture(autouse=True)
def _fresh(fresh_compiles: None) -> Iterator[None]:
    """Recipes made with one compiler must not answer for another."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Plant a fault: a command of sed on every generated source."""

    def plant_fault(command: str) -> None:
        real = shutil.which("c++") or shutil.which("g++")
        assert real is not None
        compiler = tmp_path / "wrong-c++"
        compiler.write_text(
            "#!/bin/bash\nset -e\nfor source; do :; done  # the last argument\n"
            f'sed -i -E \'{command}\' "$source"\nexec {real} "$@"\n'
        )
        compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("TESSIQ_CXX", str(compiler))
        monkeypatch.setenv("TESSIQ_CACHE_DIR", str(tmp_path / "cache"))

    return plant_fault
