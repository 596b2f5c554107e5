"""What no configuration is better than, proved of the part of the space that was not walked.

The rest is cut into boxes: a kind, a stretch of each list of numbers, a stretch of the line. In
each box the goal is enclosed; the boxes that hold the bound down are cut in two for as long as
there is time, and those in which some limit surely fails are given up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from formulas.errors import Problem
from formulas.formula import VOCABULARY
from solvers.search.enclosure import Interval, compare, enclosed, exact_ends, surely
from solvers.search.line import Whole
from solvers.search.program import Program, Refused
from solvers.search.space import Space
from solvers.search.walk import Search, program_at

_TOGETHER = 64
_MOST_BOXES = 20_000
_NOTHING = -float("inf")


@dataclass(frozen=True, slots=True)
class Box:
    """The places from `low` to `high`, both included, of each list of numbers and of the line."""

    kind: int
    low: tuple[int, ...]
    high: tuple[int, ...]


@dataclass
class Part:
    """The rest of one group; a scratchpad. `open` boxes have a program and an end of the goal."""

    search: Search
    varied: frozenset[str]
    programs: list[Program] = field(default_factory=list)
    open: list[tuple[float, Box, Program]] = field(default_factory=list)


def bound_of(search: Search, end: float) -> float | None:
    """The best that the first goal may have anywhere; None where nothing is known of it.

    `end` is when to stop, on the monotonic clock.
    """
    best = min((row.ranks[0] for row in search.rows), default=float("inf"))
    found = best
    parts = list(rest_of(search.space, search.searched))
    for number, (group, boxes) in enumerate(parts):
        share = (end - time.monotonic()) / (len(parts) - number)
        part = Part(search, search.space.varied(group))
        try:
            low = _least(part, boxes, found, time.monotonic() + share)
        except (Problem, Refused):
            return None
        found = min(found, low)
    if abs(found) == float("inf"):
        return None
    return found if search.task.goals[0].sense == "min" else -found


def rest_of(space: Space, searched: int) -> Iterator[tuple[list[int], list[Box]]]:
    """The boxes of what the walk has not come to, group by group."""
    lengths = [len(values) for values in space.numbers.values()]
    for group in space.groups():
        total = len(group) * space.each
        first, searched = min(searched, total), max(0, searched - total)
        if first == total:
            continue
        kind, place = divmod(first, space.each)
        rows = [_full(space, number) for number in group[kind + bool(place) :]]
        if place:
            digits: list[int] = []
            for length in reversed(lengths):
                place, digit = divmod(place, length)
                digits.insert(0, digit)
            rows += _behind(_full(space, group[kind]), digits)
        yield group, rows


def _full(space: Space, kind: int) -> Box:
    high = [len(values) - 1 for values in space.numbers.values()]
    line = space.line
    if line is not None:
        high.append(line.high - line.low if isinstance(line, Whole) else len(line.values) - 1)
    return Box(kind, (0,) * len(high), tuple(high))


def _behind(full: Box, digits: Sequence[int]) -> Iterator[Box]:
    """The combinations from these places on, the last list turning fastest."""
    more, end = full.low[len(digits) :], full.high[len(digits) :]
    yield Box(full.kind, (*digits, *more), (*digits, *end))
    for axis, digit in enumerate(digits):
        if digit < full.high[axis]:
            low = (*digits[:axis], digit + 1, *full.low[axis + 1 :])
            yield Box(full.kind, low, (*digits[:axis], *full.high[axis:]))


def _least(part: Part, boxes: list[Box], best: float, end: float) -> float:
    """The lower end of the goal's rank in these boxes, as high as the time allows."""
    if not _sorted_out(part, boxes, end):
        return _NOTHING
    while part.open:
        part.open.sort(key=lambda row: row[0])
        least = part.open[0][0]
        if least >= best or time.monotonic() > end or len(part.open) > _MOST_BOXES:
            return least
        taken = [row for row in part.open[:_TOGETHER] if row[0] < best]
        split = [(row, list(_halves(part.search.space, row[1]))) for row in taken]
        if not split[0][1]:
            return least
        done = {id(row) for row, halves in split if halves}
        part.open = [row for row in part.open if id(row) not in done]
        for program in part.programs:
            own = [(row, halves) for row, halves in split if halves and row[2] is program]
            part.open += _cut(part, program, own)
    return float("inf")


def _cut(
    part: Part, program: Program, rows: Sequence[tuple[Any, list[tuple[Box, Box]]]]
) -> list[tuple[float, Box, Program]]:
    """Each box cut where that lifts the lower end most."""
    every = [box for _, halves in rows for pair in halves for box in pair]
    if not every:
        return []
    lows = _ranks(part.search, program, every)
    found: list[tuple[float, Box, Program]] = []
    place = 0
    for (before, _, _), halves in rows:
        pairs = []
        for one, other in halves:
            low = [max(before, float(lows[place])), max(before, float(lows[place + 1]))]
            place += 2
            pairs.append((min(low), sum(low), [(low[0], one, program), (low[1], other, program)]))
        best = max(pairs, key=lambda pair: pair[:2])
        found += [row for row in best[2] if row[0] != float("inf")]
    return found


