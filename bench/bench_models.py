"""Whole models of real size, forward and backward under autocast to bfloat16, against eager CUDA and Inductor.

Measures a training step without the optimiser. The models are those of the tests, with random weights; the gradients are
compared with eager's before anything is timed.
"""

import argparse
import copy
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch
from clocks import Contender, measure
from torch import nn

import tessiq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python" / "models"))
from zoo import ZOO, Inputs

MODELS = ("bert-real", "llama-real", "vit-real", "resnet18-real")
BATCH = 8


def loss_of(result: object) -> torch.Tensor:
    """A number to go backward from: the model's own loss, else the mean square of its first output."""
    if isinstance(result, torch.Tensor):
        return result.float().square().mean()
    loss = getattr(result, "loss", None)
    return loss if loss is not None else result[0].float().square().mean()


def step(call: nn.Module, module: nn.Module, inputs: Inputs, kind: str) -> Callable[[], torch.Tensor]:
    """One pass there and back."""

    def run() -> torch.Tensor:
        module.zero_grad(set_to_none=True)
        with torch.autocast(kind, torch.bfloat16):
            loss = loss_of(call(**inputs))
        loss.backward()
        return loss

    return run


def rows_of(name: str, device: torch.device) -> list[dict[str, object]]:
    """Every contender's row for one model."""
    torch._dynamo.reset()
    model = ZOO[name]()
    inputs = model.inputs(BATCH)
    contenders = []
    losses = {}
    for who, home in (("tessiq", device), ("eager", torch.device("cuda")), ("inductor", torch.device("cuda"))):
        module = copy.deepcopy(model.module).to(home)
        call = module if who == "eager" else torch.compile(module, backend=who)
        sent = {key: value.to(home) for key, value in inputs.items()}
        run = step(call, module, sent, home.type)
        losses[who] = run().item()
        wait = torch.cuda.synchronize if home.type == "cuda" else lambda: torch.tessiq.synchronize(device)
        contenders.append(Contender(who, run, wait))
    spread = max(losses.values()) - min(losses.values())
    assert spread <= 0.02 * abs(losses["eager"]) + 1e-3, losses
    work = f"{name.removesuffix('-real')}, batch {BATCH}, bfloat16, forward and backward"
    return [
        {"work": work, "contender": who, **asdict(timing), "loss": losses[who]}
        for who, timing in measure(contenders, rounds=3, calls=10).items()
    ]


def main() -> None:
    """Writes the rows where ``--json`` says, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--models", nargs="+", default=MODELS)
    options = parser.parse_args()
    device = tessiq.gpu_at(0)
    rows: list[dict[str, object]] = []
    for name in options.models:
        rows += rows_of(name, device)
        for row in rows[-3:]:
            print(json.dumps(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
