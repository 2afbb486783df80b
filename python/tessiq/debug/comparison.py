"""Which operation of a compiled model is at fault: the work behind ``tessiq.compare``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import fx

from tessiq.compile.graph import Direction
from tessiq.compile.importer import location_of
from tessiq.compile.options import CompileOptions, parse_options
from tessiq.debug.evaluation import Evaluation, depends_on, run_compiled, tensor_nodes, with_results
from tessiq.debug.recording import RecordedGraph, record
from tessiq.debug.rounding import Errors, errors
from tessiq.profiling.run import undisturbed


@dataclass(frozen=True)
class NodeError:
    """One operation's errors, relative to the largest element of its value.

    Attributes:
        node: its name in the graph.
        op: PyTorch's name of it.
        location: file and line of the user's program, empty where PyTorch recorded none.
        error: of the compiled value, from the graph's inputs on, against float64.
        eager: the same of PyTorch's own kernels on the CPU.
        allowed: what rounding explains.
        own_error: the compiled value against float64 computed from the very operands it was given.
        beyond: rounding explains neither ``error`` nor ``own_error``.
        alone: the value is right where every intermediate value is kept, and wrong in a graph that computes only it.
    """

    node: str
    op: str
    location: str
    error: float
    eager: float
    allowed: float
    own_error: float
    beyond: bool
    alone: bool = False


@dataclass(frozen=True)
class GraphComparison:
    """One graph. ``failure`` says why there is nothing to compare, empty where there is."""

    direction: Direction
    nodes: tuple[NodeError, ...]
    unjudged: tuple[str, ...]
    failure: str = ""

    @property
    def first(self) -> NodeError | None:
        """The first operation at fault."""
        return next((one for one in self.nodes if one.beyond), None)


@dataclass(frozen=True)
class Comparison:
    """A compiled model held against PyTorch and float64."""

    graphs: tuple[GraphComparison, ...]

    @property
    def first(self) -> NodeError | None:
        """The first operation at fault in the first graph that has one."""
        return next((graph.first for graph in self.graphs if graph.first is not None), None)

    @property
    def ok(self) -> bool:
        """Every graph compiled, and rounding explains every error."""
        return all(not graph.failure and graph.first is None for graph in self.graphs)

    def __str__(self) -> str:
        return "\n".join(line for number, graph in enumerate(self.graphs) for line in _lines(number, graph))


def _lines(number: int, graph: GraphComparison) -> Iterator[str]:
    title = f"graph {number} ({graph.direction})"
    if graph.failure:
        yield f"{title}: {graph.failure}"
        return
    first = graph.first
    if first is None:
        worst = max(graph.nodes, key=lambda one: one.error / (one.allowed or 1.0), default=None)
        at = f", at most {worst.error:.1e} of {worst.allowed:.1e} (%{worst.node})" if worst is not None else ""
        yield f"{title}: rounding explains the error of each of {len(graph.nodes)} operations{at}"
    else:
        where = f" ({first.location})" if first.location else ""
        how = ", where the graph computes nothing else" if first.alone else ""
        yield f"{title}: first beyond rounding is %{first.node} = {first.op}{where}{how}"
        yield f"  error {first.error:.1e} against float64, {first.allowed:.1e} explained (PyTorch's {first.eager:.1e})"
        yield f"  from its own operands {first.own_error:.1e}"
        later = sum(one.beyond for one in graph.nodes) - 1
        if later:
            yield f"  {later} later operations are beyond it too"
    if graph.unjudged:
        yield f"  not judged, random or without a kernel on the CPU: {', '.join(graph.unjudged)}"


def compare_model(
    model: Callable[..., object], inputs: Sequence[object], options: Mapping[str, object] | None, backward: bool
) -> Comparison:
    """See :func:`tessiq.compare`."""
    chosen = parse_options(None, options)
    with undisturbed(model):
        return Comparison(tuple(_compare(graph, chosen) for graph in record(model, inputs, backward=backward)))


def _compare(graph: RecordedGraph, options: CompileOptions) -> GraphComparison:
    try:
        return compare_graph(graph, options)
    except Exception as error:  # what the compiler raised is the finding
        failure = f"{type(error).__name__}: {error}; tessiq.reduce cuts the graph to what raises it"
        return GraphComparison(graph.direction, (), (), failure)


def compare_graph(graph: RecordedGraph, options: CompileOptions) -> GraphComparison:
    """One graph with every value kept; then, where a result is wrong all the same, value by value."""
    nodes = tensor_nodes(graph.module)
    call, values = run_compiled(with_results(graph.module, nodes), graph.inputs, options)
    if call is None:
        return GraphComparison(graph.direction, (), (), "runs uncompiled, so there is nothing to compare")
    judge = Judge(graph, dict(zip(nodes, values, strict=True)))
    found = tuple(judge.node(node) for node in nodes if node not in judge.unjudged)
    if not any(one.beyond for one in found):
        alone = _first_alone(graph, options, judge)
        if alone is not None:
            found = tuple(alone if one.node == alone.node else one for one in found)
    return GraphComparison(graph.direction, found, tuple(node.name for node in nodes if node in judge.unjudged))


class Judge:
    """Holds values of one graph against PyTorch's own kernels and float64."""

    def __init__(self, graph: RecordedGraph, given: Mapping[fx.Node, object]) -> None:
        self._given = given
        self._eager = Evaluation(graph.module, False, given)
        self._exact = Evaluation(graph.module, True, given)
        for one in (self._eager, self._exact):
            one.run(*graph.inputs)
        self.unjudged = self._eager.unjudged | self._exact.unjudged

    def errors(self, node: fx.Node, ours: object) -> Errors:
        """Of a value that was computed from the graph's inputs on."""
        return _errors(node, ours, self._eager.values[node], self._exact.values[node])

    def node(self, node: fx.Node) -> NodeError:
        """A node of the run in which every value was kept."""
        whole = self.errors(node, self._given[node])
        own = _errors(
            node, self._given[node], self._eager.alone(node, self._given), self._exact.alone(node, self._given)
        )
        return _record(node, whole, own.ours, beyond=whole.beyond and own.beyond, alone=False)


