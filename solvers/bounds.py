"""The set of values that meet every limit, and its largest and smallest.

The roots of all constraints and the ends of the domain cut the line into points and open pieces;
one exact evaluation in each decides. Monotonicity is never assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import sympy

from formulas.quantity import Domain, Quantity
from solvers.answer import Interval
from solvers.exact import substitute
from solvers.number import Number, Undefined, ceiling, divide, floor, less, minus, same
from solvers.roots import Unseparated, bends, distinct, real_roots, smooth_arms

_MOST_LEVELS = 2000
_STEPS = (sympy.ceiling, sympy.floor)


@dataclass(frozen=True, slots=True)
class Piece:
    """A point, or an open stretch of the line with a point inside it to test."""

    span: Interval
    test: Number


@dataclass(frozen=True, slots=True)
class Feasible:
    """Which constraints hold on each piece of the line."""

    pieces: tuple[Piece, ...]
    holds: tuple[Mapping[str, bool], ...]

    def intervals(self, names: Iterable[str] | None = None) -> list[Interval]:
        """The pieces on which all constraints (or those named) hold, joined, from low to high."""
        wanted = None if names is None else set(names)
        joined: list[Interval] = []
        before = False
        for piece, holds in zip(self.pieces, self.holds, strict=True):
            good = all(ok for name, ok in holds.items() if wanted is None or name in wanted)
            if good and before:
                last = joined.pop()
                joined.append(
                    Interval(last.low, piece.span.high, last.low_open, piece.span.high_open)
                )
            elif good:
                joined.append(piece.span)
            before = good
        return joined

    def failing_beyond(self, end: Number | None, upwards: bool) -> tuple[str, ...]:
        """The constraints that fail on the piece next to an end; none where the line itself ends
        there.
        """
        for index, piece in enumerate(self.pieces):
            edge = piece.span.low if upwards else piece.span.high
            point = piece.span.low == piece.span.high
            if edge is None or end is None or not same(edge, end):
                continue
            if not point or not all(self.holds[index].values()):
                bad = tuple(n for n, ok in self.holds[index].items() if not ok)
                if bad:
                    return bad
        return ()

    def smallest_clash(self) -> tuple[str, ...]:
        """A smallest set of constraints that no value meets together; empty where some value meets
        all.
        """
        names = list(self.holds[0]) if self.holds else []
        for size in range(1, len(names) + 1):
            for group in combinations(names, size):
                if not any(all(holds[n] for n in group) for holds in self.holds):
                    return group
        return ()


def feasible_set(constraints: Mapping[str, Any], quantity: Quantity) -> Feasible:
    """The line of the quantity's domain, cut where any constraint may change.

    A constraint is a truth value or a sympy condition in the quantity's symbol. Raises Unseparated
    where the cuts cannot be found completely.
    """
    symbol, domain = quantity.symbol, quantity.domain
    smooth = {n: c for n, c in constraints.items() if not _has_steps(c, symbol)}
    stepped = {n: c for n, c in constraints.items() if n not in smooth}
    points = _cuts(smooth.values(), symbol, domain)
    if stepped:
        window = _feasible(smooth, points, quantity).intervals()
        points = distinct([*points, *_levels(stepped.values(), symbol, window)])
    return _feasible(constraints, points, quantity)


def _feasible(constraints: Mapping[str, Any], points: list[Number], quantity: Quantity) -> Feasible:
    pieces = pieces_of(points, quantity.domain)
    holds = tuple(
        {
            name: holds_at(condition, quantity.name, piece.test)
            for name, condition in constraints.items()
        }
        for piece in pieces
    )
    return Feasible(tuple(pieces), holds)


def holds_at(condition: Any, name: str, value: Number) -> bool:
    """Whether a condition holds at a value of the quantity; where it has no value it does not."""
    if isinstance(condition, bool):
        return condition
    try:
        return substitute(condition, name, value) is True
    except Undefined:
        return False


def _has_steps(condition: Any, symbol: Any) -> bool:
    if isinstance(condition, bool):
        return False
    return any(symbol in node.free_symbols for node in condition.atoms(*_STEPS, sympy.Mod))


def _cuts(conditions: Iterable[Any], symbol: Any, domain: Domain) -> list[Number]:
    points: list[Number] = [end for end in (domain.low, domain.high) if end is not None]
    for condition in conditions:
        if isinstance(condition, bool):
            continue
        for relation in condition.atoms(sympy.core.relational.Relational):
            points += _zeros(relation.lhs - relation.rhs, symbol, domain)
    return distinct(points)


def _zeros(expr: Any, symbol: Any, domain: Domain) -> list[Number]:
    found: list[Number] = []
    for part in (expr, *bends(expr, symbol)):
        for arm in smooth_arms(part, symbol):
            if symbol in arm.free_symbols:
                found += real_roots(arm, symbol, domain.low, domain.high)
    return found


def _levels(conditions: Iterable[Any], symbol: Any, window: list[Interval]) -> list[Number]:
    """Where a ceiling or floor inside the window takes its steps."""
    if not window:
        return []
    low, high = window[0].low, window[-1].high
    if low is None or high is None:
        raise Unseparated("a stepped constraint on an unlimited line")
    found: list[Number] = []
    for condition in conditions:
        for node in condition.atoms(*_STEPS):
            if symbol in node.free_symbols:
                found += _steps_of(node.args[0], symbol, low, high)
        if any(symbol in node.free_symbols for node in condition.atoms(sympy.Mod)):
            raise Unseparated("a divisibility over a line")
    return found


def _steps_of(inner: Any, symbol: Any, low: Number, high: Number) -> list[Number]:
    ends = []
    turning = _zeros(sympy.diff(inner, symbol), symbol, Domain(_exact(low), _exact(high)))
    for at in distinct([low, *turning, high]):
        try:
            value = substitute(inner, symbol.name, at)
        except Undefined:
            raise Unseparated("a stepped constraint with a pole") from None
        ends.append(value)
    found = list(turning)
    first, last = int(floor(min(ends, key=float))), int(ceiling(max(ends, key=float)))
    if last - first > _MOST_LEVELS:
        raise Unseparated(f"a stepped constraint with {last - first} steps")
    for level in range(first, last + 1):
        found += _zeros(inner - level, symbol, Domain(_exact(low), _exact(high)))
    return found


def _exact(value: Number) -> Fraction:
    if isinstance(value, Fraction):
        return value
    man, exp = value.man_exp
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def pieces_of(points: list[Number], domain: Domain) -> list[Piece]:
    """The points, and the open pieces between and beyond them, inside the domain."""
    low, high = domain.low, domain.high
    found: list[Piece] = []
    if not points:
        return [Piece(Interval(), Fraction(0))]
    if low is None:
        found.append(Piece(Interval(None, points[0], True, True), _beyond(points[0], -1)))
    for left, right in pairwise(points):
        found += _point(left, domain)
        middle = divide(minus(left, minus(Fraction(0), right)), Fraction(2))
        found.append(Piece(Interval(left, right, True, True), middle))
    found += _point(points[-1], domain)
    if high is None:
        found.append(Piece(Interval(points[-1], None, True, True), _beyond(points[-1], 1)))
    return found


def _point(value: Number, domain: Domain) -> list[Piece]:
    if domain.low_open and domain.low is not None and value == domain.low:
        return []
    return [Piece(Interval(value, value), value)]


def _beyond(value: Number, sign: int) -> Number:
    size = max(abs(float(value)), 1.0)
    return minus(value, Fraction(-sign) * Fraction(size))


# -- rounding inwards


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest or smallest value of a feasible set; `open` where it is approached and not
    reached.
    """

    value: Number | None
    unbounded: bool = False
    open: bool = False


