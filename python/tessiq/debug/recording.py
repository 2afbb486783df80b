"""Gets hold of the graphs that a model becomes, with the arguments of a real call, and compiles nothing.

The graphs are those that the compiler would be given: through Dynamo and AOTAutograd with the same decompositions. They
run as PyTorch runs them, so a model that the compiler cannot compile is recorded too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import fx

from tessiq.compile.entry import through_autograd
from tessiq.compile.graph import Direction
from tessiq.compile.recipes import attribute_of
from tessiq.profiling.run import run


@dataclass(frozen=True)
class RecordedGraph:
    """One graph and what it was called with first.

    Attributes:
        module: functional and decomposed, every node with its fake result; holds no tensors, they are arguments.
        inputs: copies of the arguments, as they were before the call: tensors, sizes and None.
    """

    module: fx.GraphModule
    direction: Direction
    inputs: tuple[object, ...]


def record(model: Callable[..., object], inputs: Sequence[object], *, backward: bool) -> list[RecordedGraph]:
    """The graphs of one call of the model, in the order they were called; ``backward`` makes the backward pass too."""
    recorded: list[RecordedGraph] = []

    def compiler(direction: Direction) -> Callable[..., object]:
        def record_one(module: fx.GraphModule, _: Sequence[object]) -> _Recorder:
            return _Recorder(module, direction, recorded)

        return record_one

    def backend(module: fx.GraphModule, example_inputs: Sequence[object]) -> Callable[..., object]:
        return through_autograd(module, example_inputs, compiler)

    run(torch.compile(model, backend=backend), inputs, backward)
    return recorded


class _Recorder:
    """What AOTAutograd calls in place of a compiled graph."""

    def __init__(self, module: fx.GraphModule, direction: Direction, recorded: list[RecordedGraph]) -> None:
        self._boxed_call = True
        self._module = module
        self._direction = direction
        self._recorded = recorded
        self._done = False

    def __call__(self, arguments: list[object]) -> Sequence[object]:
        taken = list(arguments)
        arguments.clear()
        if not self._done:
            self._done = True
            module, constants = constants_as_inputs(self._module)
            copies = tuple(copy_of(one) for one in (*taken, *constants))
            self._recorded.append(RecordedGraph(module, self._direction, copies))
        result: Sequence[object] = self._module(*taken)
        return result


def copy_of(value: object) -> object:
    """A tensor with memory of its own and the same strides; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    # All the memory that it spans: two positions of an expanded tensor are one place, which nothing can be copied to.
    flat = value.detach().as_strided((span(value),), (1,))
    return flat.clone().as_strided(value.shape, value.stride(), 0)


def span(value: torch.Tensor) -> int:
    """From a tensor's first element in memory to its last: how many there is room for."""
    if not value.numel():
        return 0
    return 1 + sum((extent - 1) * step for extent, step in zip(value.shape, value.stride(), strict=True))


def constants_as_inputs(module: fx.GraphModule) -> tuple[fx.GraphModule, list[object]]:
    """The same graph with the tensors that it holds passed as arguments after its own."""
    graph, places = fx.Graph(), {}
    constants = [node for node in module.graph.nodes if node.op == "get_attr"]
    for node in [*module.graph.find_nodes(op="placeholder"), *constants]:
        places[node] = graph.placeholder(node.name)
        places[node].meta = dict(node.meta)
        if node.op == "get_attr":
            places[node].meta["val"] = node.meta.get("val", attribute_of(module, str(node.target)))
    for node in module.graph.nodes:
        if node not in places:
            places[node] = graph.node_copy(node, lambda one: places[one])
    return fx.GraphModule(torch.nn.Module(), graph), [attribute_of(module, str(node.target)) for node in constants]
