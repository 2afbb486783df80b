"""From the FX graph that AOTAutograd hands over to the compiler's own graph.

Decides what a graph has to look like to be compiled; everything else raises :class:`Unrepresentable` and runs as it
is. Types come from the fake tensors PyTorch left on the nodes, never from rules of ours.
"""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import fx

from tessiq import _C
from tessiq.compile.element_types import ELEMENT_TYPES
from tessiq.compile.recipes import attribute_of
from tessiq.compile.sizes import Extent, SizeNames, Unrepresentable

TensorType = tuple[str, list[Extent], list[Extent] | None]
Argument = object  # what an attribute may be: checked by the builder, which refuses the rest


@dataclass(frozen=True)
class Input:
    """One argument of the compiled call."""

    name: str
    is_tensor: bool
    on_device: bool
    symbol: str = ""


@dataclass(frozen=True)
class ImportedGraph:
    """The compiler's graph, and the calling convention that the graph itself does not say."""

    graph: _C.Graph
    inputs: tuple[Input, ...]
    results: tuple[str | tuple[str, Extent] | None, ...]
    constants: tuple[str, ...]
    """Names of the tensors the graph holds; they are passed after the call's own arguments."""


def location_of(node: fx.Node) -> str:
    """The user's line a node came from, the innermost of its stack: ``model.py:12``."""
    trace = node.meta.get("stack_trace") or ""
    lines = [line.strip() for line in trace.splitlines() if line.strip().startswith("File ")]
    if not lines:
        return ""
    file, _, rest = lines[-1].removeprefix('File "').partition('", line ')
    return f"{file.rsplit('/', 1)[-1]}:{rest.partition(',')[0]}"


def _is_view(target: torch._ops.OpOverload) -> bool:
    """Whether the schema says the results share the first argument's memory."""
    first = target._schema.arguments[0].alias_info if target._schema.arguments else None
    returns = target._schema.returns
    return (
        first is not None
        and not first.is_write
        and len(returns) > 0
        and all(one.alias_info is not None and not one.alias_info.is_write for one in returns)
    )


