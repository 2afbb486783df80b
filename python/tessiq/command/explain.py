"""``python -m tessiq explain FILE``: a report on a program's compiles, on the model a file holds, or on a saved report.

Decides what a file is: a saved report by its ending ``.json``, else a Python program, which is run. A program that
compiles with tessiq is reported as it ran. One that compiles nothing and leaves ``model`` and ``inputs`` behind has
them explained.
"""

import argparse
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

import tessiq
from tessiq.command.verb import Verb
from tessiq.explain import Report


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a Python program, or a report saved as FILE.json")
    parser.add_argument("--html", metavar="PATH", help="also write the report as one HTML page")
    parser.add_argument("--json", metavar="PATH", help="also write the report as JSON")
    parser.add_argument("--diff", metavar="PATH", help="print what differs from a report saved as JSON, earlier")
    parser.add_argument("--source", action="store_true", help="print the source of every kernel too")
    parser.add_argument("--args", nargs=argparse.REMAINDER, default=[], help="what follows goes to the program")
    parser.add_argument("--backward", action="store_true", help="of a model in FILE: its backward pass too")


def _run(arguments: argparse.Namespace) -> int:
    try:
        report = _report(arguments)
        before = Report.load_json(arguments.diff) if arguments.diff else None
    except (ValueError, OSError) as error:
        print(f"tessiq explain: {error}", file=sys.stderr)
        return 1
    if before is not None:
        print(before.diff(report))
    else:
        report.show(source=arguments.source)
    for path, save in ((arguments.html, report.save_html), (arguments.json, report.save_json)):
        if path:
            save(path)
            print(f"wrote {path}", file=sys.stderr)
    return 0


def _report(arguments: argparse.Namespace) -> Report:
    path = Path(arguments.file)
    if not path.is_file():
        raise ValueError(f"there is no file {path}: name a Python program, or a report that report.save_json wrote")
    if path.suffix == ".json":
        return Report.load_json(path)
    # Dynamo takes seconds to import, and a saved report needs none of it.
    from tessiq.explain.capture import recording

    with recording(path.name) as recorder:
        left = _run_program(path, arguments.args)
        report = recorder.report()
    if report.graphs or report.uncompiled:
        return report
    model, inputs = left.get("model"), left.get("inputs")
    if not callable(model):
        raise ValueError(
            f"{path} compiled nothing with tessiq and leaves no model: compile with backend='tessiq' in it, or give it "
            "two global names, model and inputs"
        )
    with torch.set_grad_enabled(arguments.backward):
        return tessiq.explain(model, *_positional(path, inputs), backward=arguments.backward)


def _positional(path: Path, inputs: object) -> Sequence[object]:
    if not isinstance(inputs, list | tuple):
        raise ValueError(
            f"{path} leaves a model but inputs is {type(inputs).__name__}: give it a global name inputs, a tuple of "
            "the arguments to call the model with"
        )
    return inputs


def _run_program(path: Path, arguments: Sequence[str]) -> dict[str, object]:
    """The program's global names after it ran, as it runs from a shell."""
    with _command_line([str(path), *arguments], str(path.resolve().parent)):
        try:
            return runpy.run_path(str(path), run_name="__main__")
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                raise ValueError(f"{path} ended with status {leaving.code}: make it run by itself first") from leaving
            return {}


@contextmanager
def _command_line(arguments: list[str], folder: str) -> Iterator[None]:
    argv, search = sys.argv, list(sys.path)
    sys.argv, sys.path = arguments, [folder, *search]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, search


VERB = Verb("report how the models of a program compile, or show a saved report", _run, _add_arguments)
