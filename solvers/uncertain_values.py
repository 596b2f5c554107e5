"""A value or an inverse over a box of uncertain facts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

from formulas.formula import VOCABULARY
from solvers.along import Along
from solvers.answer import Answer, Check, Exact, Infeasible, Interval, Range, Unproved
from solvers.curve import Curve, curve_of
from solvers.enclosure import enclosure, slopes
from solvers.exact import evaluate
from solvers.found import Lacking
from solvers.number import Undefined, is_number, less, to_sympy
from solvers.slopes import NotSmooth
from solvers.solve import Request, solve
from solvers.uncertain import Box, at, corners, halves, middle_of, noted, widest

_MOST_CUTS = 3000
_CLOSE = 1e-9


def value_within(request: Request, box: Box, middle: Exact) -> Answer:
    """Between what the value lies; the middle's own answer where no uncertain fact moves it."""
    if middle.branches:
        return Unproved(request.find, _reason("several values in a range of", box))
    try:
        curve = curve_of(request, middle)
        if curve.gap is None:
            return _forwards(request, box, middle, curve)
        return _backwards(request, box, middle, curve)
    except (NotSmooth, Lacking, Undefined) as trouble:
        return Unproved(
            request.find, f"{_reason('not carried through a range of', box)} ({trouble})"
        )


def _reason(text: str, box: Box) -> str:
    return f"{text} {' and '.join(sorted(box))}"


def _forwards(request: Request, box: Box, middle: Exact, curve: Curve) -> Answer:
    along = Along(curve.chain, frozenset(box))
    expr = along.of(VOCABULARY[curve.find].symbol)
    _refuse_deciding(along, (curve.find,))
    if is_number(expr):
        return middle
    signs = signs_of(expr, box)
    if None not in signs.values():
        ends = corners(box, _known(signs))
        return ranged(middle, solve(at(request, ends.least)), solve(at(request, ends.greatest)))
    low, high = bounds(expr, box)
    found = Range(middle.find, (Interval(low, high),), evidence=middle.evidence)
    return _outwards(found, [name for name, sign in signs.items() if sign is None])


def _backwards(request: Request, box: Box, middle: Exact, curve: Curve) -> Answer:
    """The root of what is stated: between its values at two corners, where it turns nowhere."""
    gap = curve.gap
    assert gap is not None
    free = frozenset(box) - {gap.name} if gap.limit is not None else frozenset(box)
    along = Along(curve.chain, free | {curve.find})
    # The target of the equation, where it is uncertain itself, is a symbol of its own.
    stated = VOCABULARY[gap.name].symbol if gap.limit is not None and gap.name in box else None
    right = along.of(gap.right) if stated is None else stated
    expr = _difference(along.of(gap.left), right)
    _refuse_deciding(along, [s.name for side in (gap.left, gap.right) for s in side.free_symbols])
    moving = frozenset(s.name for s in expr.free_symbols) & box.keys()
    if not moving:
        return middle
    inner = {name: box[name] for name in moving}
    domain = VOCABULARY[curve.find].domain
    whole = (
        -math.inf if domain.low is None else domain.low,
        math.inf if domain.high is None else domain.high,
    )
    signs, own = _root_signs(expr, inner, curve.find, whole)
    if own is None or None in signs.values():
        # Over a narrower stretch, which the roots at the corners then have to lie in.
        stretch = (curve.value / 4, curve.value * 4)
        signs, own = _root_signs(expr, inner, curve.find, stretch)
        whole = stretch
    if own is None or None in signs.values():
        unknown = [name for name, sign in signs.items() if sign is None] or [curve.find]
        raise NotSmooth(f"it may turn along {unknown[0]}")
    moves = {name: -own * (sign or 0) for name, sign in signs.items()}
    ends = corners(inner, moves)
    low, high = (solve(at(request, point)) for point in (ends.least, ends.greatest))
    for end in (low, high):
        if isinstance(end, Exact) and not _between(end, whole):
            raise NotSmooth(f"{curve.find} leaves the stretch that was looked at")
    return ranged(middle, low, high)


def _between(end: Exact, stretch: tuple[Any, Any]) -> bool:
    low, high = (float(side) for side in stretch)
    values = [branch.value for branch in end.branches] or [end.value]
    return len(values) == 1 and low <= float(values[0]) <= high


def _root_signs(
    expr: Any, box: Box, find: str, stretch: tuple[Any, Any]
) -> tuple[dict[str, int | None], int | None]:
    """Which way the two sides drift apart in each fact, and in what is asked."""
    found = slopes(expr, {**box, find: stretch})
    own = _sign(found.get(find, (0.0, 0.0)))
    return {name: _sign(found.get(name, (0.0, 0.0))) for name in box}, own or None