def extreme(intervals: list[Interval], sense: str, grid: Fraction | None) -> Extreme:
    """The end of the set in the direction asked, on the grid where there is one."""
    upwards = sense == "max"
    for interval in reversed(intervals) if upwards else intervals:
        end = interval.high if upwards else interval.low
        is_open = interval.high_open if upwards else interval.low_open
        if end is None:
            return Extreme(None, unbounded=True)
        if grid is None:
            return Extreme(end, open=is_open)
        value = on_grid(end, grid, upwards)
        if is_open and same(value, end):
            value = value - grid if upwards else value + grid
        if contains(interval, value):
            return Extreme(value)
    return Extreme(None)


def on_grid(value: Number, grid: Fraction, down: bool) -> Fraction:
    """The nearest multiple of the grid below, or above."""
    steps = divide(value, grid)
    return (floor(steps) if down else ceiling(steps)) * grid


def common(sets: list[tuple[Interval, ...]]) -> list[Interval]:
    """The intervals that lie in every one of several sets of intervals."""
    first, *others = sets
    kept = list(first)
    for other in others:
        kept = [both for one in kept for two in other if (both := _overlap(one, two)) is not None]
    return kept


def is_empty(span: Interval) -> bool:
    """True where no value lies in the interval."""
    if span.low is None or span.high is None or less(span.low, span.high):
        return False
    return span.low != span.high or span.low_open or span.high_open


def _overlap(one: Interval, two: Interval) -> Interval | None:
    low, low_open = _inner(one.low, one.low_open, two.low, two.low_open, upwards=True)
    high, high_open = _inner(one.high, one.high_open, two.high, two.high_open, upwards=False)
    shared = Interval(low, high, low_open, high_open)
    return None if is_empty(shared) else shared


def _inner(
    one: Number | None, one_open: bool, two: Number | None, two_open: bool, upwards: bool
) -> tuple[Number | None, bool]:
    """The end that leaves less of the line."""
    if one is None or two is None:
        return (two, two_open) if one is None else (one, one_open)
    if one == two:
        return one, one_open or two_open
    return (one, one_open) if less(two, one) == upwards else (two, two_open)


def contains(interval: Interval, value: Number) -> bool:
    """True where the value lies in the interval."""
    low, high = interval.low, interval.high
    above = low is None or less(low, value) or (same(low, value) and not interval.low_open)
    below = high is None or less(value, high) or (same(high, value) and not interval.high_open)
    return above and below
