"""What a run on a GPU writes down beside its rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def nvidia_smi(tmp_path: Path) -> Path:
    """A card that is busy when it is asked first, and idle from then on."""
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\ncase "$1" in *utilization*) ;; *) exit 1 ;; esac\n'
        f'[ -e {tmp_path}/asked ] && echo "0 %, 4 MiB" || echo "93 %, 4096 MiB"\ntouch {tmp_path}/asked\n'
    )
    program.chmod(0o755)
    return tmp_path


def test_load_of_each_card_is_recorded_before_and_after(nvidia_smi: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{nvidia_smi}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, str(ROOT / ".ci" / "gpu_run.py"), "--build", str(tmp_path), "--out", str(tmp_path)]
    # A test program that does not exist: the part fails at once, and is written down all the same.
    done = subprocess.run(
        [*command, "--only", "cpp", "--ctest", str(tmp_path / "none")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (result,) = tmp_path.glob("*-gpu.json")
    (part,) = json.loads(result.read_text())["parts"]
    assert (part["load_before"], part["load_after"]) == (["93 %, 4096 MiB"], ["0 %, 4 MiB"])
    assert "a card was busy before it began: 93 %, 4096 MiB" in done.stdout
