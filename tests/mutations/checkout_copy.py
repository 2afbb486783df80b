"""A copy of the checkout that is built, broken and mended, and what a broken one's test says of a mutation.

Only a test that ran and failed has caught one. Leaves to run.py which mutations are tried and what is said of them.
"""

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from mutation import Mutation, applied

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("csrc", "cmake", "python", "tests", "tools", "bench", "CMakeLists.txt", "CMakePresets.json", "pyproject.toml")
CAUGHT = "caught"
TIMEOUT = 240
HANGS = 256

Outcome = Literal["green", "red", "not run"]
"""Of a test: passed; failed, crashed or hung; or it did not start, or no test has this name."""


def is_made(path: Path) -> bool:
    """Made by a run of Python, not by a person and not by the build of the extension."""
    return "__pycache__" in path.parts or path.name == "_C.next"


def synchronise(source: Path, target: Path) -> None:
    """Make a folder like another. Files that differ become new ones, so that a build sees the change."""
    wanted = {path.relative_to(source): path for path in source.rglob("*") if path.is_file() and not is_made(path)}
    for extra in [path for path in target.rglob("*") if path.is_file() and not is_made(path)]:
        if extra.relative_to(target) not in wanted:
            extra.unlink()
    for relative, path in wanted.items():
        copy = target / relative
        if not copy.exists() or not filecmp.cmp(path, copy, shallow=False):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            shutil.copymode(path, copy)


class Copy:
    """A copy of the checkout that is built, broken and mended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                synchronise(source, folder / name)
            elif not (folder / name).exists() or not filecmp.cmp(source, folder / name, shallow=False):
                shutil.copyfile(source, folder / name)
        beside = str(Path(sys.executable).parent)
        self._environment = {
            **os.environ,
            "PATH": f"{beside}:{os.environ['PATH']}",
            "PYTHONPATH": str(folder / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",  # a mended file may have the time and size of the broken one
            "TESSIQ_CACHE_DIR": str(folder / "cache"),
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        }

    def build(self, preset: str, targets: Sequence[str]) -> bool:
        """Whether the copy builds as it is now."""
        build = self.folder / "build" / preset
        if not (build / "build.ninja").exists():
            options = [f"-DPython_EXECUTABLE={sys.executable}", *(["-DTESSIQ_TESTS=OFF"] if preset == "dev" else [])]
            if self._run(["cmake", "--preset", preset, *options]):
                return False
        jobs = os.environ.get("TESSIQ_JOBS", str(os.cpu_count() or 1))
        if self._run(["cmake", "--build", str(build), "--parallel", jobs, "--target", *targets]):
            return False
        if preset == "dev":
            (module,) = build.glob("_C.*.so")
            shutil.copyfile(module, self.folder / "python" / "tessiq" / module.name)
        return True

    def build_for(self, mutations: Sequence[Mutation]) -> bool:
        """Build what the tests of these mutations run."""
        targets = sorted({program(one.test) for one in mutations if one.build == "core"})
        extension = any(one.build == "extension" for one in mutations)
        return (not targets or self.build("core", targets)) and (
            not extension or self.build("dev", ["_C", "tessiq_test_operations"])
        )

    def outcome(self, test: str) -> Outcome:
        """What became of the test."""
        if test.startswith("tests/"):
            words = ["-q", "-x", "-m", "not gpu", "-p", "no:cacheprovider", *test.split(" ")]
            status = self._run([sys.executable, "-m", "pytest", *words])
            # Pytest's own: 2 a file that does not import, 4 a conftest that does not, 5 no test of this name.
            return "green" if status == 0 else "not run" if status in (2, 4, 5) else "red"
        name = self.folder / "build" / "core" / "tests" / "cpp" / program(test)
        status = self._run([str(name), f"--gtest_filter={test.split(' ', 1)[1]}"])
        # A filter that fits no test passes as well.
        return "red" if status else "green" if "OK ] " in self.log() else "not run"

    def log(self) -> str:
        """What the last command printed."""
        return (self.folder / "last.log").read_text(errors="replace")

    def _run(self, command: Sequence[str]) -> int:
        """The command's status; that of a hang is of no program's own."""
        with (self.folder / "last.log").open("w") as out:
            try:
                done = subprocess.run(
                    command,
                    cwd=self.folder,
                    env=self._environment,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    check=False,
                    timeout=None if command[0] == "cmake" else TIMEOUT,
                )
            except subprocess.TimeoutExpired:
                return HANGS
        return done.returncode


def program(test: str) -> str:
    """The test program of ``FOLDER FILTER``."""
    return f"tessiq_{test.split(' ', 1)[0]}_tests"


def judge(copy: Copy, mutation: Mutation) -> str:
    """Break, build, test, mend."""
    path = copy.folder / mutation.file
    whole = path.read_text()
    try:
        path.write_text(applied(mutation, whole))
    except LookupError as error:
        return str(error)
    try:
        if not copy.build_for([mutation]):
            return "does not build"
        return {"green": "NOT CAUGHT", "red": CAUGHT, "not run": "its test does not start"}[copy.outcome(mutation.test)]
    finally:
        path.write_text(whole)
