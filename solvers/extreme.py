"""The largest or smallest value under limits, and the range that limits leave."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

from formulas.deployment.constraints import GRIDS
from formulas.quantity import Quantity
from solvers.answer import (
    Answer,
    Check,
    Evidence,
    Exact,
    Infeasible,
    Interval,
    Missing,
    Range,
    Statement,
    Unbounded,
    Unproved,
)
from solvers.bounds import Feasible, feasible_set
from solvers.chain import Chain
from solvers.choices import allowed_choices, best_choice
from solvers.counts import holds_at
from solvers.demands import demanded
from solvers.evidence import checks_of, constrained, evidence, replayed, truths
from solvers.found import Lacking
from solvers.infeasible import infeasible
from solvers.limits import (
    Limits,
    lacking_limit,
    limits_of,
    shown_names,
    stated_truths,
    statement_of,
    ways,
    with_result,
)
from solvers.number import Number, floor, inside, is_number, same
from solvers.roots import Unseparated
from solvers.settle import Settled
from solvers.spans import Extreme, among, extreme


def extreme_of(settled: Settled, sense: str) -> Answer:
    """The largest or smallest value of what is asked."""
    from solvers.backward import backward

    chain = settled.chain
    known = replace(chain, unknowns=frozenset())
    determined = known.by_relation(chain.asked)
    if determined is not None and is_number(determined.value):
        return _determined(known, determined.value, sense)
    answer = backward(chain, assuming=True)
    if isinstance(answer, Exact):
        return _of_branches(chain, answer, sense)
    quantity = chain.catalogue.quantities[chain.asked]
    if answer is not None and (quantity.domain.choices or not isinstance(answer, Range)):
        return answer
    if quantity.domain.choices:
        return best_choice(chain, quantity, sense)
    limits = _all_limits(chain, quantity, answer)
    if isinstance(limits, Missing):
        return limits
    grid = grid_of(chain, quantity)
    for conditions, step in ways(limits.conditions, quantity, sense, grid):
        found = _on_grid(chain, quantity, sense, replace(limits, conditions=conditions), step)
        if not isinstance(found, Infeasible):
            break
    if answer is None or not isinstance(found, Exact | Range):
        return found
    return replace(found, evidence=_joined(answer, found.evidence))


def _on_grid(
    chain: Chain, quantity: Quantity, sense: str, limits: Limits, grid: Fraction | None
) -> Answer:
    try:
        feasible = feasible_set(limits.conditions, quantity, grid)
    except Unseparated as trouble:
        return Unproved(chain.asked, f"the limits could not be separated: {trouble}")
    listed = chain.scenario.among.get(chain.asked, ())
    best = extreme(feasible.intervals(), sense, grid, listed)
    if best.unbounded:
        return Unbounded(chain.asked, sense)
    if best.value is None:
        return infeasible(chain, feasible)
    return _attained(chain, quantity, sense, feasible, limits, best, grid)


def _all_limits(chain: Chain, quantity: Quantity, result: Range | None) -> Limits | Missing:
    """The limits on what is asked, among them the range that a stated result leaves."""
    limits = limits_of(chain)
    if result is None or isinstance(limits, Missing):
        return limits
    name = result.evidence.steps[-1].because
    return with_result(limits, name, quantity.symbol, result.intervals)


def _joined(result: Range, found: Evidence) -> Evidence:
    """What the answer rests on besides the range of a stated result, and the range itself."""
    first = result.evidence
    return replace(
        found,
        steps=(*first.steps, *found.steps),
        assumed={**first.assumed, **found.assumed},
        outcomes={**first.outcomes, **found.outcomes},
        unused=tuple(name for name in first.unused if name in found.unused),
        notes=tuple(dict.fromkeys((*first.notes, *found.notes))),
    )


def range_of(settled: Settled, result: Range | None = None) -> Answer | None:
    """The values that the limits leave, of those that a stated result leaves.

    None where no limit depends on what is asked.
    """
    chain = settled.chain
    quantity = chain.catalogue.quantities[chain.asked]
    named = demanded(chain)
    if result is not None and (quantity.domain.choices or not named):
        return result
    reach = chain.catalogue.downstream(chain.asked) | {chain.asked}
    limited = any(name in reach for name in named)
    if not limited and not stated_truths(chain):
        return result
    if quantity.domain.choices:
        return allowed_choices(chain, quantity)
    limits = _all_limits(chain, quantity, result)
    if isinstance(limits, Missing):
        return limits
    try:
        feasible = feasible_set(limits.conditions, quantity)
    except Unseparated as trouble:
        return Unproved(chain.asked, f"the limits could not be separated: {trouble}")
    listed = chain.scenario.among.get(chain.asked, ())
    intervals = among(feasible.intervals(), listed) if listed else feasible.intervals()
    if not intervals:
        return infeasible(chain, feasible)
    names = [*truths(chain), *named]
    proof = replace(evidence(chain, names, checked=False), unchecked=limits.unchecked)
    proof = proof if result is None else _joined(result, proof)
    return Range(chain.asked, tuple(intervals), evidence=proof)


def grid_of(chain: Chain, quantity: Quantity) -> Fraction | None:
    """What the largest or smallest is a multiple of; None where every number will do."""
    if quantity.name not in GRIDS:
        return Fraction(1) if quantity.domain.whole else None
    _, factors = GRIDS[quantity.name]
    try:
        parts = [chain.value(name).value for name in factors]
    except Lacking:
        return Fraction(1)
    return prod(parts, start=Fraction(1)) if all(map(is_number, parts)) else Fraction(1)


def _attained(
    chain: Chain,
    quantity: Quantity,
    sense: str,
    feasible: Feasible,
    limits: Limits,
    best: Extreme,
    grid: Fraction | None,
) -> Exact | Range:
    value = best.value
    assert value is not None
    if best.open:
        word = "largest" if sense == "max" else "smallest"
        proof = evidence(chain, (), checked=False)
        proof = replace(proof, notes=(*proof.notes, f"the {word} is approached and not reached"))
        return Range(chain.asked, tuple(feasible.intervals()), value=value, evidence=proof)
    if grid is None:
        binding = feasible.failing_beyond(value, sense == "max")
    else:
        beyond = _next(chain, value, grid if sense == "max" else -grid)
        binding = _failing_at(feasible, limits, quantity, beyond, sense)
    replay = replayed(chain, chain.asked, value)
    binding = shown_names(binding) or ("domain",)
    parts = [name for name in binding if name in chain.catalogue.quantities]
    proof = evidence(replay, [*constrained(replay), *parts])
    return Exact(
        chain.asked,
        value,
        binding=binding,
        sense=sense,
        numeric=not isinstance(value, Fraction),
        intervals=tuple(feasible.intervals()),
        evidence=proof,
    )


def _next(chain: Chain, value: Number, step: Fraction) -> Number | None:
    """One step of the grid beyond, or the next value of a list; None where the list ends."""
    listed = chain.scenario.among.get(chain.asked, ())
    if not listed:
        return value + step
    beyond = [v for v in listed if (v > value if step > 0 else v < value)]
    return min(beyond, key=lambda v: abs(v - value), default=None)


def _failing_at(
    feasible: Feasible, limits: Limits, quantity: Quantity, beyond: Number | None, sense: str
) -> tuple[str, ...]:
    """What fails one step beyond the answer."""
    if beyond is None or not inside(quantity.domain, beyond):
        return ("domain",)
    failing = (n for n, c in limits.conditions.items() if not holds_at(c, quantity.name, beyond))
    # Where one more step still lies within the tolerance of a limit, that limit binds.
    return tuple(failing) or feasible.failing_beyond(_end(feasible, sense), sense == "max")


def _end(feasible: Feasible, sense: str) -> Number | None:
    intervals = feasible.intervals()
    return intervals[-1].high if sense == "max" else intervals[0].low


def _of_branches(chain: Chain, answer: Exact, sense: str) -> Exact | Infeasible:
    """Of the values that a stated result leaves, the largest or smallest that breaks nothing.

    It is no bound: the next smaller value does not give the stated result.
    """
    moved = chain.catalogue.downstream(chain.asked)
    results = [chain.scenario.given[n] for n in chain.equated() if n in moved]
    stated = tuple(Statement(g.quantity, g.text, g.origin) for g in results)
    found = [branch.value for branch in answer.branches] or [answer.value]
    whole = chain.catalogue.quantities[chain.asked].domain.whole
    values = [v for v in found if not whole or same(v, floor(v + Fraction(1, 2)))]
    if not values:
        takes = " or ".join(f"{float(v):.6g}" for v in found)
        reason = f"no whole {chain.asked} gives what is stated, which takes {takes}; "
        reason += "a limit, <= or >=, leaves room"
        return Infeasible(chain.asked, reason, stated, replace(answer.evidence, checks=()))
    broken: list[Check] = []
    for value in sorted(values, key=float, reverse=sense == "max"):
        checks, unchecked = checks_of(replayed(chain, chain.asked, value))
        failing = [check for check in checks if not check.holds]
        if not failing:
            proof = replace(answer.evidence, checks=checks, unchecked=unchecked)
            return replace(answer, value=value, branches=(), evidence=proof)
        broken = broken or failing
    names = tuple(dict.fromkeys(check.name for check in broken))
    reason = f"what is stated leaves only values of {chain.asked} that break {' and '.join(names)}"
    said = tuple(statement_of(chain, name) for name in names)
    return Infeasible(chain.asked, reason, (*stated, *said), answer.evidence)


def _determined(known: Chain, value: Number, sense: str) -> Answer:
    """The facts leave one value: it is the largest and the smallest if every constraint holds."""
    try:
        checks, _ = checks_of(known)
    except Lacking as lacking:
        return lacking_limit(known, next(iter(lacking.names)))
    proof = evidence(known, (known.asked, *constrained(known)))
    broken = [c for c in checks if not c.holds]
    if broken:
        said = tuple(statement_of(known, c.name) for c in broken)
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