class Importer:
    """Imports one graph; use once."""

    def __init__(self, module: fx.GraphModule, device: torch.device, on_device: bool) -> None:
        self._module = module
        self._device = device
        self._on_device = on_device
        self._builder = _C.GraphBuilder("main")
        self._sizes = SizeNames()
        self._inputs: list[Input] = []
        self._constants: list[str] = []
        self._constant_inputs: list[Input] = []
        # Names of the values an FX node stands for: one, or one a result.
        self._values: dict[fx.Node, str] = {}
        self._members: dict[fx.Node, list[str]] = {}
        self._nodes: list[tuple[str, list[str], dict[str, Argument], list[tuple[str, TensorType]], str]] = []
        self._parameters: list[tuple[str, TensorType]] = []

    def run(self) -> ImportedGraph:
        results: tuple[str | tuple[str, Extent] | None, ...] = ()
        self._note_carried_sizes()
        for node in self._module.graph.nodes:
            match node.op:
                case "placeholder":
                    self._placeholder(node)
                case "get_attr":
                    self._constant(node)
                case "call_function":
                    self._call(node)
                case "output":
                    results = tuple(self._output(node))
                case kind:
                    raise Unrepresentable(f"a {kind} node ({node.name}): the graph did not come through AOTAutograd")
        return self._build(results)

    def text(self) -> str:
        """The graph's text form. Of a graph that was run and not compiled yet: a compile changes it."""
        return self._builder.print()

    def _build(self, results: tuple[str | tuple[str, Extent] | None, ...]) -> ImportedGraph:
        try:
            for name, type_ in self._parameters:
                self._builder.add_parameter(name, type_)
            for name, expression in self._sizes.definitions:
                self._builder.define_symbol(name, expression)
            for node in self._nodes:
                self._builder.add_node(*node)
            self._builder.set_results([name for name in results if isinstance(name, str)])
        except NotImplementedError as error:  # what the compiler's `unsupported` is to Python
            raise Unrepresentable(str(error)) from error
        inputs = (*self._inputs, *self._constant_inputs)
        return ImportedGraph(self._builder.graph(), inputs, results, tuple(self._constants))

    def _note_carried_sizes(self) -> None:
        for node in self._module.graph.nodes:
            if node.op == "placeholder":
                value = node.meta.get("val")
                if isinstance(value, torch.SymInt):
                    self._sizes.carry(value)
                elif isinstance(value, torch.Tensor):
                    for size in value.shape:
                        self._sizes.carry(size)

    def _extents(self, sizes: Sequence[int | torch.SymInt]) -> list[Extent]:
        return [self._sizes.extent(size) for size in sizes]

    def _type(self, value: object, name: str) -> TensorType:
        if not isinstance(value, torch.Tensor):
            raise Unrepresentable(f"{name} has no tensor type: found {type(value).__name__}")
        if value.layout != torch.strided or value.is_quantized:
            raise Unrepresentable(f"{name} is not a plain strided tensor")
        if value.is_conj() or value.is_neg():
            raise Unrepresentable(f"{name} is a lazily conjugated or negated view")
        element = ELEMENT_TYPES.get(value.dtype)
        if element is None:
            raise Unrepresentable(f"{name} has element type {value.dtype}")
        return (element, self._extents(value.shape), self._layout(value))

    def _layout(self, value: torch.Tensor) -> list[Extent] | None:
        """None for a packed row-major tensor. Compared as PyTorch compares: symbolic products are known to be equal."""
        expected: int | torch.SymInt = 1
        packed = True
        sizes: Sequence[int | torch.SymInt] = value.shape
        strides: Sequence[int | torch.SymInt] = value.stride()
        for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
            if isinstance(size, int) and size == 1:
                continue
            if isinstance(size, int) and size == 0:
                return None
            same = stride.node.expr if isinstance(stride, torch.SymInt) else stride
            wanted = expected.node.expr if isinstance(expected, torch.SymInt) else expected
            packed = packed and bool(same == wanted)
            expected = expected * size
        return None if packed else self._extents(strides)

    def _placeholder(self, node: fx.Node) -> None:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            self._parameters.append((node.name, self._type(value, node.name)))
            self._values[node] = node.name
            self._inputs.append(Input(node.name, True, value.device.type == "tessiq"))
            return
        if isinstance(value, torch.SymInt):
            extent = self._sizes.extent(value)
            self._inputs.append(Input(node.name, False, False, extent if isinstance(extent, str) else ""))
            return
        if isinstance(value, int) or (value is None and not node.users):
            self._inputs.append(Input(node.name, False, False))
            return
        raise Unrepresentable(f"argument {node.name} is a {type(value).__name__}")

    def _constant(self, node: fx.Node) -> None:
        value = attribute_of(self._module, str(node.target))
        if not isinstance(value, torch.Tensor):
            raise Unrepresentable(f"{node.target} is a {type(value).__name__} held by the graph")
        self._parameters.append((node.name, self._type(value, node.name)))
        self._values[node] = node.name
        self._constant_inputs.append(Input(node.name, True, value.device.type == "tessiq"))
        self._constants.append(str(node.target))

    def _call(self, node: fx.Node) -> None:
        value = node.meta.get("val")
        if node.target is operator.getitem:
            source, index = node.args
            assert isinstance(source, fx.Node)
            assert isinstance(index, int)
            if value is not None:
                self._values[node] = self._members[source][index]
            return
        if isinstance(value, torch.SymInt | int) and not isinstance(value, bool):
            return  # size arithmetic: wherever it is read, its expression stands
        if not isinstance(node.target, torch._ops.OpOverload):
            raise Unrepresentable(f"{node.name} calls {node.target}, which is no single operator")
        if value is None:
            raise Unrepresentable(f"{node.name} ({node.target}) has no recorded result")
        values: list[torch.Tensor | None] = [*value] if isinstance(value, tuple | list) else [node.meta["val"]]
        results = self._results(node, values, isinstance(value, tuple | list))
        operands, attributes = self._arguments(node)
        self._note_views(node, values, attributes)
        if self._on_device and all(one is None or one.device.type == "cpu" for one in values):
            attributes["tessiq.device"] = "host"
        self._nodes.append((str(node.target), operands, attributes, results, location_of(node)))

    def _results(self, node: fx.Node, values: list[torch.Tensor | None], many: bool) -> list[tuple[str, TensorType]]:
        """A result takes the name of the getitem that reads it, since that is what the rest of the graph calls it."""
        names = [node.name]
        if many:
            readers = {user.args[1]: user.name for user in node.users if user.target is operator.getitem}
            names = [readers.get(i, f"{node.name}.{i}") for i in range(len(values))]
            self._members[node] = names
        else:
            self._values[node] = node.name
        return [
            # None is what an operator was asked to leave out; nothing reads it as a tensor.
            (name, ("f32", [0], None) if value is None else self._type(value, name))
            for name, value in zip(names, values, strict=True)
        ]

    def _note_views(self, node: fx.Node, values: list[torch.Tensor | None], attributes: dict[str, Argument]) -> None:
        source = node.args[0] if node.args else None
        if not isinstance(source, fx.Node):
            return
        target = node.target
        assert isinstance(target, torch._ops.OpOverload)
        base = source.meta["val"]
        if not isinstance(base, torch.Tensor) or any(one is None or one.dtype != base.dtype for one in values):
            return
        if target is torch.ops.aten._unsafe_view.default:
            attributes["tessiq.offsets"] = [0]
        elif _is_view(target) and target is not torch.ops.aten.as_strided.default:
            # as_strided counts from the start of the storage, which a copy of the tensor does not share.
            attributes["tessiq.offsets"] = [
                self._offset(one.storage_offset() - base.storage_offset()) for one in values if one is not None
            ]

    def _offset(self, offset: int | torch.SymInt) -> object:
        extent = self._sizes.extent(offset)
        return ("symbol", extent) if isinstance(extent, str) else extent

    def _arguments(self, node: fx.Node) -> tuple[list[str], dict[str, Argument]]:
        operands: list[str] = []
        attributes: dict[str, Argument] = {}
        for position, argument in enumerate(node.args):
            self._argument(str(position), argument, operands, attributes)
        for name in sorted(node.kwargs):
            argument = node.kwargs[name]
            if isinstance(argument, fx.Node) and argument in self._values:
                operands.append(self._values[argument])
                attributes[f"operand.{name}"] = True
            else:
                self._argument(name, argument, operands, attributes)
        return operands, attributes

    def _argument(self, key: str, argument: object, operands: list[str], attributes: dict[str, Argument]) -> None:
        if isinstance(argument, fx.Node) and argument in self._values:
            operands.append(self._values[argument])
        elif isinstance(argument, list | tuple) and any(self._is_tensor(member) for member in argument):
            attributes[f"list.{key}"] = [int(self._is_tensor(member)) for member in argument]
            operands.extend(self._values[member] for member in argument if self._is_tensor(member))
        else:
            attributes[key] = self._attribute(argument)

    def _is_tensor(self, argument: object) -> bool:
        return isinstance(argument, fx.Node) and argument in self._values

    def _attribute(self, argument: object) -> Argument:
        if argument is None or isinstance(argument, bool | int | float | str):
            return argument
        if isinstance(argument, fx.Node):
            value = argument.meta.get("val")
            if value is None:
                return None
            if isinstance(value, torch.SymInt | int) and not isinstance(value, bool):
                return self._offset(value)
            raise Unrepresentable(f"{argument.name} is read as a number and is a {type(value).__name__}")
        if isinstance(argument, torch.SymInt):
            return self._offset(argument)
        if isinstance(argument, torch.dtype | torch.memory_format | torch.layout):
            return str(argument).removeprefix("torch.")
        if isinstance(argument, torch.device):
            return str(argument)
        if isinstance(argument, list | tuple):
            return [self._attribute(member) for member in argument]
        raise Unrepresentable(f"an argument of type {type(argument).__name__}")

    def _output(self, node: fx.Node) -> Iterator[str | tuple[str, Extent] | None]:
        returned = node.args[0]
        if not isinstance(returned, list | tuple):
            raise Unrepresentable("the graph does not return a tuple")
        for one in returned:
            if one is None or (isinstance(one, fx.Node) and one.meta.get("val") is None):
                yield None
            elif isinstance(one, fx.Node) and one in self._values:
                yield self._values[one]
            elif isinstance(one, fx.Node) and isinstance(one.meta.get("val"), torch.SymInt | int):
                yield ("size", self._sizes.extent(one.meta["val"]))
            elif isinstance(one, int) and not isinstance(one, bool):
                yield ("size", one)
            else:
                raise Unrepresentable(f"the graph returns a {type(one).__name__}")
