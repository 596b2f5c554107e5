"""The best of many configurations, by looking at every one: the choice, and why no other is better.

One axis with many values is followed along its line; every combination of the others is a question
of its own. The best is answered anew as a person would ask it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from formulas.catalogue import catalogue
from formulas.errors import Problem
from solvers.answer import (
    Answer,
    Choice,
    Contradiction,
    Exact,
    Infeasible,
    Missing,
    Unbounded,
    Unproved,
)
from solvers.axes import NAMED, at_point, axes_of, shown_value
from solvers.limits import limits_of, shown_names
from solvers.number import is_number, less, same
from solvers.over_line import TIES, Failed, Point, Scored, along, value_or_none
from solvers.solve import Request, chain_of, settled_of, solve

MOST_COMBINATIONS = 20_000
# An axis with so many values is not asked value by value.
_MANY = 6


def searched(request: Request) -> Answer:
    """The best value over all axes with the configuration that gives it; Infeasible with what the
    configurations break where none meets the limits.
    """
    if not request.sense:
        example = f"max {request.find} or min {request.find}"
        raise Problem("syntax", "a search is for the largest or smallest", (example,), "over")
    over = tuple(axis for axis in request.over if axis.name != request.find)
    axes = axes_of(over, request.scenario, catalogue())
    listed = {name: values for name, values in axes.items() if values is not None}
    free = [name for name, values in axes.items() if values is None]
    _refuse_lines(free)
    count = prod(len(values) for values in listed.values())
    if count > MOST_COMBINATIONS:
        reason = f"{count} combinations are more than the {MOST_COMBINATIONS} that are looked at"
        return Unproved(request.find, f"{reason}: give fewer values")
    line = _line_axis(request, listed, free)
    outer = {name: values for name, values in listed.items() if name != line}
    found: list[Scored] = []
    failed: list[Failed] = []
    for values in product(*outer.values()):
        point = dict(zip(outer, values, strict=True))
        for row in _looked_at(request, point, line, listed.get(line or "")):
            if isinstance(row, Scored):
                found.append(row)
            elif isinstance(row.answer, Infeasible | Contradiction):
                failed.append(row)
            else:
                return _told(row)
    if not found:
        return _none_fits(request, failed, line, count)
    return _chosen(request, _best(found, request.sense), failed)


def _refuse_lines(free: list[str]) -> None:
    if len(free) > 1:
        message = f"{' and '.join(free)} have no list of values"
        raise Problem("syntax", message, (f"example: {free[0]} in {{1, 2, 4}}",), free[0])
    if free and not catalogue().quantities[free[0]].domain.whole:
        message = f"{free[0]} may be any number"
        raise Problem("syntax", message, (f"give it values: {free[0]} in {{...}}",), free[0])


def _line_axis(
    request: Request, listed: Mapping[str, Sequence[Any]], free: Sequence[str]
) -> str | None:
    """The axis that is followed along its line, where what is asked depends on it."""
    if free:
        return free[0]
    numbers = [n for n, values in listed.items() if n not in NAMED and len(values) > _MANY]
    reach = [n for n in numbers if request.find in catalogue().downstream(n)]
    whole = [n for n in reach if not catalogue().quantities[n].domain.choices]
    return max(whole, key=lambda n: len(listed[n]), default=None)


def _looked_at(
    request: Request, point: Point, line: str | None, values: Sequence[Any] | None
) -> Iterator[Scored | Failed]:
    if line is None:
        scenario = at_point(request.scenario, point)
        yield _alone(replace(request, scenario=scenario, over=()), point)
    else:
        yield from along(_without_line(request, point, line), point, line, values)


def _without_line(request: Request, point: Point, line: str) -> Request:
    scenario = at_point(request.scenario, point)
    kept = {name: values for name, values in scenario.among.items() if name != line}
    return replace(request, scenario=replace(scenario.without(line), among=kept), over=())


def _alone(request: Request, point: Point) -> Scored | Failed:
    """One configuration, without the reasons that only the best one needs."""
    settled = settled_of(chain_of(request))
    if isinstance(settled, Contradiction):
        return Failed(point, settled)
    chain = settled.chain
    known = replace(chain, unknowns=frozenset())
    determined = known.by_relation(request.find)
    value = None if determined is None else determined.value
    limits = limits_of(known if is_number(value) else chain)
    if isinstance(limits, Missing):
        return Failed(point, limits)
    broken = shown_names(tuple(n for n, c in limits.conditions.items() if c is False))
    if broken:
        return Failed(point, Infeasible(request.find, _breaks(broken)), broken, value)
    if is_number(value):
        ties = (known.value(t).value for t in TIES if value_or_none(known, t) is not None)
        return Scored(point, value, tuple(float(t) for t in ties if is_number(t)))
    answer = solve(request)
    if isinstance(answer, Exact):
        return Scored(point, answer.value, _ties_of(answer), answer, answer.binding)
    checks = answer.evidence.checks
    return Failed(point, answer, shown_names(tuple(c.name for c in checks if not c.holds)))


def _breaks(names: Sequence[str]) -> str:
    return f"it breaks {' and '.join(names)}"


def _ties_of(answer: Exact) -> tuple[Any, ...]:
    found = answer.evidence.outcomes
    return tuple(float(found[t]) for t in TIES if is_number(found.get(t)))


def _best(found: list[Scored], sense: str) -> Scored:
    """The best value; of equal ones that with fewer GPUs, then the lower TPOT, the smaller TP."""
    top = found[0]
    for row in found[1:]:
        if same(row.value, top.value):
            top = min(top, row, key=lambda r: r.ties)
        elif less(top.value, row.value) == (sense == "max"):
            top = row
    return top


def _chosen(request: Request, best: Scored, failed: Sequence[Failed]) -> Answer:
    """The best configuration, asked once more with everything stated."""
    answer = best.answer
    if answer is None:
        stated = at_point(request.scenario, best.point)
        found = solve(replace(request, scenario=stated, over=()))
        if not isinstance(found, Exact) or not same(found.value, best.value):
            return Unproved(request.find, "the best configuration does not prove itself")
        answer = found
    own = tuple(name for name in answer.binding if name not in ("facts", "domain"))
    binding = (
        best.binding or own or _broken_elsewhere(answer.value, request.sense, failed) or ("domain",)
    )
    choice = {name: shown_value(value) for name, value in best.point.items()}
    return Choice(request.find, answer.value, choice, binding, answer.evidence)


def _broken_elsewhere(best: Any, sense: str, failed: Sequence[Failed]) -> tuple[str, ...]:
    """What keeps out the configurations that would be better, where they break the same."""
    rows = [row for row in failed if row.broken and is_number(row.value)]
    better = [row for row in rows if less(best, row.value) == (sense == "max")]
    if not better:
        return ()
    shared = set.intersection(*(set(row.broken) for row in better))
    fewest = min(better, key=lambda row: len(row.broken)).broken
    return tuple(name for name in fewest if name in shared) or fewest


def _told(row: Failed) -> Answer:
    """An answer that ends the search, with the configuration at which it was met."""
    if isinstance(row.answer, Missing | Unproved) or not row.point:
        return row.answer
    at = ", ".join(f"{name} = {value}" for name, value in row.point.items())
    proof = row.answer.evidence
    proof = replace(proof, notes=(*proof.notes, f"met at {at}"))
    if isinstance(row.answer, Unbounded):
        return replace(row.answer, evidence=proof)
    return Unproved(row.answer.find, f"no single value at {at}", evidence=proof)


def _none_fits(request: Request, failed: Sequence[Failed], line: str | None, count: int) -> Answer:
    """That none of them meets every limit, seen from the one that breaks the fewest."""
    if not failed:
        return Infeasible(request.find, "no value is left to search")
    nearest = min(failed, key=lambda row: len(row.broken) or _MANY)
    answer = _explained(request, nearest, line)
    if len(failed) == 1 or not isinstance(answer, Infeasible):
        return answer
    broken = tuple(c.name for c in answer.evidence.checks if not c.holds)
    reason = f"none of {count} combinations meets every limit"
    at = ", ".join(f"{name} = {shown_value(value)}" for name, value in nearest.point.items())
    reason += f"; the nearest, {at}, breaks {' and '.join(shown_names(broken))}" if broken else ""
    return replace(answer, reason=reason)


def _explained(request: Request, row: Failed, line: str | None) -> Answer:
    """Why one configuration fails, in full."""
    if line is None:
        point = at_point(request.scenario, row.point)
        return solve(replace(request, scenario=point, over=()))
    bare = _without_line(request, row.point, line)
    rows = list(along(bare, {}, line, (), explain=True))
    return rows[0].answer if rows and rows[0].answer else row.answer
