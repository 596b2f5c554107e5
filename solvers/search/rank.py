"""The best of the pieces that pass every test, criterion by criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from formulas.errors import Problem
from formulas.formula import VOCABULARY
from formulas.statements import EVERY
from solvers.search.block import Block
from solvers.search.line import ENDLESS, Whole
from solvers.search.pieces import Pieces
from solvers.search.section import first_place
from solvers.search.task import TIES, Goal

_EQUAL = 1e-9
_MOST_VALUES = 20_000_000
MOST_EQUAL = 10_000


class Endless(Exception):
    """The best lies where the line has no end."""


@dataclass(frozen=True)
class Ranked:
    """Points with the value of each criterion; smaller is better in every one of them."""

    rows: Any
    places: Any
    ranks: Any


def criteria(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goals, and then what decides between equals."""
    named = {goal.name for goal in goals}
    return (*goals, *(Goal(name) for name in TIES if name not in named))


def ranked(block: Block, pieces: Pieces, goals: Sequence[Goal], top: int) -> Ranked:
    """The best `top` configurations of the block, each once and at its best place.

    Of EVERY those that are as good as the best in each of the goals.
    """
    import numpy

    wanted = criteria(goals)
    rows, start, stop = pieces.rows, pieces.start, pieces.stop
    ranks = numpy.zeros((len(wanted), len(rows)))
    for number, goal in enumerate(wanted):
        if not len(rows):
            break
        if not block.program.knows(goal.name):
            ranks[number] = numpy.inf
            continue
        expr = VOCABULARY[goal.name].symbol
        if block.trend(expr).direction is None:
            rows, start, ranks = _spread(rows, start, stop, ranks)
            stop = start + 1
        ranks[number] = value = _best_end(block, goal, expr, rows, start, stop)
        kept = numpy.arange(len(rows))
        if top != EVERY or number < len(goals):
            kept = _kept(rows, ranks[: number + 1], max(top, 1))
        rows, start, stop, ranks = rows[kept], start[kept], stop[kept], ranks[:, kept]
        start, stop = _as_good(block, goal, expr, rows, start, stop, value[kept])
    order = _each_once(rows, ranks) if top == EVERY else selected(rows, ranks, top)
    _refuse_endless(block, rows[order], start[order], stop[order])
    return Ranked(rows[order], start[order], ranks[:, order])


def best_value(block: Block, pieces: Pieces, goal: Goal) -> float:
    """The best rank that one goal has in these pieces."""
    import numpy

    _, value = best_values(block, pieces, goal)
    value = value[~numpy.isnan(value)]
    return float(value.min()) if len(value) else float("inf")


def best_values(block: Block, pieces: Pieces, goal: Goal) -> tuple[Any, Any]:
    """Rows, and the best rank of the goal in each of their pieces."""
    expr = VOCABULARY[goal.name].symbol
    rows, start, stop = pieces.rows, pieces.start, pieces.stop
    sign = 1.0 if goal.sense == "min" else -1.0
    direction = block.trend(expr).direction
    if direction is None:
        rows, start, _ = _spread(rows, start, stop, pieces.fails[None, :])
        direction = 0
    end = stop - 1 if direction * sign < 0 else start
    return rows, sign * block.score(expr, rows, end)


def _refuse_endless(block: Block, rows: Any, start: Any, stop: Any) -> None:
    line = block.line
    if isinstance(line, Whole) and line.high == ENDLESS and len(rows):
        values = line.value(start, block.grid[rows])
        if (values > ENDLESS / 2).any():
            raise Endless


def _way(block: Block, goal: Goal, expr: Any) -> int:
    """Which way the goal's rank goes along the line, 0 where it stays."""
    return (block.trend(expr).direction or 0) * (1 if goal.sense == "min" else -1)


def _best_end(block: Block, goal: Goal, expr: Any, rows: Any, start: Any, stop: Any) -> Any:
    """The best rank in each piece; infinite where it has none anywhere in it."""
    import numpy

    end = stop - 1 if _way(block, goal, expr) < 0 else start
    value = block.score(expr, rows, end) * (1 if goal.sense == "min" else -1)
    return numpy.where(numpy.isnan(value), numpy.inf, value)


def _as_good(
    block: Block, goal: Goal, expr: Any, rows: Any, start: Any, stop: Any, value: Any
) -> tuple[Any, Any]:
    """The part of each piece in which the goal's rank is its best."""
    way = _way(block, goal, expr)
    if way == 0 or not (stop - start > 1).any():
        return start, stop

    def equal(which: Any, places: Any) -> Any:
        rank = block.score(expr, rows[which], places) * (1 if goal.sense == "min" else -1)
        return _same(rank, value[which])

    if way < 0:
        return first_place(equal, start, stop - 1), stop
    return start, first_place(lambda which, places: ~equal(which, places), start + 1, stop)


def _same(one: Any, other: Any) -> Any:
    import numpy

    with numpy.errstate(invalid="ignore"):
        room = _EQUAL * numpy.maximum(numpy.abs(one), numpy.abs(other))
        return (one == other) | (numpy.abs(one - other) <= room)


def _kept(rows: Any, ranks: Any, top: int) -> Any:
    """Who may still be among the best by the criteria so far."""
    import numpy

    if top == 1:
        last = ranks[-1]
        return numpy.flatnonzero(_same(last, last.min()))
    first = ranks[0]
    order = numpy.argsort(first, kind="stable")
    _, places = numpy.unique(rows[order], return_index=True)
    if len(places) <= top:
        return numpy.arange(len(rows))
    worst = first[order[numpy.sort(places)[top - 1]]]
    return numpy.flatnonzero((first <= worst) | _same(first, worst))


def _each_once(rows: Any, ranks: Any) -> Any:
    """The numbers of all points, the best first; of each configuration one."""
    import numpy

    order = numpy.lexsort(ranks[::-1])
    _, first = numpy.unique(rows[order], return_index=True)
    refuse_many(len(first))
    return order[numpy.sort(first)]


def refuse_many(count: int) -> None:
    """A Problem where too many configurations are as good as the best to list them."""
    if count > MOST_EQUAL:
        message = f"more than {MOST_EQUAL} configurations are as good as the best"
        raise Problem("plan", message, ("add a second goal:  min cost_per_hour, min tpot",))


def selected(rows: Any, ranks: Any, top: int) -> Any:
    """The numbers of the best points, the best first; of each configuration one."""
    import numpy

    found: list[int] = []
    left = numpy.arange(len(rows))
    while len(found) < top and len(left):
        best = left
        for values in ranks:
            own = values[best]
            best = best[_same(own, own.min())]
        found.append(int(best[0]))
        left = left[rows[left] != rows[best[0]]]
    return numpy.array(found, int)


def _spread(rows: Any, start: Any, stop: Any, ranks: Any) -> tuple[Any, Any, Any]:
    """Every value of the pieces as a piece of its own."""
    import numpy

    count = stop - start
    if int(count.sum()) > _MOST_VALUES:
        message = "what is sought cannot be shown to rise or fall, and has too many values to try"
        raise Problem("plan", message, ("give fewer values:  batch in 1..1024",))
    at = numpy.repeat(numpy.arange(len(rows)), count)
    place = start[at] + numpy.arange(len(at)) - (numpy.cumsum(count) - count)[at]
    return rows[at], place, ranks[:, at]
