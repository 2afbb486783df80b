"""Gathers a report: compiles a model through a backend object of its own and reads what the compiler made.

A backend object nobody else has is what makes the compile fresh: Dynamo keeps compiled code by backend, so the caller's
own entries neither answer for this one nor are dropped.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

import tessiq
from tessiq.compile.entry import compile_backend
from tessiq.compile.graph import Observer, observers
from tessiq.compile.options import CompileOptions, parse_options
from tessiq.explain.ceilings import ceilings_of
from tessiq.explain.dynamo_facts import GuardLog, breaks_since, graph_breaks, recompiles_since
from tessiq.explain.graph_facts import CallCounts, GraphFacts, counts_of, product_elements
from tessiq.explain.records import Ceiling, UncompiledGraph
from tessiq.explain.report import REPORT_VERSION, Report
from tessiq.explain.spans import Timeline
from tessiq.profiling.run import run, undisturbed


def capture(
    model: Callable[..., object], inputs: Sequence[object], options: Mapping[str, object] | None, backward: bool
) -> Report:
    """Compile ``model`` afresh, run it twice, and read what the compiler made. See :func:`tessiq.explain`."""
    original, given = _unwrap(model)
    chosen = dict(given if options is None else options)
    parsed = parse_options(None, chosen)
    with recording(_title(original), fresh=True) as recorder, undisturbed(original):
        compiled = torch.compile(
            original,
            backend=_own_backend(chosen, recorder.timeline),
            options={"guard_filter_fn": recorder.guards.keep_all},
        )
        run(compiled, inputs, backward)
        recorder.end_first_call()
        run(compiled, inputs, backward)
        return recorder.report(parsed, measure=True)


def _title(model: object) -> str:
    return type(model).__name__ if isinstance(model, torch.nn.Module) else getattr(model, "__name__", "model")


class Recorder:
    """Sees every graph compiled while it is open; made by :func:`recording`."""

    def __init__(self, observer: Observer, title: str) -> None:
        self._observer = observer
        self._title = title
        self._breaks = graph_breaks()
        self._started_at = time.time()
        self.timeline = Timeline()
        self.guards = GuardLog()
        self._first: list[CallCounts] = []
        self._ended_first = False

    def end_first_call(self) -> None:
        """Crossings until here are the first call's, later ones a later call's."""
        self.timeline.end()
        self._first = self._counts()
        self._ended_first = True

    def _counts(self) -> list[CallCounts]:
        return [counts_of(call.compiled) for call in self._observer.graphs]

    def report(self, options: CompileOptions | None = None, *, measure: bool = False) -> Report:
        """What was seen.

        Args:
            options: what the graphs were compiled with, for the text of programs that reproduce them.
            measure: measure what the devices reach, so that kernels can be held against it. Takes part of a second.
        """
        if not self._ended_first:
            self.timeline.end()
        calls = self._observer.graphs
        both = self._counts()
        # A graph compiled only in the second call had no first one.
        first = self._first + [CallCounts()] * (len(both) - len(self._first))
        ceilings = self._ceilings() if measure else ()
        return Report(
            version=REPORT_VERSION,
            title=self._title,
            tessiq_version=tessiq.__version__,
            torch_version=torch.__version__,
            graphs=tuple(
                GraphFacts(call, ceilings).report(one, two, repr((options or CompileOptions()).as_given()))
                for call, one, two in zip(calls, first, both, strict=True)
            ),
            uncompiled=tuple(
                UncompiledGraph(sum(node.op == "call_function" for node in module.graph.nodes), reason)
                for module, reason in self._observer.uncompiled
            ),
            breaks=breaks_since(self._breaks),
            guards=self.guards.guards(),
            recompiles=recompiles_since(self._started_at),
            ceilings=ceilings,
            spans=self.timeline.spans(calls),
            first_call_seconds=self.timeline.seconds,
            later_calls=int(self._ended_first),
        )

    def _ceilings(self) -> tuple[Ceiling, ...]:
        elements: dict[int, set[str]] = {}
        for call in self._observer.graphs:
            elements.setdefault(call.compiled.device_index, set()).update(product_elements(call))
        return tuple(
            one
            for index, names in elements.items()
            for one in ceilings_of(torch.device("tessiq", index), frozenset(names))
        )


@contextlib.contextmanager
def recording(title: str = "recorded calls", *, fresh: bool = False) -> Iterator[Recorder]:
    """Records the graphs that this process compiles, for a report on a call somebody else makes.

    Args:
        title: what the report is called.
        fresh: compile also what is in memory.
    """
    observer = Observer(fresh)
    observers.append(observer)
    # The entries of earlier reports on the same code count as recompiles and must not stop this one.
    limits = torch._dynamo.config.patch(recompile_limit=1 << 16, accumulated_recompile_limit=1 << 16)
    try:
        with limits:
            yield Recorder(observer, title)
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


def _own_backend(options: Mapping[str, object], timeline: Timeline) -> Callable[..., object]:
    def explained(module: torch.fx.GraphModule, example_inputs: Sequence[object]) -> Callable[..., object]:
        with timeline.handed_over():
            return compile_backend(module, example_inputs, options=options)

    return explained
