"""How facts read: numbers with units, fates and effects in words, and the sentence a report opens with.

Every face takes its words from here, so that a number reads alike on a terminal, in a diff and on a page.
"""

import re

from tessiq.explain.records import ClaimEffect, Crossings, Edit, Operation, PassChange, Totals
from tessiq.explain.report import Report
from tessiq.text.units import bytes_text, count_text

_WORDS = re.compile(r"[\w.%\"-]+|\s+|.")

BAR = 40
"""Characters of a bar in text."""


def crossings_text(crossings: Crossings) -> str:
    """Both directions in one line."""
    if not crossings.to_device and not crossings.to_host:
        return "nothing between host and device"
    return (
        f"{count_text(crossings.to_device, 'tensor')} to the device ({bytes_text(crossings.bytes_to_device)}), "
        f"{crossings.to_host} to the host ({bytes_text(crossings.bytes_to_host)})"
    )


def verdict(report: Report) -> str:
    """The one sentence: what is claimed, in how many kernels, and what every call copies."""
    totals = report.totals
    if not report.graphs:
        reason = f": {report.uncompiled[0].reason}" if report.uncompiled else ""
        return f"Nothing was compiled{reason}."
    share = (
        f"All {count_text(totals.computing, 'operation')} claimed"
        if totals.claimed == totals.computing
        else f"{totals.claimed} of {count_text(totals.computing, 'operation')} claimed"
    )
    work = f"{count_text(totals.kernels, 'kernel')}, {_other_kernels(report)}"
    through_pytorch = totals.computing - totals.claimed + totals.left_on_host
    through = f"; {through_pytorch} through PyTorch" if through_pytorch else ""
    moved = report.later_call.bytes_to_device + report.later_call.bytes_to_host
    calls = "A call after the first" if report.later_calls else "The recorded calls together"
    verb = "copies" if report.later_calls else "copy"
    crossing = (
        f"{calls} {verb} {bytes_text(moved)} between host and device."
        if moved
        else f"{calls} {verb} nothing between host and device."
    )
    return f"{share}: {work}{through}. {crossing}"


def _on_host(totals: Totals) -> str:
    left = f", {totals.left_on_host} of them claimed" if totals.left_on_host else ""
    return f"{totals.dispatched_on_host} on the host{left}"


def _other_kernels(report: Report) -> str:
    calls = count_text(report.totals.library_calls, "library call")
    custom = report.totals.custom_kernels
    return f"{calls}, {count_text(custom, 'custom kernel')}" if custom else calls


def summary(report: Report) -> list[tuple[str, str]]:
    """What a report is about, as named values."""
    totals = report.totals
    directions = [graph.direction for graph in report.graphs]
    named = ", ".join(f"{directions.count(one)} {one}" for one in dict.fromkeys(directions))
    facts = [
        ("versions", f"tessiq {report.tessiq_version}, PyTorch {report.torch_version}"),
        ("device", ", ".join(dict.fromkeys(graph.device for graph in report.graphs)) or "none"),
        ("graphs", f"{len(report.graphs)} compiled" + (f" ({named})" if named else "")),
        ("operations", f"{totals.operations}, of which {totals.views} are views"),
        ("claimed", f"{totals.claimed} of {totals.computing} that compute ({totals.claimed_share:.0%})"),
        ("through PyTorch", f"{totals.dispatched_on_device} on the device, {_on_host(totals)}"),
        ("kernels", f"{totals.kernels} generated, {_other_kernels(report)}"),
        *_copies(report),
        ("compile time", _compile_time(report)),
    ]
    facts += [
        (
            f"ceilings of {one.device}",
            f"{one.hardware}: {one.bytes_per_second / 1e9:.3g} GB/s copied, "
            f"{one.operations_per_second / 1e9:.3g} GFLOP/s in {one.element} products ({one.clock})",
        )
        for one in report.ceilings
    ]
    return facts


def _copies(report: Report) -> list[tuple[str, str]]:
    if not report.later_calls:
        calls = sum(graph.later_calls for graph in report.graphs)
        return [(f"copies of {count_text(calls, 'call')}", crossings_text(report.later_call))]
    return [
        ("first call copies", crossings_text(report.first_call)),
        ("later calls copy", crossings_text(report.later_call)),
    ]


