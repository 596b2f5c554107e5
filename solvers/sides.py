"""The sides of a box: where a quantity may lie, its middle and length by magnitude, its halves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from formulas.quantity import Domain
from solvers.number import Number

# What counts as nothing, and as without bound, in the quantities' own units.
TINY, HUGE = 1e-15, 1e20
_LARGEST_WHOLE = 2.0**53
_BISECTIONS = 80
_NEAR = 2e-9
_FEW = 8


@dataclass(frozen=True, slots=True)
class Side:
    """Where a free quantity may lie: between two numbers, of which one may be of `values` only."""

    low: float
    high: float
    low_open: bool = False
    whole: bool = False
    values: tuple[float, ...] | None = None

    @property
    def pair(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    @property
    def is_point(self) -> bool:
        """True where one number is left."""
        return self.low == self.high

    def within(self, low: float, high: float) -> Side | None:
        """What of it lies between the two; None where nothing does."""
        low, high = max(low, self.low), min(high, self.high)
        values = self.values
        if values is not None:
            values = tuple(v for v in values if low <= v <= high)
            if not values:
                return None
            low, high = values[0], values[-1]
        elif self.whole:
            low = float(math.ceil(low)) if abs(low) < _LARGEST_WHOLE else low
            high = float(math.floor(high)) if abs(high) < _LARGEST_WHOLE else high
        if low > high or (self.low_open and high <= self.low):
            return None
        return Side(low, high, self.low_open and low == self.low, self.whole, values)


def side_of(domain: Domain, among: Iterable[Number] | None = None, whole: bool = True) -> Side:
    """The domain of a quantity, or the values that are allowed of it."""
    values = tuple(sorted(float(v) for v in (domain.choices if among is None else among)))
    if values:
        return Side(values[0], values[-1], values=values)
    low = -math.inf if domain.low is None else float(domain.low)
    high = math.inf if domain.high is None else float(domain.high)
    found = Side(low, high, domain.low_open, whole and domain.whole)
    if domain.whole and domain.low_open and whole:
        # The least whole number above the end.
        found = Side(low + 1, high, False, True)
    return found


def middle_of(side: Side) -> float:
    """A value that parts the side in two, by magnitude where it has one sign."""
    if side.values is not None:
        return side.values[len(side.values) // 2]
    low, high = side.low, side.high
    if low >= 0:
        return _by_magnitude(low, high)
    if math.isinf(low) or math.isinf(high):
        return max(low, min(high, 0.0))
    return (low + high) / 2


def halves_of(side: Side) -> list[Side]:
    """The side in two; the side itself where it has no middle."""
    if side.values is not None:
        at = len(side.values) // 2
        ends = (side.low, side.values[at - 1]), (side.values[at], side.high)
    else:
        middle = middle_of(side)
        above = middle
        if side.whole and abs(middle) < _LARGEST_WHOLE:
            middle = float(math.floor(middle))
            above = middle + 1
        ends = (side.low, middle), (above, side.high)
    return [part for low, high in ends if (part := side.within(low, high)) is not None]


def end_of(side: Side, upwards: bool) -> Side:
    """The end of a side as a point, or as a stretch where the end is never reached."""
    if upwards:
        low = max(side.low, HUGE) if math.isinf(side.high) else side.high
        return side.within(low, side.high) or side
    high = min(side.high, -HUGE) if math.isinf(side.low) else side.low
    if side.low_open:
        high = min(side.high, side.low + TINY)
    return side.within(side.low, high) or side


def finite(side: Side) -> Side:
    """The side with ends that are numbers and can be reached."""
    low, high = max(side.low, -HUGE), min(side.high, HUGE)
    if side.low_open:
        low = min(high, low + TINY)
    return Side(low, high, whole=side.whole, values=side.values)


def widened_by_tolerance(value: float, sign: int) -> float:
    """The end of a limit, a little farther than what counts as meeting it."""
    return value if math.isinf(value) else value + sign * _NEAR * abs(value)


def crossing(gap: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a function that moves one way crosses 0 between two ends; None where it does not."""
    at_low, at_high = gap(low), gap(high)
    if at_low == 0 or at_high == 0:
        return low if at_low == 0 else high
    if (at_low > 0) == (at_high > 0) or math.isnan(at_low + at_high):
        return None
    middle = low
    for step in range(_BISECTIONS):
        # A chord and a middle by turns: the one is quick near the end, the other far from it.
        chord = low + (high - low) * (at_low / (at_low - at_high))
        inside = low < chord < high and math.isfinite(chord)
        middle = chord if step % 2 == 0 and inside else _center(low, high)
        if middle in (low, high):
            break
        found = gap(middle)
        if found == 0:
            break
        if (found > 0) == (at_low > 0):
            low, at_low = middle, found
        else:
            high, at_high = middle, found
    return middle


def _center(low: float, high: float) -> float:
    return _by_magnitude(low, high) if low >= 0 else (low + high) / 2


def _by_magnitude(low: float, high: float) -> float:
    """The middle by magnitude, of ends that are not negative."""
    if high <= 0:
        return high
    if math.isinf(high):
        return max(low * 1e6, 1.0) if low < HUGE else low * 1e10
    if low <= 0:
        return high / 1e6 if high > TINY else high / 2
    if high / low < 4:
        return (low + high) / 2
    return math.sqrt(low) * math.sqrt(high)


def length_of(side: Side) -> float:
    """How long a side is, by magnitude where it has one sign; of a list, how many it has."""
    few = side.high - side.low + 1 if side.whole else math.inf
    if side.values is not None or few <= _FEW:
        return 1e6 * (few if side.values is None else len(side.values))
    if math.isinf(side.low) or math.isinf(side.high):
        # What is without end is hardly told apart beyond some size.
        return 1.0 if side.low >= HUGE or side.high <= -HUGE else 1e3
    if side.low > 0:
        return math.log(side.high / side.low)
    return 50.0 if max(abs(side.low), abs(side.high)) > TINY else 0.0
