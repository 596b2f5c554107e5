"""One occurrence of the unknown: the inverse of each node.

A rule gives the child that holds the unknown, and what that child has to be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from formulas.expressions import Round
from solvers.branches import Branch, Root, Span, Stuck
from solvers.number import from_sympy, same

Step = list[tuple[Any, Branch]]


def arms_of(node: Any) -> list[tuple[Any, Any]]:
    """Each arm of a min, max, absolute value or case, with the condition that selects it."""
    if isinstance(node, sympy.Piecewise):
        before: list[Any] = []
        arms = []
        for term, condition in node.args:
            arms.append((term, sympy.And(condition, *(sympy.Not(c) for c in before))))
            before.append(condition)
        return arms
    if isinstance(node, sympy.Abs):
        inner = node.args[0]
        return [(inner, inner >= 0), (-inner, inner < 0)]
    test = sympy.Le if isinstance(node, sympy.Min) else sympy.Ge
    return [
        (arm, sympy.And(*(test(arm, other) for other in node.args if other is not arm)))
        for arm in node.args
    ]


def _split(node: Any, unknown: Any) -> tuple[Any, Any]:
    held = [a for a in node.args if unknown in a.free_symbols]
    rest = [a for a in node.args if unknown not in a.free_symbols]
    return held[0], node.func(*rest)


def _map(goal: Branch, change: Callable[[Any], Any], rising: bool | None) -> Branch:
    """The goal with a change applied to its ends; a falling change swaps them."""
    if isinstance(goal, Root):
        return Root(change(goal.value), goal.condition)
    if rising is None:
        raise Stuck("the direction of a bound depends on a sign that is not known")
    low, high = (None if end is None else change(end) for end in (goal.low, goal.high))
    if rising:
        return Span(low, high, goal.low_open, goal.high_open, goal.condition)
    return Span(high, low, goal.high_open, goal.low_open, goal.condition)


def _add(node: Any, goal: Branch, unknown: Any) -> Step:
    child, rest = _split(node, unknown)
    return [(child, _map(goal, lambda t: t - rest, True))]


def _mul(node: Any, goal: Branch, unknown: Any) -> Step:
    child, rest = _split(node, unknown)
    if rest.is_zero:
        return []
    return [(child, _map(goal, lambda t: t / rest, _rising(rest)))]


def _rising(factor: Any) -> bool | None:
    """Whether a product rises with its other factor; None where the sign is not known.

    A factor of 0 is no case: it was taken before where it is known, and would leave nothing to
    solve for.
    """
    top, bottom = factor.as_numer_denom()
    if not bottom.is_nonnegative:
        return None
    return True if top.is_nonnegative else False if top.is_nonpositive else None


def _power(node: Any, goal: Branch, unknown: Any) -> Step:
    base, exponent = node.args
    if unknown in exponent.free_symbols:
        if isinstance(goal, Root) and goal.value.is_nonpositive:
            return []
        rising = None if not base.is_number else bool(base > 1)
        return [(exponent, _map(goal, lambda t: sympy.log(t) / sympy.log(base), rising))]
    if isinstance(goal, Span):
        return [(base, _span_power(base, exponent, goal))]
    if exponent.is_negative and goal.value.is_zero:
        return []
    found: Step = [(base, Root(_root(goal.value, exponent), goal.condition))]
    if exponent.is_even and exponent == 2 and not base.is_nonnegative:
        found.append((base, Root(-_root(goal.value, exponent), goal.condition)))
    if exponent.is_even and goal.value.is_negative:
        return []
    return found


def _root(value: Any, exponent: Any) -> Any:
    if exponent.is_odd and value.is_negative:
        return -((-value) ** (1 / exponent))
    return value ** (1 / exponent)


def _span_power(base: Any, exponent: Any, goal: Span) -> Span:
    # Where the exponent is negative, a base of 0 is no case: the power has no value there.
    positive = base.is_positive or (base.is_nonnegative and exponent.is_negative)
    if not positive or not exponent.is_real or exponent.is_zero is not False:
        raise Stuck("the direction of a bound depends on a sign that is not known")

    def change(end: Any) -> Any:
        return None if end.is_zero or end.is_negative else end ** (1 / exponent)

    low = None if goal.low is None else change(goal.low)
    high = None if goal.high is None else change(goal.high)
    if goal.high is not None and goal.high.is_nonpositive:
        return replace(goal, condition=sympy.false)
    if exponent.is_positive:
        return Span(low, high, goal.low_open, goal.high_open, goal.condition)
    if exponent.is_negative:
        return Span(high, low, goal.high_open, goal.low_open, goal.condition)
    raise Stuck("the direction of a bound depends on a sign that is not known")


def _exp(node: Any, goal: Branch, unknown: Any) -> Step:
    return [(node.args[0], _map(goal, sympy.log, True))]


def _log(node: Any, goal: Branch, unknown: Any) -> Step:
    return [(node.args[0], _map(goal, sympy.exp, True))]


def _stepped(low: Any, high: Any, low_open: bool, high_open: bool) -> Callable[..., Step]:
    """A rounding: what it gives is whole, and its argument lies in a span around it."""

    def rule(node: Any, goal: Branch, unknown: Any) -> Step:
        child = node.args[0]
        if isinstance(goal, Root):
            goal = _whole_goal(goal)
            if goal.condition is sympy.false:
                return []
            # A tie goes to the even integer, so that the ends do not belong to an odd one.
            odd = isinstance(node, Round) and goal.value.is_odd is True
            ends = (low_open or odd, high_open or odd)
            return [(child, Span(goal.value + low, goal.value + high, *ends, goal.condition))]
        if not isinstance(node, sympy.ceiling | sympy.floor):
            raise Stuck("a bound on a rounded value")
        return [(child, _whole_span(node, goal))]

    return rule


def _whole_goal(goal: Root) -> Root:
    """What a rounding has to give: a number within 1e-9 of an integer is that integer."""
    if not goal.value.is_number or goal.value.is_integer:
        return goal
    value = from_sympy(goal.value)
    nearest = Fraction(round(float(value)))
    if same(value, nearest):
        return replace(goal, value=sympy.Integer(int(nearest)))
    return replace(goal, condition=sympy.false)


def _whole_span(node: Any, goal: Span) -> Span:
    """ceil(x) <= n is x <= n, ceil(x) >= n is x > n - 1, mirrored for floor; n is whole."""
    up = isinstance(node, sympy.ceiling)
    low, high, low_open, high_open = goal.low, goal.high, goal.low_open, goal.high_open
    if low is not None:
        whole = sympy.floor(low) + 1 if low_open else sympy.ceiling(low)
        low, low_open = (whole - 1, True) if up else (whole, False)
    if high is not None:
        whole = sympy.ceiling(high) - 1 if high_open else sympy.floor(high)
        high, high_open = (whole, False) if up else (whole + 1, True)
    return Span(low, high, low_open, high_open, goal.condition)


def _extreme(node: Any, goal: Branch, unknown: Any) -> Step:
    """min(x, c) = t: x = t below c, any x from c on where t is c; max is the mirror image."""
    lower = isinstance(node, sympy.Min)
    found: Step = []
    for arm in node.args:
        if unknown not in arm.free_symbols:
            continue
        others = [a for a in node.args if a is not arm]
        if any(unknown in a.free_symbols for a in others):
            raise Stuck(f"{unknown} stands in several arms of {type(node).__name__}")
        rest = node.func(*others)
        if isinstance(goal, Span):
            found.append((arm, _extreme_span(lower, rest, goal)))
            continue
        value = goal.value
        open_side = Span(low=rest) if lower else Span(high=rest)
        tie = _equal(value, rest)
        strict = value < rest if lower else value > rest
        if tie is sympy.true:
            strict = sympy.false  # equal within 1e-9 is the tie, and no more below it
        found.append((arm, Root(value, sympy.And(goal.condition, strict))))
        found.append((arm, replace(open_side, condition=sympy.And(goal.condition, tie))))
    return found


def _equal(one: Any, other: Any) -> Any:
    """Equality; of two numbers within 1e-9, as everywhere."""
    if one.is_number and other.is_number:
        return sympy.true if same(from_sympy(one), from_sympy(other)) else sympy.false
    return sympy.Eq(one, other)


def _extreme_span(lower: bool, rest: Any, goal: Span) -> Span:
    """min(x, c) <= t is x <= t unless c <= t; min(x, c) >= t is x >= t where c >= t."""
    easy, hard = (goal.high, goal.low) if lower else (goal.low, goal.high)
    if easy is not None and hard is not None:
        raise Stuck("a bound from both sides on a min or a max")
    condition = goal.condition
    if hard is not None:
        condition = sympy.And(condition, rest >= hard if lower else rest <= hard)
    if easy is not None:
        condition = sympy.And(condition, rest > easy if lower else rest < easy)
    return replace(goal, condition=condition)


def _absolute(node: Any, goal: Branch, unknown: Any) -> Step:
    if isinstance(goal, Span):
        raise Stuck("a bound on an absolute value")
    if goal.value.is_negative:
        return []
    return [(node.args[0], goal), (node.args[0], Root(-goal.value, goal.condition))]


def _cases(node: Any, goal: Branch, unknown: Any) -> Step:
    found: Step = []
    for term, condition in arms_of(node):
        if unknown in condition.free_symbols:
            raise Stuck(f"{unknown} stands in a condition; it is tried value by value")
        holds = sympy.And(goal.condition, condition)
        if unknown in term.free_symbols:
            found.append((term, replace(goal, condition=holds)))
        elif isinstance(goal, Root):
            found.append((term, Span(condition=sympy.And(holds, _equal(term, goal.value)))))
    return found


CASES = (sympy.Min, sympy.Max, sympy.Piecewise, sympy.Abs)
INVERSES: dict[type, Callable[[Any, Any, Any], Step]] = {
    sympy.Add: _add,
    sympy.Mul: _mul,
    sympy.Pow: _power,
    sympy.exp: _exp,
    sympy.log: _log,
    sympy.ceiling: _stepped(-1, 0, True, False),
    sympy.floor: _stepped(0, 1, False, True),
    Round: _stepped(-sympy.Rational(1, 2), sympy.Rational(1, 2), False, False),
    sympy.Min: _extreme,
    sympy.Max: _extreme,
    sympy.Abs: _absolute,
    sympy.Piecewise: _cases,
}
