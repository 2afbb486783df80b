"""The facts of one report, as data. Says nothing of how they look, computes nothing that a part of the compiler knows.

Every record is read from the object that acts on it: fates and kernels from the program, passes from the pass manager,
crossings from the executor's counters, guards from Dynamo.
"""

from dataclasses import dataclass, field, fields
from typing import Literal

Direction = Literal["inference", "forward", "backward"]
"""As :data:`tessiq.compile.graph.Direction`; written again so that reading a saved report imports no compiler."""

COMPUTED_BY_US = frozenset({"launched", "fused", "library", "custom"})
"""Fates of operations whose result a kernel of tessiq's or a library call of its choosing computes."""

DISPATCHED = frozenset({"dispatched on device", "dispatched on host"})
"""Fates of operations that PyTorch's dispatcher runs."""

LEFT_ON_HOST = frozenset({"nothing-to-compute", "not-worth-crossing"})
"""Reasons of operations that are claimed and stay on the host: placement found no use in moving them."""


VALUE_GUARDS = frozenset({"TENSOR_MATCH", "SHAPE_ENV", "EQUALS_MATCH", "CONSTANT_MATCH", "BOOL_MATCH", "NONE_MATCH"})
"""Dynamo's kinds of guard that a caller meets; the others hold unless the program changes its own code or modules."""


@dataclass(frozen=True)
class ClaimEffect:
    """What a call would copy less if one operation were claimed and everything else stayed as it is.

    Attributes:
        copies: between host and device, fewer a call; negative where there would be more.
        bytes: the same in bytes.
        neighbours: kernels and library calls that write what it reads or read what it writes, whose launches it could
            join or follow without leaving the device.
    """

    copies: int
    bytes: int
    neighbours: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    """What became of one operation.

    Attributes:
        node: its name in the graph.
        op: PyTorch's name of it.
        fate: as the program names it: launched, fused, library, custom, view, packed, dispatched on device or on host.
        kernel: the value its kernel ends in, empty where it has none.
        moves_inputs: something it reads has to be copied between host and device first.
        reason_id: stable name of why no kernel runs it, empty where one does.
        reason: the same for a reader.
        location: file and line of the user's program, empty where PyTorch recorded none.
        effect: what claiming it would change; only of operations that the dispatcher runs.
    """

    node: str
    op: str
    fate: str
    kernel: str
    moves_inputs: bool
    reason_id: str
    reason: str
    location: str
    effect: ClaimEffect | None = None

    @property
    def inserted(self) -> bool:
        """The compiler put it there; the model has no such operation."""
        return self.op == "tessiq.pack"

    @property
    def left_on_host(self) -> bool:
        """Claimed, and left where it is by placement (docs/design/0044)."""
        return self.fate in DISPATCHED and self.reason_id in LEFT_ON_HOST


@dataclass(frozen=True)
class KernelEntry:
    """One entry point as the target's compiler made it; zeros where the target has no such notion.

    Attributes:
        registers: a thread.
        spilled_bytes: of local memory, a thread.
        shared_bytes: static, a block.
        blocks_per_processor: resident at once.
    """

    entry: str
    threads: int
    registers: int
    spilled_bytes: int
    shared_bytes: int
    blocks_per_processor: int


@dataclass(frozen=True)
class MeasuredTime:
    """A time and the clock it was read from."""

    microseconds: float
    clock: str


@dataclass(frozen=True)
class Kernel:
    """A generated kernel, one library call, or the kernel of a custom operation.

    Attributes:
        covers: the operations it computes, in order.
        bytes_read: each tensor it reads once.
        operations: multiplications and additions of a library call; 0 for other kernels.
        bound_microseconds: no implementation is faster on this device: the larger of bytes over the copy ceiling and
            operations over the product ceiling. None where the ceilings were not measured.
        bound_by: which of the two it is.
        source: what was compiled; equal kernels share it, so values are named by position. Of generated kernels only.
        body: the same with the graph's names.
    """

    name: str
    kind: Literal["fused", "library", "custom"]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    covers: tuple[str, ...]
    symbolic: bool
    bytes_read: int
    bytes_written: int
    operations: float
    bound_microseconds: float | None
    bound_by: Literal["memory", "compute"]
    time: MeasuredTime | None
    entries: tuple[KernelEntry, ...]
    source: str = field(repr=False)
    body: str = field(repr=False)


