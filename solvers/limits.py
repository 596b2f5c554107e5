"""Every limit on the asked quantity as a condition in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any

import sympy

from formulas.deployment.constraints import GRIDS
from formulas.formula import Condition
from formulas.quantity import Quantity
from solvers.answer import Interval, Missing, Statement
from solvers.chain import Chain
from solvers.demands import as_condition, demanded, demands, first_lacking, statement_of_demand
from solvers.evidence import at_stake
from solvers.found import Lacking
from solvers.missing import alternatives
from solvers.number import Undefined, to_sympy

_KEPT_BY_GRID = [(constraint, name) for name, (constraint, _) in GRIDS.items()]

# Between the name of a quantity and the number of a further limit on it.
MORE = " #"


@dataclass(frozen=True, slots=True)
class Limits:
    """Every constraint as a condition in the asked quantity, and what could not be evaluated."""

    conditions: Mapping[str, Any]
    unchecked: tuple[str, ...]


def limits_of(chain: Chain) -> Limits | Missing:
    """The person's limits, the standing constraints, and the domains of what is inferred."""
    conditions: dict[str, Any] = {}
    lacking = first_lacking(chain)
    if lacking is not None:
        return lacking_limit(chain, lacking[1])
    for row in demands(chain):
        conditions[_fresh(row.name, conditions)] = row.as_condition(chain)
    unchecked = []
    for constraint in chain.constraints:
        if (constraint, chain.asked) in _KEPT_BY_GRID:
            continue
        try:
            conditions[constraint.name] = chain.holds(constraint)
        except (Lacking, Undefined):
            missing = _lacking_memory(chain, constraint)
            if missing is not None:
                return missing
            if at_stake(chain, constraint):
                unchecked.append(constraint.name)
    conditions.update(stated_truths(chain))
    _infer_parts(chain)
    for name, found in chain.memo.items():
        if found is not None and found.solved_from and isinstance(found.value, sympy.Expr):
            domain = chain.catalogue.quantities[name].domain
            if domain.low is not None:
                sign = ">" if domain.low_open else ">="
                conditions[_fresh(name, conditions)] = as_condition(found.value, sign, domain.low)
    return Limits(conditions, tuple(unchecked))


def _infer_parts(chain: Chain) -> None:
    """What the asked quantity is made of follows from it, and has a domain of its own."""
    for relation in chain.relations(chain.asked):
        for name in relation.inputs if chain.takes_part(relation) else ():
            try:
                chain.value(name)
            except Lacking:
                continue


def lacking_limit(chain: Chain, name: str) -> Missing:
    """What to give beside the asked quantity so that a limit can be evaluated."""
    reason = f"the limit on {name} cannot be evaluated"
    sets = alternatives(_with_asked(chain), name)
    return Missing(chain.asked, ((name,), *sets), reason)


def _with_asked(chain: Chain) -> Chain:
    """The chain with the asked quantity known, whatever it is."""
    facts = chain.scenario.with_value(chain.asked, Fraction(1))
    return replace(chain, scenario=facts, unknowns=frozenset())


def _lacking_memory(chain: Chain, constraint: Condition) -> Missing | None:
    """One side of the memory that is known limits the other: what that takes must be known."""
    if constraint.name != "memory":
        return None
    used, budget = constraint.inputs
    lacking = [name for name in (budget, used) if not _is_known(chain, name)]
    reach = chain.catalogue.downstream(chain.asked)
    limited = any(name in reach for name in demanded(chain))
    # What is used limits nothing where no budget is spoken of.
    stated = budget not in lacking or budget in reach
    # Beside a limit that a person states, the memory is left unchecked, and said to be.
    if limited or not stated or lacking[0] not in reach:
        return None
    sets = alternatives(_with_asked(chain), lacking[0])
    return Missing(
        chain.asked, sets, "the memory of the GPU limits it, by facts that are not known"
    )


def _is_known(chain: Chain, name: str) -> bool:
    try:
        chain.value(name)
    except Lacking:
        return False
    return True


def stated_truths(chain: Chain) -> dict[str, Any]:
    """Inequalities that are stated to hold, or not to, as conditions in what is asked."""
    found: dict[str, Any] = {}
    for name in chain.equated():
        stated = chain.scenario.given[name].value
        if not isinstance(stated, bool):
            continue
        try:
            value = chain.function_of(chain.asked, name).value
        except (Lacking, Undefined):
            continue
        if isinstance(value, sympy.logic.boolalg.Boolean):
            found[name] = value if stated else sympy.Not(value)
    return found


def ways(
    conditions: Mapping[str, Any], quantity: Quantity, sense: str, grid: Fraction | None
) -> tuple[tuple[Mapping[str, Any], Fraction | None], ...]:
    """The conditions and the step to look in, one after the other, for a largest or smallest.

    Up to its grid a quantity need not be on it: the smallest is sought there first.
    """
    whole = (conditions, grid)
    if grid is None or grid <= 1:
        return (whole,)
    constraint, _ = GRIDS[quantity.name]
    few = sympy.Le(quantity.symbol, to_sympy(grid))
    below = ({**conditions, constraint.name: few}, Fraction(1))
    return (below, whole) if sense == "min" else (whole, below)


def with_result(
    limits: Limits, name: str, symbol: sympy.Symbol, spans: tuple[Interval, ...]
) -> Limits:
    """The limits, and a stated result as one more: what is asked lies in these intervals."""
    key = _fresh(name, limits.conditions)
    condition = sympy.Or(*(_within(symbol, span) for span in spans))
    return replace(limits, conditions={**limits.conditions, key: condition})


def _within(symbol: sympy.Symbol, span: Interval) -> Any:
    above = sympy.Gt if span.low_open else sympy.Ge
    below = sympy.Lt if span.high_open else sympy.Le
    low = sympy.true if span.low is None else above(symbol, to_sympy(span.low))
    high = sympy.true if span.high is None else below(symbol, to_sympy(span.high))
    return sympy.And(low, high)


def _fresh(name: str, taken: Mapping[str, Any]) -> str:
    more = (f"{name}{MORE}{number}" for number in count(2))
    return name if name not in taken else next(n for n in more if n not in taken)


def shown_names(binding: tuple[str, ...]) -> tuple[str, ...]:
    """The names of constraints as people know them, each once."""
    return tuple(dict.fromkeys(name.partition(MORE)[0] for name in binding))


def statement_of(chain: Chain, name: str) -> Statement:
    """What was said, or what always holds, behind the name of a constraint."""
    other = statement_of_demand(chain, name)
    if other is not None:
        return other
    quantity, _, number = name.partition(MORE)
    limits = [limit for limit in chain.scenario.limits if limit.quantity == quantity]
    index = int(number or 1) - 1
    if index < len(limits):
        limit = limits[index]
        text = limit.text or f"{limit.quantity} {limit.relation} {limit.value}"
        return Statement(limit.quantity, text, "you")
    fact = chain.scenario.given.get(quantity)
    if fact is not None:
        return Statement(fact.quantity, fact.text, fact.origin)
    meaning = next((c.meaning for c in chain.constraints if c.name == name), "its domain")
    return Statement(name, meaning, "always")
