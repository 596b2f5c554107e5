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
from solvers.branches import Refused, Span
from solvers.counts import MOST_COUNTED, holds_at, runs_of
from solvers.exact import substitute
from solvers.isolate import isolate_within
from solvers.monotone import turning
from solvers.number import Number, Undefined, ceiling, divide, floor, from_sympy, minus, same
from solvers.roots import Unseparated, bends, distinct, smooth_arms, zeros
from solvers.spans import on_grid

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
        """The constraints that fail on the piece next to an end; none where the line ends there."""
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
        """A smallest set of constraints that no value meets together; empty where one meets all."""
        names = list(self.holds[0]) if self.holds else []
        for size in range(1, len(names) + 1):
            for group in combinations(names, size):
                if not any(all(holds[n] for n in group) for holds in self.holds):
                    return group
        return ()


def feasible_set(
    constraints: Mapping[str, Any], quantity: Quantity, grid: Fraction | None = None
) -> Feasible:
    """The line of the quantity's domain, cut where any constraint may change.

    A constraint is a truth value or a sympy condition in the quantity's symbol. Raises Unseparated
    where the cuts cannot be found completely.
    """
    symbol, domain = quantity.symbol, quantity.domain
    smooth = {n: c for n, c in constraints.items() if not _has_steps(c, symbol)}
    stepped = {n: c for n, c in constraints.items() if n not in smooth}
    points = _cuts(smooth.values(), symbol, domain)
    for name in list(stepped):
        ends = _ends_of(stepped[name], symbol)
        if ends is None and grid is not None:
            ends = _turning(stepped[name], quantity, grid)
        if ends is not None:
            points = distinct([*points, *ends])
            del stepped[name]
    if stepped:
        window = _feasible(smooth, points, quantity).intervals()
        counted = _counted(constraints, quantity, window, grid)
        if counted is not None:
            return counted
        points = distinct([*points, *_levels(stepped.values(), symbol, window)])
    return _feasible(constraints, points, quantity)


def _counted(
    constraints: Mapping[str, Any],
    quantity: Quantity,
    window: list[Interval],
    grid: Fraction | None,
) -> Feasible | None:
    """The window as runs of grid points where the same constraints hold; None if it is long."""
    if grid is None or not window or window[0].low is None or window[-1].high is None:
        return None
    first = on_grid(window[0].low, grid, down=False)
    last = on_grid(window[-1].high, grid, down=True)
    if (last - first) / grid > MOST_COUNTED:
        return None
    runs = runs_of(constraints, quantity, first, last, grid)
    pieces = tuple(Piece(Interval(run.low, run.high), run.low) for run in runs)
    return Feasible(pieces, tuple(run.holds for run in runs))


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
            points += zeros(relation.lhs - relation.rhs, symbol, domain)
    return distinct(points)


def _ends_of(condition: Any, symbol: Any) -> list[Number] | None:
    """Where a stepped comparison turns, where it can be inverted as a whole."""
    if not isinstance(condition, sympy.Le | sympy.Ge):
        return None
    left, limit = condition.lhs, condition.rhs
    if not limit.is_number:
        left, limit = left - limit, sympy.Integer(0)
    goal = Span(high=limit) if isinstance(condition, sympy.Le) else Span(low=limit)
    branches = isolate_within(left, goal, symbol)
    if isinstance(branches, Refused):
        return None
    ends = [e for b in branches if isinstance(b, Span) for e in (b.low, b.high)]
    numbers = [e for e in ends if e is not None]
    return [from_sympy(e) for e in numbers] if all(e.is_number for e in numbers) else None


def _turning(condition: Any, quantity: Quantity, grid: Fraction) -> list[Number] | None:
    """The neighbours on the grid between which a rising or falling comparison turns."""
    low, high = quantity.domain.low, quantity.domain.high
    if low is None:
        return None
    first = on_grid(low, grid, down=False)
    return turning(condition, quantity.symbol, first, high, grid)


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
    window = Domain(_exact(low), _exact(high))
    turning = [p for part in bends(inner, symbol) for p in zeros(part, symbol, window)]
    for arm in smooth_arms(inner, symbol):
        turning += zeros(sympy.diff(arm, symbol), symbol, window)
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
        found += zeros(inner - level, symbol, Domain(_exact(low), _exact(high)))
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
