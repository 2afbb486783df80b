"""Finding a wrong answer: ``tessiq.compare`` names the operation, ``tessiq.reduce`` cuts the graph down to it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tessiq.debug.comparison import Comparison
    from tessiq.debug.reduction import Reduction

__all__ = ["compare", "reduce"]


def compare(
    model: Callable[..., object],
    *inputs: object,
    options: Mapping[str, object] | None = None,
    backward: bool = False,
) -> "Comparison":
    """Holds every operation of a compiled model against PyTorch's own kernel on the CPU and against float64.

    The model's graphs are compiled a second time with every intermediate value as a result. An operation is beyond what
    rounding explains where its error against float64 is more than twice that of PyTorch's own kernel, and more than a
    few units in the last place, both from the graph's inputs on and from the very operands that it was given. Where
    that finds nothing and a result of the graph is wrong all the same, each value is computed by a graph of its own, so
    that a fault of fused code is found too.

    Args:
        model: a module or function, not compiled.
        inputs: its positional arguments. What the model writes into them stays written.
        options: as for ``torch.compile(model, backend="tessiq", options=...)``.
        backward: also make the backward pass, from ones, and compare its graph.

    Returns:
        A report to print; ``first`` is the first operation at fault, None where there is none.

    Raises:
        ValueError: an option that does not exist, or ``backward`` of outputs that need no gradient.
    """
    # Dynamo takes seconds to import and most programs never ask.
    from tessiq.debug.comparison import compare_model

    return compare_model(model, inputs, options, backward)


def reduce(
    model: Callable[..., object],
    *inputs: object,
    options: Mapping[str, object] | None = None,
    backward: bool = False,
) -> "Reduction":
    """Cuts the first graph of a model that fails to the smallest that still fails in the same way.

    A graph fails where compiling or running it raises, or where a result is beyond what rounding explains. What can be
    taken away is tried by delta debugging over the nodes of the FX graph.

    Args:
        model: a module or function, not compiled.
        inputs: its positional arguments. What the model writes into them stays written.
        options: as for ``torch.compile(model, backend="tessiq", options=...)``.
        backward: also make the backward pass, and reduce its graph where the forward one does not fail.

    Returns:
        What is left, with ``script`` to run, ``ir`` for tessiq-opt, ``save(folder)`` for both.

    Raises:
        ValueError: nothing fails; an option that does not exist; ``backward`` of outputs that need no gradient.
    """
    from tessiq.debug.reduction import reduce_model

    return reduce_model(model, inputs, options, backward)
