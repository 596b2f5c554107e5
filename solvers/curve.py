"""The equation that an answer follows when a fact is moved: of what binds, or of what is stated.

Before rounding to a grid: a largest value lies where the limit that binds it meets its boundary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy

from formulas.deployment.constraints import OF_STRUCTURE
from formulas.formula import VOCABULARY
from solvers.answer import Answer, Contradiction, Exact, Interval
from solvers.chain import Chain
from solvers.evidence import replayed
from solvers.exact import evaluate
from solvers.found import Lacking
from solvers.number import Number, Undefined, is_number, same, to_sympy
from solvers.slopes import NotSmooth
from solvers.solve import Request, chain_of, settled_of
from solvers.spans import contains

_SIGNS = {sympy.Le: "<=", sympy.Ge: ">=", sympy.Lt: "<", sympy.Gt: ">"}


@dataclass(frozen=True, slots=True)
class Gap:
    """A limit, both sides in quantities; `limit` is its number where a person stated one."""

    name: str
    left: Any
    relation: str
    right: Any
    limit: Number | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """An answer as a point of a curve: `chain` has a value for everything, what is asked included.

    Along the curve both sides of `gap` stay equal; where there is none, the value of what is
    asked follows from the facts.
    """

    chain: Chain
    find: str
    value: Number
    gap: Gap | None = None
    sense: str = ""


def curve_of(request: Request, answer: Answer) -> Curve:
    """The curve of an answer with one value; NotSmooth where it has none."""
    if not isinstance(answer, Exact) or not is_number(answer.value):
        raise NotSmooth(f"{answer.find} has no one value here")
    chain = chain_of(request)
    settled = settled_of(chain)
    if isinstance(settled, Contradiction):
        raise NotSmooth(f"what is stated of {settled.quantity} contradicts itself")
    chain = settled.chain
    if chain.catalogue.quantities[answer.find].domain.choices:
        raise NotSmooth(f"{answer.find} is one of its choices, and does not move by a per cent")
    if answer.sense and answer.binding and answer.binding != ("facts",):
        return _at_limit(chain, answer)
    step = answer.evidence.steps[-1] if answer.evidence.steps else None
    if step is not None and step.because and step.solved_for == answer.find:
        return _at_equation(chain, answer, step.because)
    known = replace(chain, unknowns=frozenset())
    return Curve(known, answer.find, answer.value, sense=answer.sense)


def _at_limit(chain: Chain, answer: Exact) -> Curve:
    upwards = answer.sense == "max"
    span = next((s for s in answer.intervals if contains(s, answer.value)), Interval())
    end = span.high if upwards else span.low
    if end is None:
        raise NotSmooth(f"nothing says where {answer.find} would end without rounding")
    point = replayed(chain, answer.find, end)
    for gap in gaps_of(point):
        if gap.name in answer.binding and meets(point, gap):
            return Curve(point, answer.find, end, gap, answer.sense)
    if "domain" in answer.binding:
        own = VOCABULARY[answer.find].symbol
        gap = Gap("domain", own, "<=" if upwards else ">=", to_sympy(end))
        return Curve(point, answer.find, end, gap, answer.sense)
    raise NotSmooth(f"{' and '.join(answer.binding)} takes steps")


def _at_equation(chain: Chain, answer: Exact, target: str) -> Curve:
    """Of the equations that are stated, the one that gave the answer."""
    find, value = answer.find, answer.value
    point = replayed(chain, find, value)
    reach = chain.catalogue.downstream(find)
    for name in dict.fromkeys((target, *chain.equated())):
        if name not in chain.scenario.given or name not in reach:
            continue
        stated = chain.scenario.given[name].value
        computed = replace(point, scenario=point.scenario.without(name))
        gap = Gap(name, VOCABULARY[name].symbol, "=", to_sympy(stated), stated)
        if meets(computed, gap):
            return Curve(computed, find, value, gap)
    for gap in equations_of(point):
        names = {s.name for side in (gap.left, gap.right) for s in side.free_symbols} - {find}
        computed = replace(point, scenario=point.scenario.without(*names - _leaves(point)))
        if meets(computed, gap):
            return Curve(computed, find, value, gap)
    raise NotSmooth(f"{find} is found together with others")


def _leaves(chain: Chain) -> set[str]:
    """What is stated and nothing else gives."""
    return set(chain.scenario.given) - set(chain.equated())


def equations_of(chain: Chain) -> Iterator[Gap]:
    """What a person states to be equal."""
    for row in chain.scenario.equations:
        left, right = (VOCABULARY[name].symbol for name in (row.quantity, row.other))
        yield Gap(row.text, left, "=", right)
    for relate in chain.scenario.relates:
        if relate.relation == "=":
            yield Gap(relate.text, relate.left, "=", relate.right)


def gaps_of(chain: Chain) -> tuple[Gap, ...]:
    """Every limit here that compares two amounts: those of a person, then the standing ones."""
    rows = [
        Gap(row.quantity, VOCABULARY[row.quantity].symbol, row.relation, to_sympy(row.value),
            row.value)
        for row in chain.scenario.limits
    ]  # fmt: skip
    rows += [
        Gap(row.text, row.left, row.relation, row.right)
        for row in chain.scenario.relates
        if row.relation != "="
    ]
    rows += [
        Gap(row.name, row.expr.lhs, _SIGNS[type(row.expr)], row.expr.rhs)
        for row in chain.constraints
        if type(row.expr) in _SIGNS and row.name not in OF_STRUCTURE
    ]
    return tuple(row for row in rows if sides(chain, row) is not None)


def sides(chain: Chain, gap: Gap) -> tuple[Number, Number] | None:
    """What both sides come to; None where one of them is not known."""
    try:
        left, right = (
            evaluate(side, lambda name: chain.value(name).value) for side in (gap.left, gap.right)
        )
    except (Lacking, Undefined):
        return None
    return (left, right) if is_number(left) and is_number(right) else None


def meets(chain: Chain, gap: Gap) -> bool:
    """True where both sides are equal."""
    both = sides(chain, gap)
    return both is not None and same(*both)
