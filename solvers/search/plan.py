"""The search: the best configuration of all, and its proof; or why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from formulas.errors import Problem
from formulas.formula import VOCABULARY
from formulas.statements import EVERY
from solvers.search.block import Block
from solvers.search.bound import bound_of
from solvers.search.choose import Option, chosen
from solvers.search.clashes import clashes_of
from solvers.search.front import front_of, points_of
from solvers.search.line import ENDLESS, Listed
from solvers.search.pieces import Pieces, Tests
from solvers.search.program import Refused
from solvers.search.rank import (
    Endless,
    Ranked,
    best_value,
    best_values,
    ranked,
    refuse_many,
    selected,
)  # fmt: skip
from solvers.search.space import space_of
from solvers.search.task import TIES, TOLD, Excluded, Plan, Row, Task
from solvers.search.walk import Search, searched

# Up to here what each limit excludes is counted in full.
COUNTED = 60_000
# So much of the time may go into the walk; the rest is for what is proved where it is stopped.
_WALK = 0.75


def planned(task: Task, say: Callable[[str], None] = lambda _: None) -> Plan:
    """The best configuration of the space, proved; or why there is none.

    Problem where the question cannot be searched; TimedOut is the caller's affair.
    """
    now = time.monotonic()
    _refuse_vague(task)
    space = space_of(task.scenario, task.over, task.prices, task.wanted)
    search = Search(task, space, space.size <= COUNTED)
    limited = task.seconds > 0
    try:
        for block, tests, pieces in searched(
            search, now + _WALK * task.seconds if limited else None
        ):
            _take(search, block, tests, pieces)
            say(f"{search.searched} of {space.size} combinations were tried")
        return _finished(search, now + task.seconds)
    except Refused as refused:
        return Plan(refused=refused.answer, combinations=space.size)
    except Endless:
        return Plan(unbounded=True, combinations=space.size)


def _refuse_vague(task: Task) -> None:
    scenario = task.scenario
    if scenario.ranges or scenario.spreads:
        name = next(iter({**scenario.ranges, **scenario.spreads}))
        raise Problem("plan", f"a plan needs one value of {name}", (f"state {name} = ...",), name)
    if scenario.equations:
        row = scenario.equations[0]
        raise Problem("plan", "a plan takes limits, and no equation of quantities", (), row.text)
    for relate in scenario.relates:
        if relate.relation == "=":
            raise Problem("plan", "a plan takes limits, and no equation", (), relate.text)
    if scenario.clashes:
        first, second = scenario.clashes[0]
        raise Problem("plan", f"{first.text} and {second.text} cannot both hold", ())
    for goal in task.goals:
        if VOCABULARY[goal.name].shape:
            raise Problem("plan", f"{goal.name} is an array", (), goal.name)


def _take(search: Search, block: Block, tests: Tests, pieces: Pieces) -> None:
    """Keep the best of the block, and count what each test excludes."""
    import numpy

    task = search.task
    if search.lenient:
        _count(search, tests, pieces)
        search.blocks.append((block, tests, pieces))
    good = pieces.only(pieces.fails == 0)
    search.feasible += len(numpy.unique(good.rows))
    if task.front:
        best = points_of(block, good, task.goals)
    else:
        top = task.top if task.top == EVERY else task.top + 1
        best = ranked(block, good, task.goals, top)
    search.rows += _rows(search, block, best)
    if task.front:
        search.rows = front_of(search.rows, len(task.goals))
    if task.conditions and search.lenient:
        _offer(search, block, tests, pieces)


def _offer(search: Search, block: Block, tests: Tests, pieces: Pieces) -> None:
    """The best row of each combination of true atoms, whether the conditions hold or not."""
    import numpy

    own = (1 << len(tests.rows)) - 1
    passing = pieces.only(pieces.fails & own == 0)
    for truths in numpy.unique(passing.truths):
        best = ranked(block, passing.only(passing.truths == truths), search.task.goals, 1)
        if len(best.rows):
            search.options.append((tuple(best.ranks[:, 0]), int(truths)))


def _count(search: Search, tests: Tests, pieces: Pieces) -> None:
    size = pieces.stop - pieces.start
    for bit, name in enumerate(tests.names):
        failing = (pieces.fails >> bit) & 1 == 1
        alone = pieces.fails == 1 << bit
        row = search.excluded.setdefault(name, [0, 0])
        row[0] += int(size[failing].sum())
        row[1] += int(size[alone].sum())
    for name, count in pieces.counts.items():
        search.excluded[name][0] += count


def _rows(search: Search, block: Block, best: Ranked) -> list[Row]:
    names = list(dict.fromkeys((*(g.name for g in search.task.goals), *TIES, *TOLD)))
    names = [name for name in names if block.program.knows(name)]
    symbols = [VOCABULARY[name].symbol for name in names]
    columns = dict(zip(names, block.scores(symbols, best.rows, best.places), strict=True))
    found = []
    for i, (row, place) in enumerate(zip(best.rows, best.places, strict=True)):
        point = search.point(block, int(row), int(place))
        values = {name: float(column[i]) for name, column in columns.items()}
        found.append(Row(point, values, tuple(float(r) for r in best.ranks[:, i])))
    return found


def _finished(search: Search, end: float) -> Plan:
    task, space = search.task, search.space
    proved = search.searched >= space.size
    best = search.rows
    equal = 0
    if best and not task.front:
        best = _best(search)
        equal = len(best) if task.top == EVERY else _equal(search, best[0])
    excluded = tuple(Excluded(name, *counts) for name, counts in search.excluded.items())
    clashes = None
    if not search.rows and proved:
        clashes = clashes_of(search)
    return Plan(
        tuple(best),
        space.size,
        _points(search),
        search.feasible,
        tuple(row for row in excluded if row.count),
        equal,
        clashes,
        proved,
        None if proved or task.front else bound_of(search, end),
        search.searched,
        unchecked=tuple(search.unchecked),
        binding=_binding(search, best[0]) if best and not task.front else (),
        proof=_proof(search, best) if best and proved and not task.front else "",
    )


def _best(search: Search) -> list[Row]:
    """The rows that are asked for, the best first."""
    import numpy

    task, rows = search.task, search.rows
    ranks = numpy.array([row.ranks for row in rows]).T
    numbers = numpy.arange(len(rows))
    order = selected(numbers, ranks, max(task.top, 1))
    if task.top != EVERY:
        return [rows[i] for i in order]
    goals = len(task.goals)
    least = rows[order[0]].ranks[:goals]
    found = sorted((r for r in rows if _alike(r.ranks[:goals], least)), key=lambda r: r.ranks)
    refuse_many(len(found))
    return found


def _equal(search: Search, best: Row) -> int:
    """How many combinations reach the best of the first goal; 0 where that was not counted."""
    import numpy

    goal = search.task.goals[0]
    found = 0
    for block, _, pieces in search.blocks:
        good = pieces.only(pieces.fails == 0)
        rows, values = best_values(block, good, goal)
        found += len(numpy.unique(rows[abs(values - best.ranks[0]) <= 1e-9 * abs(best.ranks[0])]))
    return found


def _binding(search: Search, best: Row) -> tuple[tuple[str, float], ...]:
    """The tests that alone keep out something better, with the best of it."""
    goal = search.task.goals[0]
    found: dict[str, float] = {}
    for block, tests, pieces in search.blocks:
        for bit, name in enumerate(tests.names):
            alone = pieces.only(pieces.fails == 1 << bit)
            if not len(alone.rows):
                continue
            value = best_value(block, alone, goal)
            if value < best.ranks[0] and not _alike((value,), best.ranks):
                found[name] = min(value, found.get(name, value))
    sign = 1.0 if goal.sense == "min" else -1.0
    return tuple((name, sign * value) for name, value in found.items())


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) <= 1e-9 * max(abs(a), abs(b)) for a, b in zip(one, other, strict=False))


def _points(search: Search) -> int:
    """How many configurations there are; 0 where the line has no end."""
    line = search.space.line
    if line is None:
        return search.space.size
    if isinstance(line, Listed):
        return search.space.size * len(line.values)
    return 0 if line.high == ENDLESS else search.space.size * (line.high - line.low + 1)


def _proof(search: Search, best: Sequence[Row]) -> str:
    """z3 finds no better row than the best of the table; empty where it was not asked."""
    conditions = search.task.conditions if search.options else ()
    rows = search.options or [(row.ranks, 0) for row in best[:200]]
    goals = len(search.task.goals)
    order = sorted({row[0][:goals] for row in rows})
    options = [Option(order.index(ranks[:goals]), truths) for ranks, truths in rows]
    atoms = search.blocks[0][1].atoms if search.blocks else ()
    found = chosen(options, conditions, atoms)
    if found is None or not _alike(rows[found][0][:goals], best[0].ranks):
        raise ArithmeticError("z3 and the table disagree about the best configuration")
    return "z3"
