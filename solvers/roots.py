"""Every real root of an expression in one unknown, proved complete.

Polynomials by exact isolation. Anything else by interval arithmetic: a cell whose interval excludes
0 has no root, a cell on which the derivative's interval excludes 0 has at most one, every other
cell is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import sympy
from mpmath.ctx_iv import MPIntervalContext

from formulas.fold import fold
from formulas.quantity import Domain, stand_in
from solvers.exact import substitute
from solvers.inverses import arms_of
from solvers.number import (
    CONTEXT,
    DIGITS,
    Number,
    Undefined,
    from_sympy,
    less,
    ordered,
    rounded,
    same,
)

HIGHEST_DEGREE = 12
_CELLS = 20_000
_NARROW = 10.0**-12
_REACH = 100

INTERVALS = MPIntervalContext()
INTERVALS.dps = 20


class Unseparated(Exception):
    """The roots could not be told apart within the effort allowed; the text says where."""


def smooth_arms(expr: Any, unknown: Any, limit: int = 64) -> list[Any]:
    """The expressions free of min, max, absolute value and cases that `expr` consists of."""
    done: list[Any] = []
    todo = [expr]
    while todo:
        node = todo.pop()
        bend = next(
            (a for a in sympy.postorder_traversal(node) if _bends(a) and unknown in a.free_symbols),
            None,
        )
        if bend is None:
            done.append(node)
        else:
            todo += [node.xreplace({bend: arm}) for arm, _ in arms_of(bend)]
        if len(done) + len(todo) > limit:
            raise Unseparated(f"more than {limit} arms of min, max and cases")
    return list(dict.fromkeys(done))


def _bends(node: Any) -> bool:
    return isinstance(node, sympy.Min | sympy.Max | sympy.Abs | sympy.Piecewise)


def bends(expr: Any, unknown: Any) -> list[Any]:
    """Expressions that are 0 where one arm of `expr` takes over from another."""
    found = []
    for node in sympy.preorder_traversal(expr):
        if not _bends(node) or unknown not in node.free_symbols:
            continue
        if isinstance(node, sympy.Piecewise):
            for _, condition in node.args:
                found += [r.lhs - r.rhs for r in condition.atoms(sympy.core.relational.Relational)]
        else:
            arms = [arm for arm, _ in arms_of(node)]
            found += [one - other for one, other in combinations(arms, 2)]
    return [f for f in found if unknown in f.free_symbols]


def real_roots(expr: Any, unknown: Any, low: Number | None, high: Number | None) -> list[Number]:
    """The roots and poles of a smooth numeric expression between two ends, in order.

    An end of None is none. Unseparated where the search cannot be completed.
    """
    return list(_real_roots(expr, unknown, low, high))


# One question asks for the same roots again: for each of its ways, and for what it may lack.
@lru_cache(maxsize=1024)
def _real_roots(
    expr: Any, unknown: Any, low: Number | None, high: Number | None
) -> tuple[Number, ...]:
    # Powers in the unknown stay whole: over a common denominator they would outgrow every interval.
    powers = {p: stand_in(positive=True) for p in expr.atoms(sympy.Pow) if _is_power(p, unknown)}
    back = {symbol: power for power, symbol in powers.items()}
    parts = sympy.fraction(sympy.together(expr.xreplace(powers)))
    found: list[Number] = []
    for part in (part.xreplace(back) for part in parts):
        if unknown in part.free_symbols:
            found += _roots_of(part, unknown, low, high)
    return tuple(distinct(found))


def _is_power(node: Any, unknown: Any) -> bool:
    return unknown in node.exp.free_symbols


def zeros(expr: Any, unknown: Any, domain: Domain) -> list[Number]:
    """Where an arm of the expression is 0 or has a pole, or one arm takes over from another."""
    found: list[Number] = []
    for part in (expr, *bends(expr, unknown)):
        for arm in smooth_arms(part, unknown):
            if unknown in arm.free_symbols:
                found += real_roots(arm, unknown, domain.low, domain.high)
    return found


def distinct(values: list[Number]) -> list[Number]:
    """The values in order, each once; of two that are equal within 1e-9 an exact one is kept."""
    kept: list[Number] = []
    for value in ordered(values):
        if kept and same(kept[-1], value):
            if isinstance(value, Fraction) and not isinstance(kept[-1], Fraction):
                kept[-1] = value
        else:
            kept.append(value)
    return kept


def _roots_of(part: Any, unknown: Any, low: Number | None, high: Number | None) -> list[Number]:
    expanded = sympy.expand(part)
    if expanded.is_polynomial(unknown):
        poly = sympy.Poly(expanded, unknown)
        if poly.degree() <= HIGHEST_DEGREE:
            return [r for r in _polynomial_roots(poly) if _between(r, low, high)]
    return _interval_roots(part, unknown, low, high)


def _polynomial_roots(poly: Any) -> list[Number]:
    if poly.degree() <= 0:
        return []
    if poly.degree() == 1:
        a, b = poly.all_coeffs()
        return [from_sympy(-b / a)]
    if poly.degree() == 2:
        a, b, c = poly.all_coeffs()
        discriminant = b**2 - 4 * a * c
        if discriminant < 0:
            return []
        root = (
            sympy.sqrt(discriminant)
            if discriminant.is_Rational
            else discriminant ** sympy.Rational(1, 2)
        )
        return [from_sympy((-b + sign * root) / (2 * a)) for sign in (-1, 1)]
    if all(c.is_Rational for c in poly.all_coeffs()):
        return [from_sympy(r if r.is_Rational else r.evalf(DIGITS)) for r in poly.real_roots()]
    roots = poly.nroots(n=DIGITS, maxsteps=200)
    return [from_sympy(sympy.re(r)) for r in roots if abs(sympy.im(r)) <= abs(r) * 10**-20]


def _between(value: Number, low: Number | None, high: Number | None) -> bool:
    return not (low is not None and less(value, low)) and not (
        high is not None and less(high, value)
    )


# -- intervals


def _interval_rules(unknown: Any, cell: Any) -> dict[type, Callable[..., Any]]:
    def number(node: Any) -> Any:
        value = from_sympy(node)
        if isinstance(value, Fraction):
            return INTERVALS.mpf(value.numerator) / INTERVALS.mpf(value.denominator)
        wide = abs(value) * CONTEXT.mpf(10) ** -30
        return INTERVALS.mpf([str(value - wide), str(value + wide)])

    def power(node: Any, base: Any, exponent: Any) -> Any:
        if node.exp.is_Integer:
            return base ** int(node.exp)
        return INTERVALS.exp(exponent * INTERVALS.log(base))

    return {
        sympy.Symbol: lambda node: cell,
        sympy.Number: number,
        sympy.NumberSymbol: number,
        sympy.Add: lambda node, *parts: sum(parts, INTERVALS.mpf(0)),
        sympy.Mul: lambda node, *parts: _product(parts),
        sympy.Pow: power,
        sympy.exp: lambda node, part: INTERVALS.exp(part),
        sympy.log: lambda node, part: INTERVALS.log(part),
    }


def _product(parts: tuple[Any, ...]) -> Any:
    result = INTERVALS.mpf(1)
    for part in parts:
        result = result * part
    return result


def _range(expr: Any, unknown: Any, cell: Any) -> Any:
    try:
        return fold(expr, _interval_rules(unknown, cell))
    except (ZeroDivisionError, ValueError, OverflowError):
        return INTERVALS.mpf(["-inf", "inf"])


def _excludes_zero(interval: Any) -> bool:
    return bool(interval.a > 0 or interval.b < 0)


def _cells(low: Number | None, high: Number | None) -> list[tuple[Any, Any]]:
    """The line between the ends, in cells that grow by powers of two away from 0."""
    start = -(CONTEXT.mpf(2) ** _REACH) if low is None else rounded(low)
    end = CONTEXT.mpf(2) ** _REACH if high is None else rounded(high)
    marks = {start, end}
    for power in range(-_REACH, _REACH + 1):
        for sign in (-1, 1):
            mark = sign * CONTEXT.mpf(2) ** power
            if start < mark < end:
                marks.add(mark)
    if start < 0 < end:
        marks.add(CONTEXT.mpf(0))
    return list(pairwise(sorted(marks)))


def _interval_roots(
    expr: Any, unknown: Any, low: Number | None, high: Number | None
) -> list[Number]:
    slope = sympy.diff(expr, unknown)
    todo = _cells(low, high)
    found: list[Number] = []
    for effort in range(_CELLS):
        if not todo:
            return found
        left, right = todo.pop()
        cell = INTERVALS.mpf([left, right])
        if _excludes_zero(_range(expr, unknown, cell)):
            continue
        if _excludes_zero(_range(slope, unknown, cell)):
            found += _only_root(expr, unknown, left, right)
            continue
        middle = (left + right) / 2
        if right - left <= _NARROW * max(abs(left), abs(right), CONTEXT.mpf(2) ** -_REACH):
            if abs(_value(expr, unknown, middle)) <= CONTEXT.mpf(10) ** -20:
                found.append(middle)
                continue
            raise Unseparated(f"near {CONTEXT.nstr(middle, 6)}, after {effort} cells")
        todo += [(left, middle), (middle, right)]
    raise Unseparated(f"after {_CELLS} cells")


def _value(expr: Any, unknown: Any, at: Any) -> Any:
    return rounded(substitute(expr, unknown.name, at))


def _only_root(expr: Any, unknown: Any, left: Any, right: Any) -> list[Number]:
    """The root of a monotone piece, bracketed to 40 digits; none where both ends have one sign."""
    try:
        at_left, at_right = _value(expr, unknown, left), _value(expr, unknown, right)
    except Undefined:
        return []
    if at_left == 0 or at_right == 0:
        return [left if at_left == 0 else right]
    if (at_left > 0) == (at_right > 0):
        return []
    root = CONTEXT.findroot(
        lambda at: _value(expr, unknown, at),
        (left, right),
        solver="anderson",
        verify=False,
        maxsteps=400,
    )
    return [root]
