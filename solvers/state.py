"""A box under search: which conditions hold on all, none or a part of it, and how they move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from solvers.sides import HUGE, TINY, Side, end_of, middle_of, widened_by_tolerance
from solvers.system import Rooted, System
from solvers.tape_numbers import Pair

_LEAST_NODES, _NODES_OF_A_BOX = 20, 120
_LARGEST_WHOLE = 2.0**53
# What float arithmetic may lose on the way to a comparison.
_ROUNDING = 1e-13

Sides = dict[str, Side]
Slopes = Mapping[int, Mapping[str, Pair]]


class State:
    """What is kept of a system, with the values of its tape at the box or point last filled in.

    `prefer` is where a point is looked for first, `looked` counts the work in boxes of usual size.
    """

    def __init__(
        self,
        system: System,
        kept: tuple[int, ...],
        changed: Mapping[str, Side] | None = None,
        prefer: Mapping[str, float] | None = None,
    ) -> None:
        self.system, self.kept = system, kept
        self.sides = system.free(kept, changed)
        self.prefer = {n: float(v) for n, v in system.composed.points.items()} | dict(prefer or {})
        self.order = system.moving(self.sides)
        self.values = list(system.reference)
        for name, node in system.tape.names.items():
            if name in self.sides:
                self.values[node] = self.sides[name].pair
        rows = [row for index in kept for row in system.limits[index]]
        self.conditions: list[Rooted] = [*rows, *system.always]
        self.cost = max(len(self.order), _LEAST_NODES) / _NODES_OF_A_BOX
        self.looked = 0.0
        self._clamps = self._find_clamps()
        self._below: dict[int, list[int]] = {}

    def meets(self, point: Mapping[str, float]) -> bool:
        """Whether the point of the free quantities meets everything."""
        left = self.open(point)
        return left is not None and (not left or self.holds_exactly(point))

    def meets_strictly(self, point: Mapping[str, float]) -> bool:
        """The same without the tolerance of limits, as far as floats tell."""
        if self.open(point) is None:
            return False
        for row in self.conditions:
            sign = self.system.signs.get(row.node)
            if not sign:
                continue
            left, right = (self.values[part] for part in self.system.tape.parts[row.node])
            beyond = left[1] - right[0] if sign < 0 else right[1] - left[0]
            if beyond > _ROUNDING * max(abs(left[1]), abs(right[1])):
                return False
        return self.meets(point)

    def holds_exactly(self, point: Mapping[str, Any]) -> bool:
        """The same, decided in fractions whatever the floats say."""
        return self.system.holds(self.kept, {n: Fraction(v) for n, v in point.items()})

    def fill(self, sides: Mapping[str, Any]) -> None:
        """Compute everything that moves over this box, or at this point."""
        for name, side in sides.items():
            node = self.system.tape.names.get(name)
            if node is not None:
                self.values[node] = side.pair if isinstance(side, Side) else (side, side)
        self.system.tape.run(self.values, self.order)

    def open(self, sides: Mapping[str, Any]) -> list[Rooted] | None:
        """The conditions that hold on a part of the box only; None where one fails on all."""
        self.fill(sides)
        active = []
        for row in self.conditions:
            truth = self.values[row.node]
            if truth is False:
                return None
            if truth is None:
                active.append(row)
        return active

    def slopes(self, active: list[Rooted], sides: Sides) -> dict[int, dict[str, Pair]]:
        """The slope of each open comparison in each quantity that is not a point yet."""
        names = [n for n, s in sides.items() if not s.is_point and n in self.system.tape.names]
        found: dict[int, dict[str, Pair]] = {}
        for row in active:
            for node in row.compared:
                if self.values[node] is None and node not in found:
                    found[node] = self._slope(node, names)
        return found

    def _slope(self, node: int, names: list[str]) -> dict[str, Pair]:
        if self.system.tape.rules[node] is None or node not in self.system.signs:
            return dict.fromkeys(names, (-math.inf, math.inf))
        if node not in self._below:
            reach = set(self.system.tape.below([node]))
            self._below[node] = [n for n in self.order if n in reach]
        return self.system.tape.slopes(node, self.values, self._below[node], names)

    def wants(self, node: int, slope: Pair) -> int | None:
        """The direction in which a comparison becomes true: 0 for neither, None where it turns."""
        if slope == (0.0, 0.0):
            return 0
        sign = self.system.signs.get(node, 0)
        if sign == 0:
            return None
        if slope[0] >= 0:
            return sign
        return -sign if slope[1] <= 0 else None

    def preferred(self, name: str, side: Side) -> float:
        """The value to try first: what was said of the quantity, or the nearest end to it."""
        if side.is_point:
            return side.low
        wanted = self.prefer.get(name)
        if wanted is None:
            wanted = middle_of(side)
        low, high = side.low, side.high
        if side.low_open and wanted <= low:
            wanted = min(high, low + TINY) if math.isinf(high) else low + (high - low) * 1e-6
        at = min(max(wanted, low), high)
        if side.values is not None:
            return min(side.values, key=lambda v: abs(v - at))
        if math.isinf(at):
            at = math.copysign(HUGE, at)
        if side.whole and abs(at) < _LARGEST_WHOLE:
            at = float(min(max(round(at), low), high))
        return at

    def end(self, name: str, side: Side, direction: int) -> Side:
        """The end of a side in that direction; in none, what is preferred."""
        if direction == 0:
            at = self.preferred(name, side)
            return side.within(at, at) or side
        return end_of(side, direction > 0)

    def fails_at_best(self, row: Rooted, sides: Sides, slopes: Slopes) -> bool:
        """Whether the condition fails even where each quantity that moves it one way helps it."""
        if len(row.compared) != 1 or row.compared[0] not in slopes:
            return False
        node = row.compared[0]
        best: Sides = {}
        for name, slope in slopes[node].items():
            wants = self.wants(node, slope)
            if wants:
                best[name] = self.end(name, sides[name], wants)
        if not best:
            return False
        self.fill({**sides, **best})
        return self.values[row.node] is False

    def fails_together(self, sides: Sides) -> bool:
        """Whether a condition fails on all of the box where each direct comparison holds.

        What a comparison leaves of its sides goes into everything that is computed from them.
        """
        self.fill(sides)
        tape, values = self.system.tape, self.values
        for node in self.order:
            rule = tape.rules[node]
            if rule is not None:
                values[node] = rule.value(*[values[part] for part in tape.parts[node]])
            for other, downwards in self._clamps.get(node, ()):
                low, high = values[node]
                if downwards:
                    high = min(high, widened_by_tolerance(values[other][1], 1))
                else:
                    low = max(low, widened_by_tolerance(values[other][0], -1))
                if low > high:
                    return True
                values[node] = (low, high)
        return any(values[row.node] is False for row in self.conditions)

    def _find_clamps(self) -> dict[int, list[tuple[int, bool]]]:
        """For each side of a direct comparison, the other side where that is computed before."""
        moving = {node: place for place, node in enumerate(self.order)}
        found: dict[int, list[tuple[int, bool]]] = {}
        for row in self.conditions:
            sign = self.system.signs.get(row.node)
            if sign is None or isinstance(row.condition, sympy.Ne):
                continue
            left, right = self.system.tape.parts[row.node]
            for node, other, way in ((left, right, sign), (right, left, -sign)):
                if node in moving and moving.get(other, -1) < moving[node]:
                    # An equation holds a side from above and from below.
                    ways = (True, False) if sign == 0 else (way < 0,)
                    found.setdefault(node, []).extend((other, down) for down in ways)
        return found
