"""``python -m tessiq bench``: the benchmarks of a checkout, each in a process of its own.

Says which of them this machine can run; what a benchmark measures and how is the script's own business.
"""

import ast
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessiq.command.verb import Verb, add_json


@dataclass(frozen=True)
class Script:
    """One benchmark. ``refusal`` says why it cannot run here, empty where it can."""

    name: str
    path: str
    measures: str
    refusal: str


def bench_folder() -> Path:
    """Where a checkout has its benchmarks; a wheel has none."""
    return Path(__file__).resolve().parents[3] / "bench"


def scripts(folder: Path, gpus: int) -> list[Script]:
    """Every ``bench_*.py`` of the folder; one that says ``NEEDS_GPU = True`` runs only where there is one."""
    found = []
    for path in sorted(folder.glob("bench_*.py")):
        tree = ast.parse(path.read_text())
        measures = (ast.get_docstring(tree) or "").split("\n\n")[0].replace("\n", " ")
        needs_gpu = any(
            isinstance(one, ast.Assign)
            and [ast.unparse(target) for target in one.targets] == ["NEEDS_GPU"]
            and ast.literal_eval(one.value)
            for one in tree.body
        )
        refusal = "needs an NVIDIA GPU, and tessiq found none (python -m tessiq doctor says why)"
        found.append(
            Script(path.stem.removeprefix("bench_"), str(path), measures, refusal if needs_gpu and not gpus else "")
        )
    return found


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="benchmarks to run; all that can run where none is named"
    )
    parser.add_argument("--list", action="store_true", help="say which there are and what each measures")
    add_json(parser)


def _choose(found: Sequence[Script], names: Sequence[str]) -> list[Script]:
    import difflib

    by_name = {one.name: one for one in found}
    for name in names:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise LookupError(f"no benchmark {name!r}{hint}: there are {', '.join(map(repr, by_name))}")
        if by_name[name].refusal:
            raise LookupError(f"{name} {by_name[name].refusal}")
    chosen = [by_name[name] for name in names] if names else [one for one in found if not one.refusal]
    if not chosen:
        raise LookupError(f"none of {', '.join(by_name)} can run here: each {found[0].refusal}")
    return chosen


def _run(chosen: Namespace) -> int:
    import tessiq
    from tessiq.command import terminal

    found = scripts(bench_folder(), tessiq.device_count() - 1)
    if not found:
        print(
            f"no benchmarks in {bench_folder()}: they come with the source and not with the wheel; "
            "run ./dev bench in a checkout",
            file=sys.stderr,
        )
        return 1
    if chosen.list and chosen.json:
        terminal.print_json(found)
        return 0
    if chosen.list:
        terminal.print_table(
            ("name", "runs here", "measures"), [(s.name, s.refusal or "yes", s.measures) for s in found]
        )
        return 0
    try:
        scripts_to_run = _choose(found, chosen.names)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    failed = [one.name for one in scripts_to_run if subprocess.run([sys.executable, one.path], check=False).returncode]
    if failed:
        print(f"failed: {', '.join(failed)}; each one's own output above says how", file=sys.stderr)
    return int(bool(failed))


VERB = Verb("run the benchmarks of a checkout that this machine can run", _run, _add_arguments)
