"""Without a C++ compiler the reference device interprets: the same answers, one warning, no error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging, sys
logging.basicConfig(stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")
import torch, tessiq
def function(x, w):
    return torch.tanh(torch.sigmoid(torch.relu(x + w)) @ w)
x, w = torch.randn(8, 8), torch.randn(8, 8)
for home in ("cpu", "tessiq:0"):
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="tessiq")
    for _ in range(2):
        torch.testing.assert_close(compiled(x.to(home), w.to(home)).cpu(), function(x, w), rtol=1e-5, atol=1e-5)
print("launches", tessiq._C.kernel_counters()["host_launches"])
"""


def run(cache: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("TESSIQ_CXX", "CXX")}
    environment |= {"TESSIQ_CACHE_DIR": str(cache), **variables}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=240)


def test_no_compiler_on_path_warns_once_and_answers_right(tmp_path: Path) -> None:
    done = run(tmp_path / "cache", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "launches 0"
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line and "generated loops are off" in line]
    assert len(warnings) == 1, done.stderr
    assert "c++" in warnings[0]


def test_named_compiler_that_does_not_exist_warns_with_its_name(tmp_path: Path) -> None:
    done = run(tmp_path / "cache", TESSIQ_CXX="/no/such/compiler")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "launches 0"
    assert "/no/such/compiler" in done.stderr


def test_with_a_compiler_the_same_program_launches_and_does_not_warn(tmp_path: Path) -> None:
    done = run(tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] != "launches 0"
    assert "generated loops are off" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self").exists(), reason="needs a folder nobody can make")
def test_cache_folder_that_cannot_be_made_warns_and_answers_right() -> None:
    done = run(Path("/proc/self/no-such-folder"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] != "launches 0"
    assert "WARNING" in done.stderr
