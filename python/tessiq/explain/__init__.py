"""What becomes of a model: ``tessiq.explain(model, *inputs)``.

Facts (records, report), how they are gathered (capture, graph_facts and what they call), how they read (wording), and
the faces (document with plain and terminal, saved, webpage) are apart, so that a further face changes nothing of the
others.
"""

from collections.abc import Callable, Mapping

from tessiq.explain.report import Report

__all__ = ["Report", "explain"]


def explain(
    model: Callable[..., object],
    *inputs: object,
    options: Mapping[str, object] | None = None,
    backward: bool = False,
) -> Report:
    """Compiles a model afresh, runs it on the inputs, and reports what became of every operation.

    Compiled code that the caller already has stays valid. The model runs twice, since a first call copies weights that
    later calls find on the device; buffers and random states are put back afterwards, gradients are not touched.

    Args:
        model: a module or function, compiled already or not.
        inputs: its positional arguments. What a model writes into them stays written.
        options: as for ``torch.compile(model, backend="tessiq", options=...)``; by default those of a compiled model.
        backward: also run the backward pass, whose graph is compiled when first needed.

    Returns:
        A report to print, to ``show()`` in colour, to save as a page or as JSON, to hold against another, or to read as
        data.

    Raises:
        ValueError: an option that does not exist, or ``backward`` of outputs that need no gradient.
    """
    # Dynamo takes seconds to import and most programs never ask.
    from tessiq.explain.capture import capture

    return capture(model, inputs, options, backward)
