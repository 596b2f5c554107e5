"""Facts that are known within limits: between what the answer lies, or how far it spreads.

Ends that are proved to be ends of a monotone answer are exact: the question is answered there.
Everywhere else the box of the facts is cut, and what is told lies outside of what may come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from formulas.scenario import Scenario
from solvers.answer import (
    Answer,
    Contradiction,
    Evidence,
    Exact,
    Infeasible,
    Interval,
    Range,
    Unproved,
)
from solvers.number import CONTEXT, Number, divide, is_number, rounded
from solvers.slopes import NotSmooth
from solvers.solve import Request, solve

Box = Mapping[str, tuple[Fraction, Fraction]]

_FIRST_ORDER = "the spread is of first order: slopes at the values stated, times deviations"


def uncertain_answer(request: Request) -> Answer:
    """The answer to a question with facts that are intervals, or that have a deviation.

    A Range where they are intervals, an Exact with `spread` where they have deviations.
    """
    scenario = request.scenario
    plain = replace(request, scenario=replace(scenario, ranges={}, spreads={}))
    ranges = {n: ends for n, ends in scenario.ranges.items() if ends[0] < ends[1]}
    if not ranges:
        return with_spread(plain, solve(plain), scenario.spreads)
    found = _within(plain, ranges)
    if scenario.spreads and isinstance(found, Range):
        names = ", ".join(scenario.spreads)
        return noted(found, f"the deviation of {names} is not shown beside an interval")
    return found


# -- deviations


def with_spread(request: Request, answer: Answer, spreads: Mapping[str, Fraction]) -> Answer:
    """The answer with its deviation, and a note that says of what order it is."""
    from solvers.sensitivity import slopes_of_answer

    if not isinstance(answer, Exact) or not is_number(answer.value) or not spreads:
        return answer
    try:
        slopes = slopes_of_answer(request, answer)
    except NotSmooth as reason:
        return noted(answer, f"its spread is not known: {reason}")
    bent = sorted(slopes.turning & spreads.keys())
    if bent:
        return noted(answer, f"its spread is not known: it turns at this value of {bent[0]}")
    parts = [rounded(slopes.of(name)) * rounded(d) for name, d in spreads.items()]
    spread = CONTEXT.sqrt(CONTEXT.fsum(part * part for part in parts))
    return replace(noted(answer, _FIRST_ORDER), spread=spread)


def noted(answer: Answer, *notes: str) -> Answer:
    """The same answer with notes."""
    proof: Evidence = replace(answer.evidence, notes=(*answer.evidence.notes, *notes))
    return replace(answer, evidence=proof)


# -- intervals


def _within(request: Request, box: Box) -> Answer:
    """What the question comes to anywhere in the box."""
    from solvers.uncertain_limits import extreme_within
    from solvers.uncertain_values import value_within

    middle = solve(request)
    if isinstance(middle, Contradiction) and middle.quantity in box:
        return _without_contradiction(request, box, middle)
    if request.over:
        return Unproved(request.find, _named("a search is not carried through a range of", box))
    asked = box.get(request.find)
    if asked is not None and not request.sense:
        return _range(middle, asked[0], asked[1])
    if request.sense or isinstance(middle, Range | Infeasible):
        return extreme_within(request, box, middle)
    return value_within(request, box, middle) if isinstance(middle, Exact) else middle


def _named(text: str, box: Box) -> str:
    return f"{text} {' and '.join(box)}: state one value"


def _range(middle: Answer, low: Number, high: Number) -> Answer:
    return Range(middle.find, (Interval(low, high),), evidence=middle.evidence)


def _without_contradiction(request: Request, box: Box, middle: Contradiction) -> Answer:
    """A result stated within limits is no contradiction where what relations give lies in them."""
    low, high = box[middle.quantity]
    if not is_number(middle.derived) or not low <= middle.derived <= high:
        return middle
    rest = {name: ends for name, ends in box.items() if name != middle.quantity}
    scenario = replace(request.scenario.without(middle.quantity), ranges=rest)
    note = f"{middle.quantity} follows from the other facts, and lies in what is stated of it"
    return noted(solve(replace(request, scenario=scenario)), note)


def at(request: Request, point: Mapping[str, Fraction]) -> Request:
    """The same question with these values for the uncertain facts."""
    return replace(request, scenario=placed(request.scenario, point))


def placed(scenario: Scenario, point: Mapping[str, Fraction]) -> Scenario:
    """The scenario in which the facts have these values, said by whom they were said."""
    given = dict(scenario.given)
    for name, value in point.items():
        given[name] = replace(given[name], value=value)
    return replace(scenario, given=given)


@dataclass(frozen=True, slots=True)
class Corners:
    """The ends of the box at which a monotone amount is least and greatest."""

    least: Mapping[str, Fraction]
    greatest: Mapping[str, Fraction]


def corners(box: Box, signs: Mapping[str, int]) -> Corners:
    """The corners where an amount that moves with these signs is least and greatest."""
    least = {n: ends[0] if signs.get(n, 0) >= 0 else ends[1] for n, ends in box.items()}
    greatest = {n: ends[1] if signs.get(n, 0) >= 0 else ends[0] for n, ends in box.items()}
    return Corners(least, greatest)


def middle_of(box: Box) -> dict[str, Fraction]:
    """The middle of every side."""
    return {name: (low + high) / 2 for name, (low, high) in box.items()}


def halves(box: Box, name: str) -> tuple[Box, Box]:
    """The box cut in two across one side."""
    low, high = box[name]
    middle = (low + high) / 2
    return {**box, name: (low, middle)}, {**box, name: (middle, high)}


def widest(box: Box, names: frozenset[str]) -> str:
    """Of these sides the one that is widest, relative to where it lies."""

    def width(name: str) -> float:
        low, high = box[name]
        return float(divide(high - low, max(abs(low), abs(high))))

    return max(sorted(names), key=width)
