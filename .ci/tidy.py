"""Runs clang-tidy over the core within a time budget.

A full run costs several seconds a file, so the files changed since a base revision come first, then the core in
the order data flows through it; no new file is started once the budget is spent. The extension is left out: reading
PyTorch's headers costs half a minute a file. The last line says how many files were judged, so nothing is skipped
in silence. Exits 1 where any file has a finding.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ("support", "ir", "optable", "analysis", "passes", "codegen/emit", "program", "runtime", "codegen", "cuda_api")


def changed_files(base: str) -> list[str]:
    """Paths changed since `base`, committed or not; empty where git or the revision is not there."""
    done = subprocess.run(["git", "diff", "--name-only", base], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def ordered_sources(build: Path, base: str) -> list[Path]:
    """Core sources that the build compiles: changed ones first, then by layer."""
    commands = json.loads((build / "compile_commands.json").read_text())
    compiled = sorted({Path(c["file"]) for c in commands if Path(c["file"]).is_relative_to(ROOT / "csrc")})
    changed = set(changed_files(base))

    def layer(path: Path) -> int:
        relative = path.relative_to(ROOT / "csrc").as_posix()
        return next((i for i, folder in enumerate(CORE) if relative.startswith(folder + "/")), len(CORE))

    core = [p for p in compiled if layer(p) < len(CORE)]
    return sorted(core, key=lambda p: (p.relative_to(ROOT).as_posix() not in changed, layer(p), p))


def main() -> int:
    """Judges files until the budget is spent; 1 where any has a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=240, help="start no file after this long")
    parser.add_argument("--base", default="HEAD~1", help="files changed since this revision come first")
    parser.add_argument("--clang-tidy", default=str(Path(sys.executable).with_name("clang-tidy")))
    options = parser.parse_args()
    build = options.build.resolve()
    sources = ordered_sources(build, options.base)
    deadline = time.monotonic() + options.seconds

    def judge(path: Path) -> tuple[Path, str] | None:
        if time.monotonic() > deadline:
            return None
        command = [options.clang_tidy, "--quiet", "-p", str(build), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return path, "" if done.returncode == 0 else done.stdout + done.stderr

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judged = [result for result in pool.map(judge, sources) if result is not None]
    findings = [(path, text) for path, text in judged if text]
    for _, text in findings:
        print(text)
    print(f"clang-tidy: {len(judged)} of {len(sources)} core files judged, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