def _compile_time(report: Report) -> str:
    made = [graph for graph in report.graphs if graph.recipe == "compiled"]
    passes = sum(graph.pass_milliseconds for graph in made)
    kernels = sum(graph.kernel_milliseconds for graph in made)
    whole = report.first_call_seconds * 1000
    known = "" if len(made) == len(report.graphs) else f", {len(report.graphs) - len(made)} recipes from memory"
    ours = f"{passes:.1f} ms passes, {kernels:.1f} ms kernels{known}"
    return f"{whole:.0f} ms for the first call: {ours}, the rest PyTorch's"


def covers_text(names: tuple[str, ...]) -> str:
    """All of a few names, the ends of many."""
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]} ({len(names)})"


def fate_text(operation: Operation) -> str:
    """What became of an operation, for a reader."""
    words = {
        "launched": f"kernel %{operation.kernel}",
        "fused": f"inside kernel %{operation.kernel}",
        "library": "library call",
        "custom": "kernel of a custom operation",
        "view": "view",
        "packed": "copied into another layout",
        "dispatched on device": "PyTorch on the device",
        "dispatched on host": "PyTorch on the host",
    }
    return words.get(operation.fate, operation.fate) + (" (moves its inputs)" if operation.moves_inputs else "")


def _crossing_text(effect: ClaimEffect) -> str:
    if not effect.copies and not effect.bytes:
        return "no copy more or fewer"
    size = bytes_text(abs(effect.bytes))
    less = "less" if effect.bytes > 0 else "more"
    if not effect.copies:
        return f"as many copies, {size} {less} to copy"
    number = count_text(abs(effect.copies), "copy")
    text = f"{number} {'fewer' if effect.copies > 0 else 'more'} a call"
    if not effect.bytes:
        return f"{text}, as many bytes"
    if (effect.copies > 0) != (effect.bytes > 0):
        return f"{text}, {size} {less} to copy"
    return f"{text} ({size})" + (" unless its neighbours are claimed too" if effect.copies < 0 else "")


def effect_text(effect: ClaimEffect | None) -> str:
    """What claiming an operation would change."""
    if effect is None:
        return "nothing: no instruction is left of it"
    crossing = _crossing_text(effect)
    if not effect.neighbours:
        return f"{crossing}; no kernel beside it"
    named = ", ".join(f"%{one}" for one in effect.neighbours[:3])
    more = f" and {len(effect.neighbours) - 3} more" if len(effect.neighbours) > 3 else ""
    return f"{crossing}; beside {named}{more}"


def edit_parts(edit: Edit) -> tuple[str, str, str, str]:
    """Of an edit of one line: what both share before, what went, what came, what both share after. Whole words."""
    if not edit.before or not edit.after:
        return "", edit.before, edit.after, ""
    old, new = _WORDS.findall(edit.before), _WORDS.findall(edit.after)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return (
        "".join(old[:head]),
        "".join(old[head : len(old) - tail]),
        "".join(new[head : len(new) - tail]),
        "".join(old[len(old) - tail :]),
    )


def change_text(change: PassChange) -> str:
    """How much a pass changed."""
    if not change.changed:
        return "no change"
    return count_text(len(change.edits), "line") if change.edits else "order only"


def edit_text(edit: Edit) -> str:
    """One line: ``-`` and ``+`` as in a diff, for a line that changed only what changed."""
    shared, went, came, _ = edit_parts(edit)
    if not shared:
        return "\n".join(f"{sign} {text}" for sign, text in (("-", went), ("+", came)) if text)
    changes = [f"{sign} {_bare(text)}" for sign, text in (("-", went), ("+", came)) if _bare(text)]
    return f"~ %{edit.name}  " + "  ".join(changes)


def _bare(text: str) -> str:
    """An attribute without what separates it from its neighbours."""
    return (
        text.strip(" ,").removeprefix("{").removesuffix("}") if text.count("{") == text.count("}") else text.strip(" ,")
    )
