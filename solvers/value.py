"""The value of a quantity: forwards, backwards from what is stated, or a range that limits
leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from solvers.answer import (
    Answer,
    Branch,
    Exact,
    Infeasible,
    Interval,
    Missing,
    Range,
    Statement,
    Step,
    Unproved,
)
from solvers.bounds import contains
from solvers.chain import Chain
from solvers.equation import Solved, solve_equation
from solvers.evidence import evidence, replayed
from solvers.exact import substitute
from solvers.found import Found, Lacking
from solvers.missing import alternatives
from solvers.number import Number, Undefined, inside, is_number, minus, same, to_sympy
from solvers.settle import Settled


@dataclass(frozen=True, slots=True)
class Equation:
    """A stated quantity, or a difference of two, as a function of the asked one, and what it has to
    be.
    """

    name: str
    function: Any
    target: Number
    found: Found
    text: str


def value_of(settled: Settled) -> Answer:
    """The answer to what `chain.asked` is, in the order stated, derived, assumed."""
    chain = settled.chain
    lacking = _lacking_limit(chain)
    if lacking is not None:
        return lacking
    name = chain.asked
    known = replace(chain, unknowns=frozenset())
    if name in chain.scenario.given:
        return _exact(known, chain.scenario.given[name].value)
    best = known.by_relation(name)
    if best is not None and not best.assumed:
        return _forward(known, best)
    answer = backward(chain, frozenset())
    if answer is not None:
        return answer
    if best is not None:
        return _forward(known, best)
    answer = backward(chain, chain.allowed)
    if answer is not None:
        return answer
    return _last_resorts(settled, known)


def _last_resorts(settled: Settled, known: Chain) -> Answer:
    """The limits' range, then the default of the quantity itself, then what is missing."""
    from solvers.extreme import range_of

    name = known.asked
    ranged = range_of(settled)
    if ranged is not None:
        return ranged
    if name in known.catalogue.defaults:
        fallback = replace(known, allowed=known.allowed | {name})
        try:
            return _exact(fallback, fallback.value(name).value)
        except Lacking:
            pass
    return missing(settled, known, name)


def _lacking_limit(chain: Chain) -> Missing | None:
    """A limit that a person states must be evaluated."""
    for limit in chain.scenario.limits:
        try:
            chain.value(limit.quantity)
        except Lacking:
            known = replace(chain, unknowns=frozenset())
            reason = f"the limit on {limit.quantity} cannot be evaluated"
            return Missing(chain.asked, alternatives(known, limit.quantity), reason)
    return None


def missing(settled: Settled, known: Chain, name: str) -> Missing:
    """What to give for the quantity, with the reason where an assumption was withdrawn or
    undefined.
    """
    reasons = [
        f"{stated} as stated does not go with the assumed {default}: state {default}"
        for default, stated in settled.withdrawn.items()
    ]
    reasons += [text for text in known.troubles.values()]
    sets = alternatives(known, name)
    withdrawn = [(default,) for default in settled.withdrawn if (default,) not in sets]
    return Missing(name, (*sets, *withdrawn), "; ".join(reasons))


def _forward(known: Chain, best: Found) -> Answer:
    quantity = known.catalogue.quantities[known.asked]
    if is_number(best.value) and not inside(quantity.domain, best.value):
        return Infeasible(
            known.asked,
            f"{known.asked} comes out outside its domain ({quantity.domain})",
            evidence=evidence(known, best.inputs),
        )
    return _exact(known, best.value)


def _exact(known: Chain, value: Any) -> Answer:
    proof = evidence(known, _wanted(known))
    numeric = not isinstance(value, Fraction | bool)
    variants = _variants(known, value)
    return Exact(known.asked, value, numeric=numeric, evidence=replace(proof, variants=variants))


def _wanted(chain: Chain) -> tuple[str, ...]:
    return (chain.asked, *(limit.quantity for limit in chain.scenario.limits))


def _variants(known: Chain, value: Any) -> dict[str, Any]:
    """What the other relations of the quantity give where they may answer too."""
    found: dict[str, Any] = {}
    for relation in known.relations(known.asked):
        if relation.is_bound or not known.takes_part(relation):
            continue
        try:
            other = replace(known).apply(relation).value
        except (Lacking, Undefined):
            continue
        if is_number(other) and is_number(value) and not same(other, value):
            found[relation.key] = other
    return found


# -- backwards