def _difference(left: Any, right: Any) -> Any:
    return to_sympy(left) - to_sympy(right)


def _refuse_deciding(along: Along, names: Iterable[str]) -> None:
    deciding = along.deciding(names)
    if deciding:
        raise NotSmooth(f"which relation answers depends on {sorted(deciding)[0]}")


# -- proof of direction


def signs_of(expr: Any, box: Mapping[str, Any]) -> dict[str, int | None]:
    """For each side of the box whether the expression grows (1) or falls (-1) with it everywhere
    in the box, stays (0), or neither is proved (None).
    """
    found = slopes(expr, box)
    return {name: _sign(found.get(name, (0.0, 0.0))) for name in box}


def _sign(slope: tuple[float, float]) -> int | None:
    low, high = slope
    if low == high == 0:
        return 0
    if low >= 0:
        return 1
    return -1 if high <= 0 else None


def _known(signs: Mapping[str, int | None]) -> dict[str, int]:
    return {name: sign or 0 for name, sign in signs.items()}


# -- where it may turn


def bounds(expr: Any, box: Box) -> tuple[Fraction, Fraction]:
    """Between what the expression lies over the box, rounded outwards.

    NotSmooth where no bound is found.
    """
    return -_greatest(-expr, box), _greatest(expr, box)


def _greatest(expr: Any, box: Box) -> Fraction:
    """No value in the box is greater, and some value is nearly as great."""
    best = _least_of_corners(expr, box)
    todo: list[tuple[float, int, Box]] = []
    number = count()
    _push(todo, expr, box, number)
    for _ in range(_MOST_CUTS):
        top = -todo[0][0]
        if top <= best + _CLOSE * abs(best):
            break
        _, _, part = heapq.heappop(todo)
        signs = signs_of(expr, part)
        turning = frozenset(n for n, sign in signs.items() if sign is None)
        if not turning:
            value = _value(expr, corners(part, _known(signs)).greatest)
            best = max(best, value)
            heapq.heappush(todo, (-math.nextafter(value, math.inf), next(number), part))
            continue
        ends = corners(part, _known(signs))
        # In the directions that are proved, only one end of the side can be the greatest.
        sides = {n: part[n] if n in turning else (ends.greatest[n],) * 2 for n in part}
        for half in halves(sides, widest(sides, turning)):
            best = max(best, _value(expr, middle_of(half)))
            _push(todo, expr, half, number)
    top = -todo[0][0]
    if not math.isfinite(top):
        raise NotSmooth("no bound was found")
    return Fraction(top)


def _push(todo: list[tuple[float, int, Box]], expr: Any, box: Box, number: Iterator[int]) -> None:
    heapq.heappush(todo, (-enclosure(expr, box)[1], next(number), box))


def _least_of_corners(expr: Any, box: Box) -> float:
    low = {name: ends[0] for name, ends in box.items()}
    high = {name: ends[1] for name, ends in box.items()}
    return max(_value(expr, low), _value(expr, high))


def _value(expr: Any, point: Mapping[str, Fraction]) -> float:
    value = evaluate(expr, point.__getitem__)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# -- the answer


def ranged(middle: Answer, low: Answer, high: Answer) -> Answer:
    """From one end's value to the other's; an end without one is said."""
    for end in (low, high):
        if isinstance(end, Infeasible):
            raise NotSmooth(f"at one end there is no value: {end.reason}")
        if not isinstance(end, Exact) or end.branches:
            raise NotSmooth("at one end there is no one value")
    assert isinstance(low, Exact)
    assert isinstance(high, Exact)
    first, last = (high, low) if less(high.value, low.value) else (low, high)
    checks = worst([*middle.evidence.checks, *low.evidence.checks, *high.evidence.checks])
    proof = replace(middle.evidence, checks=checks)
    found = Range(middle.find, (Interval(first.value, last.value),), evidence=proof)
    return noted(found, "steps and assumptions are those at the middle of what is stated")


def worst(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Of each limit the check that has the least room."""
    found: dict[str, Check] = {}
    for check in checks:
        found[check.name] = min(found.get(check.name, check), check, key=_room)
    return tuple(found.values())


def _room(check: Check) -> tuple[bool, float]:
    return check.holds, 0.0 if check.slack is None else check.slack


def _outwards(found: Range, turning: list[str]) -> Answer:
    names = " and ".join(turning)
    return noted(found, f"it may turn along {names}: the ends are rounded outwards")