def _record(node: fx.Node, found: Errors, own: float, *, beyond: bool, alone: bool) -> NodeError:
    op, location = str(node.target), location_of(node)
    return NodeError(node.name, op, location, found.ours, found.eager, found.allowed, own, beyond, alone)


def _errors(node: fx.Node, ours: object, eager: object, exact: object) -> Errors:
    if not all(isinstance(one, torch.Tensor) for one in (ours, eager, exact)):
        raise TypeError(f"%{node.name} has no tensor to compare")
    operands = [one.meta.get("val") for one in node.all_input_nodes]
    from_floats = any(isinstance(one, torch.Tensor) and one.dtype.is_floating_point for one in operands)
    return errors(ours, eager, exact, from_floats=from_floats)  # type: ignore[arg-type]


def _first_alone(graph: RecordedGraph, options: CompileOptions, judge: Judge) -> NodeError | None:
    """The first value that is wrong where a graph computes only it, if a result of the graph is wrong at all."""
    (output,) = graph.module.graph.find_nodes(op="output")
    # Another run draws other random numbers.
    nodes = [one for one in tensor_nodes(graph.module) if not depends_on(one, judge.unjudged)]
    results = [one for one in nodes if one in output.all_input_nodes]
    _, values = run_compiled(with_results(graph.module, results), graph.inputs, options)
    if not any(judge.errors(one, value).beyond for one, value in zip(results, values, strict=True)):
        return None
    for node in nodes:
        _, (value,) = run_compiled(with_results(graph.module, [node]), graph.inputs, options)
        found = judge.errors(node, value)
        if found.beyond:
            return _record(node, found, found.ours, beyond=True, alone=True)
    return None
