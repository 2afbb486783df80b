"""Recipes kept in memory: the same graph, reached again, is neither imported nor compiled again.

PyTorch keeps compiled code by the code that was traced, and ``torch._dynamo.reset()`` drops it. This is kept by the
graph itself: what each node is, what it reads, and the type of every value.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import torch
from torch import fx

from tessiq import _C

CAPACITY = 64
"""Recipes kept; the least recently used goes first."""


@dataclass(frozen=True)
class CachedRecipe:
    """A recipe and the names of the tensors its graph holds, which every use of it passes anew."""

    recipe: _C.Recipe
    constants: tuple[str, ...]


@dataclass
class RecipeCounts:
    """What happened since the cache was last cleared."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0


class RecipeCache:
    """A bounded map that several threads may use."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._recipes: OrderedDict[Hashable, CachedRecipe] = OrderedDict()
        self.counts = RecipeCounts()

    def __len__(self) -> int:
        return len(self._recipes)

    def find(self, key: Hashable) -> CachedRecipe | None:
        with self._lock:
            found = self._recipes.get(key)
            if found is None:
                self.counts.misses += 1
                return None
            self.counts.hits += 1
            self._recipes.move_to_end(key)
            return found

    def keep(self, key: Hashable, recipe: CachedRecipe) -> None:
        with self._lock:
            self._recipes[key] = recipe
            self._recipes.move_to_end(key)
            while len(self._recipes) > self._capacity:
                self._recipes.popitem(last=False)
                self.counts.evictions += 1

    def clear(self) -> None:
        """Forgets every recipe and starts counting anew. Compiled models keep theirs."""
        with self._lock:
            self._recipes.clear()
            self.counts = RecipeCounts()


cache = RecipeCache()


def _size(size: int | torch.SymInt) -> Hashable:
    return str(size.node.expr) if isinstance(size, torch.SymInt) else size


def _value(value: object) -> Hashable:
    """The type of what a node gives: what kernels are built from."""
    if isinstance(value, torch.Tensor):
        return (
            *(value.dtype, str(value.device), value.layout, value.is_quantized, value.is_conj(), value.is_neg()),
            *(tuple(map(_size, sizes)) for sizes in (value.shape, value.stride(), (value.storage_offset(),))),
        )
    if isinstance(value, torch.SymInt):
        return ("size", _size(value))
    if isinstance(value, list | tuple):
        return (type(value), *map(_value, value))
    return (type(value), repr(value))


class _Keys:
    def __init__(self, module: fx.GraphModule) -> None:
        self._places = {node: place for place, node in enumerate(module.graph.nodes)}

    def argument(self, argument: object) -> Hashable:
        if isinstance(argument, fx.Node):
            return ("node", self._places[argument])
        if isinstance(argument, list | tuple):
            return (list, *map(self.argument, argument))
        if isinstance(argument, torch.SymInt):
            return ("size", _size(argument))
        return (type(argument), repr(argument))

    def node(self, module: fx.GraphModule, node: fx.Node, location: str) -> Hashable:
        value = node.meta.get("val")
        if node.op == "get_attr":
            value = attribute_of(module, str(node.target))
        # The name and the line, since reports give them.
        keywords = tuple((name, self.argument(node.kwargs[name])) for name in sorted(node.kwargs))
        return (node.op, node.name, location, node.target, _value(value), self.argument(node.args), keywords)


def attribute_of(module: fx.GraphModule, name: str) -> object:
    """What the module holds under a dotted name."""
    value: object = module
    for part in name.split("."):
        value = getattr(value, part)
    return value


def key_of(module: fx.GraphModule, locations: Sequence[str], decisions: Hashable) -> Hashable:
    """The key of a graph.

    Args:
        module: a graph of AOTAutograd's, every node with its fake result.
        locations: the user's line of each node.
        decisions: what else the compile depends on: device, options, which arguments are parameters.
    """
    keys = _Keys(module)
    nodes = module.graph.nodes
    return (decisions, *(keys.node(module, node, line) for node, line in zip(nodes, locations, strict=True)))
