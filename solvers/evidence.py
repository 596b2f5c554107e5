"""Steps, checks and assumptions of an answer, read off a replay with the answer put in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sympy

from formulas.deployment.constraints import WHERE_DERIVED
from formulas.deployment.defaults import SILENT
from formulas.engines import ENGINE
from formulas.formula import Condition
from formulas.scenario import ASKED, YOU
from solvers.answer import Check, Evidence, Step
from solvers.chain import Chain
from solvers.demands import demanded, demands
from solvers.exact import evaluate
from solvers.found import Found, Lacking
from solvers.number import Undefined, is_number

_SIGNS = {
    sympy.Le: "<=",
    sympy.Ge: ">=",
    sympy.Lt: "<",
    sympy.Gt: ">",
    sympy.Eq: "=",
}


def evidence(
    chain: Chain, names: Iterable[str], last: Step | None = None, checked: bool = True
) -> Evidence:
    """What the values of these quantities rest on, and every constraint at this point.

    `chain` has a value for all that was asked; `last` is the step that found the asked value
    backwards.
    """
    wanted = tuple(dict.fromkeys(names))
    found = steps_of(chain, wanted)
    steps = [
        step_of(chain, row)
        for row in found
        if (row.by and not row.relation) or (row.relation and row.relation.kind != "assumption")
    ]
    rest = [row for row in found if row.quantity in wanted]
    checks, unchecked = checks_of(chain) if checked else ((), ())
    return Evidence(
        steps=(*steps, *((last,) if last else ())),
        checks=checks,
        assumed=assumptions(chain, frozenset[str]().union(*(row.assumed for row in rest))),
        outcomes={row.quantity: row.value for row in found if row.relation or row.by},
        unused=unused(chain, _relied_on(chain, rest, checks)),
        unchecked=unchecked,
        notes=(*chain.scenario.notes, *_stand_ins(chain, found)),
    )


def steps_of(chain: Chain, names: Iterable[str]) -> list[Found]:
    """Everything that the values of these quantities rest on, each once, inputs first."""
    done: dict[str, Found] = {}
    entered: set[str] = set()

    def visit(name: str) -> None:
        if name in entered:
            return
        entered.add(name)
        try:
            found = chain.value(name)
        except Lacking:
            return
        for other in found.inputs:
            if other not in (name, found.solved_from):
                visit(other)
        done.setdefault(name, found)

    for name in names:
        visit(name)
    return list(done.values())


def wanted(chain: Chain) -> tuple[str, ...]:
    """What is asked, and what a person limits."""
    return (chain.asked, *demanded(chain))


def step_of(chain: Chain, found: Found) -> Step:
    """The step that computed a value, with the values that went in."""
    values = {name: chain.value(name).value for name in found.inputs if name in chain.memo}
    key = found.relation.key if found.relation else found.by
    return Step(key, found.quantity, found.value, values, found.solved_from)


def assumptions(chain: Chain, names: frozenset[str]) -> dict[str, Any]:
    """The assumed quantities with their values, in the order of the defaults."""
    shown: dict[str, Any] = {}
    for name in chain.catalogue.defaults:
        if name in names and name not in SILENT:
            shown[name] = chain.value(name).value
    return shown


def unused(chain: Chain, used: frozenset[str]) -> tuple[str, ...]:
    """The statements of a person that the answer does not rest on, each by what it states."""
    limited = set(demanded(chain))
    texts = {g.text for name, g in chain.scenario.given.items() if name in used | limited}
    found = {
        g.text: name if g.origin == YOU else g.origin.partition(" ")[0]
        for name, g in chain.scenario.given.items()
        if g.text not in texts and g.origin != ASKED and not g.origin.startswith(ENGINE)
    }
    return tuple(sorted(found.values()))


def _relied_on(chain: Chain, found: list[Found], checks: tuple[Check, ...]) -> frozenset[str]:
    """The stated quantities behind these values, and behind every constraint that is broken."""
    broken = {check.name for check in checks if not check.holds}
    names = [n for row in chain.constraints if row.name in broken for n in row.inputs]
    rows = (*found, *(chain.value(name) for name in names))
    return frozenset[str]().union(*(row.stated for row in rows))


def checks_of(chain: Chain) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The limits and standing constraints here, and the names of those without a value."""
    checks = [row.check(chain) for row in demands(chain)]
    unchecked = []
    for constraint in chain.constraints:
        try:
            checks.append(check_constraint(chain, constraint))
        except (Lacking, Undefined):
            if at_stake(chain, constraint):
                unchecked.append(constraint.name)
    return tuple(checks), tuple(unchecked)


