"""The largest or smallest value under limits, and the range that limits leave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from formulas.quantity import Quantity
from solvers.answer import (
    Answer,
    Exact,
    Infeasible,
    Interval,
    Missing,
    Range,
    Statement,
    Unbounded,
    Unproved,
)
from solvers.bounds import Extreme, Feasible, extreme, feasible_set, holds_at
from solvers.chain import Chain
from solvers.evidence import checks_of, compare, constrained, evidence, replayed
from solvers.found import Lacking
from solvers.missing import alternatives
from solvers.number import Number, Undefined, is_number, to_sympy
from solvers.roots import Unseparated
from solvers.settle import Settled

_RELATIONS = {"<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt}


@dataclass(frozen=True, slots=True)
class Limits:
    """Every constraint as a condition in the asked quantity, and what could not be evaluated."""

    conditions: dict[str, Any]
    unchecked: tuple[str, ...]


def extreme_of(settled: Settled, sense: str) -> Answer:
    """The largest or smallest value of what is asked."""
    from solvers.value import backward

    chain = settled.chain
    known = replace(chain, unknowns=frozenset())
    determined = known.by_relation(chain.asked)
    if determined is not None and is_number(determined.value):
        return _determined(known, determined.value, sense)
    answer = backward(chain, chain.allowed)
    if answer is not None:
        return replace(answer, sense=sense) if isinstance(answer, Exact) else answer
    quantity = chain.catalogue.quantities[chain.asked]
    if quantity.domain.choices:
        return _among_choices(chain, quantity, sense)
    limits = _limits(chain)
    if isinstance(limits, Missing):
        return limits
    try:
        feasible = feasible_set(limits.conditions, quantity)
    except Unseparated as trouble:
        return Unproved(chain.asked, f"the limits could not be separated: {trouble}")
    best = extreme(feasible.intervals(), sense, _grid(chain, quantity))
    if best.unbounded:
        return Unbounded(chain.asked, sense)
    if best.value is None:
        return _infeasible(chain, feasible, limits)
    return _attained(chain, quantity, sense, feasible, limits, best)


def range_of(settled: Settled) -> Answer | None:
    """The values that the stated limits leave; None where no limit depends on what is asked."""
    chain = settled.chain
    quantity = chain.catalogue.quantities[chain.asked]
    reach = chain.catalogue.downstream(chain.asked) | {chain.asked}
    if not any(limit.quantity in reach for limit in chain.scenario.limits):
        return None
    limits = _limits(chain)
    if isinstance(limits, Missing):
        return limits
    try:
        feasible = feasible_set(limits.conditions, quantity)
    except Unseparated as trouble:
        return Unproved(chain.asked, f"the limits could not be separated: {trouble}")
    intervals = feasible.intervals()
    if not intervals:
        return _infeasible(chain, feasible, limits)
    proof = evidence(chain, [limit.quantity for limit in chain.scenario.limits], checked=False)
    return Range(chain.asked, tuple(intervals), evidence=replace(proof, unchecked=limits.unchecked))


def _limits(chain: Chain) -> Limits | Missing:
    """The person's limits, the standing constraints, and the domains of what is inferred."""
    conditions: dict[str, Any] = {}
    for limit in chain.scenario.limits:
        try:
            value = chain.value(limit.quantity).value
        except Lacking:
            known = replace(chain, unknowns=frozenset())
            reason = f"the limit on {limit.quantity} cannot be evaluated"
            return Missing(chain.asked, alternatives(known, limit.quantity), reason)
        name = _fresh(limit.quantity, conditions)
        conditions[name] = _condition(value, limit.relation, limit.value)
    unchecked = []
    for constraint in chain.constraints:
        if constraint.name == "batch_divides" and chain.asked == "batch":
            continue  # the grid of the batch
        try:
            conditions[constraint.name] = chain.holds(constraint)
        except (Lacking, Undefined):
            unchecked.append(constraint.name)
    for name, found in chain.memo.items():
        if found is not None and found.solved_from and isinstance(found.value, sympy.Expr):
            domain = chain.catalogue.quantities[name].domain
            if domain.low is not None:
                sign = ">" if domain.low_open else ">="
                conditions[_fresh(name, conditions)] = _condition(found.value, sign, domain.low)
    return Limits(conditions, tuple(unchecked))


def _fresh(name: str, taken: dict[str, Any]) -> str:
    return name if name not in taken else f"{name} (2)"


def _condition(value: Any, relation: str, limit: Fraction) -> Any:
    if is_number(value):
        return compare(value, relation, limit)
    built = _RELATIONS[relation](value, to_sympy(limit))
    return bool(built) if built in (sympy.true, sympy.false) else built


def _grid(chain: Chain, quantity: Quantity) -> Fraction | None:
    if quantity.name == "batch":
        try:
            grid = chain.value("dp").value * chain.value("pp").value
        except Lacking:
            return Fraction(1)
        return grid if isinstance(grid, Fraction) else Fraction(1)
    return Fraction(1) if quantity.domain.whole else None


