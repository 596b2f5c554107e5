"""The configurations that no other beats in every one of two or three quantities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from formulas.errors import Problem
from formulas.formula import VOCABULARY
from solvers.search.block import Block
from solvers.search.pieces import DENSE, Pieces
from solvers.search.rank import Ranked
from solvers.search.task import Goal, Row

MOST_POINTS = 100_000_000


def points_of(block: Block, pieces: Pieces, goals: Sequence[Goal]) -> Ranked:
    """The points of the block that no other point of it beats; smaller ranks are better."""
    import numpy

    count = pieces.stop - pieces.start
    if int(count.sum()) > MOST_POINTS:
        message = f"a front of {int(count.sum())} points is too much to compute"
        raise Problem("plan", message, ("give fewer values:  batch in 1..1024 log2",))
    ends = numpy.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    rows, places = numpy.zeros(0, int), numpy.zeros(0, int)
    ranks = numpy.zeros((len(goals), 0))
    for begin in range(0, total, DENSE):
        flat = numpy.arange(begin, min(total, begin + DENSE))
        at = numpy.searchsorted(ends, flat, side="right")
        own = pieces.rows[at], pieces.start[at] + flat - (ends - count)[at]
        found = numpy.stack([_score(block, goal, *own) for goal in goals])
        rows, places = numpy.append(rows, own[0]), numpy.append(places, own[1])
        ranks = numpy.concatenate([ranks, found], axis=1)
        kept = unbeaten(ranks)
        rows, places, ranks = rows[kept], places[kept], ranks[:, kept]
    return Ranked(rows, places, ranks)


def _score(block: Block, goal: Goal, rows: Any, places: Any) -> Any:
    import numpy

    sign = 1.0 if goal.sense == "min" else -1.0
    value = sign * block.score(VOCABULARY[goal.name].symbol, rows, places)
    return numpy.where(numpy.isnan(value), numpy.inf, value)


def unbeaten(ranks: Any) -> Any:
    """The numbers of the columns that no other column beats; of equal ones the first."""
    import numpy

    order = numpy.lexsort(ranks[::-1])
    found: list[int] = []
    if len(ranks) == 2:
        low = numpy.inf
        second = ranks[1][order]
        before = numpy.concatenate([[low], numpy.minimum.accumulate(second)[:-1]])
        return numpy.sort(order[(second < before) & numpy.isfinite(second)])
    left = order
    while len(left):
        best = left[0]
        if not numpy.isfinite(ranks[:, best]).all():
            break
        found.append(int(best))
        left = left[(ranks[:, left] < ranks[:, [best]]).any(axis=0)]
    return numpy.sort(numpy.array(found, int))


def front_of(rows: Sequence[Row], goals: int) -> list[Row]:
    """The rows that no other beats, in the order of the first quantity."""
    import numpy

    if not rows:
        return []
    ranks = numpy.array([row.ranks[:goals] for row in rows]).T
    kept = [rows[i] for i in unbeaten(ranks)]
    return sorted(kept, key=lambda row: row.ranks)
