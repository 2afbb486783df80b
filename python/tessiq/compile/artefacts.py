"""What a compile leaves for a reader: debug lines under ``tessiq.<topic>``, artefacts of PyTorch's structured trace.

The trace (``TORCH_TRACE=FOLDER``) is what tlparse shows, so each text stands there beside Dynamo's and AOTAutograd's
for the same frame. Nothing is written where nobody reads.
"""

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from torch._logging._internal import trace_structured

from tessiq import _C
from tessiq.compile.line_edits import line_edits
from tessiq.device import logs

if TYPE_CHECKING:
    from tessiq.compile.graph import CompiledCall


def _passes(compiled: _C.CompiledGraph) -> str:
    return "\n".join(_pass_lines(compiled))


def _pass_lines(compiled: _C.CompiledGraph) -> Iterator[str]:
    before = compiled.imported_ir
    for one in compiled.passes():
        after = one["ir_after"] or before
        yield f"{one['name']}: {'changed the graph' if one['changed'] else 'no change'}, {one['milliseconds']:.3f} ms"
        for _, old, new in line_edits(before, after):
            yield from (f"  {sign} {line}" for sign, line in (("-", old), ("+", new)) if line)
        before = after


def _kernels(compiled: _C.CompiledGraph) -> str:
    return "\n".join(
        f"// %{one['name']} computes {', '.join(one['covers'])}\n{one['source']}" for one in compiled.kernels()
    )


def _placement(compiled: _C.CompiledGraph) -> str:
    return "\n".join(_placement_lines(compiled))


def _placement_lines(compiled: _C.CompiledGraph) -> Iterator[str]:
    for fate in compiled.fates():
        kernel = f" in %{fate['kernel']}" if fate["kernel"] else ""
        moves = ", moves its inputs" if fate["moves_inputs"] else ""
        reason = f": {fate['reason']}" if fate["reason"] else ""
        location = f" ({fate['location']})" if fate["location"] else ""
        yield f"%{fate['node']} {fate['op']}{location} {fate['fate']}{kernel}{moves}{reason}"


_TEXTS: dict[str, tuple[str, Callable[[_C.CompiledGraph], str]]] = {
    "imported_ir": ("ir", lambda compiled: compiled.imported_ir),
    "passes": ("passes", _passes),
    "final_ir": ("ir", lambda compiled: compiled.final_ir),
    "kernels": ("cuda", _kernels),
    "program": ("program", lambda compiled: compiled.program),
    "placement": ("placement", _placement),
}
"""What is said of a compile, in the order it came to be: the artefact's name, and the topic of the log."""


def wants_every_pass() -> bool:
    """Whether the graph after each pass has to be kept."""
    # Structured tracing is on where its logger has a handler, as PyTorch itself asks.
    return logs.wants("passes") or logging.getLogger("torch.__trace").handlers != []


def publish(call: "CompiledCall") -> None:
    """Say what was compiled, to whoever reads it."""
    for name, (topic, text) in _TEXTS.items():
        if logs.wants(topic):
            title = f"{call.direction} graph on tessiq:{call.compiled.device_index}, {name.replace('_', ' ')}"
            logging.getLogger(f"tessiq.{topic}").debug("%s:\n%s", title, text(call.compiled).rstrip("\n"))
        _trace(f"tessiq_{call.direction}_{name}", text, call.compiled)


def _trace(name: str, text: Callable[[_C.CompiledGraph], str], compiled: _C.CompiledGraph) -> None:
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": name, "encoding": "string"},
        payload_fn=lambda: text(compiled),
        expect_trace_id=False,
    )
