"""``python -m tessiq demo``: the demonstration of :mod:`tessiq.demo`."""

from argparse import Namespace

from tessiq.command.verb import Verb


def _run(_: Namespace) -> int:
    from tessiq.demo.run import run

    return run("python -m tessiq demo")


VERB = Verb("compile real models and check them against PyTorch", _run)
