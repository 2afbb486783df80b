"""Whole models of real size, forward and backward under autocast to bfloat16, against eager CUDA and Inductor.

Measures a training step without the optimiser. The models are those of the tests, with random weights; the losses are
compared before anything is timed. Each contender is a process of its own, since backward() over CUDA tensors does not
run where another accelerator is registered; they take turns, and only one uses the GPU at a time.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python" / "models"))
from zoo import ZOO

NEEDS_GPU = True

MODELS = ("bert-real", "llama-real", "vit-real", "resnet18-real")
CONTENDERS = ("tessiq", "eager", "inductor")
BATCH, ROUNDS = 8, 3


def loss_of(result: object) -> torch.Tensor:
    """A number to go backward from: the model's own loss, else the mean square of its first output."""
    if isinstance(result, torch.Tensor):
        return result.float().square().mean()
    loss = getattr(result, "loss", None)
    return loss if loss is not None else result[0].float().square().mean()


def step_of(contender: str, name: str, home: torch.device) -> Callable[[], torch.Tensor]:
    """One pass there and back."""
    model = ZOO[name]()
    module = model.module.to(home)
    inputs = {key: value.to(home) for key, value in model.inputs(BATCH).items()}
    call = module if contender == "eager" else torch.compile(module, backend=contender)

    def run() -> torch.Tensor:
        module.zero_grad(set_to_none=True)
        with torch.autocast(home.type, torch.bfloat16):
            loss = loss_of(call(**inputs))
        loss.backward()
        return loss

    return run


def work(contender: str) -> None:
    """Answers each line of the input, the name of a model, with one of the clocks' readings."""
    if contender == "tessiq":
        import tessiq

        home = tessiq.gpu_at(0)
    else:
        home = torch.device("cuda")
    from clocks import Contender, measure

    steps: dict[str, Callable[[], torch.Tensor]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in steps:
            steps.clear()
            torch._dynamo.reset()
            torch.manual_seed(0)
            steps[name] = step_of(contender, name, home)
            loss = steps[name]().item()
        run = steps[name]
        waiting = Contender(contender, run, lambda: torch.accelerator.synchronize(home))
        timing = measure([waiting], rounds=1, calls=5)[contender]
        print("row " + json.dumps({**vars(timing), "loss": loss}), flush=True)


def ask(process: subprocess.Popen[str], name: str) -> dict[str, float]:
    """One turn of a contender."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith("row "):
            answer: dict[str, float] = json.loads(line.removeprefix("row "))
            return answer
    raise RuntimeError(f"{process.args} ended before it answered for {name}")


def rows_of(name: str, processes: dict[str, subprocess.Popen[str]]) -> list[dict[str, object]]:
    """Every contender's row for one model: medians over turns."""
    turns: dict[str, list[dict[str, float]]] = {who: [] for who in CONTENDERS}
    for _ in range(ROUNDS):
        for who in CONTENDERS:
            turns[who].append(ask(processes[who], name))
    losses = {who: answers[0]["loss"] for who, answers in turns.items()}
    spread = max(losses.values()) - min(losses.values())
    assert spread <= 0.02 * abs(losses["eager"]) + 1e-3, losses
    text = f"{name.removesuffix('-real')}, batch {BATCH}, bfloat16, forward and backward"
    return [
        {"work": text, "contender": who}
        | {key: round(statistics.median(answer[key] for answer in answers), 2) for key in answers[0] if key != "loss"}
        | {"loss": losses[who]}
        for who, answers in turns.items()
    ]


def main() -> None:
    """Writes the rows where ``--json`` says, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--models", nargs="+", default=MODELS)
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
    for name in options.models:
        rows += rows_of(name, processes)
        for row in rows[-len(CONTENDERS) :]:
            print(json.dumps(row), flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    for process in processes.values():
        process.kill()


if __name__ == "__main__":
    main()
