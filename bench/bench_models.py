"""Whole models of the sizes people run, against eager CUDA and Inductor in two modes.

Each contender is a process of its own, since backward() over CUDA tensors does not run where another accelerator is
registered; they take turns, and only one uses the GPU at a time. Their results are compared before anything is timed.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from clocks import Contender, measure
from works import WORKS, call_of, describe, is_exact

NEEDS_GPU = True

CONTENDERS = ("tessiq", "eager", "inductor", "reduce-overhead")
ROUNDS = 3
Answer = dict[str, Any]


def _compiled(contender: str) -> Callable[[object], object]:
    if contender == "eager":
        return lambda model: model
    if contender == "tessiq":
        return lambda model: torch.compile(model, backend="tessiq")
    return lambda model: torch.compile(model, mode=None if contender == "inductor" else contender)


def _turn(contender: str, run: Callable[[], object], home: torch.device) -> Answer:
    def call() -> object:
        # Results of a CUDA graph live until the next step, and a call is a step.
        torch.compiler.cudagraph_mark_step_begin()
        return run()

    waiting = Contender(contender, call, lambda: torch.accelerator.synchronize(home))
    return vars(measure([waiting], rounds=1, calls=5)[contender])


def sample_of(result: Any) -> list[float]:
    """At most 512 numbers from all over a model's first result."""
    first = result if isinstance(result, torch.Tensor) else result[0]
    flat = first.detach().flatten().cpu().double()
    return flat[:: max(1, flat.numel() // 512)][:512].tolist()


def difference(found: list[float], wanted: list[float]) -> float:
    """The length of the difference over the length of what was wanted."""
    return math.dist(found, wanted) / (math.hypot(*wanted) or 1.0)


def work(contender: str) -> None:
    """Answers each line of the input, the name of a work: first with its result, then with the clocks' readings."""
    if contender == "tessiq":
        import tessiq

        home = tessiq.gpu_at(0)
    else:
        home = torch.device("cuda")
    runs: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name in runs:
            answer = _turn(contender, runs[name], home)
        else:
            runs.clear()
            torch._dynamo.reset()
            runs[name] = call_of(name, home, _compiled(contender))
            answer = {"sample": sample_of(runs[name]())}
        print("answer " + json.dumps(answer), flush=True)


def _ask(process: subprocess.Popen[str], name: str) -> None:
    assert process.stdin is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()


def _answer(process: subprocess.Popen[str], name: str) -> Answer:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("answer "):
            answer: Answer = json.loads(line.removeprefix("answer "))
            return answer
    raise RuntimeError(f"{process.args} ended before it answered for {name}")


def rows_of(name: str, processes: dict[str, subprocess.Popen[str]]) -> list[dict[str, object]]:
    """Every contender's row for one work: medians over turns."""
    # Compiling is the host's work, and nothing is timed yet: all at once.
    for process in processes.values():
        _ask(process, name)
    samples = {who: _answer(process, name)["sample"] for who, process in processes.items()}
    differences = {who: difference(sample, samples["eager"]) for who, sample in samples.items()}
    # Whole models in half precision are some per cent apart; a wrong one is as far off as it is long.
    assert max(differences.values()) <= (1e-3 if is_exact(name) else 0.05), (name, differences)
    turns: dict[str, list[Answer]] = {who: [] for who in processes}
    for _ in range(ROUNDS):
        for who, process in processes.items():
            _ask(process, name)
            turns[who].append(_answer(process, name))
    return [
        {"work": describe(name), "contender": who}
        | {key: round(statistics.median(answer[key] for answer in answers), 2) for key in answers[0]}
        | {"difference": differences[who]}
        for who, answers in turns.items()
    ]


def main() -> None:
    """Writes the rows where ``--json`` says, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--works", nargs="+", default=list(WORKS), choices=list(WORKS))
    parser.add_argument("--worker", choices=CONTENDERS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    command = [sys.executable, __file__, "--worker"]
    processes = {
        who: subprocess.Popen([*command, who], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for who in CONTENDERS
    }
    rows: list[dict[str, object]] = []
    try:
        for name in options.works:
            rows += rows_of(name, processes)
            for row in rows[-len(CONTENDERS) :]:
                print(json.dumps(row), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    finally:
        for process in processes.values():
            process.kill()


if __name__ == "__main__":
    main()
