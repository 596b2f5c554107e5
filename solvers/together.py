"""Several equations in as many unknowns: eliminated to one, solved there, and put back.

Min, max and cases are taken one arm at a time; every solution of an arm is tried in the equations
as they stand, so that what is told satisfies them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from formulas.quantity import Domain, Quantity
from solvers.equation import solve_equation
from solvers.exact import evaluate
from solvers.inverses import arms_of
from solvers.number import (
    Number,
    Undefined,
    floor,
    inside,
    is_number,
    minus,
    rounded,
    same,
    short,
    to_sympy,
)
from solvers.roots import Unseparated, zeros

_MOST_ARMS = 128
# No count of tokens or sequences, and no amount of anything, is beyond these.
_FAR_COUNT, _FAR = Fraction(10**12), Fraction(10**27)
_PLAIN = Fraction(1, 10**12)
_BENT = (sympy.Min, sympy.Max, sympy.Abs, sympy.Piecewise)
_STEPPED = (sympy.ceiling, sympy.floor, sympy.Mod)

Point = dict[str, Number]


@dataclass(frozen=True, slots=True)
class Together:
    """Every point that satisfies all equations; `refused` says where the search did not reach.

    `dropped` are solutions outside a domain.
    """

    points: tuple[Point, ...] = ()
    refused: str = ""
    dropped: tuple[Point, ...] = ()


def solve_together(sides: Sequence[tuple[Any, Any]], unknowns: Sequence[Quantity]) -> Together:
    """The points at which both sides of each equation are equal, inside all domains."""
    gaps = tuple(to_sympy(left) - to_sympy(right) for left, right in sides)
    own = {q.symbol for q in unknowns}
    foreign = frozenset[Any]().union(*(gap.free_symbols for gap in gaps)) - own
    if foreign:
        names = ", ".join(sorted(symbol.name for symbol in foreign))
        return Together(refused=f"it depends on {names}, which is not known")
    if len(unknowns) == 1 and len(sides) == 1:
        return _alone(*sides[0], unknowns[0])
    if any(gap.has(*_STEPPED) for gap in gaps):
        return Together(refused="several unknowns under a ceiling, floor or remainder")
    found: list[Point] = []
    try:
        for arm in _arms(gaps, own):
            found += _eliminated(list(arm), list(unknowns))
    except (Unseparated, _Beyond) as trouble:
        return Together(refused=str(trouble))
    points: list[Point] = []
    dropped: list[Point] = []
    for point in _distinct(found):
        if _satisfies(sides, point):
            kept = all(inside(q.domain, point[q.name]) for q in unknowns)
            (points if kept else dropped).append(_plain(sides, point))
    return Together(tuple(points), dropped=tuple(dropped))


class _Beyond(Exception):
    """The elimination does not reach; the text says why."""


def _alone(left: Any, right: Any, quantity: Quantity) -> Together:
    if is_number(left):
        left, right = right, left
    target = right if is_number(right) else Fraction(0)
    gap = left if is_number(right) else to_sympy(left) - to_sympy(right)
    solved = solve_equation(gap, target, quantity)
    if solved.spans:
        return Together(refused=f"a whole stretch of {quantity.name} satisfies it")
    return Together(
        tuple({quantity.name: value} for value in solved.points),
        solved.refused,
        tuple({quantity.name: value} for value in solved.dropped),
    )


def _arms(gaps: tuple[Any, ...], symbols: set[Any]) -> Iterator[tuple[Any, ...]]:
    """The equations with each min, max and case replaced by one of its arms, in every way."""
    todo, done = [gaps], 0
    while todo:
        row = todo.pop()
        bend = next((n for gap in row for n in _bends(gap, symbols)), None)
        if bend is None:
            done += 1
            yield row
        else:
            arms = dict.fromkeys(arm for arm, _ in arms_of(bend))
            todo += [tuple(gap.xreplace({bend: arm}) for gap in row) for arm in arms]
        if done + len(todo) > _MOST_ARMS:
            raise _Beyond(f"more than {_MOST_ARMS} arms of min, max and cases")


def _bends(gap: Any, symbols: set[Any]) -> Iterator[Any]:
    for node in sympy.postorder_traversal(gap):
        if isinstance(node, _BENT) and node.free_symbols & symbols:
            yield node


def _eliminated(gaps: list[Any], unknowns: list[Quantity]) -> list[Point]:
    """Solutions of smooth equations, some of them perhaps of a multiple of them only."""
    tops = [sympy.expand(sympy.fraction(sympy.together(gap))[0]) for gap in gaps]
    if any(top.is_number for top in tops):
        return []  # an equation without an unknown; 0 = 0 would leave one free
    if len(unknowns) == 1:
        quantity = unknowns[0]
        roots = zeros(tops[0], quantity.symbol, _within_reach(quantity.domain))
        return [{quantity.name: root} for root in roots]
    row, quantity = _linear(tops, unknowns) or _polynomial(tops, unknowns)
    rest = [q for q in unknowns if q is not quantity]
    others = [top for number, top in enumerate(tops) if number != row]
    symbol = quantity.symbol
    poly = sympy.Poly(tops[row], symbol)
    if poly.degree() == 1:
        a, b = poly.all_coeffs()
        value = -b / a
        return [
            {**point, quantity.name: number}
            for point in _eliminated([top.xreplace({symbol: value}) for top in others], rest)
            if (number := _value(value, point)) is not None
        ]
    reduced = [_resultant(tops[row], top, symbol) for top in others]
    return [
        {**point, quantity.name: root}
        for point in _eliminated(reduced, rest)
        for root in zeros(_at(tops[row], point, rest), symbol, _within_reach(quantity.domain))
    ]


def _within_reach(domain: Domain) -> Domain:
    """The part of an endless line on which a solution can mean anything."""
    far = _FAR_COUNT if domain.whole else _FAR
    low = domain.low if domain.low is not None else -far
    return replace(domain, low=low, high=far if domain.high is None else domain.high)


def _linear(tops: list[Any], unknowns: list[Quantity]) -> tuple[int, Quantity] | None:
    """The equation and the unknown that stands in it to the first power; the shortest such one.

    One that stands in an exponent elsewhere is left for last.
    """
    bent = {q.name: sum(not top.is_polynomial(q.symbol) for top in tops) for q in unknowns}
    found = [
        (bent[quantity.name], sympy.count_ops(top), row, quantity)
        for row, top in enumerate(tops)
        for quantity in unknowns
        if top.is_polynomial(quantity.symbol) and sympy.Poly(top, quantity.symbol).degree() == 1
    ]
    return min(found, key=lambda r: (*r[:3], r[3].name))[2:] if found else None


def _polynomial(tops: list[Any], unknowns: list[Quantity]) -> tuple[int, Quantity]:
    """An unknown that is polynomial in every equation where it stands, and one of these."""
    for quantity in unknowns:
        rows = [row for row, top in enumerate(tops) if quantity.symbol in top.free_symbols]
        if rows and all(tops[row].is_polynomial(quantity.symbol) for row in rows):
            return min(rows, key=lambda r: sympy.Poly(tops[r], quantity.symbol).degree()), quantity
    names = ", ".join(q.name for q in unknowns)
    raise _Beyond(f"none of {names} can be put alone on one side")


def _resultant(one: Any, other: Any, symbol: Any) -> Any:
    return other if symbol not in other.free_symbols else sympy.resultant(one, other, symbol)


def _value(expr: Any, point: Point) -> Number | None:
    try:
        value = evaluate(expr, point.__getitem__)
    except Undefined:
        return None
    return value if is_number(value) else None


def _at(expr: Any, point: Point, quantities: list[Quantity]) -> Any:
    return expr.xreplace({q.symbol: to_sympy(point[q.name]) for q in quantities})


def _satisfies(sides: Sequence[tuple[Any, Any]], point: Point) -> bool:
    """The proof by substitution: both sides of each equation are numbers, and equal."""
    for left, right in sides:
        values = [side if is_number(side) else _value(side, point) for side in (left, right)]
        if None in values or not same(*values):
            return False
    return True


def _plain(sides: Sequence[tuple[Any, Any]], point: Point) -> Point:
    """The point with whole numbers where those satisfy the equations as well."""
    plain = {name: _whole(value) for name, value in point.items()}
    return plain if plain != point and _satisfies(sides, plain) else point


def _whole(value: Number) -> Number:
    nearest = floor(minus(value, Fraction(-1, 2)))
    near = abs(rounded(minus(value, nearest))) <= abs(rounded(value)) * rounded(_PLAIN)
    return nearest if near else (short(value) if isinstance(value, Fraction) else value)


def _distinct(points: list[Point]) -> list[Point]:
    kept: list[Point] = []
    for point in points:
        if not any(all(same(point[n], other[n]) for n in point) for other in kept):
            kept.append(point)
    return kept
