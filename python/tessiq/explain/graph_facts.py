"""Reads one compiled graph: asks the recipe, the program and the kernels, for the sizes the graph was traced with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import fx

from tessiq import _C
from tessiq.compile.graph import CompiledCall
from tessiq.compile.importer import location_of
from tessiq.compile.line_edits import line_edits
from tessiq.explain.claim_effect import ClaimEffects
from tessiq.explain.records import (
    DISPATCHED,
    Buffer,
    Ceiling,
    Crossings,
    Edit,
    FxNode,
    GraphReport,
    Instruction,
    Kernel,
    KernelEntry,
    Memory,
    Operation,
    PassChange,
    Symbol,
)
from tessiq.explain.repro import repro_script


@dataclass(frozen=True)
class CallCounts:
    """What the executor of one graph had counted at some moment."""

    calls: int = 0
    crossings: Crossings = field(default_factory=Crossings)


def counts_of(compiled: _C.CompiledGraph) -> CallCounts:
    """What the executor has counted so far."""
    counters = compiled.counters()
    return CallCounts(
        counters["calls"],
        Crossings(
            counters["copies_to_device"],
            counters["copies_to_host"],
            counters["bytes_to_device"],
            counters["bytes_to_host"],
        ),
    )


def arguments_of(module: fx.GraphModule) -> list[list[int] | int]:
    """What the graph was traced with at each position: a tensor's shape, or an integer. Symbols have their hints."""
    found: list[list[int] | int] = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            value = node.meta.get("val")
            found.append([_hint(size) for size in value.shape] if isinstance(value, torch.Tensor) else _hint(value))
    found += [list(node.meta["val"].shape) for node in module.graph.nodes if node.op == "get_attr"]
    return found


def _hint(size: object) -> int:
    if isinstance(size, torch.SymInt):
        return int(size.node.hint)
    return size if isinstance(size, int) else 0


def product_elements(call: CompiledCall) -> set[str]:
    """The element types of its library calls."""
    sizes = _C.size_values(call.compiled, arguments_of(call.module))
    slots = _C.slots(call.compiled, sizes)
    steps = _C.instructions(call.compiled, sizes)
    return {slots[step["writes"][0]]["element"] for step in steps if step["operations"]}


