"""Expressions of one scenario at many points, in floats, and where floats cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from formulas.formula import VOCABULARY, Condition

_NEAR = 1e-9
# A float is farther from the edge of a tolerance than this, or the point is left open.
_EDGE = 1e-12
_WHOLE = 2.0**53

Columns = Mapping[str, Any]


def run(expr: Any, inputs: tuple[str, ...], known: Columns) -> Any:
    """The expression at every point."""
    (result,) = _lowered(expr, inputs)(*(known[n] for n in inputs), functions={})
    return result


@lru_cache(maxsize=2048)
def _lowered(expr: Any, inputs: tuple[str, ...]) -> Callable[..., Any]:
    from solvers.kernel import lower

    return lower((expr,), [VOCABULARY[name].symbol for name in inputs])


@lru_cache(maxsize=2048)
def decisions(expr: Any) -> tuple[tuple[Any, Any, tuple[str, ...]], ...]:
    """Two sides that decide by which is larger, and the quantities in them, of each comparison and
    each step; a step is decided where what it rounds is whole.
    """
    import sympy

    from formulas.expressions import Round

    atoms = getattr(expr, "atoms", None)
    if atoms is None:
        return ()
    pairs = [(row.lhs, row.rhs) for row in atoms(sympy.core.relational.Relational)]
    stepped = [row.args[0] for row in atoms(sympy.ceiling, sympy.floor)]
    stepped += [row.args[0] / row.args[1] for row in atoms(sympy.Mod)]
    # Half-way between two whole numbers is where rounding decides.
    stepped += [row.args[0] + sympy.Rational(1, 2) for row in atoms(Round)]
    pairs += [(part, None) for part in stepped]
    return tuple((left, right, _names_in(left, right)) for left, right in pairs)


def _names_in(*parts: Any) -> tuple[str, ...]:
    found = (symbol.name for part in parts if part is not None for symbol in part.free_symbols)
    return tuple(sorted(set(found)))


def undecided(expr: Any, known: Columns) -> Any:
    """Where a comparison or a step is too close to call, but for whole numbers, which are exact."""
    import numpy

    doubt: Any = False
    for left, right, inputs in decisions(expr):
        one = run(left, inputs, known)
        other = numpy.rint(one) if right is None else run(right, inputs, known)
        close = _near(one, other) & ~_all_whole(known[n] for n in inputs)
        doubt = doubt | close | numpy.isnan(one) | numpy.isnan(other)
    return doubt


def _all_whole(columns: Iterable[Any]) -> Any:
    import numpy

    whole: Any = True
    for column in columns:
        whole = whole & (column == numpy.rint(column)) & (abs(column) < _WHOLE)
    return whole


def _near(left: Any, right: Any, within: float = _NEAR) -> Any:
    import numpy

    return abs(left - right) <= within * numpy.maximum(abs(left), abs(right))


def truth(condition: Condition, known: Columns) -> Any:
    """Whether the condition is true at each point."""
    import numpy

    return numpy.asarray(run(condition.expr, condition.inputs, known), bool)


def holds(condition: Condition, known: Columns) -> tuple[Any, Any]:
    """Whether a constraint holds at each point, and where that is too close to call."""
    import sympy

    expr = condition.expr
    sign = {sympy.Le: "<=", sympy.Ge: ">="}.get(type(expr))
    if sign is None:
        unsure = undecided(expr, known)
        return truth(condition, known), unsure
    left, right = (run(side, condition.inputs, known) for side in (expr.lhs, expr.rhs))
    return compared(left, sign, right)


def compared(left: Any, sign: str, right: Any) -> tuple[Any, Any]:
    """Whether the comparison holds at each point, and where that is too close to call.

    A value within 1e-9 of a limit meets it; a strict limit is exact.
    """
    import numpy

    size = numpy.maximum(abs(left), abs(right))
    over = left - right if sign[0] == "<" else right - left
    edge = 0.0 if len(sign) == 1 else _NEAR
    met = over < 0 if len(sign) == 1 else over <= edge * size
    return met, ~(abs(over - edge * size) > _EDGE * size)


def inside(name: str, column: Any) -> Any:
    """Where the value lies inside the quantity's domain, and not on the edge of it."""
    domain = VOCABULARY[name].domain
    found: Any = True
    if domain.low is not None:
        low = float(domain.low)
        found = found & (column > low if domain.low_open else column >= low)
    return found if domain.high is None else found & (column <= float(domain.high))
