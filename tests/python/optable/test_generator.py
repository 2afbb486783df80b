"""What tools/gen_optable.py refuses, and that what it wrote is what it would write now."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_optable", ROOT / "tools/gen_optable.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gen_optable"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


GENERATOR = load()
GOOD = {"name": "twice", "aten": ["aten.twice.default"], "category": "elementwise", "kernel": True, "arity": 1,
        "expression": "($0 + $0)"}  # fmt: skip


def table(*rows: dict[str, object]) -> str:
    def spelled(value: object) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{key} = {spelled(one)}" for key, one in value.items()) + " }"
        if isinstance(value, list):
            return "[" + ", ".join(spelled(one) for one in value) + "]"
        return f'"{value}"' if isinstance(value, str) else str(value).lower()

    return "\n".join("[[op]]\n" + "\n".join(f"{key} = {spelled(value)}" for key, value in row.items()) for row in rows)


def refusal(**changes: object) -> str:
    row = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(GENERATOR.RowError) as caught:
        GENERATOR.read_table(table(row))
    return str(caught.value)


def test_generated_files_are_what_the_table_gives_now() -> None:
    assert GENERATOR.main(["--check"]) == 0, "run ./dev gen and commit what changed"


def test_good_row_is_read() -> None:
    (row,) = GENERATOR.read_table(table(GOOD))
    assert row.name == "twice"
    assert row.types == GENERATOR.ELEMENT_TYPES


def test_error_names_the_line_and_the_row() -> None:
    with pytest.raises(GENERATOR.RowError, match=r"^line 8: half: "):
        GENERATOR.read_table(table(GOOD, {**GOOD, "name": "half", "aten": [], "arity": 7}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"catgory": "elementwise"}, "field 'catgory' is none of .*did you mean 'category'"),
        ({"category": None}, "category is missing"),
        ({"category": "elementwize"}, "did you mean 'elementwise'"),
        ({"kernel": "yes"}, "kernel has the wrong type"),
        ({"arity": True}, "arity has the wrong type"),
        ({"types": "floats"}, "did you mean 'float'"),
        ({"types": ["f31"]}, "element type 'f31'"),
        ({"expression": None}, "needs an expression"),
        ({"expression": "($0 + $1)"}, r"\$1 is read, and the arity is 1"),
        ({"expression": "($0 + $alpha)"}, r"\$alpha is read and is no parameter"),
        ({"expression": "(2.0 * $0)"}, r"2.0 has to be written scalar_t"),
        ({"expression": "sqrtf($0)"}, "sqrtf is not a function"),
        ({"expression": "pow($0)"}, "pow takes 2 arguments, and 1 are given"),
        ({"expression": "(($0)"}, "parentheses"),
        ({"arity": 2}, "argument 1 is never read"),
        ({"unread": [0]}, "argument 0 is read"),
        ({"parameters": {"alpha": 1}}, "parameter alpha is never read"),
        ({"cases": [{"when": {}, "expression": "$0"}]}, "not both"),
        ({"effects": "random"}, "has no effects"),
        ({"category": "reduction"}, "reduction row has no expression"),
        ({"aten": ["torch.twice"]}, "is not an operator"),
        ({"aten": ["aten.twice.default", "aten.twice.default"]}, "is taken"),
    ],
)
def test_bad_row_is_refused(changes: dict[str, object], message: str) -> None:
    assert GENERATOR.re.search(message, refusal(**changes)), refusal(**changes)


def test_name_taken_by_another_row_is_refused() -> None:
    with pytest.raises(GENERATOR.RowError, match=r"'aten.twice.default' is taken by twice \(line 1\)"):
        GENERATOR.read_table(table(GOOD, {**GOOD, "name": "other"}))


def test_functions_are_those_of_the_documented_list() -> None:
    text = (ROOT / "csrc/optable/intrinsics.md").read_text()
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("|") and "---" not in line]
    documented = {name for cell in cells for name in cell.split()} - {"name"}
    assert documented == set(GENERATOR.INTRINSICS) - {"scalar_t"}


def test_only_what_differs_is_written_and_a_check_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same, other = tmp_path / "same.txt", tmp_path / "folder" / "other.txt"
    same.write_text("text\n")
    before = same.stat().st_mtime_ns

    def outputs() -> dict[Path, str]:
        return {same: "text\n", other: "new\n"}

    assert GENERATOR.run("", outputs, ["--check"]) == 1
    assert "other.txt is stale: run ./dev gen" in capsys.readouterr().err
    assert not other.exists()
    assert GENERATOR.run("", outputs, []) == 0
    assert (other.read_text(), same.stat().st_mtime_ns) == ("new\n", before)
    assert GENERATOR.run("", outputs, ["--check"]) == 0
