"""Every value of a graph: as the compiler's kernels compute it, as PyTorch's CPU kernels do, and in float64.

Decides what is comparable. A node that draws random numbers, or that PyTorch's CPU has no kernel for, is not: its value
is taken from the compiled run wherever it is read.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_map

from tessiq.compile.graph import CompiledCall, compile_module
from tessiq.compile.options import CompileOptions
from tessiq.debug.recording import copy_of

_NARROW = (torch.float16, torch.bfloat16, torch.float32)


def tensor_nodes(module: fx.GraphModule) -> list[fx.Node]:
    """The nodes whose value is one tensor, arguments left out, in the graph's order."""
    return [
        node
        for node in module.graph.nodes
        if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)
    ]


def with_results(module: fx.GraphModule, results: Sequence[fx.Node]) -> fx.GraphModule:
    """The same graph with other results; what they do not need is left out."""
    graph = fx.Graph()
    places: dict[fx.Node, fx.Node] = {}
    for node in module.graph.nodes:
        if node.op != "output":
            places[node] = graph.node_copy(node, lambda one: places[one])
    graph.output(tuple(places[node] for node in results))
    graph.eliminate_dead_code()
    return fx.GraphModule(module, graph)


def run_compiled(
    module: fx.GraphModule, inputs: Sequence[object], options: CompileOptions
) -> tuple[CompiledCall | None, list[object]]:
    """Compile a graph and call it with copies of the inputs; tensors come back on the host.

    Returns:
        The compiled call, None for a graph that runs uncompiled; and its results.
    """
    call = compile_module(module, inputs, options, "inference")
    results = call([copy_of(one) for one in inputs])
    return call if isinstance(call, CompiledCall) else None, [on_host(one) for one in results]


def on_host(value: object) -> object:
    """A tensor in host memory; anything else as it is."""
    return value.detach().cpu() if isinstance(value, torch.Tensor) else value


def widened(value: object) -> object:
    """The same value with floating tensors and types in float64, and on the host."""
    if isinstance(value, torch.Tensor):
        host = value.detach().cpu()
        return host.double() if host.dtype in _NARROW else host
    if isinstance(value, torch.dtype):
        return torch.float64 if value in _NARROW else value
    return torch.device("cpu") if isinstance(value, torch.device) else value


def narrow(value: object) -> object:
    """The same value on the host."""
    return torch.device("cpu") if isinstance(value, torch.device) else on_host(value)


def is_random(node: fx.Node) -> bool:
    """Whether two runs give different values; one result of several is what its operation is."""
    if node.target is operator.getitem:
        return is_random(node.all_input_nodes[0])
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def depends_on(node: fx.Node, sources: set[fx.Node]) -> bool:
    """Whether the value follows from one of these nodes, or is one."""
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        if one in sources:
            return True
        waiting += [operand for operand in one.all_input_nodes if operand not in seen]
        seen.update(one.all_input_nodes)
    return False


@dataclass
class Evaluation(fx.Interpreter):
    """Runs a graph on the CPU, in its own types or in float64, and keeps every value.

    Attributes:
        given: values that are not computed: of random nodes, and of those PyTorch's CPU has no kernel for.
        unjudged: nodes whose value was taken from ``given``, and those no value exists for.
        values: the value of every node.
    """

    graph_module: fx.GraphModule
    in_float64: bool
    given: Mapping[fx.Node, object]
    values: dict[fx.Node, object] = field(default_factory=dict)
    unjudged: set[fx.Node] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(self.graph_module, garbage_collect_values=False)

    def run_node(self, n: fx.Node) -> object:
        self.values[n] = self._value(n)
        return self.values[n]

    def _value(self, node: fx.Node) -> object:
        of_unjudged = node.target is operator.getitem and node.all_input_nodes[0] in self.unjudged
        if of_unjudged or is_random(node):
            return self._take(node)
        try:
            return super().run_node(node)
        except NotImplementedError:
            return self._take(node)

    def _take(self, node: fx.Node) -> object:
        # An operation with several results has no value of its own: each result is taken where it is read.
        self.unjudged.add(node)
        return self._prepared(self.given.get(node))

    def _prepared(self, value: object) -> object:
        return tree_map(widened if self.in_float64 else narrow, value)

    def placeholder(self, target: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        return self._prepared(super().placeholder(target, args, kwargs))  # type: ignore[arg-type]

    def call_function(self, target: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        return super().call_function(target, self._prepared(args), self._prepared(kwargs))  # type: ignore[arg-type]

    def alone(self, node: fx.Node, operands: Mapping[fx.Node, object]) -> object:
        """The node's value from these values of its operands, which are not computed."""

        def load(one: fx.Node) -> Any:  # fx's own word for what a node may be given
            if one in operands:
                return operands[one]
            # An operation with several results: what is kept are the results.
            several = one.op == "call_function" and isinstance(self.values[one], list | tuple)
            return self.alone(one, operands) if several else self.values[one]

        args = fx.map_arg(node.args, load)
        kwargs = fx.map_arg(node.kwargs, load)
        return self.call_function(node.target, args, dict(kwargs))
