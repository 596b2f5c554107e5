"""A value where something is one of a list: what it is for each, without a choice between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from solvers.answer import Answer, Exact, Infeasible, Interval, Range
from solvers.axes import at_point, axes_of, shown_value
from solvers.number import is_number, ordered, same
from solvers.solve import Request, solve

_MOST = 200
_SHOWN = 12


def values_over(request: Request) -> Answer:
    """Every value that what is asked takes for the values of its lists and the stated limits."""
    axes = axes_of(request.over, request.scenario, catalogue())
    lists = {name: values for name, values in axes.items() if values is not None}
    count = prod(len(values) for values in lists.values())
    if count > _MOST:
        example = f"max {request.find} or min {request.find}"
        message = f"{count} combinations are too many to tell {request.find} for each"
        raise Problem("syntax", message, (f"ask {example}, or sweep",))
    found: list[tuple[dict[str, Any], Exact]] = []
    refused: Answer | None = None
    for values in product(*lists.values()):
        point = dict(zip(lists, values, strict=True))
        scenario = at_point(request.scenario, point)
        answer = solve(replace(request, scenario=scenario, over=()))
        if isinstance(answer, Exact) and is_number(answer.value):
            if all(check.holds for check in answer.evidence.checks if check.stated):
                found.append((point, answer))
        elif not isinstance(answer, Infeasible):
            return answer
        refused = refused or answer
    if not found:
        return _none(request, refused)
    distinct: list[Any] = []
    for value in ordered(answer.value for _, answer in found):
        if not distinct or not same(distinct[-1], value):
            distinct.append(value)
    first = found[0][1]
    if len(distinct) == 1:
        return first
    quantity = catalogue().quantities[request.find]
    shown = [
        f"{_at(point)}: {display(answer.value, quantity.unit, quantity.label)}"
        for point, answer in found[:_SHOWN]
    ]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    # The steps differ from one to the next: those of none are told.
    proof = replace(first.evidence, steps=(), checks=(), outcomes={})
    proof = replace(proof, notes=(*proof.notes, "; ".join(shown) + more))
    return Range(request.find, tuple(Interval(v, v) for v in distinct), evidence=proof)


def _at(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {shown_value(value)}" for name, value in point.items())


def _none(request: Request, refused: Answer | None) -> Answer:
    """That no choice meets what is stated."""
    if refused is None or isinstance(refused, Infeasible):
        return refused or Infeasible(request.find, "no choice is left")
    broken = [check.name for check in refused.evidence.checks if not check.holds]
    reason = f"every choice breaks {' or '.join(broken)}"
    return Infeasible(request.find, reason, evidence=refused.evidence)