def _halves(space: Space, box: Box) -> Iterator[tuple[Box, Box]]:
    """The box cut in two along each axis that has more than one place."""
    for axis, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
        if low == high:
            continue
        middle = (low + high) // 2
        if axis == len(space.numbers) and isinstance(space.line, Whole):
            # A line is long: it is cut by size, so that its beginning is reached soon.
            start = space.line.low + low
            if high - low > 8 * max(start, 1):
                middle = low + int((max(start, 1) * (high - low)) ** 0.5)
        yield (
            Box(box.kind, box.low, (*box.high[:axis], middle, *box.high[axis + 1 :])),
            Box(box.kind, (*box.low[:axis], middle + 1, *box.low[axis + 1 :]), box.high),
        )


def _sorted_out(part: Part, boxes: list[Box], end: float) -> bool:
    """Give each box the program that is right in all of it, cutting where none is."""
    space = part.search.space
    numbers = len(space.numbers)
    left = list(boxes)
    while left:
        if time.monotonic() > end + 1 or len(left) + len(part.open) > _MOST_BOXES:
            return False
        for program in part.programs:
            right, left = _by_right(program, space, left)
            if right:
                lows = _ranks(part.search, program, right)
                part.open += [
                    (float(low), box, program)
                    for low, box in zip(lows, right, strict=True)
                    if low != float("inf")
                ]
        if not left:
            break
        corner = Box(left[0].kind, left[0].low, (*left[0].low[:numbers], *left[0].high[numbers:]))
        if not any(_by_right(program, space, [corner])[0] for program in part.programs):
            at = [[place] for place in corner.low[:numbers]]
            program = program_at(part.search, part.varied, [corner.kind], at, 0)
            part.programs.append(program)
            if corner == left[0]:
                part.open.append(
                    (float(_ranks(part.search, program, [corner])[0]), corner, program)
                )
                left = left[1:]
            continue
        left = [half for box in left for half in _along_numbers(box, numbers)]
    return True


def _along_numbers(box: Box, numbers: int) -> list[Box]:
    """The box cut along its longest list of numbers; itself where it has none left."""
    lengths = [high - low for low, high in zip(box.low, box.high, strict=True)][:numbers]
    axis = max(range(numbers), key=lengths.__getitem__, default=0)
    if not numbers or not lengths[axis]:
        return [box]
    middle = (box.low[axis] + box.high[axis]) // 2
    return [
        Box(box.kind, box.low, (*box.high[:axis], middle, *box.high[axis + 1 :])),
        Box(box.kind, (*box.low[:axis], middle + 1, *box.low[axis + 1 :]), box.high),
    ]


def _by_right(program: Program, space: Space, boxes: Sequence[Box]) -> tuple[list[Box], list[Box]]:
    """The boxes in all of which the program is right, and the others."""
    import numpy

    values = _values(program, space, boxes)
    sure = numpy.ones(len(boxes), bool)
    for conditions, wanted in ((program.true, True), (program.false, False)):
        for condition in conditions:
            sure &= surely(enclosed(condition.expr, values), wanted)
    right = [box for box, own in zip(boxes, sure, strict=True) if own]
    return right, [box for box, own in zip(boxes, sure, strict=True) if not own]


def _ranks(search: Search, program: Program, boxes: Sequence[Box]) -> Any:
    """The lower end of the goal's rank in each box; infinite where some limit surely fails."""
    import numpy

    goal = search.task.goals[0]
    values = _values(program, search.space, boxes)
    low, high = enclosed(VOCABULARY[goal.name].symbol, values)
    found = low if goal.sense == "min" else -numpy.asarray(high)
    found = numpy.array(numpy.broadcast_to(found, len(boxes)), float)
    found[numpy.isnan(found) | (found == numpy.inf)] = _NOTHING
    for test in program.tests:
        sides = [enclosed(side, values) for side in test.sides]
        truth = compare(test.sign, *sides) if test.sign else sides[0]
        found = numpy.where(surely(truth, False), numpy.inf, found)
    return found


def _values(program: Program, space: Space, boxes: Sequence[Box]) -> dict[str, Interval]:
    """Between what every quantity lies in each box."""
    import numpy

    found: dict[str, Interval] = {}
    for name, fact in program.facts.items():
        found[name] = _ends(numpy.array([float(fact)]), numpy.array([float(fact)]))
    line = space.line.name if space.line else ""
    for name in program.varied - set(space.numbers) - {line}:
        own = numpy.array([float(space.kinds[box.kind].facts.get(name, 0)) for box in boxes])
        found[name] = _ends(own, own)
    for axis, (name, values) in enumerate(space.numbers.items()):
        numbers = numpy.array([float(value) for value in values])
        stretches = [numbers[box.low[axis] : box.high[axis] + 1] for box in boxes]
        lows, highs = [row.min() for row in stretches], [row.max() for row in stretches]
        found[name] = _ends(numpy.array(lows), numpy.array(highs))
    if space.line is not None:
        ends = [[float(_on(space, row[-1])) for row in (box.low, box.high)] for box in boxes]
        low, high = numpy.array(ends).T
        found[line] = _ends(low, high)
    for name, expr in program.steps:
        found[name] = enclosed(expr, found)
    return found


def _on(space: Space, place: int) -> Any:
    line = space.line
    assert line is not None
    return line.low + place if isinstance(line, Whole) else line.values[place]


def _ends(low: Any, high: Any) -> Interval:
    """Whole numbers as they are; the ends of others rounded outwards."""
    import numpy

    wide = exact_ends(low, high)
    whole = [(end == numpy.rint(end)) & (numpy.abs(end) < 2.0**53) for end in (low, high)]
    return numpy.where(whole[0], low, wide[0]), numpy.where(whole[1], high, wide[1])
