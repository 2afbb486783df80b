"""Applies each sabotage of this folder to a copy of the checkout and expects the tests it names to fail.

The checkout itself is never touched. Leaves what a sabotage is to the patches.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
COPIED = (
    "csrc",
    "cmake",
    "python",
    "tests",
    "tools",
    "requirements",
    "CMakeLists.txt",
    "CMakePresets.json",
    "pyproject.toml",
    "ops.toml",
    "dev",
)


@dataclass(frozen=True)
class Sabotage:
    """One patch; ``tests`` are pytest's own words for the tests that must fail on it."""

    name: str
    path: Path
    breaks: str
    tests: tuple[str, ...]


def load(path: Path) -> Sabotage:
    """Read a patch's opening lines. Raises ValueError where they do not say what it breaks and what notices."""
    lines = path.read_text().splitlines()
    breaks = [line.removeprefix("Breaks: ") for line in lines if line.startswith("Breaks: ")]
    tests = [line.removeprefix("Test: ") for line in lines if line.startswith("Test: ")]
    if len(breaks) != 1 or not tests:
        raise ValueError(f"{path.name} needs one line 'Breaks: ...' and at least one 'Test: ...' before its diff")
    return Sabotage(path.stem, path, breaks[0], tuple(tests))


def is_built(path: Path) -> bool:
    """Made by a build or a run, not by a person."""
    return "__pycache__" in path.parts or path.suffix == ".so" or path.name == "_C.sources"


def synchronise(source: Path, target: Path) -> None:
    """Make ``target`` like ``source``. Files that differ become new ones: the build sees what was undone."""
    wanted = {path.relative_to(source): path for path in source.rglob("*") if path.is_file() and not is_built(path)}
    for extra in [path for path in target.rglob("*") if path.is_file() and not is_built(path)]:
        if extra.relative_to(target) not in wanted:
            extra.unlink()
    for relative, path in wanted.items():
        copy = target / relative
        if copy.exists() and filecmp.cmp(path, copy, shallow=False):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        shutil.copymode(path, copy)


class Copy:
    """A copy of the checkout that is built and broken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            if (ROOT / name).is_dir():
                synchronise(ROOT / name, folder / name)
            elif (ROOT / name).exists():
                shutil.copy2(ROOT / name, folder / name)
        # The interpreter as it is: the copy makes no environment of its own.
        self._environment = {**os.environ, "TESSIQ_PYTHON": sys.executable, "PYTHONPATH": str(folder / "python")}
        self._environment["TESSIQ_CACHE_DIR"] = str(folder / "cache")
        self._environment.setdefault("OMP_NUM_THREADS", "1")

    def build(self) -> bool:
        """Whether the copy builds as it is now."""
        return self._quiet(["./dev", "build", "dev", "-DTESSIQ_TESTS=OFF"])

    def apply(self, sabotage: Sabotage, *, undo: bool = False) -> bool:
        """Whether the patch fits."""
        command = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-i", str(sabotage.path)]
        return self._quiet([*command, *(["-R"] if undo else [])])

    def tests_pass(self, sabotage: Sabotage) -> bool:
        """Whether every test the sabotage names passes."""
        chosen = [word for test in sabotage.tests for word in test.split()]
        return self._quiet(
            [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not gpu", "-p", "no:cacheprovider", *chosen]
        )

    def _quiet(self, command: list[str]) -> bool:
        log = self._folder / "last.log"
        with log.open("w") as out:
            done = subprocess.run(
                command, cwd=self._folder, env=self._environment, stdout=out, stderr=subprocess.STDOUT, check=False
            )
        return done.returncode == 0


def verdict(copy: Copy, sabotage: Sabotage) -> str:
    """What happened, in a word; ``noticed`` is the one that is wanted."""
    # What the sabotage before left in the build goes first.
    if not copy.build() or not copy.tests_pass(sabotage):
        return "its tests fail without it"
    if not copy.apply(sabotage):
        copy.apply(sabotage, undo=True)
        return "does not apply any more"
    try:
        if not copy.build():
            return "does not build"
        return "NOT NOTICED" if copy.tests_pass(sabotage) else "noticed"
    finally:
        copy.apply(sabotage, undo=True)


def main() -> int:
    """Try the sabotages that are named, or all of them. Returns 0 where each was noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="sabotages without .patch; all of them without an argument")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutations", help="where the copy is kept")
    arguments = parser.parse_args()
    known = {path.stem: path for path in sorted(HERE.glob("*.patch"))}
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"no sabotage {', '.join(unknown)}; there are {', '.join(known)}")
    print("building an unbroken copy", flush=True)
    copy = Copy(arguments.folder)
    if not copy.build():
        print((arguments.folder / "last.log").read_text()[-2000:])
        return 1
    missed = 0
    for name in arguments.names or known:
        sabotage = load(known[name])
        result = verdict(copy, sabotage)
        missed += result != "noticed"
        print(f"{result:<28} {name}: {sabotage.breaks}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
