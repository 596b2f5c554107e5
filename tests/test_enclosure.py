"""Enclosures against plain evaluation at points of the box, and slopes against differences."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from formulas.expressions import Round
from formulas.quantity import stand_in
from solvers.enclosure import enclosure, slopes, truth
from solvers.exact import evaluate
from solvers.number import CONTEXT, Undefined, is_number

X, Y = stand_in(positive=True), stand_in(real=True)
NAMES = (X.name, Y.name)

leaves = st.sampled_from([X, Y, sympy.Integer(2), sympy.Rational(1, 3), sympy.Integer(-3)])


def grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda p: p[0] + p[1]),
        two.map(lambda p: p[0] * p[1]),
        two.map(lambda p: sympy.Max(*p)),
        two.map(lambda p: sympy.Min(*p)),
        two.map(lambda p: sympy.Piecewise((p[0], p[1] > 1), (p[1], True))),
        inner.map(lambda e: e**2),
        inner.map(lambda e: 1 / e if e != 0 else e),
        inner.map(lambda e: 1 - e**3),
        inner.map(sympy.ceiling),
        inner.map(sympy.floor),
        inner.map(Round),
        inner.map(abs),
        inner.map(lambda e: sympy.Rational(1, 2) ** e),
    )


expressions = st.recursive(leaves, grow, max_leaves=8)
sides = st.tuples(
    st.fractions(Fraction(1, 64), 50, max_denominator=64),
    st.fractions(0, 20, max_denominator=16),
)


def at(expr: Any, x: Fraction, y: Fraction) -> Any:
    """The exact value at a point; None where there is none."""
    try:
        value = evaluate(expr, dict(zip(NAMES, (x, y), strict=True)).__getitem__)
    except (Undefined, OverflowError):
        return None
    return value if is_number(value) else None


def big(value: float) -> Any:
    return CONTEXT.mpf(value)


def inside(value: Any, low: float, high: float) -> bool:
    number = (
        CONTEXT.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value
    )
    slack = abs(number) * big(1e-35)
    return bool(big(low) - slack <= number <= big(high) + slack)


shares = st.fractions(0, 1, max_denominator=32)


def placed(side: tuple[Fraction, Fraction], share: Fraction) -> Fraction:
    return side[0] + side[1] * share


@settings(deadline=None, max_examples=200)
@given(expressions, sides, sides, shares, shares)
def test_no_value_lies_outside(expr: Any, one: Any, two: Any, first: Any, second: Any) -> None:
    assume(isinstance(expr, sympy.Expr) and not expr.has(sympy.re, sympy.im))
    two = (two[0] - 20, two[1])
    box = {n: (s[0], s[0] + s[1]) for n, s in zip(NAMES, (one, two), strict=True)}
    value = at(expr, placed(one, first), placed(two, second))
    assume(value is not None)
    low, high = enclosure(expr, box)
    assert inside(value, low, high), (value, low, high)


@settings(deadline=None, max_examples=200)
@given(expressions, sides, sides, shares, shares, shares)
def test_a_slope_that_does_not_fall_is_no_fall(
    expr: Any, one: Any, two: Any, first: Any, second: Any, third: Any
) -> None:
    """Between any two points of the box the expression moves as its slopes say."""
    assume(isinstance(expr, sympy.Expr) and not expr.has(sympy.re, sympy.im))
    box = {n: (s[0], s[0] + s[1]) for n, s in zip(NAMES, (one, two), strict=True)}
    found = slopes(expr, box)
    low, high = found.get(X.name, (0.0, 0.0))
    y = placed(two, third)
    left, right = sorted((placed(one, first), placed(one, second)))
    before, after = at(expr, left, y), at(expr, right, y)
    assume(before is not None and after is not None and left < right)
    rise = float(after) - float(before)
    slack = 1e-9 * max(abs(float(after)), abs(float(before)), 1e-9)
    run = float(right - left)
    assert rise >= low * run - slack - 1e-9 * abs(low * run)
    assert rise <= high * run + slack + 1e-9 * abs(high * run)


@pytest.mark.parametrize("expr", [1 / (X - 1), -((X - 1) ** -3), (X - 1) ** -2])
def test_across_a_pole_nothing_is_said_of_the_slope(expr: Any) -> None:
    assert slopes(expr, {X.name: (0, 2)})[X.name] == (-math.inf, math.inf)
    # On one side of it the slope is what calculus says.
    low, high = slopes(expr, {X.name: (2, 3)})[X.name]
    for place in (2, Fraction(5, 2), 3):
        assert low <= float(sympy.diff(expr, X).subs(X, place)) <= high


def test_ends_without_bound() -> None:
    box = {X.name: (0, math.inf)}
    assert enclosure(1 / X, box) == (0.0, math.inf)
    assert enclosure(3 + X**2, box) == (3.0, math.inf)
    assert slopes(1 / X, box)[X.name][1] <= 0


@pytest.mark.parametrize(
    ("condition", "box", "expected"),
    [
        (X <= 2, (0, 2), True),
        (X <= 2, (3, 4), False),
        (X <= 2, (1, 4), None),
        # A limit met within 1e-9 is met; at the edge of that nothing is claimed.
        (X <= 2, (2 + 1e-10, 2 + 1e-9), True),
        (X <= 2, 2 + 2e-9, None),
        (X <= 2, (2 + 3e-9, 3), False),
        (X < 2, 2, False),
        (X < 2, (2, 3), False),
        (sympy.And(X > 1, X < 3), (1.5, 2), True),
        (sympy.Or(X > 5, X < 3), (3.5, 4), False),
        (sympy.Eq(sympy.Mod(64, X), 0), 8, True),
        (sympy.Eq(sympy.Mod(64, X), 0), 24, False),
        (sympy.Eq(X, 3), (1, 4), None),
    ],
)
def test_truths(condition: Any, box: Any, expected: bool | None) -> None:
    assert truth(condition, {X.name: box}) is expected


def test_whole_steps_are_exact() -> None:
    assert enclosure(sympy.ceiling(X / 4), {X.name: 80}) == (20.0, 20.0)
    assert enclosure(sympy.ceiling(X / 3), {X.name: 80}) == (27.0, 27.0)
    # A third is no float: whether 81 of them are 27 or a little more is not claimed.
    assert enclosure(sympy.ceiling(X / 3), {X.name: 81}) == (27.0, 28.0)
