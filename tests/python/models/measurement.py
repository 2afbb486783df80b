"""What one model's run is compared by, and the figures it leaves."""

import copy
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils._pytree import tree_leaves
from zoo import Inputs, Model

import tessiq
from tessiq.explain.capture import Recorder, recording
from tessiq.explain.report import Report

FLOOR = {False: 2e-6, True: 4e-3}
"""By autocast: a dozen roundings of float32, one of bfloat16. Below it, which of two is nearer the truth is chance."""

STAND_IN = {False: 1e-2, True: 1e-1}
"""By autocast: the share of the largest of its kind that is the scale of a gradient which is zero but for rounding."""

OTHER_ROUNDINGS = 16
"""Runs of eager with weights moved by one rounding, where a value is off by more than the bound."""

BATCHES = (2, 3, 5)
"""The first compiles for its sizes, the second compiles once more with a name for the batch, the third not at all."""

Values = Mapping[str, torch.Tensor | None]


@dataclass(frozen=True)
class Setting:
    """Where and how the models run.

    Attributes:
        device: a tessiq device.
        on_device: the tensors are there, else on the host.
        autocast: under autocast to bfloat16.
        real: compare with float64 on the device too, where the host would take minutes.
    """

    device: torch.device
    on_device: bool
    autocast: bool = False
    real: bool = False

    @property
    def home(self) -> torch.device:
        return self.device if self.on_device else torch.device("cpu")


@dataclass
class Outcome:
    """What was seen of one model."""

    setting: Setting
    report: Report
    graphs_after: list[int] = field(default_factory=list)
    errors: list[dict[str, tuple[float, float]]] = field(default_factory=list)
    """A batch's values: our relative error against float64, and eager's."""
    seconds: list[float] = field(default_factory=list)
    transfers: Mapping[str, int] = field(default_factory=dict)
    """Copies of the last call, whoever made them."""

    def is_excess(self, ours: float, eager: float) -> bool:
        return not ours <= 2 * eager + FLOOR[self.setting.autocast]

    def excess(self) -> dict[str, tuple[float, float]]:
        """Values whose error is above the bound, by batch and name."""
        return {
            f"batch {batch} {name}": pair
            for batch, one in zip(BATCHES, self.errors, strict=True)
            for name, pair in one.items()
            if self.is_excess(*pair)
        }

    def figures(self) -> dict[str, float | int]:
        """What goes into the result file. Shares leave views out of both counts, as ``tessiq.explain`` does."""
        totals = self.report.totals
        crossings = self.report.first_call + self.report.later_call
        flat = [pair for one in self.errors for pair in one.values()]
        return {
            "claimed_share": round(totals.claimed_share, 4),
            "operations": totals.operations,
            "views": totals.views,
            "kernels": totals.kernels,
            "library_calls": totals.library_calls,
            "borrowed_kernels": totals.dispatched_on_device,
            "on_host": totals.dispatched_on_host,
            "claimed_on_host": totals.left_on_host,
            "copies_to_device": crossings.to_device,
            "copies_to_host": crossings.to_host,
            "graph_breaks": len(self.report.breaks),
            "uncompiled": len(self.report.uncompiled),
            "worst_error": max(ours for ours, _ in flat),
            "eagers_worst_error": max(eager for _, eager in flat),
            "first_call_seconds": round(self.seconds[0], 3),
            "changed_batch_seconds": round(self.seconds[1], 3),
            "later_call_seconds": round(self.seconds[-1], 3),
        }


def _forward_and_backward(call: nn.Module, module: nn.Module, inputs: Inputs) -> list[torch.Tensor]:
    """The floating-point outputs; the gradients are left on the module."""
    module.zero_grad(set_to_none=True)
    result = call(**inputs)
    leaves = tree_leaves(dict(result) if hasattr(result, "keys") else result)
    outputs = [one for one in leaves if isinstance(one, torch.Tensor) and one.is_floating_point()]
    roots = [one for one in outputs if one.requires_grad]
    # A mean of squares and the like: a gradient with a value of its own at every place.
    torch.autograd.backward(roots, [(one.detach() + 1) / max(one.numel(), 1) for one in roots])
    return outputs


def _values(pairs: Iterable[tuple[object, torch.Tensor | None]]) -> Values:
    return {
        str(name): None if one is None else one.detach().cpu().double().clone()
        for name, one in pairs
        if one is None or one.is_floating_point()
    }


def _step(call: nn.Module, module: nn.Module, inputs: Inputs) -> dict[str, Values]:
    """Outputs, gradients and buffers after one pass, on the host in float64."""
    outputs = _forward_and_backward(call, module, inputs)
    return {
        "output": _values(enumerate(outputs)),
        "gradient": _values((name, one.grad) for name, one in module.named_parameters()),
        "buffer": _values(module.named_buffers()),
    }


