"""Gathers a report: compiles a model through a backend object of its own and reads what the compiler made.

A backend object nobody else has is what makes the compile fresh: Dynamo keeps compiled code by backend, so the caller's
own entries neither answer for this one nor are dropped.
"""

import contextlib
import difflib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch._dynamo.utils import counters as dynamo_counters
from torch.utils._pytree import tree_leaves

import tessiq
from tessiq import _C
from tessiq.compile.entry import compile_backend
from tessiq.compile.graph import CompiledCall, Observer, observers
from tessiq.compile.options import parse_options
from tessiq.explain.report import (
    REPORT_VERSION,
    Crossings,
    GraphBreak,
    GraphReport,
    Kernel,
    Operation,
    PassChange,
    Report,
    UncompiledGraph,
)


def capture(
    model: Callable[..., object], inputs: Sequence[object], options: Mapping[str, object] | None, backward: bool
) -> Report:
    """Compile ``model`` afresh, run it twice, and read what the compiler made. See :func:`tessiq.explain`."""
    original, given = _unwrap(model)
    chosen = dict(given if options is None else options)
    parse_options(None, chosen)
    with recording() as recorder, _undisturbed(original):
        compiled = torch.compile(original, backend=_own_backend(chosen))
        _run(compiled, inputs, backward)
        recorder.end_first_call()
        _run(compiled, inputs, backward)
        return recorder.report()


class Recorder:
    """Sees every graph compiled while it is open; made by :func:`recording`."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._breaks = dict(dynamo_counters["graph_break"])
        self._started = time.perf_counter()
        self._first_call_seconds = 0.0
        self._first: list[Crossings] = []

    def end_first_call(self) -> None:
        """Crossings until here are the first call's, later ones a later call's."""
        self._first_call_seconds = time.perf_counter() - self._started
        self._first = self._crossings()

    def _crossings(self) -> list[Crossings]:
        return [_crossings(call.compiled.counters()) for call in self._observer.graphs]

    def report(self) -> Report:
        """What was seen. One first call and one later call have been made."""
        both = self._crossings()
        # A graph compiled only in the second call had no first one.
        first = self._first + [Crossings()] * (len(both) - len(self._first))
        return Report(
            version=REPORT_VERSION,
            tessiq_version=tessiq.__version__,
            torch_version=torch.__version__,
            graphs=tuple(
                _graph(call, one, two) for call, one, two in zip(self._observer.graphs, first, both, strict=True)
            ),
            uncompiled=tuple(
                UncompiledGraph(sum(node.op == "call_function" for node in module.graph.nodes), reason)
                for module, reason in self._observer.uncompiled
            ),
            breaks=tuple(
                GraphBreak(" ".join(str(reason).split()), times - self._breaks.get(reason, 0))
                for reason, times in dynamo_counters["graph_break"].items()
                if times > self._breaks.get(reason, 0)
            ),
            first_call_seconds=self._first_call_seconds,
        )


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    """Records the graphs that this process compiles, for a report on a call somebody else makes."""
    observer = Observer()
    observers.append(observer)
    # The entries of earlier reports on the same code count as recompiles and must not stop this one.
    limits = torch._dynamo.config.patch(recompile_limit=1 << 16, accumulated_recompile_limit=1 << 16)
    try:
        with limits:
            yield Recorder(observer)
    finally:
        # By identity: two observers that have seen nothing yet are equal.
        observers[:] = [one for one in observers if one is not observer]


def _unwrap(model: Callable[..., object]) -> tuple[Callable[..., object], Mapping[str, object]]:
    """The model under ``torch.compile``'s wrapper, and the options it was compiled with for this backend."""
    wrapper = getattr(model, "dynamo_ctx", None) or getattr(model, "_torchdynamo_context", None)
    callback = getattr(wrapper, "callback", None)
    backend = torch._dynamo.eval_frame.innermost_backend(callback) if callback is not None else None
    options: Mapping[str, object] = {}
    if getattr(backend, "compiler_fn", None) is compile_backend:
        options = getattr(backend, "kwargs", {}).get("options", {})
    original = getattr(model, "_orig_mod", None)
    if original is None:
        original = torch._dynamo.eval_frame.innermost_fn(model)
    return original, options


