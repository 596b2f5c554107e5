"""Constraints tried number by number: in floats, and exactly wherever those could be wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from formulas.quantity import Quantity
from solvers.exact import substitute
from solvers.number import Number, Undefined

MOST_COUNTED = 20_000
# Floats carry 16 digits; a value this near to a limit or a step is decided in fractions.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Run:
    """Grid points next to each other on which the same constraints hold."""

    low: Fraction
    high: Fraction
    holds: Mapping[str, bool]


def holds_at(condition: Any, name: str, value: Number) -> bool:
    """Whether a condition holds at a value of the quantity; where it has no value it does not."""
    if isinstance(condition, bool):
        return condition
    try:
        return substitute(condition, name, value) is True
    except Undefined:
        return False


def runs_of(
    constraints: Mapping[str, Any],
    quantity: Quantity,
    first: Fraction,
    last: Fraction,
    grid: Fraction,
) -> list[Run]:
    """The grid from first to last, as runs from low to high."""
    tests = {name: _test(condition, quantity) for name, condition in constraints.items()}
    runs: list[Run] = []
    value = first
    while value <= last:
        holds = {name: test(value) for name, test in tests.items()}
        if runs and runs[-1].holds == holds:
            runs[-1] = Run(runs[-1].low, value, holds)
        else:
            runs.append(Run(value, value, holds))
        value += grid
    return runs


def _test(condition: Any, quantity: Quantity) -> Callable[[Fraction], bool]:
    if isinstance(condition, bool):
        return lambda value: condition
    symbol = quantity.symbol
    fast = sympy.lambdify(symbol, condition, modules="math")
    # What must not be near a boundary for the fast answer to be trusted: gaps near 0, steps near
    # a whole number.
    sides = [
        side
        for relation in condition.atoms(sympy.core.relational.Relational)
        for side in (relation.lhs, relation.rhs)
    ]
    steps = [node.args[0] for node in condition.atoms(sympy.ceiling, sympy.floor)]
    watch = sympy.lambdify(symbol, [*sides, *steps], modules="math")
    pairs = len(sides) // 2

    def test(value: Fraction) -> bool:
        at = float(value)
        try:
            seen = [float(v) for v in watch(at)]
            near = any(_close(seen[2 * i], seen[2 * i + 1]) for i in range(pairs))
            near = near or any(_close(v, round(v)) for v in seen[2 * pairs :])
            if not near and all(map(math.isfinite, seen)):
                return bool(fast(at))
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            pass
        return holds_at(condition, quantity.name, value)

    return test


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR * max(abs(one), abs(other), 1e-300)
