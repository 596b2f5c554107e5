"""Under `using`: what is one-sided, and what is computed by a kernel on arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from formulas.formula import Relation
from solvers.answer import Answer, Evidence, Exact, Interval, Missing, Range, Step, Unproved
from solvers.bounds import feasible_set
from solvers.branches import Refused, Root, Span
from solvers.chain import Chain
from solvers.equation import clipped
from solvers.exact import evaluate
from solvers.found import Lacking
from solvers.isolate import isolate_within
from solvers.number import to_sympy
from solvers.spans import extreme


def special_answer(chain: Chain) -> Answer | None:
    """The answer of an array relation, a bound or an inequality; None where equations answer."""
    for relation in chain.using:
        rule = _array if relation.is_array else _inequality if relation.is_truth else _bound
        if relation.is_array or relation.is_bound:
            answer = rule(chain, relation)
            if answer is not None:
                return answer
    return None


# -- arrays


def _array(chain: Chain, relation: Relation) -> Answer | None:
    name = chain.asked
    given = chain.scenario.given
    shaped = [n for n in given if chain.catalogue.quantities[n].shape]
    if relation.gives == name and name not in given:
        lacking = _lacking(chain, relation)
        if lacking:
            # Without any array another relation of the entry may answer.
            return (
                Missing(name, (tuple(sorted(lacking)),))
                if shaped or len(chain.using) == 1
                else None
            )
        values: dict[str, Any] = {}
        value = _computed(chain, relation, values)
        steps = tuple(
            Step(r.key, r.gives, values[r.gives]) for r in chain.using if r.gives in values
        )
        return Exact(name, value, numeric=isinstance(value, float), evidence=Evidence(steps))
    if name in relation.inputs and relation.gives in given and (shaped or len(chain.using) == 1):
        return Unproved(name, f"{relation.key} is computed forwards: an array has no inverse here")
    return None


def _lacking(chain: Chain, relation: Relation) -> set[str]:
    """The inputs that are neither stated nor computed by another relation of the entry."""
    lacking: set[str] = set()
    for name in relation.inputs:
        if name in chain.scenario.given:
            continue
        row = _giving(chain, name)
        lacking |= {name} if row is None or row is relation else _lacking(chain, row)
    return lacking


def _giving(chain: Chain, name: str) -> Relation | None:
    return next((r for r in chain.using if r.gives == name), None)


def _computed(chain: Chain, relation: Relation, values: dict[str, Any]) -> Any:
    from solvers.kernel import array_value

    inputs: dict[str, Any] = {}
    for name in relation.inputs:
        row = _giving(chain, name)
        if name in chain.scenario.given:
            inputs[name] = chain.scenario.given[name].value
        elif name in values:
            inputs[name] = values[name]
        elif row is not None and row.is_array:
            inputs[name] = _computed(chain, row, values)
        else:
            inputs[name] = chain.value(name).value
    values[relation.gives] = array_value(relation, inputs)
    return values[relation.gives]


# -- bounds


def _bound(chain: Chain, relation: Relation) -> Answer | None:
    name, given = chain.asked, chain.scenario.given
    if relation.gives == name:
        try:
            found = chain.apply(relation)
        except Lacking:
            return None
        span = _one_sided(relation.relation, found.value)
        return _bounded(chain, relation, span)
    if name not in relation.inputs or relation.gives not in given:
        return None
    try:
        function = evaluate(relation.value, _with_symbol(chain, name))
    except Lacking:
        return None
    target = given[relation.gives].value
    goal = _one_sided(_MIRROR[relation.relation], target)
    quantity = chain.catalogue.quantities[name]
    branches = isolate_within(function, _as_goal(goal), quantity.symbol)
    if isinstance(branches, Refused):
        return Unproved(name, branches.reason)
    spans = [s for b in branches if not isinstance(b, Root) for s in clipped(b, quantity.domain)]
    return _bounded(chain, relation, spans[0]) if spans else None


_MIRROR = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}


def _one_sided(relation: str, value: Any) -> Interval:
    if relation.startswith(">"):
        return Interval(low=value, low_open=relation == ">")
    return Interval(high=value, high_open=relation == "<")


def _as_goal(span: Interval) -> Span:
    low, high = (None if end is None else to_sympy(end) for end in (span.low, span.high))
    return Span(low, high, span.low_open, span.high_open)


def _with_symbol(chain: Chain, name: str) -> Any:
    symbol = chain.catalogue.quantities[name].symbol
    return lambda other: symbol if other == name else chain.value(other).value


def _bounded(chain: Chain, relation: Relation, span: Interval) -> Range:
    """The bound itself is the value; an end that only the domain gives is no bound."""
    domain = chain.catalogue.quantities[chain.asked].domain
    low = None if span.high is not None and span.low == domain.low else span.low
    kept = Interval(low, span.high, span.low_open and low is not None, span.high_open)
    value = kept.low if kept.low is not None else kept.high
    step = Step(relation.key, chain.asked, value)
    return Range(chain.asked, (kept,), True, value, Evidence((step,)))


def _inequality(chain: Chain, relation: Relation) -> Answer | None:
    """Where an inequality is asked for one of its inputs: the values that make it true or false."""
    name, given = chain.asked, chain.scenario.given
    if name not in relation.inputs:
        return None
    try:
        condition = evaluate(relation.value, _with_symbol(chain, name))
    except Lacking:
        return None
    truth = given[relation.gives].value if relation.gives in given else True
    if not isinstance(condition, bool):
        condition = condition if truth else sympy.Not(condition)
    quantity = chain.catalogue.quantities[name]
    spans = feasible_set({relation.key: condition}, quantity).intervals()
    if not spans:
        return None
    sense = "min" if spans[0].high is None else "max"
    grid = Fraction(1) if quantity.domain.whole else None
    value = extreme(spans, sense, grid).value
    step = Step(relation.key, name, value)
    return Range(name, tuple(spans), True, value, Evidence((step,)))
