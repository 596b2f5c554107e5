"""Many points of one scenario: the values and what is broken at each, exactly or by numpy.

A small table is answered point by point, as a person would ask it. A large one goes through the
numpy kernels of the relations, and every point that floats cannot decide is answered exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from formulas.errors import Problem
from formulas.scenario import Scenario
from solvers.answer import Answer, Check, Exact, Range
from solvers.limits import shown_names
from solvers.solve import Request, solve

MOST_POINTS = 100_000
# A question takes some ten milliseconds: more of them than this are left to numpy.
FEW_ANSWERS = 150
# So many are answered one by one where numpy cannot.
MOST_ANSWERS = 2_000

# Of the rows by numpy this many are answered once more, and must agree.
_SAMPLES = 4
_ALIKE = 1e-9

At = Mapping[str, Any]
Build = Callable[[At], Scenario]


@dataclass(frozen=True, slots=True)
class Row:
    """One point: the value of each asked quantity, None where it has none, and what is broken.

    A value that is known to lie between two is their Interval.

    `checks` has both sides of every constraint where the point was answered exactly; `failed` is
    the answer that is no value, where there is one.
    """

    at: At
    values: Mapping[str, Any]
    broken: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    answers: tuple[Answer, ...] = ()
    failed: Answer | None = None

    @property
    def feasible(self) -> bool:
        """True where the point has its values and breaks nothing."""
        return self.failed is None and not self.broken


@dataclass(frozen=True, slots=True)
class Grid:
    """The axes of a table, the first one slowest; `build` makes the scenario of a point.

    A value of an axis in `numeric` is a number of the quantity of that name, which only adds a
    fact; any other value is a name, and changes which facts there are.
    """

    axes: Mapping[str, Sequence[Any]]
    build: Build
    numeric: frozenset[str] = frozenset()
    prefer: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many points there are."""
        count = 1
        for values in self.axes.values():
            count *= len(values)
        return count

    def points(self) -> Iterator[dict[str, Any]]:
        """Every point, the last axis running fastest."""
        for values in product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))


def table(grid: Grid, names: Sequence[str], exact: bool = False) -> tuple[Row, ...]:
    """A row for every point of the grid; Problem where there are too many.

    With `exact` no point is left to numpy.
    """
    count = grid.size
    if count > MOST_POINTS:
        raise _too_many(f"{count} points", MOST_POINTS)
    answers = count * len(names)
    if exact or answers <= FEW_ANSWERS:
        if answers > MOST_ANSWERS:
            raise _too_many(f"{answers} answers", MOST_ANSWERS)
        return tuple(answered(grid, at, names) for at in grid.points())
    return _by_blocks(grid, names)


def answered(grid: Grid, at: At, names: Sequence[str]) -> Row:
    """The row of one point, by a question for each name."""
    scenario = grid.build(at)
    answers = [solve(Request(name, scenario, prefer=grid.prefer)) for name in names]
    found = [_value(answer, bool(scenario.ranges)) for answer in answers]
    failed = next((a for a, value in zip(answers, found, strict=True) if value is None), None)
    if isinstance(failed, Range):
        # A limit on what is asked leaves a range; without it the answer says what lacks.
        unlimited = replace(scenario, limits=())
        failed = solve(Request(failed.find, unlimited, prefer=grid.prefer))
    # The checks of a refusal speak of the same point.
    checks = next((a.evidence.checks for a in answers if a.evidence.checks), ())
    broken = shown_names(tuple(c.name for c in checks if not c.holds))
    values = dict(zip(names, found, strict=True))
    return Row(at, values, broken, checks, tuple(answers), failed)


def _value(answer: Answer, uncertain: bool) -> Any:
    """One value, or beside uncertain facts the interval of one that lies between two.

    Any other range is what a limit alone leaves, and says nothing of the point.
    """
    match answer:
        case Exact(value=value, branches=branches) if len(branches) < 2:
            return value
        case Range(intervals=(span,)) if uncertain and None not in (span.low, span.high):
            return span
        case _:
            return None


def _too_many(what: str, most: int) -> Problem:
    return Problem("table", f"{what} are too many for a table; at most {most}", _FEWER)


_FEWER = ("give fewer values, or a coarser step:  batch in 1..256 log2",)


def _by_blocks(grid: Grid, names: Sequence[str]) -> tuple[Row, ...]:
    """Points that differ in numbers only are computed together."""
    points = list(grid.points())
    rows: list[Row | None] = [None] * len(points)
    alone: list[int] = []
    for places in _blocks(grid, points):
        found = _block(grid, [points[place] for place in places], names)
        for place, row in zip(places, found, strict=True):
            rows[place] = row
        alone += [place for place, row in zip(places, found, strict=True) if row is None]
    if len(alone) * len(names) > MOST_ANSWERS:
        raise _too_many(f"{len(alone) * len(names)} answers one by one", MOST_ANSWERS)
    for place in alone:
        rows[place] = answered(grid, points[place], names)
    return tuple(row for row in rows if row is not None)


def _blocks(grid: Grid, points: Sequence[At]) -> list[list[int]]:
    """The places of the points that share every name."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, at in enumerate(points):
        key = tuple(value for name, value in at.items() if name not in grid.numeric)
        found.setdefault(key, []).append(place)
    return list(found.values())


def _block(grid: Grid, points: Sequence[At], names: Sequence[str]) -> list[Row | None]:
    """The rows of points that share every name; None for a point that must be answered alone."""
    from solvers.plan import plan_of

    axes = grid.numeric & points[0].keys()
    plan = None if grid.prefer else plan_of(grid.build(points[0]), axes, names)
    if plan is None:
        return [None] * len(points)
    block = plan.block({name: [at[name] for at in points] for name in axes})
    rows: list[Row | None] = []
    for place, at in enumerate(points):
        if block.open[place]:
            rows.append(None)
            continue
        values = {name: float(column[place]) for name, column in block.values.items()}
        broken = tuple(name for name, holds in block.holds.items() if not holds[place])
        rows.append(Row(at, values, shown_names(broken)))
    return rows if _confirmed(grid, rows, names) else [None] * len(points)


def _confirmed(grid: Grid, rows: Sequence[Row | None], names: Sequence[str]) -> bool:
    """Whether some of the rows, answered one by one, say the same."""
    known = [row for row in rows if row is not None]
    step = max(1, len(known) // _SAMPLES)
    return all(_alike(row, answered(grid, row.at, names)) for row in [*known[::step], *known[-1:]])


def _alike(row: Row, exact: Row) -> bool:
    if exact.failed is not None or set(row.broken) != set(exact.broken):
        return False
    pairs = [(row.values[name], float(exact.values[name])) for name in row.values]
    return all(abs(one - other) <= _ALIKE * max(abs(one), abs(other)) for one, other in pairs)
