"""What a device reaches at its best, measured where the report is made: the ceilings of the roofline.

Decides how they are measured (docs/design/0082). Each is measured once a process, device and precision setting.
"""

import time
from collections.abc import Callable
from functools import cache

import torch

import tessiq
from tessiq import _C
from tessiq.explain.records import Ceiling

_ROUNDS = 3
_ELEMENTS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


def ceilings_of(device: torch.device, elements: frozenset[str]) -> tuple[Ceiling, ...]:
    """One for each element type of a product, in the order of their names; float32 where there is none."""
    wanted = sorted(elements & _ELEMENTS.keys()) or ["f32"]
    return tuple(_ceiling(device.index, one, torch.get_float32_matmul_precision()) for one in wanted)


@cache
def _ceiling(index: int, element: str, precision: str) -> Ceiling:
    name = _C.device_properties(index)[0]
    on_gpu = _C.device_kind(index) == "cuda"
    clock = f"host clock around {'queued work and a wait' if on_gpu else 'the calls'}, best of {_ROUNDS}"
    try:
        copied = _copied_bytes(index, on_gpu)
        computed = _operations(index, element, 4096 if on_gpu else 512)
    except RuntimeError as error:  # out of memory, or a kind that no library multiplies
        return Ceiling(f"tessiq:{index}", name, 0, 0, element, f"not measured: {error}")
    note = f", float32 precision {precision!r}" if element == "f32" and on_gpu else ""
    return Ceiling(f"tessiq:{index}", name, copied, computed, element, clock + note)


def _copied_bytes(index: int, on_gpu: bool) -> float:
    """A second, read and written."""
    free, _ = _C.memory_info(index)
    size = min((1 << 29) if on_gpu else (1 << 26), free // 8)
    source = torch.empty(size, dtype=torch.uint8, device=torch.device("tessiq", index))
    target = torch.empty_like(source)
    times = 10 if on_gpu else 2
    return 2 * size * times / _best(index, lambda: target.copy_(source), times)


def _operations(index: int, element: str, size: int) -> float:
    """A second, of one square product as a compiled graph runs it."""
    builder = _C.GraphBuilder("main")
    type_ = (element, [size, size], None)
    builder.add_parameter("a", type_)
    builder.add_node("aten.mm.default", ["a", "a"], {}, [("b", type_)], "")
    builder.set_results(["b"])
    recipe = _C.compile_graph(
        graph=builder.graph(),
        inputs=[("a", True, True, "")],
        results=["b"],
        device=index,
        unclaimed_on_device=True,
        weighs_crossings=False,
        interpret=False,
        rewrites=[],
        keep_ir=False,
        kept_inputs=[False],
    )
    compiled = _C.CompiledGraph(recipe, "ceiling")
    a = torch.zeros(size, size, dtype=_ELEMENTS[element]).to(torch.device("tessiq", index))
    times = 4
    return 2.0 * size**3 * times / _best(index, lambda: compiled([a]), times)


def _best(index: int, call: Callable[[], object], times: int) -> float:
    """Seconds for ``times`` calls: the best of some rounds, after one that warms up."""
    seconds = []
    for _ in range(_ROUNDS + 1):
        started = time.perf_counter()
        for _ in range(times):
            call()
        tessiq._C.synchronize(index)
        seconds.append(time.perf_counter() - started)
    return min(seconds[1:])