def equations(chain: Chain, allowed: frozenset[str]) -> list[Equation]:
    """Everything stated that depends on the asked quantity, as a function of it."""
    name = chain.asked
    symbol = chain.catalogue.quantities[name].symbol
    rows: list[Equation] = []
    reach = chain.catalogue.downstream(name)
    for target in chain.equated():
        if target == name or target not in reach:
            continue
        try:
            found = replace(chain, unknowns=frozenset()).function_of(name, target, allowed)
        except (Lacking, Undefined):
            continue
        given = chain.scenario.given[target]
        if symbol in getattr(found.value, "free_symbols", ()):
            rows.append(Equation(target, found.value, given.value, found, given.text))
    for same_as in chain.scenario.equations:
        try:
            sides = [
                replace(chain, unknowns=frozenset()).function_of(name, side, allowed)
                for side in (same_as.quantity, same_as.other)
            ]
        except (Lacking, Undefined):
            continue
        difference = to_sympy(sides[0].value) - to_sympy(sides[1].value)
        if symbol in difference.free_symbols:
            rows.append(Equation(same_as.quantity, difference, Fraction(0), sides[0], same_as.text))
    return rows


def backward(chain: Chain, allowed: frozenset[str]) -> Answer | None:
    """The values of the asked quantity that make everything stated come out; None where nothing
    depends on it.
    """
    rows = equations(chain, allowed)
    if not rows:
        return None
    quantity = chain.catalogue.quantities[chain.asked]
    first, *others = rows
    solved = solve_equation(first.function, first.target, quantity)
    if solved.refused:
        return Unproved(chain.asked, f"{first.text or first.name}: {solved.refused}")
    points = [p for p in solved.points if all(_meets(p, row, chain.asked) for row in others)]
    notes: list[str] = []
    if chain.scenario.equations and Fraction(0) in points:
        points = [p for p in points if p != 0]
        notes.append("the root 0, where both sides are 0, is dropped")
    if solved.spans:
        return _range(chain, first, solved, points)
    if not points:
        return _no_value(chain, first, solved, rows)
    if solved.dropped:
        notes.append(
            f"{len(solved.dropped)} root outside the domain ({quantity.domain}) is dropped"
        )
    return _solution(chain, allowed, rows, points, tuple(notes))


def _meets(point: Number, row: Equation, name: str) -> bool:
    try:
        value = substitute(row.function, name, point)
    except Undefined:
        return False
    return is_number(value) and (same(value, row.target) or abs(minus(value, row.target)) == 0)


def _solution(
    chain: Chain,
    allowed: frozenset[str],
    rows: list[Equation],
    points: list[Number],
    notes: tuple[str, ...],
) -> Exact:
    first = rows[0]
    name, value = chain.asked, points[0]
    forwards = chain.scenario.without(*(row.name for row in rows))
    replay = replayed(replace(chain, scenario=forwards), name, value)
    replay = replace(replay, allowed=allowed & chain.allowed)
    key = first.found.relation.key if first.found.relation else ""
    last = Step(key, name, value, {first.name: first.target}, first.name)
    equated = tuple(row.name for row in rows)
    proof = evidence(replay, (*equated, *_wanted(replay)), last)
    proof = replace(proof, notes=(*proof.notes, *notes))
    branches = tuple(Branch(p) for p in points) if len(points) > 1 else ()
    return Exact(name, value, branches, numeric=not isinstance(value, Fraction), evidence=proof)


def _range(chain: Chain, first: Equation, solved: Solved, points: list[Number]) -> Range:
    spans = [*solved.spans]
    spans += [Interval(p, p) for p in points if not any(contains(s, p) for s in spans)]
    step = Step(
        first.found.relation.key if first.found.relation else "",
        chain.asked,
        None,
        {first.name: first.target},
        first.name,
    )
    return Range(
        chain.asked, tuple(spans), evidence=evidence(chain, first.found.inputs, step, checked=False)
    )


def _no_value(chain: Chain, first: Equation, solved: Solved, rows: list[Equation]) -> Infeasible:
    said = tuple(Statement(row.name, row.text, "you") for row in rows)
    quantity = chain.catalogue.quantities[chain.asked]
    reason = f"no {chain.asked} in its domain ({quantity.domain}) gives {first.text or first.name}"
    if isinstance(first.function, sympy.Expr) and first.function.has(sympy.ceiling, sympy.floor):
        reason += "; it takes whole steps"
    if solved.dropped:
        shown = ", ".join(f"{float(p):.6g}" for p in solved.dropped)
        reason += f"; the equation alone gives {shown}"
    return Infeasible(chain.asked, reason, said)
