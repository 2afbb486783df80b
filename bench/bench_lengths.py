"""One symbolic compile of an encoder layer, 512 wide, over 21 sequence lengths, against a compile made for the length.

Measures what sizes cost that come with the call: arithmetic on the host, divisions in kernels, checks at launches. The
number of compiles is asserted, and every length is compared with eager before any is timed.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch
from clocks import Contender, measure
from torch import nn

import tessiq
from tessiq.compile.graph import Observer, observers

NEEDS_GPU = True

WIDTH, BATCH = 512, 8
LENGTHS = list(range(32, 32 + 21 * 24, 24))
TIMED = (LENGTHS[0], LENGTHS[10], LENGTHS[20])


def symbolic(layer: nn.Module, device: torch.device) -> object:
    """The layer compiled twice: for the first length, and for every length after."""
    compiled = torch.compile(layer, backend="tessiq")
    observer = Observer()
    observers.append(observer)
    for length in LENGTHS:
        x = torch.randn(BATCH, length, WIDTH, device=device)
        torch.testing.assert_close(compiled(x), layer(x), rtol=1e-4, atol=1e-5)
    observers.remove(observer)
    assert len(observer.graphs) == 2, f"{len(observer.graphs)} compiles where two were expected"
    return compiled


def rows_of(length: int, layer: nn.Module, compiled: object, device: torch.device) -> list[dict[str, object]]:
    """The symbolic compile and the exact one, alternating."""
    x = torch.randn(BATCH, length, WIDTH, device=device)
    # One code object has one list of compiles: the exact one needs a function of its own.
    exact = torch.compile(lambda value: layer(value), backend="tessiq", dynamic=False)

    def wait() -> None:
        torch.tessiq.synchronize(device)

    contenders = [Contender("symbolic", lambda: compiled(x), wait), Contender("exact", lambda: exact(x), wait)]
    rows = []
    for name, timing in measure(contenders).items():
        rows.append({"work": f"encoder {BATCH} x {length} x {WIDTH}", "contender": name, **asdict(timing)})
    for clock in ("kernel_us", "queued_us", "call_us", "host_us"):
        rows[0][f"{clock}_of_exact"] = round(rows[0][clock] / rows[1][clock], 4)
    return rows


def main() -> None:
    """Writes the rows where ``--json`` says, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    device = tessiq.gpu_at(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, batch_first=True, dropout=0.0).eval().to(device)
    rows: list[dict[str, object]] = []
    with torch.no_grad():
        compiled = symbolic(layer, device)
        for length in TIMED:
            rows += rows_of(length, layer, compiled, device)
    for row in rows:
        print(json.dumps(row))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
