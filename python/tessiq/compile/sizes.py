"""Symbolic sizes: from PyTorch's sympy expressions to the names and expressions the compiler carries."""

from typing import TypeAlias

import sympy  # type: ignore[import-untyped]
import torch
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Max, Min, Mod, PythonMod

Extent: TypeAlias = int | str | None
"""A number, a symbol's name, or unknown."""

SizeExpr: TypeAlias = int | str | tuple[object, ...]
"""A number, a symbol's name, or (operation, operand, ...)."""


class Unrepresentable(Exception):
    """The graph has something the compiler does not carry; it runs uncompiled, and this says why."""


def _expression(expr: sympy.Expr) -> SizeExpr:
    if expr.is_Integer:
        return int(expr)
    if expr.is_Symbol:
        return str(expr)
    if isinstance(expr, sympy.Add):
        return ("add", *map(_expression, expr.args))
    if isinstance(expr, sympy.Mul):
        return ("mul", *map(_expression, expr.args))
    if isinstance(expr, sympy.Pow) and expr.exp.is_Integer and int(expr.exp) > 0:
        return ("mul", *[_expression(expr.base)] * int(expr.exp))
    for kinds, name in (
        ((FloorDiv, CleanDiv), "floordiv"),
        ((Mod, PythonMod), "mod"),
        ((Max,), "max"),
        ((Min,), "min"),
    ):
        if isinstance(expr, kinds):
            return (name, *map(_expression, expr.args))
    raise Unrepresentable(f"a size computed as {expr}")


class SizeNames:
    """One name for each different size expression of a graph.

    A plain symbol keeps PyTorch's name. Anything else gets a name of its own, defined by its expression, so that equal
    expressions are equal symbols to the compiler.
    """

    def __init__(self) -> None:
        self._names: dict[sympy.Expr, str] = {}
        self._carried: set[sympy.Expr] = set()
        self.definitions: list[tuple[str, SizeExpr]] = []

    def carry(self, size: int | torch.SymInt) -> None:
        """Notes that an argument of the graph carries this size, so that it needs no definition."""
        if isinstance(size, torch.SymInt):
            self._carried.add(size.node.expr)

    def extent(self, size: int | torch.SymInt) -> Extent:
        """The size as the compiler writes it."""
        if not isinstance(size, torch.SymInt):
            return int(size)
        expr = size.node.expr
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            return str(expr)
        return self._name(expr)

    def _name(self, expr: sympy.Expr) -> str:
        if expr not in self._names:
            name = f"e{len(self._names)}"
            bound = all(symbol in self._carried for symbol in expr.free_symbols)
            if bound or expr not in self._carried:
                self.definitions.append((name, _expression(expr)))
            self._names[expr] = name
        return self._names[expr]
