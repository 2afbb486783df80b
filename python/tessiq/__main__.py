"""The command line: ``python -m tessiq``. Each verb is a module of :mod:`tessiq.command`."""

import argparse
import importlib
import sys
from collections.abc import Sequence

import tessiq
from tessiq.command.verb import Verb

VERBS = ("info", "doctor", "cache", "explain", "bench", "demo")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb.

    Returns:
        The process's exit status.
    """
    parser = argparse.ArgumentParser(prog="python -m tessiq", description=tessiq.__doc__)
    parsers = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs: dict[str, Verb] = {}
    for name in VERBS:
        verb: Verb = importlib.import_module(f"tessiq.command.{name}").VERB
        verb.add_arguments(parsers.add_parser(name, help=verb.summary, description=verb.summary))
        verbs[name] = verb
    chosen = parser.parse_args(arguments)
    return verbs[chosen.verb].run(chosen)


if __name__ == "__main__":
    sys.exit(main())
