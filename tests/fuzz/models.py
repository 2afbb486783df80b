"""Random models through the whole compiler, on a device, against eager on the CPU.

A model is compiled with sizes known or symbolic and its tensors on the host or on the device. Float results may be off
by a few times what eager's own answer is off from float64; everything else has to be equal.
"""

import logging
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from random_model import Model, random_model
from torch._prims_common import is_non_overlapping_and_dense_or_false
from torch.fx.experimental.proxy_tensor import make_fx

# Eager's own error counts this often; beside it, this many roundings of the largest element.
EAGERS_ERROR = 8
ROUNDINGS = 16


@dataclass(frozen=True)
class Failure:
    """A model that went wrong."""

    seed: int
    what: str


def _wide(model: Model) -> list[torch.Tensor]:
    """Results with every float step in float64: casts to narrow types are the only ones that stay."""
    return model(*(one.double() if one.is_floating_point() else one for one in model.inputs))


def _compile(model: Model, device: torch.device, on_device: bool, symbolic: bool) -> object:
    from tessiq.compile.decompositions import decomposition_table
    from tessiq.compile.graph import UncompiledCall, compile_module
    from tessiq.compile.options import parse_options

    inputs = [one.to(device) if on_device else one for one in model.inputs]
    with torch.no_grad():
        module = make_fx(model, decomposition_table(), "symbolic" if symbolic else "fake")(*inputs)
    module.graph.eliminate_dead_code()
    call = compile_module(module, inputs, parse_options(None, {} if on_device else {"device": device}), "inference")
    if isinstance(call, UncompiledCall):
        raise AssertionError("the graph runs uncompiled")
    return call(list(inputs))


def difference(actual: torch.Tensor, eager: torch.Tensor, wide: torch.Tensor, epsilon: float) -> str:
    """What is wrong with a result, given eager's and the one in float64; empty where nothing is."""
    actual = actual.cpu()
    if actual.dtype != eager.dtype or actual.shape != eager.shape:
        return f"{actual.dtype}{tuple(actual.shape)} where eager has {eager.dtype}{tuple(eager.shape)}"
    if not eager.is_floating_point():
        return "" if torch.equal(actual, eager) else "integers that differ"
    if eager.numel() == 0:
        return ""
    ours, theirs, truth = actual.double(), eager.double(), wide.double()
    if not torch.equal(ours.isfinite(), theirs.isfinite()):
        return "NaN or infinity in other places than eager"
    finite = theirs.isfinite() & truth.isfinite()
    if not finite.any():
        return ""
    scale = max(1.0, truth[finite].abs().max().item())
    allowed = EAGERS_ERROR * (theirs - truth)[finite].abs().max().item() + ROUNDINGS * epsilon * scale
    error = (ours - truth)[finite].abs().max().item()
    return "" if error <= allowed else f"an error of {error:.3g} where {allowed:.3g} is allowed"


def _epsilon(model: Model) -> float:
    """The coarsest rounding among all values of a model: on few elements, eager's own may be exact by luck."""
    values = model.values(*model.inputs)
    return max((torch.finfo(one.dtype).eps for one in values if one.is_floating_point()), default=0.0)


def check(seed: int, device: torch.device) -> str:
    """What is wrong with the model of a seed on that device; empty where nothing is."""
    model = random_model(seed)
    on_device = bool(seed & 1)
    # Traced here, without Dynamo, the stride of a part of a larger tensor is a size that no argument carries.
    symbolic = bool(seed & 2) and all(is_non_overlapping_and_dense_or_false(one) for one in model.inputs)
    try:
        actual = _compile(model, device, on_device, symbolic)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    assert isinstance(actual, Sequence)
    epsilon = _epsilon(model)
    for place, ours, eager, wide in zip(model.results, actual, model(*model.inputs), _wide(model), strict=True):
        if problem := difference(ours, eager, wide, epsilon):
            where = f"{'device' if on_device else 'host'}, {'symbolic' if symbolic else 'known'} sizes"
            return f"v{place}: {problem} ({where})\n{model}"
    return ""


def _work(job: tuple[int, int, int, str]) -> list[Failure]:
    first, count, index, cache = job
    os.environ["TESSIQ_CACHE_DIR"] = cache
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    import tessiq

    device = torch.device("tessiq", index)
    assert index < tessiq.device_count(), tessiq._C.discovery_note()
    failures = []
    for seed in range(first, first + count):
        if problem := check(seed, device):
            failures.append(Failure(seed, problem))
            print(f"[fuzz] seed {seed}: {problem}", file=sys.stderr, flush=True)
    return failures


def fuzz_models(count: int, first: int, index: int, processes: int) -> int:
    """Checks ``count`` seeds from ``first`` on device ``index``; returns how many failed."""
    chunk = 50
    with tempfile.TemporaryDirectory(prefix="tessiq-fuzz-") as cache:
        jobs = [(seed, min(chunk, first + count - seed), index, cache) for seed in range(first, first + count, chunk)]
        with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=8) as pool:
            failures = [one for found in pool.imap_unordered(_work, jobs) for one in found]
    print(f"[fuzz] {count} models on tessiq:{index} from seed {first}: {len(failures)} failed")
    return len(failures)