def _errors(actual: Mapping[str, Values], truth: Mapping[str, Values], stand_in: float) -> dict[str, float]:
    """Root of the mean square of each value's error, relative to that of the value.

    A bias before a batch norm has a gradient of zero, and what is found is the rounding of a sum that cancels. Such a
    value has no scale of its own: ``stand_in`` times the largest of its kind is its scale.
    """
    worst: dict[str, float] = {}
    for kind, wanted in truth.items():
        given = actual[kind]
        assert given.keys() == wanted.keys(), f"{kind}: {given.keys() ^ wanted.keys()}"
        scale = max((_size(one) for one in wanted.values() if one is not None), default=0.0)
        for name, one in wanted.items():
            found = given[name]
            assert (found is None) == (one is None), f"{kind} {name}: {found} where {one} is right"
            if one is not None and found is not None:
                error = _size(found - one) / max(_size(one), stand_in * scale, 1e-30)
                worst[f"{kind} {name}"] = error if math.isfinite(error) else math.inf
    return worst


def _size(value: torch.Tensor) -> float:
    return value.square().mean().sqrt().item() if value.numel() else 0.0


def _worst_of_other_roundings(
    eager: nn.Module, sent: Inputs, truth: Mapping[str, Values], stand_in: float
) -> dict[str, float]:
    """Eager's errors when its weights are moved by one rounding: the worst of several runs.

    A value within rounding of where a ReLU bends falls on either side, and moves whole gradients by a thousandth when
    it does. One run of eager says nothing of how far eager is off then; several do.
    """
    worst: dict[str, float] = {}
    for _ in range(OTHER_ROUNDINGS):
        moved = copy.deepcopy(eager)
        with torch.no_grad():
            for weight in moved.parameters():
                weight.mul_(1 + torch.sign(torch.randn_like(weight)) * 2.0**-23)
        for name, error in _errors(_step(moved, moved, sent), truth, stand_in).items():
            worst[name] = max(error, worst.get(name, 0.0))
    return worst


def _wide(inputs: Inputs, home: torch.device) -> Inputs:
    return {name: (one.double() if one.is_floating_point() else one).to(home) for name, one in inputs.items()}


def run(model: Model, setting: Setting) -> Outcome:
    """Three batches of the model, compiled, eager and in float64, from the same weights and the same buffers."""
    wide_home = setting.home if setting.real else torch.device("cpu")
    wide = copy.deepcopy(model.module).double().to(wide_home)
    eager = copy.deepcopy(model.module).to(setting.home)
    ours = model.module.to(setting.home)
    options = {} if setting.on_device else {"device": setting.device}
    autocast = torch.autocast(setting.home.type, torch.bfloat16, enabled=setting.autocast)
    # Dynamo leaves recurrent layers to PyTorch unless told.
    with recording() as recorder, torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(ours, backend="tessiq", options=options)
        outcome = Outcome(setting, recorder.report())
        for batch in BATCHES:
            inputs = model.inputs(batch)
            sent = {name: one.to(setting.home) for name, one in inputs.items()}
            before = copy.deepcopy(eager)
            with autocast:
                began = time.perf_counter()
                actual = _step(compiled, ours, sent)
                outcome.seconds.append(time.perf_counter() - began)
                plain = _step(eager, eager, sent)
            truth = _step(wide, wide, _wide(inputs, wide_home))
            found, beside = (_errors(one, truth, STAND_IN[setting.autocast]) for one in (actual, plain))
            if any(outcome.is_excess(found[name], beside[name]) for name in found):
                with autocast:
                    others = _worst_of_other_roundings(before, sent, truth, STAND_IN[setting.autocast])
                beside = {name: max(error, others[name]) for name, error in beside.items()}
            outcome.errors.append({name: (found[name], beside[name]) for name in found})
            _follow(outcome, recorder, first=batch == BATCHES[0])
        # Once more, for what a call that compiles nothing takes and copies.
        with autocast:
            tessiq._C.reset_transfer_counts()
            began = time.perf_counter()
            _forward_and_backward(compiled, ours, sent)
            torch.tessiq.synchronize(setting.device)
            outcome.seconds.append(time.perf_counter() - began)
            outcome.transfers = tessiq._C.transfer_counts()
        outcome.report = recorder.report()
    return outcome


def _follow(outcome: Outcome, recorder: Recorder, *, first: bool) -> None:
    if first:
        recorder.end_first_call()
    outcome.graphs_after.append(len(recorder.report().graphs))
