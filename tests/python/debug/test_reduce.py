"""``tessiq.reduce``: what is left of a failing graph fails in the same way, alone, in another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from faults import WRONG_TANH, Gated, Plant

import tessiq
from tessiq.debug.reduction import WRONG


def run(script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240, env=os.environ)


def test_wrong_kernel_is_cut_to_one_operation(plant: Plant, tmp_path: Path) -> None:
    plant(WRONG_TANH)
    reduction = tessiq.reduce(Gated(), torch.randn(8, 16))
    left, before = reduction.nodes
    assert (left, reduction.failure) == (1, WRONG)
    assert before > 20
    assert reduction.ir.startswith("graph @main(")
    assert reduction.ir.count("aten.") == 1
    assert "aten.tanh.default" in reduction.ir
    script = reduction.save(tmp_path / "reduced")
    assert (tmp_path / "reduced" / "reduced.tir").read_text() == reduction.ir
    assert not reduction.inputs_matter
    done = run(script)
    assert done.returncode == 1, done.stderr
    assert "first beyond rounding is" in done.stdout


def test_script_makes_inputs_that_repeat_their_memory(plant: Plant, tmp_path: Path) -> None:
    plant(WRONG_TANH)
    reduction = tessiq.reduce(lambda x: torch.tanh(x) * 2, torch.randn(8, 1).expand(8, 6))
    assert ".as_strided((8, 6), (1, 0))" in reduction.script
    assert run(reduction.save(tmp_path / "reduced")).returncode == 1


def test_script_ends_well_once_the_fault_is_gone(plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(WRONG_TANH)
    script = tessiq.reduce(lambda x: torch.tanh(x * 2) + 1, torch.randn(64)).save(tmp_path / "reduced")
    monkeypatch.delenv("TESSIQ_CXX")
    done = run(script)
    assert done.returncode == 0, done.stdout + done.stderr


def test_inputs_that_matter_are_kept_beside_the_script(plant: Plant, tmp_path: Path) -> None:
    plant("s/__builtin_tanhf\\(x\\)/(x > 100.0f ? 0.5f : __builtin_tanhf(x))/")
    x = torch.zeros(64)
    x[17] = 1000.0
    reduction = tessiq.reduce(lambda x: torch.tanh(x) * 3, x)
    assert reduction.inputs_matter
    script = reduction.save(tmp_path / "reduced")
    assert (script.parent / "inputs.pt").exists()
    assert run(script).returncode == 1


def test_exception_is_cut_to_what_raises_it(plant: Plant) -> None:
    plant("/tanhf/s/^.*$/#error planted/")
    reduction = tessiq.reduce(lambda x: torch.relu(torch.tanh(x.sum(0)) * 2), torch.randn(8, 16))
    assert reduction.failure == "RuntimeError"
    assert reduction.nodes[0] == 1
    assert "aten.tanh.default" in reduction.ir


def test_fault_of_the_backward_graph_is_found(plant: Plant) -> None:
    # The forward graph has the sine, and only the backward one its cosine.
    plant("s/__builtin_cosf\\(x\\)/(__builtin_cosf(x) * 1.01f)/")
    x = torch.randn(8, requires_grad=True)
    reduction = tessiq.reduce(lambda x: torch.sin(x) * 2, x, backward=True)
    assert reduction.failure == WRONG
    assert "aten.cos.default" in reduction.ir


def test_random_numbers_are_no_fault() -> None:
    with pytest.raises(ValueError, match="nothing to reduce"):
        tessiq.reduce(lambda x: torch.nn.functional.dropout(x * 2, 0.5, True) + 1, torch.ones(64))


def test_model_without_a_fault_has_nothing_to_reduce() -> None:
    with pytest.raises(ValueError, match="nothing to reduce: every graph compiles"):
        tessiq.reduce(lambda x: torch.relu(x) + 1, torch.ones(4))
