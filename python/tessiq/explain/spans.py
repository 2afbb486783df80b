"""Where the time of the first call went, as stretches that follow one another and stretches inside them."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from tessiq.compile.graph import CompiledCall
from tessiq.explain.records import Span


class Timeline:
    """The first call on one clock, ``time.perf_counter``."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._ended = self._started
        self._handed: list[tuple[float, float]] = []

    def end(self) -> None:
        """The first call is over."""
        self._ended = time.perf_counter()

    @property
    def seconds(self) -> float:
        return self._ended - self._started

    @contextlib.contextmanager
    def handed_over(self) -> Iterator[None]:
        """Around what Dynamo calls with a graph."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._handed.append((started, time.perf_counter()))

    def spans(self, calls: Sequence[CompiledCall]) -> tuple[Span, ...]:
        """Every stretch, in the order they began. What is left between them is PyTorch's, and named so."""
        found = [Span("first call", -1, 0, 0.0, self.seconds * 1000)]
        at = self._started
        for begin, end in sorted(self._handed):
            if begin < self._ended:
                # Dynamo traces until it hands a graph over; what it runs of earlier graphs is in it.
                found += [
                    self._span("Dynamo", -1, 1, at, begin),
                    self._span("AOTAutograd and backend", -1, 1, begin, end),
                ]
                at = end
        for graph, call in enumerate(calls):
            if call.times.started < self._ended:
                found += self._compile(call, graph)
                at = max(at, call.times.ended)
        found.append(self._span("running", -1, 1, at, self._ended))
        return tuple(sorted(found, key=lambda one: (one.start, one.level)))

    def _span(self, name: str, graph: int, level: int, begin: float, end: float) -> Span:
        return Span(name, graph, level, (begin - self._started) * 1000, max(0.0, end - begin) * 1000)

    def _compile(self, call: CompiledCall, graph: int) -> Iterator[Span]:
        times, compiled = call.times, call.compiled
        # Inside what Dynamo handed over, after AOTAutograd's tracing; a backward graph is compiled when it first runs.
        inside = any(begin <= times.started <= end for begin, end in self._handed)
        level = 2 if inside else 1
        yield self._span("tessiq", graph, level, times.started, times.ended)
        if times.from_memory:
            yield self._span("recipe from memory", graph, level + 1, times.started, times.ended)
            return
        yield self._span("import", graph, level + 1, times.started, times.imported)
        clock = times.imported
        for one in compiled.passes():
            yield self._span(one["name"], graph, level + 1, clock, clock + one["milliseconds"] / 1000)
            clock += one["milliseconds"] / 1000
        lowered = times.imported + compiled.pass_milliseconds / 1000
        yield self._span("lowering", graph, level + 1, clock, lowered)
        yield self._span("kernels", graph, level + 1, lowered, lowered + compiled.kernel_milliseconds / 1000)
