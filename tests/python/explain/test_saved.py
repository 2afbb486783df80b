"""A saved report reads back equal, and what is no report of this version is refused with the reason."""

import json
from pathlib import Path

import pytest
import torch
from explained_models import Chain, Sandwich

import tessiq
from tessiq.explain.report import REPORT_VERSION, Report


@pytest.fixture(scope="module")
def report() -> Report:
    torch._dynamo.reset()
    return tessiq.explain(Chain(), torch.randn(8, 8), backward=True)


def test_json_round_trip_keeps_every_field(report: Report, tmp_path: Path) -> None:
    report.save_json(tmp_path / "report.json")
    read = Report.load_json(tmp_path / "report.json")
    assert read == report
    assert read.graphs[1].kernels[0].body == report.graphs[1].kernels[0].body != ""
    assert str(read) == str(report)


def test_none_and_effects_survive(tmp_path: Path) -> None:
    report = tessiq.explain(Sandwich(), torch.randn(4, 4))
    report.save_json(tmp_path / "report.json")
    read = Report.load_json(tmp_path / "report.json")
    assert read == report
    effects = [one.effect for one in read.operations]
    assert None in effects
    assert any(effects)


def change(report: Report, path: Path, **fields: object) -> Path:
    report.save_json(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    return path


def test_other_version_is_refused(report: Report, tmp_path: Path) -> None:
    path = change(report, tmp_path / "report.json", version=REPORT_VERSION + 1)
    with pytest.raises(
        ValueError, match=rf"version {REPORT_VERSION + 1} and this tessiq reads version {REPORT_VERSION}"
    ):
        Report.load_json(path)


def test_fields_of_a_later_tessiq_are_left_out(report: Report, tmp_path: Path) -> None:
    assert Report.load_json(change(report, tmp_path / "report.json", weather="fair")) == report


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": 3}, "report.title is 3, not str"),
        ({"graphs": {}}, "report.graphs is dict, not a list"),
        ({"later_calls": True}, "report.later_calls is True, not int"),
        ({"breaks": [{"reason": "none"}]}, r"report.breaks\[0\] has no times"),
        ({"uncompiled": [4]}, r"report.uncompiled\[0\] is int, not an object"),
    ],
)
def test_damaged_file_is_refused_by_field(
    report: Report, tmp_path: Path, fields: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=f"report.json is damaged: {message}"):
        Report.load_json(change(report, tmp_path / "report.json", **fields))


def test_word_that_is_none_of_the_choices_is_refused(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    report.save_json(path)
    path.write_text(path.read_text().replace('"direction":"forward"', '"direction":"sideways"'))
    with pytest.raises(ValueError, match="direction is 'sideways', not one of 'inference', 'forward', 'backward'"):
        Report.load_json(path)


@pytest.mark.parametrize(("text", "message"), [("{", "not JSON"), ("[1]", "no report"), ('{"version":2}', "no report")])
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match=rf"other\.json is .*{message}.*report\.save_json"):
        Report.load_json(tmp_path / "other.json")
