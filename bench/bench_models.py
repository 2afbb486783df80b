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
from functools import partial
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


def _attempt(act: Callable[[], Answer]) -> Answer:
    """What a contender answers, or why it cannot."""
    try:
        return act()
    except RuntimeError as error:
        return {"failed": str(error)}


def _sample(run: Callable[[], object]) -> Answer:
    return {"sample": sample_of(run())}


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
            answer = _attempt(partial(_turn, contender, runs[name], home))
        else:
            runs.clear()
            torch._dynamo.reset()
            runs[name] = call_of(name, home, _compiled(contender))
            answer = _attempt(partial(_sample, runs[name]))
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


def _able(name: str, answers: dict[str, Answer]) -> dict[str, Answer]:
    """Those that ran it; a peer that cannot is said and left out."""
    for who, answer in answers.items():
        if "failed" in answer and who in ("tessiq", "eager"):
            raise RuntimeError(f"{name}: no comparison without {who}: {answer['failed']}")
        if "failed" in answer:
            print(f"{name}: left out, {who} cannot run it: {answer['failed']}", flush=True)
    return {who: answer for who, answer in answers.items() if "failed" not in answer}


def rows_of(name: str, processes: dict[str, subprocess.Popen[str]]) -> list[dict[str, object]]:
    """Every contender's row for one work: medians over turns."""
    # Compiling is the host's work, and nothing is timed yet: all at once.
    for process in processes.values():
        _ask(process, name)
    first = _able(name, {who: _answer(process, name) for who, process in processes.items()})
    samples = {who: answer["sample"] for who, answer in first.items()}
    differences = {who: difference(sample, samples["eager"]) for who, sample in samples.items()}
    # Whole models in half precision are some per cent apart; a wrong one is as far off as it is long.
    assert max(differences.values()) <= (1e-3 if is_exact(name) else 0.05), (name, differences)
    turns: dict[str, list[Answer]] = {who: [] for who in samples}
    for _ in range(ROUNDS):
        answers = {}
        for who in turns:
            _ask(processes[who], name)
            answers[who] = _answer(processes[who], name)
        turns = {who: [*turns[who], answer] for who, answer in _able(name, answers).items()}
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
            for row in rows:
                if row["work"] == describe(name):
                    print(json.dumps(row), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    finally:
        for process in processes.values():
            process.kill()


if __name__ == "__main__":
    main()