def _attained(
    chain: Chain,
    quantity: Quantity,
    sense: str,
    feasible: Feasible,
    limits: Limits,
    best: Extreme,
) -> Answer:
    value = best.value
    assert value is not None
    grid = _grid(chain, quantity)
    if best.open:
        binding = feasible.failing_beyond(value, sense == "max")
        proof = evidence(chain, (), checked=False)
        return Range(chain.asked, tuple(feasible.intervals()), value=value, evidence=proof)
    if grid is None:
        binding = feasible.failing_beyond(value, sense == "max")
    else:
        beyond = value + grid if sense == "max" else value - grid
        binding = tuple(
            n for n, c in limits.conditions.items() if not holds_at(c, quantity.name, beyond)
        )
    replay = replayed(chain, chain.asked, value)
    proof = evidence(replay, constrained(replay))
    return Exact(
        chain.asked,
        value,
        binding=_shown(binding) or ("domain",),
        sense=sense,
        numeric=not isinstance(value, Fraction),
        intervals=tuple(feasible.intervals()),
        evidence=proof,
    )


def _shown(binding: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.removesuffix(" (2)") for name in binding))


def _infeasible(chain: Chain, feasible: Feasible, limits: Limits) -> Infeasible:
    clash = feasible.smallest_clash()
    # Shown where the fewest constraints are broken.
    failing = [sum(not ok for ok in holds.values()) for holds in feasible.holds]
    nearest = feasible.pieces[failing.index(min(failing))]
    replay = replayed(chain, chain.asked, nearest.test)
    return Infeasible(
        chain.asked,
        _reason(chain, feasible, clash),
        tuple(_statement(chain, name) for name in clash),
        replace(evidence(replay, constrained(replay)), unused=()),
    )


def _statement(chain: Chain, name: str) -> Statement:
    for limit in chain.scenario.limits:
        if name in (limit.quantity, f"{limit.quantity} (2)"):
            text = limit.text or f"{limit.quantity} {limit.relation} {limit.value}"
            return Statement(limit.quantity, text, "you")
    meaning = next((c.meaning for c in chain.constraints if c.name == name), "its domain")
    return Statement(name, meaning, "always")


def _reason(chain: Chain, feasible: Feasible, clash: tuple[str, ...]) -> str:
    """What the first clashing limit comes to at its best, where that says it all."""
    names = " and ".join(clash)
    if len(clash) != 1:
        return f"no {chain.asked} meets {names} together"
    limit = next((row for row in chain.scenario.limits if row.quantity == clash[0]), None)
    if limit is None:
        return f"no {chain.asked} meets {names}"
    found: list[float] = []
    for piece in feasible.pieces:
        try:
            replay = replayed(chain, chain.asked, piece.test)
            found.append(float(replay.value(limit.quantity).value))
        except (Lacking, Undefined):
            continue
    best = min(found) if limit.relation.startswith("<") else max(found)
    word = "at least" if limit.relation.startswith("<") else "at most"
    unit = chain.catalogue.quantities[limit.quantity].unit
    return f"{limit.quantity} is {word} {best:.4g} {unit}, whatever {chain.asked} is"


def _determined(known: Chain, value: Number, sense: str) -> Answer:
    """The facts leave one value: it is the largest and the smallest where every constraint
    holds.
    """
    try:
        checks, _ = checks_of(known)
    except Lacking as lacking:
        name = next(iter(lacking.names))
        return Missing(
            known.asked, alternatives(known, name), f"the limit on {name} cannot be evaluated"
        )
    proof = evidence(known, (known.asked, *constrained(known)))
    broken = [c for c in checks if not c.holds]
    if broken:
        said = tuple(_statement(known, c.name) for c in broken)
        reason = (
            f"the facts leave only one value, and it breaks {' and '.join(c.name for c in broken)}"
        )
        return Infeasible(known.asked, reason, said, proof)
    return Exact(
        known.asked,
        value,
        binding=("facts",),
        sense=sense,
        numeric=not isinstance(value, Fraction),
        intervals=(Interval(value, value),),
        evidence=proof,
    )


def _among_choices(chain: Chain, quantity: Quantity, sense: str) -> Answer:
    """A discrete quantity is enumerated over its domain, and never rounded or relaxed."""
    failing: dict[Fraction, tuple[str, ...]] = {}
    for choice in quantity.domain.choices:
        replay = replayed(chain, chain.asked, choice)
        try:
            checks, _ = checks_of(replay)
        except Lacking as lacking:
            name = next(iter(lacking.names))
            reason = f"the limit on {name} cannot be evaluated"
            return Missing(chain.asked, alternatives(replay, name), reason)
        failing[choice] = tuple(c.name for c in checks if not c.holds)
    good = [choice for choice, names in failing.items() if not names]
    if not good:
        names = _smallest_hitting(list(failing.values()))
        said = tuple(_statement(chain, name) for name in names)
        return Infeasible(chain.asked, f"every choice breaks {' or '.join(names)}", said)
    value = max(good) if sense == "max" else min(good)
    beyond = [c for c in failing if (c > value if sense == "max" else c < value)]
    nearest = min(beyond, key=lambda c: abs(c - value)) if beyond else None
    replay = replayed(chain, chain.asked, value)
    binding = failing[nearest] if nearest is not None else ("domain",)
    proof = evidence(replay, constrained(replay))
    return Exact(chain.asked, value, binding=_shown(binding), sense=sense, evidence=proof)


def _smallest_hitting(groups: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The fewest names that stand in every group of failures."""
    from itertools import combinations

    names = list(dict.fromkeys(name for group in groups for name in group))
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            if all(set(chosen) & set(group) for group in groups):
                return chosen
    return tuple(names)
