"""Cuts a failing graph to the smallest that still fails: the work behind ``tessiq.reduce``.

The search is functorch's public minifier, which replaces nodes by their values; what failing means is decided here.
"""

import contextlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from functorch.compile import minifier  # type: ignore[import-untyped]
from torch import fx
from torch._subclasses import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from tessiq.compile.importer import Importer
from tessiq.compile.options import CompileOptions, parse_options
from tessiq.compile.sizes import Unrepresentable
from tessiq.debug.comparison import Judge
from tessiq.debug.evaluation import is_random, run_compiled, tensor_nodes, with_results
from tessiq.debug.recording import RecordedGraph, copy_of, record
from tessiq.debug.script import script_of, stand_in
from tessiq.profiling.run import undisturbed

WRONG = "wrong answer"


@dataclass(frozen=True)
class Reduction:
    """The smallest graph that was found to fail.

    Attributes:
        failure: ``wrong answer``, or the exception's name.
        module: the graph; static sizes, no tensors of its own.
        inputs: its arguments.
        nodes: operations left, and how many there were.
        script: a program that ends with status 1 while the graph fails. It reads ``inputs.pt`` beside it where
            ``inputs_matter``.
        ir: the compiler's graph before any pass, for tessiq-opt; a comment where it cannot be represented.
        inputs_matter: the failure needs these very inputs, which are too many to write down.
    """

    failure: str
    module: fx.GraphModule
    inputs: tuple[object, ...]
    nodes: tuple[int, int]
    script: str
    ir: str
    inputs_matter: bool

    def save(self, folder: str | Path) -> Path:
        """Write ``reduced.py`` and ``reduced.tir``, and ``inputs.pt`` where they matter. Returns the script's path."""
        into = Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        (into / "reduced.tir").write_text(self.ir)
        if self.inputs_matter:
            torch.save(self.inputs, into / "inputs.pt")
        (into / "reduced.py").write_text(self.script)
        return into / "reduced.py"

    def __str__(self) -> str:
        left, before = self.nodes
        return f"{self.failure}: {left} of {before} operations left\n{self.ir.rstrip()}"


def failure_of(module: fx.GraphModule, inputs: Sequence[object], options: CompileOptions) -> str:
    """How a graph fails, empty where it does not."""
    (output,) = module.graph.find_nodes(op="output")
    results = [one for one in tensor_nodes(module) if one in output.all_input_nodes]
    # What is drawn has to be known to whoever computes the rest again.
    drawn = [one for one in tensor_nodes(module) if is_random(one) and one not in results]
    try:
        _, values = run_compiled(with_results(module, [*results, *drawn]), inputs, options)
    except Exception as error:  # whatever the compiler raises is what is looked for
        return type(error).__name__
    given = dict(zip([*results, *drawn], values, strict=True))
    judge = Judge(RecordedGraph(module, "inference", tuple(inputs)), given)
    wrong = any(judge.errors(one, given[one]).beyond for one in results if one not in judge.unjudged)
    return WRONG if wrong else ""


def with_static_sizes(module: fx.GraphModule, inputs: Sequence[object]) -> fx.GraphModule:
    """A copy of the graph whose fake results are those of these inputs."""
    copy = fx.GraphModule(module, fx.Graph())
    places: dict[fx.Node, fx.Node] = {}
    for node in module.graph.nodes:
        places[node] = copy.graph.node_copy(node, lambda one: places[one])
        places[node].meta = {name: value for name, value in node.meta.items() if name == "stack_trace"}
    copy.recompile()
    FakeTensorProp(copy, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*inputs)  # type: ignore[no-untyped-call]
    return copy


def reduce_model(
    model: Callable[..., object], inputs: Sequence[object], options: Mapping[str, object] | None, backward: bool
) -> Reduction:
    """See :func:`tessiq.reduce`."""
    chosen = parse_options(None, options)
    with undisturbed(model):
        for graph in record(model, inputs, backward=backward):
            module = with_static_sizes(graph.module, graph.inputs)
            failure = failure_of(module, graph.inputs, chosen)
            if failure:
                return _reduce(module, graph.inputs, chosen, failure)
    raise ValueError(
        "nothing to reduce: every graph compiles, runs, and gives results whose error rounding explains; a failure "
        "that needs symbolic sizes is not seen here, since graphs are reduced for the sizes of these inputs"
    )


def _reduce(module: fx.GraphModule, inputs: tuple[object, ...], options: CompileOptions, failure: str) -> Reduction:
    def fails(candidate: fx.GraphModule, given: Sequence[object]) -> bool:
        try:
            return failure_of(with_static_sizes(candidate, given), given, options) == failure
        except Exception:  # a candidate that PyTorch itself refuses is none
            return False

    # Its progress goes to standard error and a report is what the caller asked for.
    with contextlib.redirect_stderr(io.StringIO()):
        found, left = minifier(module, list(inputs), fails, lambda *_: None)
    least = with_static_sizes(found, left)
    kept = tuple(copy_of(one) for one in left)
    stand_ins = tuple(stand_in(one) for one in kept)
    inputs_matter = not fails(least, stand_ins)
    return Reduction(
        failure=failure,
        module=least,
        inputs=kept if inputs_matter else stand_ins,
        nodes=(_operations(least), _operations(module)),
        script=script_of(least, kept if inputs_matter else stand_ins, options, failure, from_file=inputs_matter),
        ir=_ir(least, options),
        inputs_matter=inputs_matter,
    )


def _operations(module: fx.GraphModule) -> int:
    return sum(node.op == "call_function" for node in module.graph.nodes)


def _ir(module: fx.GraphModule, options: CompileOptions) -> str:
    values = [node.meta.get("val") for node in module.graph.nodes]
    on_device = any(isinstance(one, torch.Tensor) and one.device.type == "tessiq" for one in values)
    importer = Importer(module, options.device, on_device)
    try:
        importer.run()
    except Unrepresentable as reason:
        return f"// no graph of the compiler's: {reason}\n"
    return importer.text()
