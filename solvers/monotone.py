"""Where a stepped comparison turns, if its sides can be seen to rise or fall with the unknown.

The proof is structural, term by term; where it fails, nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import sympy

from solvers.counts import holds_at

_COMPARISONS = (sympy.Le, sympy.Ge, sympy.Lt, sympy.Gt)
# Beyond this many doublings a limit is not a limit.
_MOST_DOUBLINGS = 60


def turning(
    condition: Any, symbol: Any, first: Fraction, last: Fraction | None, grid: Fraction
) -> list[Fraction] | None:
    """The two neighbours on the grid between which the comparison turns; empty where it does not.

    None where it cannot be seen to turn at most once.
    """
    if not isinstance(condition, _COMPARISONS):
        return None
    if direction(condition.lhs - condition.rhs, symbol) is None:
        return None

    def holds(step: int) -> bool:
        return holds_at(condition, symbol.name, first + step * grid)

    low = 0
    high = _steps(holds, None if last is None else int((last - first) // grid))
    start = holds(low)
    if holds(high) == start:
        return []
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) == start else (low, middle)
    return [first + low * grid, first + high * grid]


def _steps(holds: Callable[[int], bool], last: int | None) -> int:
    if last is not None:
        return max(0, last)
    start, step = holds(0), 1
    for _ in range(_MOST_DOUBLINGS):
        if holds(step) != start:
            break
        step *= 2
    return step


def direction(expr: Any, symbol: Any) -> int | None:
    """1 where the expression never falls with the symbol, -1 where it never rises, 0 where it is
    constant; None where that cannot be seen.
    """
    if symbol not in expr.free_symbols:
        return 0
    if expr == symbol:
        return 1
    rule = _RULES.get(expr.func)
    return None if rule is None else rule(expr, symbol)


def _joined(expr: Any, symbol: Any) -> int | None:
    found = {direction(part, symbol) for part in expr.args} - {0}
    return found.pop() if len(found) == 1 else None


def _product(expr: Any, symbol: Any) -> int | None:
    moving = [part for part in expr.args if symbol in part.free_symbols]
    rest = sympy.Mul(*(part for part in expr.args if symbol not in part.free_symbols))
    if len(moving) != 1 or not (rest.is_nonnegative or rest.is_nonpositive):
        return None
    found = direction(moving[0], symbol)
    return found if found is None or rest.is_nonnegative else -found


def _power(expr: Any, symbol: Any) -> int | None:
    base, exponent = expr.args
    grows = exponent.is_nonnegative and base.is_nonnegative
    if not grows and not (exponent.is_negative and base.is_positive):
        return None
    found = direction(base, symbol)
    return found if found is None or exponent > 0 else -found


_RULES: Mapping[Any, Callable[[Any, Any], int | None]] = MappingProxyType(
    {
        sympy.Add: _joined,
        sympy.Min: _joined,
        sympy.Max: _joined,
        sympy.ceiling: _joined,
        sympy.floor: _joined,
        sympy.Mul: _product,
        sympy.Pow: _power,
    }
)
