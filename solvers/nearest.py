"""The value nearest to a stated one at which everything else can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from solvers.number import Number
from solvers.sides import Side
from solvers.state import State
from solvers.system import System
from solvers.witness import Verdict, decide

_ROUNDS = 80
_STEPS = 200
# How near the value is pulled to the edge, relative; limits are met within 1e-9, so that the edge
# itself may lie a little farther, and what lies more than this before it is to be proved empty.
_CLOSE = 1e-12
_BESIDE = Fraction(4, 10**9)
_SHORT = 5e-9
_TOLD_APART = 1e-6


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest value, with a point at which it holds; no value where it is proved there is none.

    `proved` is false where that, or that nothing nearer holds, was not decided.
    """

    value: Number | None
    proved: bool
    point: Mapping[str, Number] | None = None


def nearest(
    system: System, kept: Iterable[int], name: str, start: Number, side: Side, upwards: bool
) -> Nearest:
    """The value of a quantity, or of a limit's number, that is nearest to `start` on this side.

    The side begins at the start, of which it is known that it does not hold.
    """
    places = tuple(kept)
    best = Nearest(None, True)
    # Nothing between the start and `proved` holds; `first` is what is looked at before the rest.
    proved, first = float(start), side.high if upwards else side.low
    for step in range(_ROUNDS):
        rest = side.within(proved, first) if upwards else side.within(first, proved)
        if rest is None:
            verdict = Verdict(False)
        else:
            verdict = decide(system, places, {name: rest}, {name: proved})
        if verdict.feasible is None:
            return Nearest(best.value, False, best.point)
        if verdict.point is not None and rest is not None:
            point = _pulled(system, places, name, verdict.point, rest, upwards)
            if best.value is not None and same_place(point[name], best.value):
                floats = {n: float(v) for n, v in point.items()}
                if not State(system, places, {name: rest}).meets_strictly(floats):
                    return best
            best = Nearest(point[name], True, point)
        elif best.value is None or first == _before(best.value, start, side, upwards):
            return best
        else:
            proved = _beyond(first, side, upwards)
        # All that is nearer, or where that was tried in vain, the nearer half of it.
        edge = _before(best.value, start, side, upwards)
        if (proved > edge) if upwards else (proved < edge):
            return best
        first = edge if step % 2 == 0 else _between(proved, edge)
        if side.whole:
            first = float(math.floor(first) if upwards else math.ceil(first))
    return Nearest(best.value, False, best.point)


def same_place(one: Number, other: Number) -> bool:
    """Whether only the tolerance of limits tells two values apart."""
    return abs(float(one) - float(other)) <= _TOLD_APART * abs(float(other))


def _before(value: Number | None, start: Number, side: Side, upwards: bool) -> float:
    """The last number before a value that is to be told from it."""
    edge = float(value or 0)
    gap = 1.0 if side.whole else max(abs(edge), abs(float(start)) / 1e3) * _SHORT
    return edge - gap if upwards else edge + gap


def _beyond(value: float, side: Side, upwards: bool) -> float:
    if not side.whole:
        return value
    return value + 1.0 if upwards else value - 1.0


def _pulled(
    system: System,
    kept: tuple[int, ...],
    name: str,
    point: Mapping[str, Number],
    side: Side,
    upwards: bool,
) -> dict[str, Number]:
    """The point with the quantity pulled to the start as far as the others stay where they are."""
    search = State(system, kept, {name: side})
    floats = {n: float(v) for n, v in point.items()}
    good, bad = floats[name], (side.low if upwards else side.high)
    # Limits are met within a tolerance, but the value is to meet them as they are said.
    meets = search.meets_strictly if search.meets_strictly(floats) else search.meets
    if meets({**floats, name: bad}):
        good = bad
    for _ in range(_STEPS):
        if side.values is not None or good == bad or abs(good - bad) <= _CLOSE * abs(good):
            break
        middle = _between(good, bad)
        if side.whole:
            middle = float(math.floor(middle) if upwards else math.ceil(middle))
        if middle in (good, bad):
            break
        if meets({**floats, name: middle}):
            good = middle
        else:
            bad = middle
    return {**point, name: _plain(search, floats, name, good, side, upwards)}


def _between(one: float, other: float) -> float:
    """The middle, by magnitude where that is far."""
    low, high = sorted((one, other))
    if low > 0 and high / low > 4:
        return math.sqrt(low) * math.sqrt(high)
    if low == 0 and high > 1e-15:
        return high / 1e3
    return (low + high) / 2


def _plain(
    search: State,
    point: Mapping[str, float],
    name: str,
    value: float,
    side: Side,
    upwards: bool,
) -> Number:
    """The shortest number beside the value, away from the start, that holds as well."""
    exact = Fraction(value)
    if side.whole or side.values is not None or exact == 0:
        return exact
    away = _BESIDE if upwards else -_BESIDE
    low, high = sorted((exact - abs(exact) * away / 400, exact + abs(exact) * away))
    short = simplest_between(low, high)
    inside = float(side.low) <= float(short) <= float(side.high)
    return short if inside and search.holds_exactly({**point, name: short}) else exact


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator between two others, ends included.

    Example:
        >>> simplest_between(Fraction(333, 1000), Fraction(334, 1000))
        Fraction(1, 3)
    """
    if low > high:
        low, high = high, low
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    base = math.floor(low)
    return base + 1 / simplest_between(1 / (high - base), 1 / (low - base))
