"""What ``torch.compile(model, backend="tessiq")`` calls.

The package's metadata names :func:`compile_backend` in the group ``torch_dynamo_backends``; Dynamo imports it from
there. Nothing registers it a second time: Dynamo refuses a name that is taken.
"""

from collections.abc import Callable, Mapping, Sequence

from torch import fx
from torch._dynamo.backends.common import aot_autograd

from tessiq.compile.decompositions import decomposition_table
from tessiq.compile.graph import CompiledCall, Direction, UncompiledCall, compile_module
from tessiq.compile.options import parse_options
from tessiq.device import logs


def compile_backend(
    module: fx.GraphModule,
    example_inputs: Sequence[object],
    *,
    mode: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Callable[..., object]:
    """Compiles a graph that Dynamo captured.

    Args:
        module: Dynamo's graph.
        example_inputs: the tensors and sizes it was captured with.
        mode: as ``torch.compile`` knows it.
        options: see :class:`tessiq.compile.options.CompileOptions`.

    Returns:
        A callable with the graph's own signature.

    Raises:
        ValueError: an unknown option or mode, or a device that does not exist. Raised at the first call of the compiled
            model, since ``torch.compile`` itself only records what it is given.
    """
    parsed = parse_options(mode, options)
    logs.follow_level()  # torch._logging.set_logs may have changed it since the import

    def compiler(direction: Direction) -> Callable[..., CompiledCall | UncompiledCall]:
        def compile_one(graph: fx.GraphModule, inputs: Sequence[object]) -> CompiledCall | UncompiledCall:
            return compile_module(graph, inputs, parsed, direction)

        return compile_one

    return through_autograd(module, example_inputs, compiler)


def through_autograd(
    module: fx.GraphModule,
    example_inputs: Sequence[object],
    compiler: Callable[[Direction], Callable[..., object]],
) -> Callable[..., object]:
    """Hands a graph of Dynamo's to AOTAutograd, and AOTAutograd's graphs to the compiler of their direction."""
    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=decomposition_table(),
    )
    compiled: Callable[..., object] = backend(module, example_inputs)
    return compiled
