"""Pages say what is: their commands print what they show, and nothing that a user can set is left out.

TESSIQ_UPDATE_GOLDENS=1 rewrites what commands print; read the difference before it is committed.
"""

import importlib.util
import os
import re
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest
from page_examples import ROOT, Command, File, PageError, comparable, examples, rewritten, run_page, tessiq_opt

from tessiq import _C
from tessiq.compile.options import MODES, CompileOptions
from tessiq.device.logs import TOPICS

EXECUTED = (
    "explain.md",
    "finding-a-fault.md",
    "getting-started.md",
    "how-it-works.md",
    "options-and-environment.md",
    "profiling.md",
)
OPTIONS = (ROOT / "docs" / "options-and-environment.md").read_text()
# A variable is read by its name as a string; a macro or a CMake definition has the same form and no quotes.
READ = re.compile(r'["\'](TESSIQ_[A-Z_]+)["\']')


@pytest.mark.parametrize("name", EXECUTED)
def test_commands_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    path = ROOT / "docs" / name
    page = path.read_text()
    if "$ tessiq-opt" in page and tessiq_opt() is None:
        pytest.skip("tessiq-opt has not been built here")
    outputs = run_page(page, tmp_path)
    if os.environ.get("TESSIQ_UPDATE_GOLDENS") == "1":
        path.write_text(rewritten(page, outputs))
        return
    for command, output in outputs:
        assert comparable(output) == comparable(command.output), f"docs/{name}: $ {command.line}\n{output}"


def documented(heading: str) -> set[str]:
    """The names in the first column of the tables under a heading of the page on options."""
    section = OPTIONS.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def test_every_option_of_a_compile_is_documented() -> None:
    assert documented("Options of a compile") == {field.name for field in fields(CompileOptions)}
    for mode in MODES:
        assert f'`"{mode}"`' in OPTIONS


def variables_read(*folders: str) -> set[str]:
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".cpp", ".h", ".py"}]
    return {name for path in files for name in READ.findall(path.read_text())}


def test_every_variable_that_tessiq_reads_is_documented_and_no_other() -> None:
    read = variables_read("csrc", "python")
    assert {"TESSIQ_CACHE_DIR", "TESSIQ_CXX"} <= read, "the pattern finds what is known to be read"
    assert documented("Environment") == read


def test_topics_of_the_log_are_documented() -> None:
    assert documented("Logs") == set(TOPICS)


def test_variables_of_the_script_are_documented() -> None:
    listed = set(re.findall(r"TESSIQ_[A-Z_]+", (ROOT / "dev").read_text().partition("set -euo")[0]))
    assert listed
    assert documented("Environment of `./dev`") == listed


@pytest.fixture(scope="module")
def gen_reasons() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_reasons", ROOT / "tools" / "gen_reasons.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_of_reasons_is_fresh(gen_reasons: ModuleType) -> None:
    assert gen_reasons.main(["--check"]) == 0, "run ./dev gen and commit what changed"
    assert all(f"| `{name}` |" in gen_reasons.PAGE.read_text() for name, _ in _C.claim_reasons())


def test_code_without_an_exception_is_refused(gen_reasons: ModuleType) -> None:
    header = "enum class ErrorCode {\n  kFirst,  // one\n  kSecond,  // two\n};"
    source = "    case ErrorCode::kFirst:\n      return PyExc_ValueError;\n"
    with pytest.raises(gen_reasons.SourceError, match="no exception and meaning for kSecond"):
        gen_reasons.render([], header, source)
    both = source.replace("case ErrorCode::kFirst:\n", "case ErrorCode::kFirst:\n    case ErrorCode::kSecond:\n")
    assert "| `ValueError` | two | `kSecond` |" in gen_reasons.render([("id", "meaning")], header, both)


def test_code_without_a_meaning_is_refused(gen_reasons: ModuleType) -> None:
    with pytest.raises(gen_reasons.SourceError, match="one code with its meaning a line"):
        gen_reasons.error_codes("enum class ErrorCode {\n  kFirst,  // one\n  kSecond,\n};")


PAGE = """
```python
# one.py
print("speed 3.2 us")
```

```console
$ python one.py
speed 1 us
$ cat absent
```
"""


def test_files_and_commands_of_a_page_are_found_and_run(tmp_path: Path) -> None:
    file, first, second = examples(PAGE)
    assert isinstance(file, File)
    assert isinstance(first, Command)
    assert isinstance(second, Command)
    assert (file.name, first.line, first.output, second.line) == (
        "one.py",
        "python one.py",
        "speed 1 us\n",
        "cat absent",
    )
    outputs = run_page(PAGE, tmp_path)
    assert outputs[0][1] == "speed 3.2 us\n"
    assert "[exit status 1]" in outputs[1][1]
    page = rewritten(PAGE, outputs)
    assert "speed 1 us" in page, "a time is left as it is"
    assert page.endswith("No such file or directory\n[exit status 1]\n```\n")


def test_output_outside_a_console_block_is_refused() -> None:
    with pytest.raises(PageError, match="line 2: a block of no language"):
        examples("\n```\n3 kernels\n```\n")
    with pytest.raises(PageError, match="opens with a command"):
        examples("```console\n3 kernels\n```\n")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("took 12 us ####", "took 1,500.25 us #", True),
        ("95.2% of calls", "3% of calls", True),
        ("copies 128.0 KiB", "copies 64.0 KiB", False),
        ("3 kernels", "2 kernels", False),
        ("net.py:11", "net.py:12", False),
    ],
)
def test_only_times_may_differ(one: str, other: str, same: bool) -> None:
    assert (comparable(one) == comparable(other)) is same
