"""Between what a quantity lies, and how two such sides are put beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from formulas.catalogue import catalogue
from formulas.formula import Condition
from formulas.quantity import Domain

# A side wider than this bounds what lies in it, and does not confirm it.
_WIDE = 0.1


@dataclass(frozen=True, slots=True)
class Side:
    """Between what a quantity lies, the stated facts behind that, and the relations on the way."""

    low: float
    high: float
    facts: frozenset[str] = frozenset()
    via: tuple[str, ...] = ()

    @property
    def pair(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high


Sides = Mapping[str, Side]


def side_of(sides: Sides, name: str) -> Side:
    """The side of a quantity, its whole domain where nothing speaks of it."""
    return sides.get(name) or domain_of(name)


def sides_of(condition: Condition, sides: Sides) -> dict[str, tuple[float, float]]:
    """The box of a condition's quantities."""
    return {n: (sides.get(n) or domain_of(n)).pair for n in condition.inputs}


def domain_side(domain: Domain) -> tuple[float, float]:
    """The ends of a domain."""
    if domain.choices:
        return float(min(domain.choices)), float(max(domain.choices))
    low = -math.inf if domain.low is None else float(domain.low)
    return low, math.inf if domain.high is None else float(domain.high)


@cache
def domain_of(name: str) -> Side:
    """The whole domain of a quantity."""
    return Side(*domain_side(catalogue().quantities[name].domain))


def half(side: Side, relation: str) -> Side:
    """What `>=` or `<=` this leaves."""
    low, high = (side.low, math.inf) if relation[0] == ">" else (-math.inf, side.high)
    return Side(low, high, side.facts, side.via)


def sense_of(right: Side) -> str:
    """=, or >= or <= where the side only bounds."""
    if math.isinf(right.high) or math.isinf(right.low):
        return ">=" if math.isinf(right.high) else "<="
    if right.high - right.low <= _WIDE * max(abs(right.low), abs(right.high)):
        return "="
    return ".."


def middle_of(side: Side) -> float | None:
    """The middle, None where an end is open."""
    if math.isinf(side.low) or math.isinf(side.high):
        return None
    return (side.low + side.high) / 2


def compared(left: Side, right: Side) -> float | None:
    """The figure that is compared: of something wide the end that is nearest to agreeing."""
    middle = middle_of(left)
    if middle is not None and left.high - left.low <= _WIDE * abs(middle):
        return middle
    end = left.high if right.low > left.low or math.isinf(right.high) else left.low
    return None if math.isinf(end) else end


def compared_with(left: Side, right: Side) -> float | None:
    """What the figure is compared with: the middle, or the end that it is beyond or nearest to."""
    if sense_of(right) == "=":
        return middle_of(right)
    beyond = left.low > right.high or math.isinf(right.low)
    end = right.high if beyond else right.low
    return None if math.isinf(end) else end
