"""What a compile says: TESSIQ_LOGS, TORCH_LOGS, and the structured trace that tlparse reads."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tessiq.device import logs

PROGRAM = """
import torch, tessiq
w = torch.linspace(-1, 1, 16).requires_grad_()
f = torch.compile(lambda x, w: torch.erfinv(torch.sigmoid(x * w) * 0.5).sum(), backend="tessiq")
f(torch.ones(16), w).backward()
"""


def run(program: str = PROGRAM, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
    )


SIGNS = {
    "ir": "graph @main(",
    "passes": "fuse-elementwise: changed the graph, ",
    "cuda": 'extern "C"',
    "program": "launch",
    "placement": "aten.erfinv.default",
}
"""A word that each topic's lines have and no other topic's."""


@pytest.mark.parametrize("topic", sorted(SIGNS))
def test_topic_prints_what_it_says_and_no_other(topic: str) -> None:
    done = run(TESSIQ_LOGS=topic)
    assert done.returncode == 0, done.stderr
    assert f"tessiq.{topic}: forward graph on tessiq:0" in done.stderr
    assert f"tessiq.{topic}: backward graph on tessiq:0" in done.stderr
    assert SIGNS[topic] in done.stderr
    assert [one for one in SIGNS if f"tessiq.{one}:" in done.stderr] == [topic]


def test_passes_show_the_lines_they_changed() -> None:
    lines = run(TESSIQ_LOGS="passes").stderr.splitlines()
    after = lines[next(at for at, line in enumerate(lines) if line.startswith("fuse-elementwise: changed")) + 1 :]
    before, now = after[0], after[1]
    assert before.startswith("  - %")
    assert now.startswith("  + %")
    assert "group" not in before
    assert "group" in now


def test_placement_says_why_an_operation_is_not_claimed() -> None:
    line = next(line for line in run(TESSIQ_LOGS="placement").stderr.splitlines() if "aten.erfinv.default" in line)
    side, _, reason = line.partition("dispatched on ")[2].partition(": ")
    assert side == "host, moves its inputs"
    assert reason.startswith("no-row: aten.erfinv.default has no row")


def test_several_topics_and_all() -> None:
    assert logs.parse_topics("program, ir,program,") == ("program", "ir")
    assert logs.parse_topics("all") == tuple(logs.TOPICS)
    assert logs.parse_topics("") == ()


def test_every_topic_that_a_line_names_can_be_asked_for() -> None:
    root = Path(__file__).resolve().parents[3]
    named = {
        topic
        for folder, pattern in (("csrc", r'\blog_\w+\(\s*"(\w+)"'), ("python", r'getLogger\("tessiq\.(\w+)"\)'))
        for path in (root / folder).rglob("*")
        if path.suffix in (".cpp", ".py")
        for topic in re.findall(pattern, path.read_text())
    }
    assert {"cache", "compile", "runtime"} <= named <= set(logs.TOPICS)


def test_topic_unlike_any_other_is_refused_without_a_guess() -> None:
    with pytest.raises(ValueError, match="TESSIQ_LOGS names 'xyzzy', which is no topic; name 'all' or some of\n"):
        logs.parse_topics("xyzzy")


def test_unknown_topic_stops_the_import_with_the_nearest_and_the_list() -> None:
    done = run("import tessiq", TESSIQ_LOGS="ir,progam")
    assert done.returncode == 1
    said = done.stderr
    assert "TESSIQ_LOGS names 'progam', which is no topic (did you mean 'program'?); name 'all' or some of\n" in said
    for topic in logs.TOPICS:
        assert f"\n  {topic} " in said


def test_core_topic_is_shown_alone() -> None:
    program = "import torch, tessiq; torch.ones(2, device='tessiq:0').lgamma()"
    assert "tessiq.fallback: aten::lgamma.out" in run(program, TESSIQ_LOGS="fallback").stderr
    assert "lgamma" not in run(program, TESSIQ_LOGS="ir").stderr


def test_torch_logs_shows_every_topic_in_pytorchs_format() -> None:
    said = run(TORCH_LOGS="+tessiq").stderr
    for sign in SIGNS.values():
        assert sign in said
    assert "] forward graph on tessiq:0, program:" in said


def test_level_set_after_the_import_is_followed() -> None:
    program = "import logging, torch, tessiq\ntorch._logging.set_logs(modules={'tessiq': logging.DEBUG})" + PROGRAM
    assert "forward graph on tessiq:0, final ir" in run(program).stderr


def test_nothing_is_said_unasked() -> None:
    assert run().stderr == ""


def artefacts(folder: Path) -> dict[str, str]:
    """Name and text of every artefact in PyTorch's trace: a line of JSON, then its payload behind tabs."""
    (file,) = folder.iterdir()
    found: dict[str, str] = {}
    name = ""
    for line in file.read_text().splitlines():
        if line.startswith("\t"):
            if name:
                found[name] += line[1:] + "\n"
            continue
        record = json.loads(line[line.index("{") :])
        artefact = record.get("artifact")
        name = artefact["name"] if artefact and artefact["name"].startswith("tessiq") else ""
        if name:
            assert artefact["encoding"] == "string"
            assert record["frame_id"] == 0, "tlparse files it under its frame"
            found[name] = ""
    return found


def test_structured_trace_has_every_text_of_both_graphs(tmp_path: Path) -> None:
    done = run(TORCH_TRACE=str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = artefacts(tmp_path)
    texts = ("imported_ir", "passes", "final_ir", "kernels", "program", "placement")
    assert list(found) == [f"tessiq_{direction}_{text}" for direction in ("forward", "backward") for text in texts]
    assert found["tessiq_forward_imported_ir"].startswith("graph @main(")
    assert "changed the graph" in found["tessiq_forward_passes"]
    assert 'extern "C"' in found["tessiq_backward_kernels"]
    assert "aten.erfinv.default" in found["tessiq_forward_placement"]
    assert found["tessiq_forward_program"].strip()
    assert done.stderr == ""
