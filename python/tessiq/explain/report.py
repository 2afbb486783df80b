"""The facts of one report, as data. Says nothing of how they look, computes nothing that a part of the compiler knows.

Every record is read from the object that acts on it: fates and kernels from the program, passes from the pass manager,
crossings from the executor's counters.
"""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # importing tessiq does not import its compiler
    from tessiq.compile.graph import Direction

REPORT_VERSION = 1
"""Rises when a field changes its meaning or goes; a new field leaves it as it is."""

COMPUTED_BY_US = frozenset({"launched", "fused", "library"})
"""Fates of operations whose result a kernel of tessiq's or a library call of its choosing computes."""

DISPATCHED = frozenset({"dispatched on device", "dispatched on host"})
"""Fates of operations that PyTorch's dispatcher runs."""


@dataclass(frozen=True)
class Operation:
    """What became of one operation.

    Attributes:
        node: its name in the graph.
        op: PyTorch's name of it.
        fate: as the program names it: launched, fused, library, view, packed, dispatched on device or on host.
        kernel: the value its kernel ends in, empty where it has none.
        moves_inputs: something it reads has to be copied between host and device first.
        reason_id: stable name of why no kernel runs it, empty where one does.
        reason: the same for a reader.
        location: file and line of the user's program, empty where PyTorch recorded none.
    """

    node: str
    op: str
    fate: str
    kernel: str
    moves_inputs: bool
    reason_id: str
    reason: str
    location: str

    @property
    def inserted(self) -> bool:
        """The compiler put it there; the model has no such operation."""
        return self.op.startswith("tessiq.")


@dataclass(frozen=True)
class Kernel:
    """A generated kernel, or one library call. ``covers`` are the operations it computes, in order."""

    name: str
    kind: Literal["fused", "library"]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    covers: tuple[str, ...]
    symbolic: bool
    source: str = field(repr=False)


@dataclass(frozen=True)
class PassChange:
    """One run of a pass; ``diff`` is a unified diff of the graph's text, empty where nothing changed."""

    name: str
    changed: bool
    milliseconds: float
    diff: str = field(repr=False)


@dataclass(frozen=True)
class Crossings:
    """Copies between host and device in one call."""

    to_device: int = 0
    to_host: int = 0
    bytes_to_device: int = 0
    bytes_to_host: int = 0

    def __add__(self, other: "Crossings") -> "Crossings":
        return Crossings(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Crossings)))


@dataclass(frozen=True)
class GraphReport:
    """One compiled graph.

    Attributes:
        direction: inference, or one of the two halves of training.
        device: where its kernels run.
        first_call: crossings of the first call; weights are copied then.
        later_call: crossings of a call after it.
    """

    direction: "Direction"
    device: str
    operations: tuple[Operation, ...]
    kernels: tuple[Kernel, ...]
    passes: tuple[PassChange, ...]
    imported_ir: str = field(repr=False)
    final_ir: str = field(repr=False)
    program: str = field(repr=False)
    first_call: Crossings
    later_call: Crossings
    pass_milliseconds: float
    kernel_milliseconds: float


@dataclass(frozen=True)
class UncompiledGraph:
    """A graph that runs as PyTorch runs it, and why."""

    operations: int
    reason: str


@dataclass(frozen=True)
class GraphBreak:
    """Why Dynamo ended a graph where the model goes on."""

    reason: str
    times: int


@dataclass(frozen=True)
class Totals:
    """Sums over all graphs. ``operations`` leaves out what the compiler inserted."""

    operations: int
    computing: int
    claimed: int
    views: int
    kernels: int
    library_calls: int
    dispatched_on_device: int
    dispatched_on_host: int

    @property
    def claimed_share(self) -> float:
        """Of the operations that compute something (no view does), the share that PyTorch's dispatcher does not run."""
        return self.claimed / self.computing if self.computing else 1.0


@dataclass(frozen=True)
class Report:
    """How one model compiles. ``print(report)`` gives plain text, ``report.show()`` a terminal's face."""

    version: int
    tessiq_version: str
    torch_version: str
    graphs: tuple[GraphReport, ...]
    uncompiled: tuple[UncompiledGraph, ...]
    breaks: tuple[GraphBreak, ...]
    first_call_seconds: float

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Every operation of every compiled graph, in order."""
        return tuple(operation for graph in self.graphs for operation in graph.operations)

    @property
    def totals(self) -> Totals:
        """Sums over all graphs."""
        real = [operation for operation in self.operations if not operation.inserted]
        fates = [operation.fate for operation in real]
        kernels = [kernel for graph in self.graphs for kernel in graph.kernels]
        claimed = sum(fate in COMPUTED_BY_US for fate in fates)
        on_device, on_host = fates.count("dispatched on device"), fates.count("dispatched on host")
        uncompiled = sum(graph.operations for graph in self.uncompiled)
        return Totals(
            operations=len(real) + uncompiled,
            computing=claimed + on_device + on_host + fates.count("packed") + uncompiled,
            claimed=claimed,
            views=fates.count("view"),
            kernels=sum(kernel.kind == "fused" for kernel in kernels),
            library_calls=sum(kernel.kind == "library" for kernel in kernels),
            dispatched_on_device=on_device,
            dispatched_on_host=on_host + uncompiled,
        )

    @property
    def first_call(self) -> Crossings:
        """Copies between host and device in the first call."""
        return sum((graph.first_call for graph in self.graphs), Crossings())

    @property
    def later_call(self) -> Crossings:
        """Copies between host and device in a later call."""
        return sum((graph.later_call for graph in self.graphs), Crossings())

    def unclaimed(self) -> dict[tuple[str, str], int]:
        """How many operations went through the dispatcher, by operator and reason, the commonest first."""
        counts: dict[tuple[str, str], int] = {}
        for one in self.operations:
            if one.fate in DISPATCHED:
                key = (one.op, one.reason_id or "unexplained")
                counts[key] = counts.get(key, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def text(self, *, source: bool = False) -> str:
        """The report as plain text; ``source`` adds the text of every kernel."""
        from tessiq.explain.plain import plain_text

        return plain_text(self, source=source)

    def show(self, *, source: bool = False) -> None:
        """Print the report to the terminal, in colour where it has any; ``source`` adds the text of every kernel."""
        from tessiq.explain.terminal import show

        show(self, source=source)

    def __str__(self) -> str:
        return self.text()
