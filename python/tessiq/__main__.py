"""The command line: ``python -m tessiq``."""

import argparse
import importlib
import sys
from collections.abc import Sequence

import tessiq


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb.

    Returns:
        The process's exit status.
    """
    parser = argparse.ArgumentParser(prog="python -m tessiq", description=tessiq.__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("info", help="versions, devices, libraries and folders")
    verbs.add_parser("doctor", help="try what tessiq needs, and say what is missing; status 1 where something is")
    verbs.add_parser("demo", help="compile real models and check them against PyTorch")
    explain = verbs.add_parser("explain", help="report how the models of a program compile, or show a saved report")
    explain_command = importlib.import_module("tessiq.explain.command")
    explain_command.add_arguments(explain)
    parsed = parser.parse_args(arguments)
    verb = parsed.verb
    if verb == "explain":
        return int(explain_command.explain_file(parsed))
    if verb == "demo":
        status: int = importlib.import_module("tessiq.demo.run").run("python -m tessiq demo")
        return status
    inspect = importlib.import_module("tessiq.inspection")
    return int(inspect.print_info() if verb == "info" else inspect.print_checks())


if __name__ == "__main__":
    sys.exit(main())
