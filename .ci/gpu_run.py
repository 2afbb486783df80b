"""Runs everything that needs a GPU and leaves one dated JSON file of the machine, the commit and every row.

Four parts: the C++ tests (ctest), the pytest tests marked gpu, those of whole models, and the scripts
bench/bench_*.py, each of which takes --json PATH and writes a list of rows there; --only also takes one script's name.
What a row means is the part's own; here it is only collected. A part that cannot run is recorded with its reason and
makes the run fail; it never vanishes from the file.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ["cpp", "python", "models", "bench"]
SCRIPTS = sorted((ROOT / "bench").glob("bench_*.py"))


@dataclass
class Part:
    """One part of a run: how it ended and its rows."""

    name: str
    command: str
    ok: bool
    seconds: float
    reason: str = ""
    load_before: list[str] = field(default_factory=list)
    load_after: list[str] = field(default_factory=list)
    rows: list[object] = field(default_factory=list)


def output_of(*command: str) -> str:
    """What a command prints, or an empty text where it cannot run."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def machine(sources: str) -> dict[str, object]:
    """The conditions that every number of the run was made under."""
    import torch

    query = "name,driver_version,memory.total,clocks.sm,clocks.mem,power.limit"
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        # A copied tree has no history, or another: the environment names its commit, the digest its sources.
        "commit": os.environ.get("TESSIQ_COMMIT") or output_of("git", "rev-parse", "HEAD"),
        "uncommitted": None
        if "TESSIQ_COMMIT" in os.environ
        else len(output_of("git", "status", "--porcelain").splitlines()),
        "sources": sources,
        "cards": output_of("nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader").splitlines(),
        "cards_columns": query,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "host": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def load() -> list[str]:
    """What each card is doing, "3 %, 412 MiB": a time that was measured on a busy one is of both works."""
    query = "--query-gpu=utilization.gpu,memory.used"
    return output_of("nvidia-smi", query, "--format=csv,noheader").splitlines()


def number(text: str) -> object:
    """The number that a text is, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def junit_rows(path: Path) -> list[object]:
    """Rows of a JUnit file: test, outcome, seconds, the message of what was not passed, and figures it recorded."""
    rows: list[object] = []
    for case in ET.parse(path).iter("testcase"):
        bad = next((child for child in case if child.tag in {"failure", "error", "skipped"}), None)
        outcome = {"failure": "failed", "error": "failed", "skipped": "skipped"}.get(
            bad.tag if bad is not None else "", "passed"
        )
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        message = (bad.get("message") or "")[:500] if bad is not None else ""
        row = {"test": name, "outcome": outcome, "seconds": float(case.get("time") or 0), "message": message}
        figures = {one.get("name", ""): number(one.get("value", "")) for one in case.iter("property")}
        rows.append({**row, "figures": figures} if figures else row)
    return rows


def run_part(name: str, command: list[str], result: Path, timeout: float) -> Part:
    """Runs one part in view, then reads the file it was told to write."""
    print(f"\n===== {name}: {' '.join(command)}", flush=True)
    before = load()
    started = time.monotonic()
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
    try:
        code = subprocess.run(command, cwd=ROOT, env=environment, timeout=timeout, check=False).returncode
        reason = "" if code == 0 else f"exit status {code}"
    except subprocess.TimeoutExpired:
        reason = f"stopped after {timeout:.0f} s"
    except OSError as error:
        reason = str(error)
    # As anybody would type it, without the folders of this machine.
    shown = (
        " ".join(command).replace(sys.executable, "python3").replace(f"{ROOT}/", "").replace(f"{result.parent}/", "")
    )
    seconds = round(time.monotonic() - started, 1)
    part = Part(name, shown, reason == "", seconds, reason, before, load())
    if result.exists():
        part.rows = junit_rows(result) if result.suffix == ".xml" else json.loads(result.read_text())
    elif part.ok:
        part.ok, part.reason = False, "it wrote no result file"
    return part


def commands(options: argparse.Namespace, folder: Path) -> list[tuple[str, list[str], Path]]:
    """Each part's name, command and result file."""
    parts: list[tuple[str, list[str], Path]] = []
    if "cpp" in options.only:
        file = folder / "cpp.xml"
        command = [options.ctest, "--test-dir", str(options.build), "--output-on-failure", "--no-tests=error"]
        parts.append(("cpp", [*command, "--output-junit", str(file)], file))
    if "python" in options.only:
        file = folder / "python.xml"
        command = [sys.executable, "-m", "pytest", "-m", "gpu", "-q", f"--junitxml={file}"]
        parts.append(("python", [*command, "--ignore=tests/python/models", *options.pytest], file))
    if "models" in options.only:
        file = folder / "models.xml"
        # Compiling is most of a model's time and runs on the host: several at once where pytest can.
        several = ["-n", "4"] if importlib.util.find_spec("xdist") else []
        command = [sys.executable, "-m", "pytest", "-m", "gpu", "-q", *several, f"--junitxml={file}"]
        parts.append(("models", [*command, "tests/python/models", *options.pytest], file))
    for script in SCRIPTS:
        if "bench" in options.only or script.stem in options.only:
            file = folder / f"{script.stem}.json"
            parts.append((script.stem, [sys.executable, str(script), "--json", str(file)], file))
    return parts


def main() -> int:
    """Runs the parts asked for and writes the file; 1 where any part failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="folder of the C++ tests")
    parser.add_argument("--ctest", default="ctest")
    parser.add_argument("--sources", default="", help="digest of the sources")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS)
    parser.add_argument("--timeout", type=float, default=540, help="seconds for each part")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("pytest", nargs="*", help="further arguments for pytest, after --")
    options = parser.parse_args()
    known = [*PARTS, *(script.stem for script in SCRIPTS)]
    if unknown := sorted(set(options.only) - set(known)):
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(known)}")

    facts = machine(options.sources)
    options.out.mkdir(parents=True, exist_ok=True)
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d-%H%M%S")
    target = options.out / f"{stamp}-gpu.json"
    finished: list[Part] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, command, result in commands(options, Path(folder)):
            finished.append(run_part(name, command, result, options.timeout))
            # Written after every part: a run that is cut off keeps what it had.
            target.write_text(json.dumps({"machine": facts, "parts": [asdict(p) for p in finished]}, indent=1) + "\n")
    print()
    for part in finished:
        print(f"{part.name:24} {'ok' if part.ok else part.reason:24} {part.seconds:8.1f} s  {len(part.rows)} rows")
        if busy := [card for card in part.load_before if not card.startswith("0 %")]:
            print(f"{'':24} a card was busy before it began: {'; '.join(busy)}")
    print(f"results: {target.relative_to(ROOT) if target.is_relative_to(ROOT) else target}")
    return 0 if finished and all(part.ok for part in finished) else 1


if __name__ == "__main__":
    sys.exit(main())