def at_stake(chain: Chain, constraint: Condition) -> bool:
    """Whether anything that is stated says something of the constraint."""
    if constraint.name in WHERE_DERIVED:
        return False
    above = (chain.catalogue.upstream(name) | {name} for name in constraint.inputs)
    return any(names & chain.scenario.given.keys() for names in above)


def _stand_ins(chain: Chain, found: list[Found]) -> list[str]:
    """Where a lower relation answers because a higher one lacks facts: which, and what."""
    notes = []
    for row in found:
        if row.relation is None or row.solved_from or row.relation.kind != "model":
            continue
        for higher in chain.relations(row.quantity):
            if higher.rank <= row.relation.rank or not chain.takes_part(higher):
                continue
            lacking = [n for n in higher.inputs if _is_lacking(chain, n)]
            if lacking:
                notes.append(
                    f"{row.quantity} by {row.relation.key}; {higher.key} would need "
                    f"{', '.join(_first_set(chain, lacking))}"
                )
    return notes


def _first_set(chain: Chain, lacking: list[str]) -> tuple[str, ...]:
    """Facts rather than results, where the lack is one of them."""
    from solvers.missing import alternatives

    return next((s for n in lacking for s in alternatives(chain, n)[:1]), tuple(lacking))


def _is_lacking(chain: Chain, name: str) -> bool:
    try:
        chain.value(name)
    except Lacking:
        return True
    return False


def constrained(chain: Chain) -> list[str]:
    """The quantities that the constraints which can be evaluated here compare."""
    names: list[str] = []
    for constraint in chain.constraints:
        try:
            chain.holds(constraint)
        except (Lacking, Undefined):
            continue
        if at_stake(chain, constraint):
            names += constraint.inputs
    return [*names, *truths(chain), *demanded(chain)]


def truths(chain: Chain) -> list[str]:
    """The inputs of inequalities that are stated to hold, or not to."""
    stated = [n for n in chain.equated() if isinstance(chain.scenario.given[n].value, bool)]
    rows = [row for name in stated for row in chain.relations(name)]
    return [*stated, *(name for row in rows for name in row.inputs)]


def check_constraint(chain: Chain, constraint: Condition) -> Check:
    """A standing constraint; with both sides where it is a comparison."""
    holds = chain.holds(constraint) is True
    sign = _SIGNS.get(type(constraint.expr))
    if sign not in ("<=", ">="):
        return Check(constraint.name, "", None, None, holds)

    def lookup(name: str) -> Any:
        return chain.value(name).value

    # sympy may have turned the sides around; the condition is shown as it was written.
    written = constraint.expr
    left, right = evaluate(written.lhs, lookup), evaluate(written.rhs, lookup)
    if not is_number(left) or not is_number(right):
        return Check(constraint.name, "", None, None, holds)
    quantity = written.lhs.name if written.lhs.is_Symbol else ""
    return Check(constraint.name, _SIGNS[type(written)], left, right, holds, quantity)


def replayed(chain: Chain, name: str, value: Any) -> Chain:
    """The chain of the same scenario with the answer as a fact, so that everything has a value."""
    return replace(
        chain,
        scenario=chain.scenario.with_value(name, value),
        unknowns=frozenset(),
        solving=frozenset(),
    )
