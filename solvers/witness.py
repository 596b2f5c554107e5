"""Whether anything in a box meets all conditions: a point that does, or the proof that none does.

Quantities that every open condition wants moved the same way go to that end of the box; what is
left is split. A box is given up where one condition fails on all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from solvers.number import Number
from solvers.system import Rooted, Side, System
from solvers.tape_numbers import Pair

# How many boxes one question of feasibility may look at.
MOST_BOXES = 200
# Of so many boxes that are split, one has its trial points repaired.
_REPAIRED = 8
_TINY, _HUGE = 1e-15, 1e20
_BISECTIONS = 80
_SHORTEST = 1e-12

Sides = dict[str, Side]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Feasible with a point of the free quantities, proved infeasible, or None: undecided."""

    feasible: bool | None
    point: Mapping[str, Number] | None = None
    boxes: float = 0


def decide(
    system: System,
    kept: Iterable[int],
    changed: Mapping[str, Side] | None = None,
    prefer: Mapping[str, float] | None = None,
    boxes: float = MOST_BOXES,
) -> Verdict:
    """Whether all kept statements, and what always holds, can hold together.

    `changed` says otherwise where a quantity may lie, `prefer` where a point is looked for first.
    """
    places = tuple(kept)
    return Search(system, places, changed, prefer, boxes).run()


