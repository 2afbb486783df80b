"""Random graphs through every pass, evaluated before and after; random models through the whole compiler; or random
bytes through the parser.

``./dev fuzz legality --graphs N`` runs the first and ``./dev fuzz models --models N --device I`` the second, with a
seed of the day unless one is given; ``./dev fuzz parser --minutes N`` the third: it needs clang++ with libFuzzer, and
keeps its corpus under the build folder.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def fuzz_passes(build: Path, graphs: int, seed: int) -> int:
    """Runs the legality tests; a failure prints the seed of its graph."""
    print(
        f"[fuzz] {graphs} graphs from seed {seed}: again with ./dev fuzz legality --graphs {graphs} --seed {seed}",
        flush=True,
    )
    environment = os.environ | {"TESSIQ_FUZZ_GRAPHS": str(graphs), "TESSIQ_FUZZ_SEED": str(seed)}
    command = [str(build / "tests/cpp/tessiq_passes_tests"), "--gtest_filter=*Legality*", "--gtest_brief=1"]
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


def build_parser_fuzzer(target: Path, sanitizers: str) -> None:
    """Compiles the parser with its fuzz target, instrumented."""
    compiler = shutil.which("clang++")
    if compiler is None:
        sys.exit("[fuzz] clang++ was not found: it brings libFuzzer")
    folders = [ROOT / "csrc/ir", ROOT / "csrc/ir/text", ROOT / "csrc/support"]
    sources = [source for folder in folders for source in sorted(folder.glob("*.cpp"))]
    flags = [
        "-std=c++20",
        "-O1",
        "-g1",
        "-fno-sanitize-recover=all",
        f"-fsanitize=fuzzer,{sanitizers}",
        f"-I{ROOT / 'csrc'}",
    ]
    print("[fuzz] compiling the parser with libFuzzer", flush=True)
    subprocess.run(
        [compiler, *flags, str(ROOT / "tests/fuzz/parser_fuzz.cpp"), *map(str, sources), "-o", str(target)], check=True
    )


def fuzz_parser(build: Path, seconds: int, sanitizers: str) -> int:
    """Runs libFuzzer from the golden files on; a crash leaves its input in the folder."""
    folder = build / "fuzz"
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for golden in sorted((ROOT / "tests/golden").rglob("*.tir")):
        shutil.copyfile(golden, corpus / "-".join(golden.relative_to(ROOT / "tests/golden").parts))
    target = folder / "parser_fuzz"
    build_parser_fuzzer(target, sanitizers)
    command = [str(target), f"-max_total_time={seconds}", "-max_len=4096", "-print_final_stats=1", str(corpus)]
    return subprocess.run(command, cwd=folder, check=False).returncode


def main() -> int:
    """Parses the command line and runs one of the three."""
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build/core", help="the build folder with the C++ tests")
    kinds = parser.add_subparsers(dest="kind", required=True)
    legality = kinds.add_parser("legality", help="random graphs through the passes")
    legality.add_argument("--graphs", type=int, default=10_000, help="graphs a pipeline (default: %(default)s)")
    legality.add_argument("--seed", type=int, help="of the first graph (default: the date)")
    whole = kinds.add_parser("models", help="random models through the whole compiler, against eager")
    whole.add_argument("--models", type=int, default=10_000, help="how many (default: %(default)s)")
    whole.add_argument("--seed", type=int, help="of the first model (default: the date)")
    whole.add_argument("--device", type=int, default=0, help="index of the tessiq device (default: %(default)s)")
    whole.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once (default: %(default)s)")
    text = kinds.add_parser("parser", help="random bytes through the parser")
    text.add_argument("--minutes", type=float, default=10, help="how long (default: %(default)s)")
    text.add_argument("--sanitizers", default="address,undefined", help="beside libFuzzer (default: %(default)s)")
    options = parser.parse_args()
    build: Path = options.build.resolve()
    if options.kind == "parser":
        return fuzz_parser(build, round(options.minutes * 60), options.sanitizers)
    seed = int(datetime.date.today().strftime("%Y%m%d")) * 1000 if options.seed is None else options.seed
    if options.kind == "models":
        from models import fuzz_models

        return 1 if fuzz_models(options.models, seed, options.device, options.processes) else 0
    return fuzz_passes(build, options.graphs, seed)


if __name__ == "__main__":
    sys.exit(main())
