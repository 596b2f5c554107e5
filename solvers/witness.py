"""Whether anything in a box meets all conditions: a point that does, or the proof that none does.

Quantities that every open condition wants moved the same way go to that end of the box; what is
left is split. A box is given up where one condition fails on all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from solvers.number import Number
from solvers.sides import Side, halves_of, length_of
from solvers.state import Sides, Slopes, State
from solvers.system import Rooted, System
from solvers.trials import met, repaired, trials

# How many boxes one question of feasibility may look at; boxes of few nodes count for less.
MOST_BOXES = 200.0
# Of so many boxes that are split, one has its trial points repaired.
_REPAIRED = 8
_SHORTEST = 1e-12


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
    state = State(system, tuple(kept), changed, prefer)
    verdict = _Search(state, min(boxes, system.left)).run()
    system.left -= verdict.boxes
    return verdict


class _Search:
    """One search, for what is kept."""

    def __init__(self, state: State, boxes: float) -> None:
        self.state, self.boxes = state, boxes
        self._split = 0
        self._unsure = False

    def run(self) -> Verdict:
        """Boxes last in, first out; the half that holds the preferred point first."""
        todo = [self.state.sides]
        while todo:
            if self.state.looked >= self.boxes:
                return Verdict(None, boxes=self.state.looked)
            found = self._look(todo.pop())
            if isinstance(found, dict):
                return Verdict(True, found, self.state.looked)
            todo += found
        return Verdict(None if self._unsure else False, boxes=self.state.looked)

    def _look(self, sides: Sides) -> dict[str, Number] | list[Sides]:
        """A point that meets everything, or the boxes that are left to look at."""
        while True:
            self.state.looked += self.state.cost
            active = self.state.open(sides)
            if active is None:
                return []
            forced = self._forced(active, sides)
            if forced is not None:
                if forced == {}:
                    return []
                sides = forced
                continue
            slopes = self.state.slopes(active, sides)
            moved = self._moved(sides, slopes)
            if moved is None:
                break
            sides = moved
        if self.state.fails_together(sides):
            return []
        if any(self.state.fails_at_best(row, sides, slopes) for row in active):
            return []
        self._split += 1
        for trial in trials(self.state, sides):
            point = met(self.state, sides, trial, active, slopes)
            if point is None and self._split % _REPAIRED == 1:
                better = repaired(self.state, trial, sides)
                point = met(self.state, sides, better, active, slopes)
            if point is not None:
                return point
        return self._halves(sides, slopes)

    def _forced(self, active: list[Rooted], sides: Sides) -> Sides | None:
        """The box with what an equation fixes put there; empty where it cannot be, None if none."""
        for row in active:
            for name, value in self.state.system.fixed_by(row.condition, self.state.values):
                side = sides.get(name)
                if side is not None and not side.is_point:
                    at = side.within(value, value)
                    return {} if at is None else {**sides, name: at}
        return None

    def _moved(self, sides: Sides, slopes: Slopes) -> Sides | None:
        """The box with every quantity that is wanted at one end put there; None if there is none.

        Where a condition holds at some point, it holds with the quantity moved to that end.
        """
        moved: Sides = {}
        for name, side in sides.items():
            if side.is_point:
                continue
            rows = [(node, row[name]) for node, row in slopes.items() if name in row]
            wants = {self.state.wants(node, slope) for node, slope in rows}
            wants.discard(0)
            if wants <= {1} or wants <= {-1}:
                end = self.state.end(name, side, next(iter(wants), 0) or 0)
                if end != side:
                    moved[name] = end
        return {**sides, **moved} if moved else None

    def _halves(self, sides: Sides, slopes: Slopes) -> list[Sides]:
        """The box in two, across the quantity that decides most; the preferred half last."""
        name = self._widest(sides, slopes)
        if name is None:
            self._unsure = True
            return []
        side = sides[name]
        parts = halves_of(side)
        if parts == [side]:
            self._unsure = True
            return []
        wanted = self.state.preferred(name, side)
        parts.sort(key=lambda p: p.low <= wanted <= p.high)
        return [{**sides, name: part} for part in parts]

    def _widest(self, sides: Sides, slopes: Slopes) -> str | None:
        """Lists before lines; of those the longest, where open conditions disagree the most."""
        best: tuple[float, str] | None = None
        for name, side in sides.items():
            length = length_of(side)
            if side.is_point or length <= _SHORTEST:
                continue
            wants = [
                self.state.wants(node, row[name])
                for node, row in slopes.items()
                if row.get(name, (0.0, 0.0)) != (0.0, 0.0)
            ]
            disagree = 3 if 1 in wants and -1 in wants else 1
            if wants and (best is None or length * len(wants) * disagree > best[0]):
                best = length * len(wants) * disagree, name
        return best[1] if best else None
