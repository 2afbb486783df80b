"""``python -m tessiq explain FILE``: programs that compile, files that hold a model, saved reports, and refusals."""

from pathlib import Path

import pytest

from tessiq.__main__ import main
from tessiq.explain.report import Report

COMPILES = """
import sys
import torch
import neighbour
assert __name__ == "__main__"
step = torch.compile(neighbour.step, backend="tessiq")
with torch.no_grad():
    for _ in range(int(sys.argv[1])):
        step(torch.ones(4))
"""

HOLDS = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
inputs = (torch.ones(2, 4),)
"""


@pytest.fixture(autouse=True)
def _fresh(fresh_compiles: None) -> None:
    """For every test."""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_program_that_compiles_is_reported_as_it_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "neighbour.py", "def step(x):\n    return x.relu() * 2\n")
    program, saved = write(tmp_path, "program.py", COMPILES), tmp_path / "out.json"
    assert main(["explain", program, "--json", str(saved), "--args", "3"]) == 0
    captured = capsys.readouterr()
    shown = " ".join(captured.out.split())
    assert "All 2 operations claimed: 1 kernel, 0 library calls. The recorded calls together copy 96 B" in shown
    assert f"wrote {saved}" in captured.err
    report = Report.load_json(saved)
    assert report.title == "program.py"
    assert (report.graphs[0].later_calls, report.later_call.to_device) == (3, 3)


def test_model_in_a_file_is_explained_with_its_backward_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["explain", write(tmp_path, "net.py", HOLDS), "--backward", "--html", str(page)]) == 0
    assert "graph 1 (backward)" in capsys.readouterr().out
    assert page.read_text().startswith("<!doctype html>")


def test_saved_report_is_shown_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(tmp_path / "net.json")
    assert main(["explain", write(tmp_path, "net.py", HOLDS), "--json", saved]) == 0
    first = capsys.readouterr().out
    assert main(["explain", saved]) == 0
    assert capsys.readouterr().out == first
    assert main(["explain", saved, "--diff", saved]) == 0
    assert capsys.readouterr().out == "no difference but in times\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("empty.py", "x = 1\n", "compiled nothing with tessiq and leaves no model: compile with backend='tessiq'"),
        ("half.py", "import torch\nmodel = torch.relu\n", "leaves a model but inputs is NoneType: give it"),
        ("ends.py", "raise SystemExit(3)\n", "ended with status 3: make it run by itself first"),
        ("other.json", "{}", "is JSON but no report of tessiq"),
    ],
)
def test_file_without_anything_to_report_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    assert main(["explain", write(tmp_path, name, text)]) == 1
    assert message in capsys.readouterr().err


def test_missing_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nowhere.py"]) == 1
    assert "there is no file nowhere.py: name a Python program" in capsys.readouterr().err