def _own_backend(options: Mapping[str, object]) -> Callable[..., object]:
    def explained(module: torch.fx.GraphModule, example_inputs: Sequence[object]) -> Callable[..., object]:
        return compile_backend(module, example_inputs, options=options)

    return explained


@contextlib.contextmanager
def _undisturbed(model: object) -> Iterator[None]:
    """Puts back what running a model changes besides its inputs: buffers and random states."""
    buffers = list(model.buffers()) if isinstance(model, torch.nn.Module) else []
    saved = [buffer.clone() for buffer in buffers]
    with torch.random.fork_rng(devices=range(_C.device_count()), device_type="tessiq"):
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, value in zip(buffers, saved, strict=True):
                    if not torch.equal(buffer.cpu(), value.cpu()):
                        buffer.copy_(value)


def _run(model: Callable[..., object], inputs: Sequence[object], backward: bool) -> None:
    results = model(*inputs)
    if not backward:
        return
    roots = [one for one in tree_leaves(results) if isinstance(one, torch.Tensor) and one.requires_grad]
    leaves = _leaves(roots)
    if not leaves:
        raise ValueError("backward=True, but no output of the model needs a gradient")
    torch.autograd.grad(roots, leaves, [torch.ones_like(root) for root in roots], allow_unused=True)


def _leaves(roots: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What the outputs' gradients would be accumulated into. Found in autograd's graph, so closures count too."""
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set(waiting)
    found = []
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            found.append(variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return found


def _crossings(counters: Mapping[str, int]) -> Crossings:
    return Crossings(
        counters["copies_to_device"],
        counters["copies_to_host"],
        counters["bytes_to_device"],
        counters["bytes_to_host"],
    )


def _difference(total: Crossings, first: Crossings) -> Crossings:
    return Crossings(
        total.to_device - first.to_device,
        total.to_host - first.to_host,
        total.bytes_to_device - first.bytes_to_device,
        total.bytes_to_host - first.bytes_to_host,
    )


def _graph(call: CompiledCall, first: Crossings, both: Crossings) -> GraphReport:
    compiled = call.compiled
    operations = tuple(_operation(fate) for fate in compiled.fates())
    return GraphReport(
        direction=call.direction,
        device=f"tessiq:{compiled.device_index}",
        operations=operations,
        kernels=(*_fused(compiled), *_library(operations, compiled.final_ir)),
        passes=tuple(_passes(compiled)),
        imported_ir=compiled.imported_ir,
        final_ir=compiled.final_ir,
        program=compiled.program,
        first_call=first,
        later_call=_difference(both, first),
        pass_milliseconds=compiled.pass_milliseconds,
        kernel_milliseconds=compiled.kernel_milliseconds,
    )


def _operation(fate: "_C.NodeFate") -> Operation:
    reason_id, _, reason = fate["reason"].partition(": ")
    return Operation(
        node=fate["node"],
        op=fate["op"],
        fate=fate["fate"],
        kernel=fate["kernel"],
        moves_inputs=fate["moves_inputs"],
        reason_id=reason_id,
        reason=reason or reason_id,
        location=fate["location"],
    )


def _fused(compiled: _C.CompiledGraph) -> Iterator[Kernel]:
    for one in compiled.kernels():
        reads, writes, covers = tuple(one["reads"]), tuple(one["writes"]), tuple(one["covers"])
        yield Kernel(one["name"], "fused", reads, writes, covers, one["symbolic"], one["source"])


def _library(operations: Sequence[Operation], final_ir: str) -> Iterator[Kernel]:
    for one in operations:
        if one.fate == "library":
            line = next((line for line in final_ir.splitlines() if re.match(rf"\s*%{re.escape(one.node)}\b", line)), "")
            reads = tuple(re.findall(r"%([\w.]+)", line.partition("=")[2]))
            symbolic = re.search(r"\[[^\]]*[A-Za-z?]", line.partition("=")[0]) is not None
            yield Kernel(one.node, "library", reads, (one.node,), (one.node,), symbolic, "")


def _passes(compiled: _C.CompiledGraph) -> Iterator[PassChange]:
    before = compiled.imported_ir
    for one in compiled.passes():
        after = one["ir_after"] or before
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        diff = "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))
        yield PassChange(one["name"], one["changed"], one["milliseconds"], diff)
        before = after
