"""Runs clang-tidy over the core and prints what it finds.

Judges every source under csrc/ that a build compiles without PyTorch: reading PyTorch's headers costs half a minute a
file, so the extension is left to the compiler's own warnings. Exits 1 where any file has a finding; the last line says
how many files were judged.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITH_PYTORCH = ("pytorch", "bindings", "custom_ops")


def core_sources(build: Path) -> list[Path]:
    """The sources under csrc/ that `build` compiles and that do not include PyTorch, in order of path."""
    commands = json.loads((build / "compile_commands.json").read_text())
    csrc = ROOT / "csrc"
    compiled = sorted({Path(command["file"]) for command in commands})
    inside = [path for path in compiled if path.is_relative_to(csrc)]
    return [path for path in inside if path.relative_to(csrc).parts[0] not in WITH_PYTORCH]


def main() -> int:
    """Judges the files asked for, or all; 1 where any has a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--clang-tidy", default=str(Path(sys.executable).with_name("clang-tidy")))
    parser.add_argument("files", type=Path, nargs="*", help="only these")
    options = parser.parse_args()
    build = options.build.resolve()
    sources = [path.resolve() for path in options.files] or core_sources(build)

    def judge(path: Path) -> str:
        # g++ 12's stable_sort uses a function that its own headers mark deprecated, and clang's front end says so.
        accepted = "--extra-arg=-Wno-deprecated-declarations"
        command = [options.clang_tidy, "--quiet", accepted, "-p", str(build), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        findings = [text for text in pool.map(judge, sources) if text]
    # A header's finding comes once for each file that includes it.
    for line in dict.fromkeys(line for text in findings for line in text.splitlines()):
        print(line)
    print(f"clang-tidy: {len(sources)} core files judged, {len(findings)} with findings")
    return 1 if findings or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
