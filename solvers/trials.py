"""Points of a box that are worth a look, and what is done to make one meet everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from solvers.number import Number
from solvers.sides import Side, crossing, finite, middle_of
from solvers.state import Sides, Slopes, State
from solvers.system import Rooted
from solvers.tape_numbers import Pair

Point = dict[str, float]
# What a look at a part of a box costs.
_A_PLACE, _A_GAP = 0.08, 0.02


def trials(state: State, sides: Sides) -> list[Point]:
    """Points of the box that are worth a look."""
    first = {n: state.preferred(n, s) for n, s in sides.items()}
    second = {}
    for name, side in sides.items():
        middle = side.low if side.is_point else middle_of(side)
        at = side.within(middle, side.high)
        second[name] = first[name] if at is None or math.isinf(at.low) else at.low
    return [first] if first == second else [first, second]


def repaired(state: State, trial: Point, sides: Sides) -> Point:
    """The point after one quantity after the other is moved to where it breaks the least."""
    point = dict(trial)
    state.fill(point)
    least = _shortfall(state)
    for name, side in () if least == 0 else sides.items():
        node = state.system.tape.names.get(name)
        if side.is_point or node is None:
            continue
        nodes = state.system.moving((name,))
        before = [state.values[n] for n in nodes]
        best = point[name]
        for value in _places(state, name, side, point[name]):
            state.values[node] = (value, value)
            state.system.tape.run(state.values, nodes)
            state.looked += _A_PLACE * state.cost
            short = _shortfall(state)
            if short < least:
                best, least = value, short
                before = [state.values[n] for n in nodes]
        point[name] = best
        state.values[node] = (best, best)
        for n, value in zip(nodes, before, strict=True):
            state.values[n] = value
        if least == 0:
            break
    return point


def _places(state: State, name: str, side: Side, now: float) -> Iterator[float]:
    """Some values of a quantity, near and far."""
    if side.values is not None:
        yield from (v for v in side.values if v != now)
        return
    for low, high in ((side.low, now), (now, side.high)):
        inner = side.within(*sorted((low, high)))
        if inner is None or inner.is_point:
            continue
        yield state.preferred(name, state.end(name, inner, 1 if high != now else -1))
        middle = middle_of(inner)
        at = inner.within(middle, inner.high)
        if at is not None and at.low != now and not math.isinf(at.low):
            yield at.low


def _shortfall(state: State) -> float:
    """By how much, relative, the point that is filled in breaks what it breaks."""
    total = 0.0
    for row in state.conditions:
        if state.values[row.node] is True:
            continue
        node = row.compared[0]
        if len(row.compared) > 1 or node not in state.system.signs:
            total += 1.0
            continue
        left, right = (state.values[part] for part in state.system.tape.parts[node])
        gap, scale = abs(left[0] - right[0]), max(abs(left[0]), abs(right[0]))
        total += 1e-3 + (gap / scale if 0 < scale < math.inf and gap < math.inf else 1.0)
    return total


def met(
    state: State, sides: Sides, trial: Point, active: list[Rooted], slopes: Slopes
) -> dict[str, Number] | None:
    """The point if it meets everything, with equations solved for one quantity each."""
    point = dict(trial)
    used: set[str] = set()
    state.fill(point)
    for row in active:
        # What fails at the point is moved to where its sides are equal.
        if row.node in slopes and state.values[row.node] is not True:
            _solve(state, sides, row, point, slopes[row.node], used)
    state.looked += state.cost
    left = state.open(point)
    if left is None or any(map(math.isinf, point.values())):
        return None
    exact: dict[str, Number] = {name: Fraction(value) for name, value in point.items()}
    if not left or state.system.holds(state.kept, exact):
        return exact
    return None


def _solve(
    state: State,
    sides: Sides,
    row: Rooted,
    point: Point,
    slope: Mapping[str, Pair],
    used: set[str],
) -> None:
    """Move one quantity of the point to where both sides of a comparison are equal."""
    for name, (low, high) in slope.items():
        side = finite(sides[name])
        if name in used or side.values is not None or low == high == 0 or low < 0 < high:
            continue
        gap = _gap_in(state, row, name)
        found = crossing(gap, side.low, side.high)
        if found is not None and side.whole:
            sign = state.system.signs[row.node]
            beside = (float(math.floor(found)), float(math.ceil(found)))
            found = next((at for at in beside if sign * gap(at) > 0), float(round(found)))
        # What follows is solved at the point as it is then.
        gap(point[name] if found is None else found)
        if found is not None:
            point[name] = found
            used.add(name)
            return


def _gap_in(state: State, row: Rooted, name: str) -> Callable[[float], float]:
    """Left side less right side at the point that is filled in, as one quantity moves."""
    tape, values = state.system.tape, state.values
    node, sides = tape.names[name], tape.parts[row.node]
    nodes = state.system.moving((name,))

    def gap(value: float) -> float:
        values[node] = (value, value)
        tape.run(values, nodes)
        state.looked += _A_GAP * state.cost
        left, right = values[sides[0]], values[sides[1]]
        return float(left[0] + left[1] - right[0] - right[1]) / 2

    return gap
