"""How long the first call of a compiled model takes: with nothing cached on disk, and again in a new process.

Measures from the call of ``torch.compile`` to the result, Dynamo's share included; imports, weights and one product
that wakes the GPU's libraries come before it. Each turn is a process, and each contender has a cache folder of its own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from works import call_of, describe

NEEDS_GPU = True

CONTENDERS = ("tessiq", "inductor", "reduce-overhead")
WORKS = ("GPT-2, 8 x 512",)
ROUNDS = 3


def work(contender: str, name: str) -> None:
    """Prints the seconds of one first call."""
    if contender == "tessiq":
        import tessiq

        home = tessiq.gpu_at(0)
    else:
        home = torch.device("cuda")
    options = {"backend": "tessiq"} if contender == "tessiq" else {}
    mode = contender if contender == "reduce-overhead" else None
    started: list[float] = []

    def compiled(model: object) -> object:
        awake = torch.ones(64, 64, device=home, dtype=torch.bfloat16)
        (awake @ awake).cpu()
        started.append(time.perf_counter())
        return torch.compile(model, mode=mode, **options)

    call_of(name, home, compiled)()
    torch.accelerator.synchronize(home)
    print(f"seconds {time.perf_counter() - started[0]}")


def first_call(contender: str, name: str, caches: Path) -> float:
    """Seconds of the first call in a process of its own, with everything cached below one folder."""
    environment = dict(
        os.environ,
        TESSIQ_CACHE_DIR=str(caches / "tessiq"),
        TORCHINDUCTOR_CACHE_DIR=str(caches / "inductor"),
        TRITON_CACHE_DIR=str(caches / "triton"),
    )
    command = [sys.executable, __file__, "--worker", contender, "--works", name]
    output = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, check=True).stdout
    (line,) = [line for line in output.splitlines() if line.startswith("seconds ")]
    return float(line.removeprefix("seconds "))


def rows_of(name: str, rounds: int) -> list[dict[str, object]]:
    """Every contender's row: medians over rounds, in each of which all take their turn."""
    cold: dict[str, list[float]] = {who: [] for who in CONTENDERS}
    warm: dict[str, list[float]] = {who: [] for who in CONTENDERS}
    for _ in range(rounds):
        for who in CONTENDERS:
            with tempfile.TemporaryDirectory() as folder:
                cold[who].append(first_call(who, name, Path(folder)))
                warm[who].append(first_call(who, name, Path(folder)))
    return [
        {
            "work": f"first call of {describe(name)}",
            "contender": who,
            "cold_s": round(statistics.median(cold[who]), 2),
            "warm_s": round(statistics.median(warm[who]), 2),
        }
        for who in CONTENDERS
    ]


def main() -> None:
    """Writes the rows where ``--json`` says, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--works", nargs="+", default=list(WORKS))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--worker", choices=CONTENDERS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.works[0])
        return
    rows = [row for name in options.works for row in rows_of(name, options.rounds)]
    for row in rows:
        print(json.dumps(row))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
