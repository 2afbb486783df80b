"""A program that compiles one graph alone and compares it with PyTorch, written from the graph.

Decides what its inputs are: random tensors of the traced shapes and strides. A model's weights are not in it.
"""

from collections.abc import Iterator

import torch
from torch import fx

_HEAD = '''"""One graph, alone: compiled with tessiq and compared with PyTorch. Inputs and weights are random."""

import torch
from torch import device, inf, nan  # what the graph's text may name

import tessiq


def tensor(size, stride, dtype, place):
    """Positions of integers are 0 and 1, so that they are in range wherever the graph uses them as an index."""
    span = 1 + sum((extent - 1) * step for extent, step in zip(size, stride)) if all(size) else 0
    flat = torch.randn(span).to(dtype) if dtype.is_floating_point else torch.randint(0, 2, (span,)).to(dtype)
    return torch.as_strided(flat.to(place), size, stride)


class Graph(torch.nn.Module):
'''

_TAIL = """

def run(function):
    torch.manual_seed(1)
    arguments = [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs]
    with torch.no_grad():
        return [one.cpu() for one in function(*arguments) if isinstance(one, torch.Tensor)]


graph = Graph()
expected = run(graph)
actual = run(torch.compile(graph, backend="tessiq", options=options))
for position, (one, other) in enumerate(zip(actual, expected, strict=True)):
    torch.testing.assert_close(
        one, other, rtol=1e-3, atol=1e-4, equal_nan=True, msg=lambda text: f"result {position}: {text}"
    )
print(f"{len(actual)} results agree with PyTorch")
"""


def repro_script(module: fx.GraphModule, options: str) -> str:
    """The program's text; ``options`` is the text of the dictionary that ``torch.compile`` was given."""
    nodes = module.graph.nodes
    constants = {str(node.target): node.meta.get("val") for node in nodes if node.op == "get_attr"}
    if not all(isinstance(value, torch.Tensor) for value in constants.values()):
        return "# This graph calls other graphs, which a file of its own cannot hold: reduce the model instead.\n"
    lines = ["    def __init__(self):", "        super().__init__()"]
    lines += [f"        self.{name} = {_tensor(value)}" for name, value in constants.items()]
    # `def forward(self, ...)` at the margin.
    lines += ["", *(f"    {line}".rstrip() for line in module.graph.python_code("self").src.strip().splitlines())]
    lines += ["", "", "torch.manual_seed(0)", f"options = {options}", "inputs = ["]
    lines += [f"    {one}," for one in _inputs(nodes)]
    return _HEAD + "\n".join(lines) + "\n]\n" + _TAIL


def _inputs(nodes: "fx.graph._node_list") -> Iterator[str]:
    for node in nodes:
        if node.op == "placeholder":
            value = node.meta.get("val")
            yield _tensor(value) if isinstance(value, torch.Tensor) else str(_number(value))


def _number(size: object) -> object:
    return size.node.hint if isinstance(size, torch.SymInt) else size


def _tensor(value: object) -> str:
    if not isinstance(value, torch.Tensor):
        return "None"
    sizes, strides = (tuple(map(_number, one)) for one in (value.shape, value.stride()))
    return f"tensor({sizes}, {strides}, {value.dtype}, {str(value.device)!r})"
