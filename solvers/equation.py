"""One equation in one unknown with numbers for the rest: every admissible value, each put back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from formulas.quantity import Domain, Quantity
from solvers.answer import Interval
from solvers.bounds import pieces_of
from solvers.branches import Branch, Refused, Root, Span
from solvers.exact import evaluate, substitute
from solvers.inverses import CASES
from solvers.isolate import isolate
from solvers.number import (
    EQUAL,
    Number,
    Undefined,
    ceiling,
    floor,
    from_sympy,
    inside,
    is_number,
    less,
    minus,
    rounded,
    to_sympy,
)
from solvers.roots import Unseparated, distinct, zeros
from solvers.spans import contains

_PLAIN = Fraction(1, 10**12)
_MOST_TRIED = 65_536
_LONGEST_RUN = 256
_CLOSE = 1e-6


@dataclass(frozen=True, slots=True)
class Solved:
    """Every value and every interval that satisfies the equation; `refused` where unknown."""

    points: tuple[Number, ...] = ()
    spans: tuple[Interval, ...] = ()
    refused: str = ""
    dropped: tuple[Number, ...] = ()


def solve_equation(expr: Any, target: Number, quantity: Quantity) -> Solved:
    """The values of the quantity for which the expression in its symbol equals the target."""
    symbol = quantity.symbol
    if _bends_in_several_places(expr, symbol):
        return _numerically(expr, target, quantity, f"{symbol} stands in several places")
    branches = isolate(expr, to_sympy(target), symbol)
    if isinstance(branches, Refused):
        return _numerically(expr, target, quantity, branches.reason)
    points: list[Number] = []
    spans: list[Interval] = []
    for branch in branches:
        if evaluate(branch.condition, _nothing) is not True:
            continue
        if isinstance(branch, Root):
            points += real(branch.value)
        else:
            spans += clipped(branch, quantity.domain)
    solved = admitted(expr, target, quantity, points, spans)
    if solved.points or solved.spans:
        return solved
    return _within_tolerance(expr, target, quantity, solved)


def _within_tolerance(expr: Any, target: Number, quantity: Quantity, exact: Solved) -> Solved:
    """What a step or a choice comes to within the tolerance, where nothing meets it exactly."""
    from solvers.steps import on_one_step

    steps = [
        node
        for node in expr.atoms(sympy.ceiling, sympy.floor)
        if quantity.symbol in node.free_symbols
    ]
    if steps and not quantity.domain.choices:
        near = on_one_step(expr, target, quantity, steps, "")
        return near if near.points or near.spans else exact
    return _any_choice(expr, target, quantity, exact)


def _any_choice(expr: Any, target: Number, quantity: Quantity, solved: Solved) -> Solved:
    """The choices of a discrete quantity that satisfy the equation within its tolerance."""
    hits = tuple(c for c in quantity.domain.choices if _meets(expr, target, quantity, c))
    return Solved(hits) if hits else solved


def only_root(expr: Any, target: Any, quantity: Quantity) -> Any:
    """The one value, or the one expression in another unknown, that makes expr the target; None
    where there are none or several.
    """
    if is_number(target) and expr.free_symbols == {quantity.symbol}:
        solved = solve_equation(expr, target, quantity)
        return solved.points[0] if len(solved.points) == 1 and not solved.spans else None
    branches = isolate(expr, to_sympy(target), quantity.symbol)
    if isinstance(branches, tuple) and len(branches) == 1 and isinstance(branches[0], Root):
        return branches[0].value if branches[0].condition == sympy.true else None
    return None


def _bends_in_several_places(expr: Any, symbol: Any) -> bool:
    """Where arms meet elsewhere than at one occurrence, a stretch may satisfy the equation too."""
    return bool(expr.has(*CASES) and expr.count(symbol) > 1)


def _nothing(name: str) -> Any:
    raise KeyError(name)


def real(value: Any) -> list[Number]:
    """The number that a branch comes to; none where it is none."""
    try:
        number = evaluate(value, _nothing)
    except Undefined:
        return []
    return [number] if is_number(number) else []


def clipped(branch: Branch, domain: Domain) -> list[Interval]:
    """The part of a span that lies in the domain; none where nothing is left."""
    assert isinstance(branch, Span)
    low, high = (None if end is None else from_sympy(end) for end in (branch.low, branch.high))
    low_open, high_open = branch.low_open, branch.high_open
    if domain.low is not None and (low is None or less(low, domain.low)):
        low, low_open = domain.low, domain.low_open
    if domain.high is not None and (high is None or less(domain.high, high)):
        high, high_open = domain.high, False
    empty = low is not None and high is not None and not less(low, high)
    if empty and (low != high or low_open or high_open):
        return []
    return [Interval(low, high, low_open, high_open)]


def _numerically(expr: Any, target: Number, quantity: Quantity, reason: str) -> Solved:
    """Roots of every arm cut the line; on each piece one point decides, as for a limit."""
    domain, symbol = quantity.domain, quantity.symbol
    if domain.choices:
        return _any_choice(expr, target, quantity, Solved())
    if expr.has(sympy.Mod):
        return Solved(refused=reason)
    from solvers.steps import none_from, on_one_step

    steps = [n for n in expr.atoms(sympy.ceiling, sympy.floor) if symbol in n.free_symbols]
    if steps and domain.whole:
        counted = _among_whole(expr, target, quantity, reason)
        last = int(domain.low or 0) + _MOST_TRIED
        if counted and counted.points and none_from(expr, target, quantity, last):
            return counted
        found = on_one_step(expr, target, quantity, steps, reason)
        if counted is None or not found.refused:
            return found
        more = f"{reason}; whole numbers from {last} on may satisfy it as well"
        return Solved(refused=more) if counted.points else counted
    if steps:
        return on_one_step(expr, target, quantity, steps, reason)
    try:
        points = zeros(expr - to_sympy(target), symbol, domain)
    except Unseparated as trouble:
        return Solved(refused=f"{reason}; {trouble}")
    return piece_by_piece(expr, target, quantity, points)


def piece_by_piece(expr: Any, target: Number, quantity: Quantity, points: list[Number]) -> Solved:
    """The points that satisfy the equation, and the pieces between them on which it holds."""
    domain = quantity.domain
    pieces = pieces_of(distinct([*points, *_ends(domain)]), domain)
    open_pieces = [p for p in pieces if p.span.low != p.span.high]
    spans = [p.span for p in open_pieces if _meets(expr, target, quantity, p.test)]
    closed = [replace(s, low_open=s.low is None, high_open=s.high is None) for s in spans]
    alone = [p for p in points if not any(contains(span, p) for span in closed)]
    return admitted(expr, target, quantity, alone, closed)


def _ends(domain: Domain) -> list[Number]:
    return [end for end in (domain.low, domain.high) if end is not None]


def _among_whole(expr: Any, target: Number, quantity: Quantity, reason: str) -> Solved | None:
    """A count under a ceiling is tried number by number; None where a stretch satisfies it."""
    near = sympy.lambdify(quantity.symbol, expr, modules="math")
    wanted, start = float(target), int(quantity.domain.low or 0)
    hits: list[Number] = []
    for number in range(start, start + _MOST_TRIED):
        try:
            close = abs(near(number) - wanted) <= _CLOSE * max(abs(wanted), 1e-300)
        except (ZeroDivisionError, ValueError, OverflowError):
            continue
        if close and _meets(expr, target, quantity, Fraction(number)):
            hits.append(Fraction(number))
        # Numbers one behind the other are a stretch, which has ends.
        if len(hits) > _LONGEST_RUN and number - hits[-_LONGEST_RUN] < _LONGEST_RUN:
            return None
    if not hits:
        return Solved(refused=f"{reason}; no whole number below {start + _MOST_TRIED} satisfies it")
    return Solved(tuple(hits))


def admitted(
    expr: Any, target: Number, quantity: Quantity, points: list[Number], spans: list[Interval]
) -> Solved:
    """The points in the domain that satisfy the equation when they are put back."""
    first = [plainest(expr, target, quantity, p) for p in points]
    plain = distinct(first)
    good = [p for p in plain if _meets(expr, target, quantity, p)]
    kept = [p for p in good if inside(quantity.domain, p)]
    outside = [p for p in good if not inside(quantity.domain, p)]
    # The order of the branches is kept: the principal root comes first.
    places = {value: place for place, value in reversed(list(enumerate(first)))}
    kept.sort(key=lambda p: places[p])
    closed = [_without_poles(expr, target, quantity, span) for span in spans]
    return Solved(tuple(kept), tuple(closed), dropped=tuple(outside))


def _without_poles(expr: Any, target: Number, quantity: Quantity, span: Interval) -> Interval:
    """The span without an end at which the equation does not hold, such as a pole at 0."""

    def open_at(end: Number | None, is_open: bool) -> bool:
        return is_open or (end is not None and not _meets(expr, target, quantity, end))

    return replace(
        span,
        low_open=open_at(span.low, span.low_open),
        high_open=open_at(span.high, span.high_open),
    )


def _meets(expr: Any, target: Number, quantity: Quantity, point: Number) -> bool:
    try:
        value = substitute(expr, quantity.name, point)
    except Undefined:
        return False
    return is_number(value) and _residual(expr, target, quantity, point) <= rounded(EQUAL)


def plainest(expr: Any, target: Number, quantity: Quantity, point: Number) -> Number:
    """0 or the nearest integer where it satisfies the equation within 1e-12 of its largest term."""
    for plain in dict.fromkeys((Fraction(0), _nearest(point))):
        if point == plain:
            return plain
        near = plain != 0 or less(abs(point), Fraction(1))
        if near and _residual(expr, target, quantity, plain) <= rounded(_PLAIN):
            return plain
    return point


def _nearest(point: Number) -> Fraction:
    below, above = floor(point), ceiling(point)
    return below if not less(minus(above, point), minus(point, below)) else above


def _residual(expr: Any, target: Number, quantity: Quantity, point: Number) -> Any:
    """How far the equation is from holding at a point, relative to its largest term."""
    try:
        value = substitute(expr, quantity.name, point)
        parts = [substitute(a, quantity.name, point) for a in expr.args] if expr.is_Add else []
    except Undefined:
        return rounded(Fraction(1))
    sizes = [abs(rounded(p)) for p in (*parts, value, target) if is_number(p)]
    if not is_number(value) or not sizes or max(sizes) == 0:
        return rounded(Fraction(0 if is_number(value) else 1))
    return abs(rounded(minus(value, target))) / max(sizes)
