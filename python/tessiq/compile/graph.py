"""From one of AOTAutograd's graphs to a callable: import, compile, and what to do where that is not possible."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import fx
from torch._guards import TracingContext

from tessiq import _C
from tessiq.compile import artefacts
from tessiq.compile.importer import ImportedGraph, Importer, location_of
from tessiq.compile.options import CompileOptions
from tessiq.compile.recipes import CachedRecipe, attribute_of, cache, key_of
from tessiq.compile.sizes import Unrepresentable

_log = logging.getLogger("tessiq.compile")

Direction = Literal["inference", "forward", "backward"]
"""Which of AOTAutograd's graphs it is; ``inference`` needs no gradient, the others are the halves of training."""


@dataclass(frozen=True)
class Placement:
    """Where one graph's work is done.

    Attributes:
        device: the tessiq device of its claimed operations.
        on_device: its tensors are there already, so unclaimed operations run there too and nothing crosses.
    """

    device: torch.device
    on_device: bool


@dataclass
class Observer:
    """Collects what compiles produce, for reports and tests.

    Attributes:
        fresh: recipes that are in memory are made again, so that their making can be seen.
    """

    fresh: bool = False
    graphs: "list[CompiledCall]" = field(default_factory=list)
    uncompiled: list[tuple[fx.GraphModule, str]] = field(default_factory=list)


observers: list[Observer] = []
"""Whoever wants to see every graph compiled in this process; :func:`tessiq.explain` adds itself for a call."""


@dataclass(frozen=True)
class CompileTimes:
    """When a graph's compile passed from one stage to the next, on ``time.perf_counter``'s clock.

    Attributes:
        imported: the compiler's own graph was there; ``started`` where the recipe came from memory.
    """

    started: float
    imported: float
    ended: float
    from_memory: bool


class CompiledCall:
    """A compiled graph as AOTAutograd calls it: one list of arguments, emptied during the call."""

    def __init__(self, cached: CachedRecipe, module: fx.GraphModule, direction: Direction, times: CompileTimes) -> None:
        # On the object, not the class: PyTorch wraps a backward graph in a function that takes over the object's own.
        self._boxed_call = True
        self.compiled = _C.CompiledGraph(cached.recipe, direction)
        self.module = module
        self.direction = direction
        self.times = times
        self._constants = [attribute_of(module, name) for name in cached.constants]

    def __call__(self, arguments: list[object]) -> list[object]:
        if self._constants:
            arguments.extend(self._constants)
        return self.compiled(arguments)


class UncompiledCall:
    """A graph that runs as PyTorch runs it."""

    def __init__(self, module: fx.GraphModule) -> None:
        self._boxed_call = True
        self.module = module

    def __call__(self, arguments: list[object]) -> Sequence[object]:
        taken = list(arguments)
        arguments.clear()
        result: Sequence[object] = self.module(*taken)
        return result


def _placement(module: fx.GraphModule, options: CompileOptions) -> Placement:
    devices = {value.device for node in module.graph.nodes if isinstance(value := node.meta.get("val"), torch.Tensor)}
    ours = sorted({device.index or 0 for device in devices if device.type == "tessiq"})
    others = sorted(device.type for device in devices if device.type not in ("tessiq", "cpu"))
    if others:
        raise Unrepresentable(f"tensors on {others[0]}: tessiq compiles for tessiq devices and for tensors on the host")
    if len(ours) > 1:
        raise Unrepresentable(f"tensors on several devices: {', '.join(f'tessiq:{index}' for index in ours)}")
    if ours:
        return Placement(torch.device("tessiq", ours[0]), on_device=True)
    return Placement(options.device, on_device=False)


def _kept() -> frozenset[int]:
    """Which arguments are parameters or buffers, as far as PyTorch says."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return frozenset(metadata.static_input_indices or ()) if metadata is not None else frozenset()


def _compile(
    imported: ImportedGraph, placement: Placement, options: CompileOptions, kept: frozenset[int], keep_ir: bool
) -> CachedRecipe:
    try:
        recipe = _C.compile_graph(
            graph=imported.graph,
            inputs=[(one.name, one.is_tensor, one.on_device, one.symbol) for one in imported.inputs],
            results=list(imported.results),
            device=placement.device.index,
            unclaimed_on_device=placement.on_device,
            weighs_crossings=options.placement == "weighed",
            interpret=options.interpret,
            rewrites=list(options.rewrites),
            keep_ir=keep_ir,
            kept_inputs=[position in kept for position, _ in enumerate(imported.inputs)],
        )
    except (NotImplementedError, ValueError) as error:
        # A size that no argument carries, a form the program does not have. A broken invariant is an AssertionError
        # and goes on up.
        raise Unrepresentable(str(error)) from error
    return CachedRecipe(recipe, imported.constants)


def _recipe(module: fx.GraphModule, options: CompileOptions) -> tuple[CachedRecipe, CompileTimes]:
    started = imported_at = time.perf_counter()
    placement, kept, keep_ir = _placement(module, options), _kept(), bool(observers) or artefacts.wants_every_pass()
    locations = [location_of(node) for node in module.graph.nodes]
    key = key_of(module, locations, (placement, options, kept, keep_ir))
    found = None if any(observer.fresh for observer in observers) else cache.find(key)
    from_memory = found is not None
    if found is None:
        imported = Importer(module, placement.device, placement.on_device).run()
        imported_at = time.perf_counter()
        found = _compile(imported, placement, options, kept, keep_ir)
        cache.keep(key, found)
    return found, CompileTimes(started, imported_at, time.perf_counter(), from_memory)


def compile_module(
    module: fx.GraphModule, example_inputs: Sequence[object], options: CompileOptions, direction: Direction
) -> CompiledCall | UncompiledCall:
    """Compiles one graph of AOTAutograd's.

    Args:
        module: the graph, functional and decomposed, every node with its fake result.
        example_inputs: what PyTorch traced it with; the types on the nodes say more, so these are not read.
        options: the compile's options.
        direction: which graph it is; reports name it.

    Returns:
        The compiled call, or the graph as it is where it cannot be represented, with one log line that says why.
    """
    try:
        cached, times = _recipe(module, options)
    except Unrepresentable as reason:
        _log.warning("a graph of %d operations runs uncompiled: %s", len(module.graph.nodes), reason)
        for observer in observers:
            observer.uncompiled.append((module, str(reason)))
        return UncompiledCall(module)
    call = CompiledCall(cached, module, direction, times)
    artefacts.publish(call)
    for observer in observers:
        observer.graphs.append(call)
    return call