@dataclass(frozen=True)
class Edit:
    """What a pass did to one line of the graph's text; ``before`` or ``after`` is empty where it added or took it."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class PassChange:
    """One run of a pass, and the lines it changed."""

    name: str
    changed: bool
    milliseconds: float
    edits: tuple[Edit, ...] = field(repr=False)


@dataclass(frozen=True)
class Crossings:
    """Copies between host and device."""

    to_device: int = 0
    to_host: int = 0
    bytes_to_device: int = 0
    bytes_to_host: int = 0

    def __add__(self, other: "Crossings") -> "Crossings":
        return Crossings(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Crossings)))

    def __sub__(self, other: "Crossings") -> "Crossings":
        return Crossings(*(getattr(self, one.name) - getattr(other, one.name) for one in fields(Crossings)))


@dataclass(frozen=True)
class FxNode:
    """One line of the graph that PyTorch handed over."""

    name: str
    text: str
    location: str


@dataclass(frozen=True)
class Instruction:
    """One step of the program a call runs. ``bytes_read`` counts each tensor once."""

    kind: str
    name: str
    place: Literal["host", "device"]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    bytes_read: int
    bytes_written: int


@dataclass(frozen=True)
class Buffer:
    """A value's part of the arena, from the instruction that writes it to the last that needs it."""

    value: str
    offset: int
    bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Memory:
    """The block that a call's intermediate results share. ``peak_bytes`` is what no plan can do without."""

    bytes: int
    peak_bytes: int
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True)
class Symbol:
    """A number that comes with the call, where the program reads it, and its value in the call that was seen.

    ``name`` is empty for a number worked out on the way to others.
    """

    name: str
    source: str
    value: int


@dataclass(frozen=True)
class GraphReport:
    """One compiled graph.

    Attributes:
        direction: inference, or one of the two halves of training.
        device: where its kernels run.
        recipe: whether this compile made the recipe or found it in memory; times are of the compile that made it.
        fx: the graph as PyTorch handed it over.
        first_call: crossings of the model's first call; weights are copied then.
        later_call: crossings of the calls after it.
        later_calls: how many calls of the graph those are.
        repro: a program that compiles and compares this graph alone.
    """

    direction: Direction
    device: str
    recipe: Literal["compiled", "from memory"]
    operations: tuple[Operation, ...]
    kernels: tuple[Kernel, ...]
    passes: tuple[PassChange, ...]
    fx: tuple[FxNode, ...] = field(repr=False)
    imported_ir: str = field(repr=False)
    final_ir: str = field(repr=False)
    program: str = field(repr=False)
    instructions: tuple[Instruction, ...] = field(repr=False)
    memory: Memory = field(repr=False)
    symbols: tuple[Symbol, ...]
    first_call: Crossings
    later_call: Crossings
    later_calls: int
    pass_milliseconds: float
    kernel_milliseconds: float
    repro: str = field(repr=False)


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
class Guard:
    """Something Dynamo checks before it uses compiled code again."""

    name: str
    kind: str
    text: str

    @property
    def on_values(self) -> bool:
        """On tensors, numbers and sizes that the model is given or holds; not on its code or the process's state."""
        return self.kind in VALUE_GUARDS and bool(self.name) and not self.name.startswith("G[")


@dataclass(frozen=True)
class Recompile:
    """Why existing code did not fit a call."""

    function: str
    reason: str


@dataclass(frozen=True)
class Span:
    """A stretch of the first call, in milliseconds since it began. ``graph`` is -1 for what belongs to none."""

    name: str
    graph: int
    level: int
    start: float
    milliseconds: float


@dataclass(frozen=True)
class Ceiling:
    """What a device was measured to reach; 0 where it was not measured.

    Attributes:
        device: as a user names it.
        hardware: the maker's name.
        bytes_per_second: read and written by a copy far larger than the caches.
        operations_per_second: of a large square product in ``element``.
        clock: what the times were read from.
    """

    device: str
    hardware: str
    bytes_per_second: float
    operations_per_second: float
    element: str
    clock: str


@dataclass(frozen=True)
class Totals:
    """Sums over all graphs.

    Attributes:
        operations: all but what the compiler inserted.
        computing: those that compute something; no view does.
        claimed: of these, what tessiq has a kernel or a library call for.
        left_on_host: claimed, and run by PyTorch on the host all the same, as that is not worth a copy.
    """

    operations: int
    computing: int
    claimed: int
    left_on_host: int
    views: int
    kernels: int
    library_calls: int
    custom_kernels: int
    dispatched_on_device: int
    dispatched_on_host: int

    @property
    def claimed_share(self) -> float:
        """Of the operations that compute something, the share that tessiq has a kernel or a library call for."""
        return self.claimed / self.computing if self.computing else 1.0