class Search:
    """One search, for what is kept; also asked whether single points meet everything."""

    def __init__(
        self,
        system: System,
        kept: tuple[int, ...],
        changed: Mapping[str, Side] | None = None,
        prefer: Mapping[str, float] | None = None,
        boxes: float = MOST_BOXES,
    ) -> None:
        self.system, self.kept, self.boxes = system, kept, boxes
        self.sides = system.free(kept, changed)
        self.prefer = {n: float(v) for n, v in system.composed.points.items()} | dict(prefer or {})
        self.order = system.moving(self.sides)
        self.values = list(system.reference)
        for name, node in system.tape.names.items():
            if name in self.sides:
                self.values[node] = self.sides[name].pair
        rows = [row for index in kept for row in system.limits[index]]
        self.conditions: list[Rooted] = [*rows, *system.always]
        self.below: dict[int, list[int]] = {}
        self.looked = 0.0
        self.split = 0
        self.unsure = False
        self.current = self.sides

    def meets(self, point: Mapping[str, float]) -> bool:
        """Whether the point of the free quantities meets everything."""
        left = self._open(point)
        return left is not None and (not left or self.holds_exactly(point))

    def holds_exactly(self, point: Mapping[str, Any]) -> bool:
        """The same, decided in fractions whatever the floats say."""
        return self.system.holds(self.kept, {n: Fraction(v) for n, v in point.items()})

    # -- the search

    def run(self) -> Verdict:
        """Boxes last in, first out; the half that holds the preferred point first."""
        todo = [self.sides]
        while todo:
            if self.looked >= self.boxes:
                return Verdict(None, boxes=self.looked)
            found = self._look(todo.pop())
            if isinstance(found, dict):
                return Verdict(True, found, self.looked)
            todo += found
        return Verdict(None if self.unsure else False, boxes=self.looked)

    def _look(self, sides: Sides) -> dict[str, Number] | list[Sides]:
        """A point that meets everything, or the boxes that are left to look at."""
        while True:
            self.looked += 1
            active = self._open(sides)
            if active is None:
                return []
            forced = self._forced(active, sides)
            if forced is not None:
                if forced == {}:
                    return []
                sides = forced
                continue
            slopes = self._slopes(active, sides)
            moved = self._moved(sides, slopes)
            if moved is None:
                break
            sides = moved
        self.current = sides
        if any(self._fails_at_best(row, sides, slopes) for row in active):
            return []
        self.split += 1
        for trial in self._trials(sides):
            met = self._met(trial, active, slopes)
            if met is None and self.split % _REPAIRED == 1:
                met = self._met(self._repaired(trial, sides), active, slopes)
            if met is not None:
                return met
        return self._halves(sides, slopes)

    def _forced(self, active: list[Rooted], sides: Sides) -> Sides | None:
        """The box with what an equation fixes put there; empty where it cannot be; None for none."""
        for row in active:
            for name, value in self.system.fixed_by(row.condition, self.values):
                side = sides.get(name)
                if side is not None and not side.is_point:
                    at = side.within(value, value)
                    return {} if at is None else {**sides, name: at}
        return None

    def _fill(self, sides: Mapping[str, Any]) -> None:
        for name, side in sides.items():
            node = self.system.tape.names.get(name)
            if node is not None:
                self.values[node] = side.pair if isinstance(side, Side) else (side, side)
        self.system.tape.run(self.values, self.order)

    def _open(self, sides: Mapping[str, Any]) -> list[Rooted] | None:
        """The conditions that hold on a part of the box only; None where one fails on all."""
        self._fill(sides)
        active = []
        for row in self.conditions:
            truth = self.values[row.node]
            if truth is False:
                return None
            if truth is None:
                active.append(row)
        return active

    def _slopes(self, active: list[Rooted], sides: Sides) -> dict[int, dict[str, Pair]]:
        """The slope of each open comparison in each quantity that is not a point yet."""
        names = [n for n, s in sides.items() if not s.is_point and n in self.system.tape.names]
        found: dict[int, dict[str, Pair]] = {}
        for row in active:
            for node in row.compared:
                if self.values[node] is None and node not in found:
                    found[node] = self._slope(node, names)
        return found

    def _slope(self, node: int, names: list[str]) -> dict[str, Pair]:
        if self.system.tape.rules[node] is None or not self._is_comparison(node):
            return dict.fromkeys(names, (-math.inf, math.inf))
        if node not in self.below:
            reach = set(self.system.tape.below([node]))
            self.below[node] = [n for n in self.order if n in reach]
        return self.system.tape.slopes(node, self.values, self.below[node], names)

    def _is_comparison(self, node: int) -> bool:
        return node in self.system.signs

    def _moved(self, sides: Sides, slopes: Mapping[int, Mapping[str, Pair]]) -> Sides | None:
        """The box with every quantity that is wanted at one end put there; None if there is none.

        Where a condition holds at some point, it holds with the quantity moved to that end.
        """
        moved: Sides = {}
        for name, side in sides.items():
            if side.is_point:
                continue
            wants = {self._wants(node, row[name]) for node, row in slopes.items() if name in row}
            wants.discard(0)
            if wants <= {1} or wants <= {-1}:
                end = self._end(name, side, next(iter(wants), 0))
                if end != side:
                    moved[name] = end
        return {**sides, **moved} if moved else None

    def _wants(self, node: int, slope: Pair) -> int | None:
        """The direction in which a comparison becomes true: 0 for neither, None where it turns."""
        if slope == (0.0, 0.0):
            return 0
        sign = self.system.signs[node] if self._is_comparison(node) else 0
        if sign == 0:
            return None
        if slope[0] >= 0:
            return sign
        return -sign if slope[1] <= 0 else None

    def _end(self, name: str, side: Side, direction: int) -> Side:
        """The end of a side as a point, or as a stretch where the end is never reached."""
        if direction == 0:
            at = self._preferred(name, side)
            return side.within(at, at) or side
        if direction > 0:
            low = max(side.low, _HUGE) if math.isinf(side.high) else side.high
            return side.within(low, side.high) or side
        high = min(side.high, -_HUGE) if math.isinf(side.low) else side.low
        if side.low_open:
            high = min(side.high, side.low + _TINY)
        return side.within(side.low, high) or side

    def _fails_at_best(
        self, row: Rooted, sides: Sides, slopes: Mapping[int, Mapping[str, Pair]]
    ) -> bool:
        """Whether the condition fails even where each quantity that moves it one way helps it."""
        if len(row.compared) != 1 or row.compared[0] not in slopes:
            return False
        node = row.compared[0]
        best: Sides = {}
        for name, slope in slopes[node].items():
            wants = self._wants(node, slope)
            if wants:
                best[name] = self._end(name, sides[name], wants)
        if not best:
            return False
        self._fill({**sides, **best})
        return self.values[row.node] is False

    # -- points

    def _preferred(self, name: str, side: Side) -> float:
        """The value to try first: what was said of the quantity, or the nearest end to it."""
        if side.is_point:
            return side.low
        wanted = self.prefer.get(name)
        if wanted is None:
            wanted = self._middle(side)
        low, high = side.low, side.high
        if side.low_open and wanted <= low:
            wanted = min(high, low + _TINY) if math.isinf(high) else low + (high - low) * 1e-6
        at = min(max(wanted, low), high)
        if side.values is not None:
            return min(side.values, key=lambda v: abs(v - at))
        if math.isinf(at):
            at = math.copysign(_HUGE, at)
        if side.whole and abs(at) < 2**53:
            at = float(min(max(round(at), low), high))
        return at

    def _middle(self, side: Side) -> float:
        if side.values is not None:
            return side.values[len(side.values) // 2]
        low, high = side.low, side.high
        if low >= 0:
            return _geometric(low, high)
        if math.isinf(low) or math.isinf(high):
            return max(low, min(high, 0.0))
        return (low + high) / 2

    def _trials(self, sides: Sides) -> list[dict[str, float]]:
        """Points of the box that are worth a look."""
        first = {n: self._preferred(n, s) for n, s in sides.items()}
        second = {}
        for name, side in sides.items():
            middle = side.low if side.is_point else self._middle(side)
            at = side.within(middle, side.high)
            second[name] = first[name] if at is None or math.isinf(at.low) else at.low
        return [first] if first == second else [first, second]

    def _repaired(self, trial: dict[str, float], sides: Sides) -> dict[str, float]:
        """The point after one quantity after the other is moved to where it breaks the least."""
        point = dict(trial)
        self._fill(point)
        least = self._shortfall()
        for name, side in () if least == 0 else sides.items():
            node = self.system.tape.names.get(name)
            if side.is_point or node is None:
                continue
            nodes = self.system.moving((name,))
            before = [self.values[n] for n in nodes]
            best = point[name]
            for value in self._places(name, side, point[name]):
                self.values[node] = (value, value)
                self.system.tape.run(self.values, nodes)
                self.looked += 0.08
                short = self._shortfall()
                if short < least:
                    best, least = value, short
                    before = [self.values[n] for n in nodes]
            point[name] = best
            self.values[node] = (best, best)
            for n, value in zip(nodes, before, strict=True):
                self.values[n] = value
            if least == 0:
                break
        return point

    def _places(self, name: str, side: Side, now: float) -> Iterator[float]:
        """Some values of a quantity, near and far."""
        if side.values is not None:
            yield from (v for v in side.values if v != now)
            return
        for low, high in ((side.low, now), (now, side.high)):
            inner = side.within(*sorted((low, high)))
            if inner is None or inner.is_point:
                continue
            yield self._preferred(name, self._end(name, inner, 1 if high != now else -1))
            middle = self._middle(inner)
            at = inner.within(middle, inner.high)
            if at is not None and at.low != now and not math.isinf(at.low):
                yield at.low

    def _shortfall(self) -> float:
        """By how much, relative, the point that is filled in breaks what it breaks."""
        total = 0.0
        for row in self.conditions:
            if self.values[row.node] is True:
                continue
            node = row.compared[0]
            if len(row.compared) > 1 or node not in self.system.signs:
                total += 1.0
                continue
            left, right = (self.values[part] for part in self.system.tape.parts[node])
            gap, scale = abs(left[0] - right[0]), max(abs(left[0]), abs(right[0]))
            total += 1e-3 + (gap / scale if 0 < scale < math.inf and gap < math.inf else 1.0)
        return total

    def _met(
        self, trial: dict[str, float], active: list[Rooted], slopes: Mapping[int, Any]
    ) -> dict[str, Number] | None:
        """The point if it meets everything, with equations solved for one quantity each."""
        point = dict(trial)
        used: set[str] = set()
        for row in active:
            if self.system.signs.get(row.node) == 0 and row.node in slopes:
                self._fill(point)
                if self.values[row.node] is not True:
                    self._solve(row, point, slopes[row.node], used)
        self.looked += 1
        left = self._open(point)
        if left is None:
            return None
        exact: dict[str, Number] = {name: Fraction(value) for name, value in point.items()}
        if not left or self.system.holds(self.kept, exact):
            return exact
        return None

    def _solve(
        self, row: Rooted, point: dict[str, float], slope: Mapping[str, Pair], used: set[str]
    ) -> None:
        """Move one quantity of the point to where both sides of an equation are equal."""
        for name, (low, high) in slope.items():
            side = self._finite(name)
            if name in used or side.values is not None or low == high == 0 or low < 0 < high:
                continue
            gap = self._gap_in(row, name)
            found = crossing(gap, side.low, side.high)
            # What follows is solved at the point as it is then.
            gap(point[name] if found is None else found)
            if found is not None:
                point[name] = found
                used.add(name)
                return

    def _finite(self, name: str) -> Side:
        """The side of the box that is looked at now, by finite ends."""
        side = self.current.get(name, self.sides[name])
        low, high = max(side.low, -_HUGE), min(side.high, _HUGE)
        if side.low_open:
            low = min(high, low + _TINY)
        return Side(low, high, whole=side.whole, values=side.values)

    def _gap_in(self, row: Rooted, name: str) -> Callable[[float], float]:
        """Left side less right side at the point that is filled in, as one quantity moves."""
        tape, values = self.system.tape, self.values
        node, sides = tape.names[name], tape.parts[row.node]
        nodes = self.system.moving((name,))

        def gap(value: float) -> float:
            values[node] = (value, value)
            tape.run(values, nodes)
            self.looked += 0.02
            left, right = values[sides[0]], values[sides[1]]
            return float(left[0] + left[1] - right[0] - right[1]) / 2

        return gap

    # -- splitting

    def _halves(self, sides: Sides, slopes: Mapping[int, Mapping[str, Pair]]) -> list[Sides]:
        """The box in two, across the quantity that decides most; the preferred half last."""
        name = self._widest(sides, slopes)
        if name is None:
            self.unsure = True
            return []
        side = sides[name]
        low, high = self._cut(name, side)
        parts = [p for p in (low, high) if p is not None]
        if len(parts) < 2 and parts and parts[0] == side:
            self.unsure = True
            return []
        wanted = self._preferred(name, side)
        parts.sort(key=lambda p: p.low <= wanted <= p.high)
        return [{**sides, name: part} for part in parts]

    def _widest(self, sides: Sides, slopes: Mapping[int, Mapping[str, Pair]]) -> str | None:
        """Lists before lines; of those the longest, where open conditions disagree the most."""
        best: tuple[float, str] | None = None
        for name, side in sides.items():
            length = _length(side)
            if side.is_point or length <= _SHORTEST:
                continue
            wants = [
                self._wants(node, row[name])
                for node, row in slopes.items()
                if row.get(name, (0.0, 0.0)) != (0.0, 0.0)
            ]
            disagree = 3 if 1 in wants and -1 in wants else 1
            if wants and (best is None or length * len(wants) * disagree > best[0]):
                best = length * len(wants) * disagree, name
        return best[1] if best else None

    def _cut(self, name: str, side: Side) -> tuple[Side | None, Side | None]:
        if side.values is not None:
            at = len(side.values) // 2
            below, above = side.values[at - 1], side.values[at]
            return side.within(side.low, below), side.within(above, side.high)
        middle = self._middle(side)
        if side.whole and abs(middle) < 2**53:
            middle = float(math.floor(middle))
            return side.within(side.low, middle), side.within(middle + 1, side.high)
        return side.within(side.low, middle), side.within(middle, side.high)


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
    return _geometric(low, high) if low >= 0 else (low + high) / 2


def _geometric(low: float, high: float) -> float:
    """The middle by magnitude, of ends that are not negative."""
    if high <= 0:
        return high
    if math.isinf(high):
        return max(low * 1e6, 1.0) if low < _HUGE else low * 1e10
    if low <= 0:
        return high / 1e6 if high > _TINY else high / 2
    if high / low < 4:
        return (low + high) / 2
    return math.sqrt(low) * math.sqrt(high)


def _length(side: Side) -> float:
    """How long a side is, by magnitude where it has one sign; of a list, how many it has."""
    if side.values is not None:
        return 1e6 * len(side.values)
    if math.isinf(side.low) or math.isinf(side.high):
        return 1e3
    if side.low > 0:
        return math.log(side.high / side.low)
    return 50.0 if max(abs(side.low), abs(side.high)) > _TINY else 0.0
