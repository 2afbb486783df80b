"""Applies mutations to a copy of the checkout, one at a time, and expects the test of each to turn red.

The checkout itself is never touched. Two copies work side by side: one builds test programs without PyTorch, the other
runs pytest. Both build with the checkout's compiler cache, so a mutation costs one file and one link.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from checkout_copy import CAUGHT, ROOT, Copy, judge
from mutation import Mutation, load


@dataclass(frozen=True)
class Verdict:
    """What became of a mutation; ``caught`` is the one outcome that is wanted."""

    name: str
    outcome: str
    seconds: float
    test: str


class Lane(threading.Thread):
    """The mutations of one copy, one after the other."""

    def __init__(self, folder: Path, mutations: Sequence[Mutation]) -> None:
        super().__init__()
        self.mutations = sorted(mutations, key=lambda one: (one.build, one.test.split(" ")[0], one.file))
        self.verdicts: list[Verdict] = []
        self._folder = folder

    def run(self) -> None:
        """Build whole and see every test green; then break."""
        copy = Copy(self._folder)
        if not copy.build_for(self.mutations):
            print(copy.log()[-3000:])
            self._all("the unbroken copy does not build")
            return
        whole = {test: copy.outcome(test) for test in dict.fromkeys(one.test for one in self.mutations)}
        for mutation in self.mutations:
            started = time.monotonic()
            before = whole[mutation.test]
            outcome = judge(copy, mutation) if before == "green" else f"its test is {before} without it"
            self._add(Verdict(mutation.name, outcome, time.monotonic() - started, mutation.test))
        # What is left behind is whole, for the next run.
        copy.build_for(self.mutations)

    def _all(self, outcome: str) -> None:
        for mutation in self.mutations:
            self._add(Verdict(mutation.name, outcome, 0.0, mutation.test))

    def _add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        print(f"{verdict.outcome:<12} {verdict.seconds:5.1f} s  {verdict.name:<42} {verdict.test}", flush=True)


def main() -> int:
    """Try the mutations that are named, or all of them. Returns 0 where each was caught."""
    parser = argparse.ArgumentParser(prog="./dev mutations", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them without a name")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--json", type=Path, help="a file for the verdicts")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutations", help="where the copies are kept")
    arguments = parser.parse_args()
    known = {one.name: one for one in load()}
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"no mutation {', '.join(unknown)}; ./dev mutations --list says what there is")
    chosen = [known[name] for name in arguments.names or known]
    if arguments.list:
        for one in chosen:
            print(f"{one.name:<42} {one.why}")
        return 0
    started = time.monotonic()
    of_core = [one for one in chosen if one.build == "core"]
    of_python = [one for one in chosen if one.build != "core"]
    lanes = [
        Lane(arguments.folder / name, mutations)
        for name, mutations in (("core", of_core), ("python", of_python))
        if mutations
    ]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    verdicts = [verdict for lane in lanes for verdict in lane.verdicts]
    escaped = [one for one in verdicts if one.outcome != CAUGHT]
    print(f"{len(verdicts) - len(escaped)} of {len(chosen)} caught in {time.monotonic() - started:.0f} s")
    for verdict in escaped:
        print(f"{verdict.name}: {verdict.outcome} ({known[verdict.name].why}; {verdict.test})", file=sys.stderr)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in verdicts], indent=1))
    return int(bool(escaped) or len(verdicts) < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
