"""What ``torch.compile(..., backend="tessiq", options={...})`` accepts, checked when the backend first runs."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from tessiq import _C
from tessiq.device.names import cpu

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
"""The names ``torch.compile`` knows; all of them compile alike for now."""


PLACEMENTS = ("weighed", "claimed")
"""The values of the option ``placement``."""


@dataclass(frozen=True)
class CompileOptions:
    """The options of one compile.

    Attributes:
        device: where claimed operations run when the model's tensors are on the host. The reference device unless
            named; tensors that already are on a tessiq device decide for themselves.
        placement: of tensors on the host and a GPU. ``"weighed"``: operations whose work is worth less than their
            copies to the GPU and back stay on the host. ``"claimed"``: every operation tessiq has a kernel for goes.
        interpret: run every operation through PyTorch, with no kernel of tessiq's own. Slow; the oracle to compare
            with.
        rewrites: custom operations whose computation is looked for in the graph and replaced by a call of them. A
            rewrite can change results in the last bits, so it runs only where it is named.
    """

    device: torch.device = cpu
    placement: str = "weighed"
    interpret: bool = False
    rewrites: tuple[str, ...] = ()

    def as_given(self) -> dict[str, object]:
        """The dictionary that ``torch.compile`` was given, for the text of a program that compiles alike."""
        return {**vars(self), "device": str(self.device), "rewrites": list(self.rewrites)}


def _near(name: str, choices: tuple[str, ...]) -> str:
    matches = difflib.get_close_matches(name, choices, n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def _device(value: object) -> torch.device:
    try:
        device = torch.device(value)  # type: ignore[call-overload]
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"option 'device' is a tessiq device such as tessiq.gpu, not {value!r}") from error
    if device.type != "tessiq":
        raise ValueError(f"option 'device' is a tessiq device such as tessiq.gpu, not {value!r}")
    index = 0 if device.index is None else device.index
    if not 0 <= index < _C.device_count():
        note = _C.discovery_note()
        raise ValueError(
            f"option 'device': there is no device tessiq:{index}, tessiq found {_C.device_count()}"
            + (f" ({note})" if note else "")
        )
    return torch.device("tessiq", index)


def _rewrites(value: object) -> tuple[str, ...]:
    known = tuple(entry["name"] for entry in _C.operations() if entry["has_pattern"])
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"option 'rewrites' is a list of names such as ['rms_norm'], not {value!r}")
    for name in value:
        if name not in known:
            raise ValueError(
                f"option 'rewrites': no custom operation with a pattern is named {name!r}{_near(str(name), known)}: "
                f"the rewrites are {', '.join(map(repr, known))}"
            )
    return tuple(dict.fromkeys(value))


def parse_options(mode: str | None, options: Mapping[str, object] | None) -> CompileOptions:
    """The options of a compile, from what ``torch.compile`` passes on.

    Raises:
        ValueError: an option or mode that does not exist (with the nearest name that does), or a value it cannot have.
    """
    if mode is not None and mode not in MODES:
        raise ValueError(f"unknown mode {mode!r}{_near(mode, MODES)}: the modes are {', '.join(map(repr, MODES))}")
    names = tuple(CompileOptions.__dataclass_fields__)
    values = dict(options or {})
    for name in values:
        if name not in names:
            raise ValueError(
                f"unknown option {name!r}{_near(name, names)}: the options are {', '.join(map(repr, names))}"
            )
    interpret = values.get("interpret", False)
    if not isinstance(interpret, bool):
        raise ValueError(f"option 'interpret' is True or False, not {interpret!r}")
    placement = str(values.get("placement", "weighed"))
    if placement not in PLACEMENTS:
        near = _near(placement, PLACEMENTS)
        raise ValueError(f"option 'placement' is {' or '.join(map(repr, PLACEMENTS))}, not {placement!r}{near}")
    return CompileOptions(
        device=_device(values.get("device", "tessiq:0")),
        placement=placement,
        interpret=interpret,
        rewrites=_rewrites(values.get("rewrites", ())),
    )
