"""A value that whole steps leave out, between two that they reach."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from formulas.quantity import Quantity, stand_in
from solvers.branches import Refused, Root
from solvers.equation import solve_equation
from solvers.exact import substitute
from solvers.isolate import isolate
from solvers.number import Number, Undefined, ceiling, floor, from_sympy, is_number, to_sympy

_STEPS = (sympy.ceiling, sympy.floor)


def neighbours(expr: Any, target: Number, quantity: Quantity) -> tuple[Number, ...]:
    """The values next to the target, below and above, that the expression takes for some value of
    the quantity; none where it takes no whole steps, or where that is not certain.
    """
    step = _outermost(expr, quantity.symbol)
    if step is None:
        return ()
    level = stand_in(integer=True)
    outer = expr.xreplace({step: level})
    branches = isolate(outer, to_sympy(target), level)
    if isinstance(branches, Refused) or len(branches) != 1 or not isinstance(branches[0], Root):
        return ()
    at = from_sympy(branches[0].value)
    if not is_number(at):
        return ()
    found = []
    for number in dict.fromkeys((floor(at), ceiling(at))):
        reached = solve_equation(step, number, quantity)
        try:
            value = substitute(outer, level.name, Fraction(number))
        except Undefined:
            continue
        if (reached.points or reached.spans) and is_number(value):
            found.append(value)
    return tuple(sorted(found, key=float))


def _outermost(expr: Any, symbol: Any) -> Any | None:
    """The step that holds every occurrence of the symbol."""
    for node in sympy.preorder_traversal(expr):
        if isinstance(node, _STEPS) and symbol in node.free_symbols:
            return node if symbol not in expr.xreplace({node: stand_in()}).free_symbols else None
    return None
