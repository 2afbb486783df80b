"""How a caller's model is run to be looked at: what it changes besides its inputs is put back."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

import torch
from torch.utils._pytree import tree_leaves

from tessiq import _C


@contextlib.contextmanager
def undisturbed(model: object) -> Iterator[None]:
    """Puts back what running a model changes besides its inputs: buffers and random states."""
    buffers = list(model.buffers()) if isinstance(model, torch.nn.Module) else []
    saved = [buffer.clone() for buffer in buffers]
    with torch.random.fork_rng(devices=range(_C.device_count()), device_type="tessiq"):
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, value in zip(buffers, saved, strict=True):
                    if not torch.equal(buffer.cpu(), value.cpu()):
                        buffer.copy_(value)


def run(model: Callable[..., object], inputs: Sequence[object], backward: bool) -> None:
    """One call, and its backward pass where asked for; gradients are not kept."""
    results = model(*inputs)
    if not backward:
        return
    roots = [one for one in tree_leaves(results) if isinstance(one, torch.Tensor) and one.requires_grad]
    leaves = _leaves(roots)
    if not leaves:
        raise ValueError("backward=True, but no output of the model needs a gradient")
    torch.autograd.grad(roots, leaves, [torch.ones_like(root) for root in roots], allow_unused=True)


def _leaves(roots: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What the outputs' gradients would be accumulated into. Found in autograd's graph, so closures count too."""
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set(waiting)
    found = []
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            found.append(variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return found
