"""Interval arithmetic: for each kind of node its enclosure, and the enclosure of its slopes.

Floats are rounded outwards, except where the result is seen to be exact; the ends may be infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from solvers.tape_numbers import (
    EVERYTHING,
    UNIT,
    UPWARDS,
    Pair,
    added,
    hull,
    inverted,
    multiplied,
    powered,
    widened,
)

# Values within 1e-9 of a limit, relative to the larger, meet it. What is nearer to the edge of that
# than a float can tell is left open, to be decided exactly.
_SURELY_NEAR, _SURELY_BEYOND = 0.999e-9, 1.001e-9
_WHOLE = 1e-12


@dataclass(frozen=True, slots=True)
class Rule:
    """How a node is computed. `width` is 1 or 2, or None where it takes all parts at once.

    `moves` gives the slope in each part, from the value of the node and of its parts.
    """

    width: int | None
    value: Callable[..., Any]
    moves: Callable[..., tuple[Pair | None, ...]]


# A node that is what its only part is.
SAME = Rule(1, lambda part: part, lambda _, part: (UNIT,))


def junction(before: Pair | None, outer: Pair, move: Pair) -> Pair:
    """The slope so far, and one more way on which a quantity moves the whole."""
    more = multiplied(outer, move)
    return more if before is None else added(before, more)


def _still(_: Any, *parts: Any) -> tuple[None, ...]:
    return (None,) * len(parts)


def _power_moves(_: Pair, base: Pair, exponent: Pair) -> tuple[Pair, Pair | None]:
    lower = powered(base, added(exponent, (-1.0, -1.0)))
    # Across a pole the value jumps, against its slope on either side.
    pole = base[0] < 0 < base[1] and exponent[0] < 0
    moved = EVERYTHING if pole else multiplied(exponent, lower)
    if exponent[0] == exponent[1]:
        return moved, None
    logarithm = _log(base) if base[0] >= 0 else EVERYTHING
    return moved, multiplied(powered(base, exponent), logarithm)


def _log(value: Pair) -> Pair:
    if value[1] <= 0:
        return EVERYTHING
    low = math.log(value[0]) if value[0] > 0 else -math.inf
    high = math.log(value[1]) if value[1] < math.inf else math.inf
    return widened(low, high)


def _exp(value: Pair) -> Pair:
    low, high = (_exp_of(end) for end in value)
    return max(0.0, widened(low, low)[0]), widened(high, high)[1]


def _exp_of(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _least(one: Pair, other: Pair) -> Pair:
    return min(one[0], other[0]), min(one[1], other[1])


def _greatest(one: Pair, other: Pair) -> Pair:
    return max(one[0], other[0]), max(one[1], other[1])


def _least_moves(_: Pair, one: Pair, other: Pair) -> tuple[Pair | None, Pair | None]:
    if one[1] <= other[0]:
        return UNIT, None
    return (None, UNIT) if other[1] <= one[0] else ((0.0, 1.0), (0.0, 1.0))


def _greatest_moves(_: Pair, one: Pair, other: Pair) -> tuple[Pair | None, Pair | None]:
    if one[0] >= other[1]:
        return UNIT, None
    return (None, UNIT) if other[0] >= one[1] else ((0.0, 1.0), (0.0, 1.0))


def _stepped(step: Callable[[float], int]) -> Callable[[Pair], Pair]:
    """Ends within a hair of a whole number may belong to the step before or after."""

    def value(inner: Pair) -> Pair:
        low, high = inner
        if low == high and low.is_integer():
            return inner
        if math.isfinite(low):
            low = float(step(low - _WHOLE * abs(low)))
        if math.isfinite(high):
            high = float(step(high + _WHOLE * abs(high)))
        return low, high

    return value


def _steps_move(value: Pair, _: Pair) -> tuple[Pair | None]:
    return (None,) if value[0] == value[1] else (UPWARDS,)


def _remainder(value: Pair, divisor: Pair) -> Pair:
    points = value[0] == value[1] and divisor[0] == divisor[1] > 0
    if points and value[0].is_integer() and divisor[0].is_integer():
        return (math.fmod(value[0], divisor[0]) % divisor[0],) * 2
    return (0.0, divisor[1]) if divisor[0] > 0 else EVERYTHING


def _may_jump(value: Any, *parts: Any) -> tuple[Pair | None, ...]:
    fixed = isinstance(value, tuple) and value[0] == value[1]
    return (None if fixed else EVERYTHING,) * len(parts)


def _magnitude(value: Pair) -> Pair:
    low, high = value
    if low >= 0:
        return value
    return (-high, -low) if high <= 0 else (0.0, max(-low, high))


def _magnitude_moves(_: Pair, value: Pair) -> tuple[Pair]:
    if value[0] >= 0:
        return (UNIT,)
    return ((-1.0, -1.0),) if value[1] <= 0 else ((-1.0, 1.0),)


def _cases(*parts: Any) -> Pair:
    """Terms and conditions by turns: the hull of the terms that may be the one."""
    found: Pair | None = None
    for term, condition in zip(parts[::2], parts[1::2], strict=True):
        if condition is False:
            continue
        found = term if found is None else hull(found, term)
        if condition is True:
            break
    return EVERYTHING if found is None else found


def _case_moves(_: Any, *parts: Any) -> tuple[Pair | None, ...]:
    conditions = parts[1::2]
    first = next((i for i, c in enumerate(conditions) if c is not False), None)
    if first is None or conditions[first] is None:
        # It may jump from one case to another.
        return (EVERYTHING,) * len(parts)
    return tuple(UNIT if index == 2 * first else None for index in range(len(parts)))


# -- truths: True, False, or None where the box holds both


def _all(*parts: bool | None) -> bool | None:
    if False in parts:
        return False
    return None if None in parts else True


def _any(*parts: bool | None) -> bool | None:
    if True in parts:
        return True
    return None if None in parts else False


def _negated(part: bool | None) -> bool | None:
    return None if part is None else not part


def _apart(low: float, high: float) -> float:
    """By how much the one is more than the other, relative to the larger."""
    if low <= high:
        return 0.0
    scale = max(abs(low), abs(high))
    return math.inf if math.isinf(scale) else (low - high) / scale


def _at_most(left: Pair, right: Pair) -> bool | None:
    if _apart(left[1], right[0]) < _SURELY_NEAR:
        return True
    return False if _apart(left[0], right[1]) > _SURELY_BEYOND else None


def _below(left: Pair, right: Pair) -> bool | None:
    if left[1] < right[0]:
        return True
    return False if left[0] >= right[1] else None


def _equal(left: Pair, right: Pair) -> bool | None:
    if max(_apart(left[0], right[1]), _apart(right[0], left[1])) > _SURELY_BEYOND:
        return False
    farthest = max(_apart(left[1], right[0]), _apart(right[1], left[0]))
    return True if farthest < _SURELY_NEAR else None


def _sides_move(_: Any, left: Any, right: Any) -> tuple[Pair, Pair]:
    return UNIT, (-1.0, -1.0)


def _everything_moves(_: Any, *parts: Any) -> tuple[Pair, ...]:
    return (EVERYTHING,) * len(parts)


@cache
def _table() -> dict[type, Rule]:
    import sympy

    from formulas.expressions import Round

    add = Rule(2, added, lambda _, one, other: (UNIT, UNIT))
    times = Rule(2, multiplied, lambda _, one, other: (other, one))

    def turned(test: Callable[[Pair, Pair], bool | None]) -> Callable[..., bool | None]:
        return lambda left, right: test(right, left)

    truths: dict[type, Callable[..., bool | None]] = {
        sympy.Le: _at_most,
        sympy.Ge: turned(_at_most),
        sympy.Lt: _below,
        sympy.Gt: turned(_below),
        sympy.Eq: _equal,
        sympy.Ne: lambda left, right: _negated(_equal(left, right)),
    }
    return {
        sympy.Add: add,
        sympy.Mul: times,
        sympy.Pow: Rule(2, powered, _power_moves),
        sympy.log: Rule(
            1, _log, lambda _, value: (inverted(value) if value[0] >= 0 else EVERYTHING,)
        ),
        sympy.exp: Rule(1, _exp, lambda value, _: (value,)),
        sympy.ceiling: Rule(1, _stepped(math.ceil), _steps_move),
        sympy.floor: Rule(1, _stepped(math.floor), _steps_move),
        Round: Rule(1, _stepped(round), _steps_move),
        sympy.Mod: Rule(2, _remainder, _may_jump),
        sympy.Min: Rule(2, _least, _least_moves),
        sympy.Max: Rule(2, _greatest, _greatest_moves),
        sympy.Abs: Rule(1, _magnitude, _magnitude_moves),
        sympy.Piecewise: Rule(None, _cases, _case_moves),
        sympy.And: Rule(None, _all, _everything_moves),
        sympy.Or: Rule(None, _any, _everything_moves),
        sympy.Not: Rule(None, _negated, _everything_moves),
        **{kind: Rule(None, test, _sides_move) for kind, test in truths.items()},
    }


@cache
def node_rule(kind: type) -> Rule | None:
    """The rule of a class of nodes or of its nearest ancestor; None for what is a number."""
    table = _table()
    return next((table[c] for c in kind.__mro__ if c in table), None)
