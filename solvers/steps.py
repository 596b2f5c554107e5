"""An equation with a ceiling or floor in it: where its steps satisfy it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from formulas.quantity import Domain, Quantity, stand_in
from solvers.bounds import pieces_of
from solvers.branches import Refused, Root
from solvers.equation import Solved, admitted, piece_by_piece, real
from solvers.exact import substitute
from solvers.isolate import isolate
from solvers.number import Number, Undefined, ceiling, floor, is_number, less, minus, same, to_sympy
from solvers.roots import Unseparated, bends, distinct, smooth_arms, zeros

MOST_STEPS = 500
# Nothing is counted beyond what floats count one by one.
_LAST = 2.0**53
_MOST_BOXES = 4096


def on_one_step(
    expr: Any, target: Number, quantity: Quantity, steps: list[Any], reason: str
) -> Solved:
    """Every value for which the expression, with one step in it, is the target."""
    if len(steps) > 1:
        return Solved(refused=reason)
    step = steps[0]
    level = stand_in(integer=True)
    outer = expr.xreplace({step: level})
    try:
        if quantity.symbol in outer.free_symbols:
            return _step_by_step(expr, target, quantity, (step, level, outer), reason)
        return _where_it_holds(expr, target, quantity, (step, level, outer), reason)
    except Unseparated as trouble:
        return Solved(refused=f"{reason}; {trouble}")


def _where_it_holds(
    expr: Any, target: Number, quantity: Quantity, parts: tuple[Any, Any, Any], reason: str
) -> Solved:
    """ceil(g) = n is n - 1 < g <= n: where g takes these values the line is cut."""
    step, level, outer = parts
    branches = isolate(outer, to_sympy(target), level)
    if isinstance(branches, Refused):
        return Solved(refused=branches.reason)
    points: list[Number] = []
    for branch in branches:
        values = real(branch.value) if isinstance(branch, Root) else []
        # A figure that was rounded when it was stated means the step that it is nearest to.
        for value in (floor(v + Fraction(1, 2)) for v in values if is_number(v) and _is_step(v)):
            for edge in (value - 1, value, value + 1):
                points += zeros(step.args[0] - to_sympy(edge), quantity.symbol, quantity.domain)
    return piece_by_piece(expr, target, quantity, distinct(points))


def _is_step(value: Number) -> bool:
    return same(value, floor(value + Fraction(1, 2)))


def _step_by_step(
    expr: Any, target: Number, quantity: Quantity, parts: tuple[Any, Any, Any], reason: str
) -> Solved:
    """On each step the equation is smooth; only where the target lies between the value without
    the rounding and the value with a whole step of it can any step meet the equation.
    """
    step, level, outer = parts
    symbol, domain, goal = quantity.symbol, quantity.domain, to_sympy(target)
    if level in sympy.diff(outer, level).free_symbols:
        return Solved(refused=reason)  # between the two values it might turn
    inner = step.args[0]
    whole = 1 if isinstance(step, sympy.ceiling) else -1
    sides = [outer.xreplace({level: side}) - goal for side in (inner, inner + whole)]
    cuts = distinct([p for side in sides for p in zeros(side, symbol, domain)])
    found: list[Number] = []
    for piece in pieces_of(cuts, domain):
        if piece.span.low == piece.span.high or not _may_meet(sides, quantity.name, piece.test):
            continue
        window = Domain(_fraction(piece.span.low), _fraction(piece.span.high))
        if window.low is None or window.high is None:
            return Solved(refused=reason)
        for number in _levels(inner, quantity, window):
            found += zeros(outer.xreplace({level: sympy.Integer(number)}) - goal, symbol, window)
    # A step may also take the target where the line is cut.
    return admitted(expr, target, quantity, distinct([*found, *cuts]), [])


def _may_meet(sides: list[Any], name: str, at: Number) -> bool:
    """Whether the target lies between the two values, or on one; unknown counts as yes."""
    try:
        one, other = (substitute(side, name, at) for side in sides)
    except Undefined:
        return True
    nothing = minus(one, one)
    return nothing in (one, other) or less(one, nothing) != less(other, nothing)


def _levels(inner: Any, quantity: Quantity, window: Domain) -> range:
    """The steps that the expression takes in the window."""
    symbol = quantity.symbol
    turning = [p for part in bends(inner, symbol) for p in zeros(part, symbol, window)]
    for arm in smooth_arms(inner, symbol):
        turning += zeros(sympy.diff(arm, symbol), symbol, window)
    values = []
    for at in (window.low, *turning, window.high):
        assert at is not None
        try:
            values.append(substitute(inner, quantity.name, at))
        except Undefined:
            raise Unseparated("a step with a pole") from None
    first, last = min(map(floor, values)), max(map(ceiling, values))
    if last - first > MOST_STEPS:
        raise Unseparated(f"a stepped equation with {last - first} steps")
    return range(int(first), int(last) + 1)


def none_from(expr: Any, target: Number, quantity: Quantity, first: int) -> bool:
    """Whether it is proved, stretch by stretch, that no whole number from here on is a solution."""
    from solvers.enclosure import enclosure

    last = _LAST if quantity.domain.high is None else float(quantity.domain.high)
    stretches = [(float(first), last)]
    wanted = float(target)
    room = 2e-9 * abs(wanted)
    for _ in range(_MOST_BOXES):
        if not stretches:
            return True
        low, high = stretches.pop()
        least, most = enclosure(expr, {quantity.name: (low, high)})
        if high < low or least > wanted + room or most < wanted - room:
            continue
        middle = float(floor(Fraction((low * high) ** 0.5)))
        if not low < middle < high:
            return False
        stretches += [(low, middle), (middle, high)]
    return False


def _fraction(value: Number | None) -> Any:
    from solvers.number import fraction_of

    return None if value is None else fraction_of(value)