class GraphFacts:
    """The facts of one compiled graph; made once a report."""

    def __init__(self, call: CompiledCall, ceilings: Sequence[Ceiling]) -> None:
        self._call = call
        self._compiled = call.compiled
        self._device = f"tessiq:{call.compiled.device_index}"
        self._ceilings = {one.element: one for one in ceilings if one.device == self._device}
        self._sizes = _C.size_values(self._compiled, arguments_of(call.module))
        self._slots = _C.slots(self._compiled, self._sizes)
        self._steps = _C.instructions(self._compiled, self._sizes)

    def report(self, first: CallCounts, total: CallCounts, options: str) -> GraphReport:
        """The record; ``first`` and ``total`` are the counts after the model's first call and at the end."""
        compiled = self._compiled
        operations = tuple(self._operations())
        return GraphReport(
            direction=self._call.direction,
            device=self._device,
            recipe="from memory" if self._call.times.from_memory else "compiled",
            operations=operations,
            kernels=(*self._generated(), *self._library(), *self._custom()),
            passes=tuple(self._passes()),
            fx=tuple(fx_node(node) for node in self._call.module.graph.nodes),
            imported_ir=compiled.imported_ir,
            final_ir=compiled.final_ir,
            program=compiled.program,
            instructions=tuple(self._instructions()),
            memory=self._memory(),
            symbols=tuple(
                Symbol(one["name"], one["source"].partition("  (")[0], one["value"])
                for one in _C.symbols(compiled, self._sizes)
            ),
            first_call=first.crossings,
            later_call=total.crossings - first.crossings,
            later_calls=total.calls - first.calls,
            pass_milliseconds=compiled.pass_milliseconds,
            kernel_milliseconds=compiled.kernel_milliseconds,
            repro=repro_script(self._call.module, options),
        )

    def _operations(self) -> Iterator[Operation]:
        effects = ClaimEffects(self._steps, self._slots, _C.output_slots(self._compiled), _C.kept_slots(self._compiled))
        for fate in self._compiled.fates():
            reason_id, _, reason = fate["reason"].partition(": ")
            dispatched = fate["fate"] in DISPATCHED
            yield Operation(
                node=fate["node"],
                op=fate["op"],
                fate=fate["fate"],
                kernel=fate["kernel"],
                moves_inputs=fate["moves_inputs"],
                reason_id=reason_id,
                reason=reason or reason_id,
                location=fate["location"],
                effect=effects.of(fate["node"]) if dispatched else None,
            )

    def _generated(self) -> Iterator[Kernel]:
        launches = {one["name"]: one for one in self._steps if one["kind"] == "launch"}
        for one, code in zip(self._compiled.kernels(), _C.kernel_code(self._compiled), strict=True):
            step = launches[one["name"]]
            yield self._kernel(
                step,
                "fused",
                (tuple(one["reads"]), tuple(one["writes"]), tuple(one["covers"])),
                one["symbolic"],
                (one["source"], code["body"]),
                tuple(KernelEntry(**entry) for entry in code["entries"]),
            )

    def _library(self) -> Iterator[Kernel]:
        for step in self._steps:
            if step["kind"] in ("matmul", "convolution"):
                reads, writes = self._values(step["reads"]), self._values(step["writes"])
                symbolic = any(self._slots[slot]["symbolic"] for slot in (*step["reads"], *step["writes"]))
                yield self._kernel(step, "library", (reads, writes, writes[:1]), symbolic, ("", ""), ())

    def _custom(self) -> Iterator[Kernel]:
        """Kernels of custom operations, with what a rewrite put into them."""
        fates = [(one["node"], one["fate"], one["kernel"]) for one in self._compiled.fates()]
        calls = [node for node, fate, _ in fates if fate == "custom"]
        steps = [step for step in self._steps if step["kind"] == "custom"]
        for node, step in zip(calls, steps, strict=True):
            absorbed = (other for other, fate, kernel in fates if fate == "fused" and kernel == node)
            symbolic = any(self._slots[slot]["symbolic"] for slot in (*step["reads"], *step["writes"]))
            values = self._values(step["reads"]), self._values(step["writes"]), (*absorbed, node)
            yield self._kernel(step, "custom", values, symbolic, ("", ""), ())

    def _kernel(
        self,
        step: "_C.InstructionRecord",
        kind: Literal["fused", "library", "custom"],
        values: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
        symbolic: bool,
        texts: tuple[str, str],
        entries: tuple[KernelEntry, ...],
    ) -> Kernel:
        reads, writes, covers = values
        element = self._slots[step["writes"][0]]["element"]
        memory, compute = self._bounds(step, element)
        return Kernel(
            name=step["name"] if kind == "fused" else writes[0],
            kind=kind,
            reads=reads,
            writes=writes,
            covers=covers,
            symbolic=symbolic,
            bytes_read=step["bytes_read"],
            bytes_written=step["bytes_written"],
            operations=step["operations"],
            bound_microseconds=None if memory is None else max(memory, compute or 0.0),
            bound_by="compute" if (compute or 0.0) > (memory or 0.0) else "memory",
            time=None,
            entries=entries,
            source=texts[0],
            body=texts[1],
        )

    def _bounds(self, step: "_C.InstructionRecord", element: str) -> tuple[float | None, float | None]:
        """Microseconds that bytes and that operations take at the least; None where a ceiling is not known."""
        any_ceiling = next(iter(self._ceilings.values()), None)
        if any_ceiling is None or not any_ceiling.bytes_per_second:
            return None, None
        memory = (step["bytes_read"] + step["bytes_written"]) / any_ceiling.bytes_per_second * 1e6
        ceiling = self._ceilings.get(element)
        if not step["operations"] or ceiling is None or not ceiling.operations_per_second:
            return memory, None
        return memory, step["operations"] / ceiling.operations_per_second * 1e6

    def _values(self, slots: Sequence[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._slots[slot]["value"] for slot in slots))

    def _instructions(self) -> Iterator[Instruction]:
        for one in self._steps:
            yield Instruction(
                one["kind"],
                one["name"],
                one["place"],
                self._values(one["reads"]),
                self._values(one["writes"]),
                one["bytes_read"],
                one["bytes_written"],
            )

    def _memory(self) -> Memory:
        arena = _C.arena(self._compiled, self._sizes)
        return Memory(
            arena["bytes"],
            arena["peak_bytes"],
            tuple(
                Buffer(
                    self._slots[one["slot"]]["value"],
                    one["offset"],
                    self._slots[one["slot"]]["bytes"],
                    one["first"],
                    one["last"],
                )
                for one in arena["buffers"]
            ),
        )

    def _passes(self) -> Iterator[PassChange]:
        before = self._compiled.imported_ir
        for one in self._compiled.passes():
            after = one["ir_after"] or before
            edits = tuple(Edit(*edit) for edit in line_edits(before, after))
            yield PassChange(one["name"], one["changed"], one["milliseconds"], edits)
            before = after


def fx_node(node: fx.Node) -> FxNode:
    """A node as a line of Python, with its type."""
    text = f"{node.name}{_type(node.meta.get('val'))}"
    if node.op == "output":
        text = f"return {node.args[0]}"
    elif node.op == "get_attr":
        text += f" = self.{node.target}"
    elif node.op != "placeholder":
        arguments = [repr(one) for one in node.args] + [f"{name}={one!r}" for name, one in node.kwargs.items()]
        text += f" = {_target(node)}({', '.join(arguments)})"
    return FxNode(node.name, text, location_of(node))


def _target(node: fx.Node) -> str:
    return (
        str(node.target)
        if isinstance(node.target, torch._ops.OpOverload)
        else getattr(node.target, "__name__", str(node.target))
    )


def _type(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f": {str(value.dtype).removeprefix('torch.')}[{', '.join(str(size) for size in value.shape)}]"
    return f": int {value}" if isinstance(value, torch.SymInt) else ""
