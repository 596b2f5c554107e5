"""What every configuration of one kind comes to: the steps, and the tests that it has to pass.

The steps are those of a plain question at one of the configurations; `true` and `false` say of
which others they are the right ones as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import sympy

from formulas.catalogue import catalogue
from formulas.deployment.constraints import GRIDS
from formulas.errors import Problem
from formulas.formula import VOCABULARY, Condition
from formulas.scenario import Scenario
from solvers.answer import Answer, Contradiction
from solvers.chain import Chain
from solvers.exact import evaluate
from solvers.found import Found, Lacking
from solvers.number import Number, Undefined, from_sympy, is_number, to_sympy
from solvers.resting import calculation_of, resting_on
from solvers.solve import Request, chain_of, known_of
from solvers.straight import names_in

_SIGNS = {"LessThan": "<=", "GreaterThan": ">=", "StrictLessThan": "<", "StrictGreaterThan": ">"}


@dataclass(frozen=True, slots=True)
class Test:
    """One thing that must hold: two sides and a sign, or a truth where `sign` is empty.

    `stated` is the text of a person's own limit, empty for a standing constraint.
    """

    name: str
    sign: str
    left: Any
    right: Any = None
    stated: str = ""
    quantity: str = ""

    @property
    def sides(self) -> tuple[Any, ...]:
        """The expressions that decide it."""
        return (self.left,) if not self.sign else (self.left, self.right)


@dataclass(frozen=True)
class Program:
    """`facts` are the numbers that are the same everywhere, `steps` give the rest from them and
    from `varied`. `unchecked` constraints lack a fact.
    """

    facts: Mapping[str, Number]
    varied: frozenset[str]
    steps: tuple[tuple[str, Any], ...]
    true: tuple[Condition, ...]
    false: tuple[Condition, ...]
    tests: tuple[Test, ...]
    unchecked: tuple[str, ...] = ()
    _memo: dict[Any, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def given(self) -> dict[str, Any]:
        """The expression of each step by what it gives."""
        return dict(self.steps)

    def knows(self, name: str) -> bool:
        """Whether the quantity has a value in every such configuration."""
        return name in self.given or name in self.facts or name in self.varied

    def exact(self, at: Mapping[str, Number], wanted: Iterable[Any]) -> list[Any]:
        """Exact values of names or expressions where `varied` is `at`; None where undefined."""
        known: dict[str, Any] = {**self.facts, **at}

        def lookup(name: str) -> Any:
            if name not in known:
                known[name] = evaluate(self.given[name], lookup)
            return known[name]

        found: list[Any] = []
        for item in wanted:
            try:
                found.append(lookup(item) if isinstance(item, str) else evaluate(item, lookup))
            except (Undefined, KeyError):
                found.append(None)
        return found


class Refused(Exception):
    """There is no program: the answer that says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


def program_of(
    scenario: Scenario, varied: frozenset[str], wanted: tuple[str, ...], wished: Iterable[str]
) -> Program:
    """The program of configurations like this one; Refused where something wanted has no value.

    `wished` are quantities that are computed as well, where they can be.
    """
    asked = next((n for n in wanted if n not in scenario.given), "gpus_per_replica")
    spoken = frozenset(wanted)
    settled = known_of(replace(chain_of(Request(asked, scenario)), speaks_of=spoken))
    if isinstance(settled, Contradiction):
        raise Refused(settled)
    chain = settled.chain
    _refuse_results(chain, varied, settled.withdrawn)
    tests = _limits(scenario)
    needed = [*wanted, *(n for test in tests for side in test.sides for n in names_in(side))]
    for name in needed:
        _value(chain, name, asked)
    standing, unchecked = _standing(chain)
    needed += [n for row in standing for side in row.sides for n in names_in(side)]
    needed += [name for name in wished if _has(chain, name)]
    found = resting_on(chain, needed)
    facts, steps = _folded(*_split(found.rows, varied), varied)
    return Program(facts, varied, steps, found.true, found.false, (*tests, *standing), unchecked)


def _split(
    found: Iterable[Found], varied: frozenset[str]
) -> tuple[dict[str, Number], tuple[tuple[str, Any], ...]]:
    rows = list(found)
    by_name = {row.quantity: row for row in rows}
    facts: dict[str, Number] = {}
    steps: list[tuple[str, Any]] = []
    for row in rows:
        relation = row.relation
        if row.quantity in varied:
            continue
        if relation is None or not relation.inputs:
            facts[row.quantity] = row.value
        elif row.solved_from:
            # What is inferred backwards from facts alone is a fact as well.
            facts[row.quantity] = row.value
        else:
            step = calculation_of(relation, by_name)
            steps.append((step.gives, step.expr))
    bad = [name for name, value in facts.items() if not is_number(value)]
    for name in bad:
        raise Problem("plan", f"a plan cannot compute with {name}", ())
    moving = set(varied)
    for name, expr in steps:
        if names_in(expr) & moving:
            moving.add(name)
    inferred = [r.quantity for r in rows if r.solved_from and r.inferred & moving]
    if inferred:
        message = f"{inferred[0]} would follow backwards from what is searched"
        raise Problem("plan", message, (f"state {inferred[0]}",), inferred[0])
    return facts, tuple(steps)


def _folded(
    facts: dict[str, Number], steps: tuple[tuple[str, Any], ...], varied: frozenset[str]
) -> tuple[dict[str, Number], tuple[tuple[str, Any], ...]]:
    """The steps without what is 0 or 1 everywhere: a dense model has no experts to compute."""
    plain = {n: int(v) for n, v in facts.items() if n not in varied and v in (0, 1)}
    found = dict(facts)
    kept: list[tuple[str, Any]] = []
    for name, expr in steps:
        folded = _with_numbers(
            expr, frozenset((n, plain[n]) for n in names_in(expr) & plain.keys())
        )
        if folded.is_Rational:
            found[name] = from_sympy(folded)
            if found[name] in (0, 1):
                plain[name] = int(folded)
        else:
            kept.append((name, folded))
    return found, tuple(kept)


@lru_cache(maxsize=4096)
def _with_numbers(expr: Any, known: frozenset[tuple[str, int]]) -> Any:
    """The expression with these numbers in it; itself where it has no value then."""
    numbers = {VOCABULARY[name].symbol: sympy.Integer(value) for name, value in known}
    folded = expr.xreplace(numbers)
    return expr if folded.has(sympy.zoo, sympy.nan, sympy.oo) else folded


def _limits(scenario: Scenario) -> list[Test]:
    quantities = catalogue().quantities
    rows = [
        Test(
            row.quantity,
            row.relation,
            quantities[row.quantity].symbol,
            to_sympy(row.value),
            row.text or f"{row.quantity} {row.relation} {row.value}",
            row.quantity,
        )
        for row in scenario.limits
    ]
    rows += [
        Test(row.text, row.relation, row.left, row.right, row.text) for row in scenario.relates
    ]
    return rows


def _standing(chain: Chain) -> tuple[list[Test], tuple[str, ...]]:
    """The standing constraints that can be checked; the batch's grid is kept by the search."""
    own = {condition.name for condition, _ in GRIDS.values()}
    rows, unchecked = [], []
    for row in chain.constraints:
        if row.name in own:
            continue
        try:
            chain.holds(row)
        except (Lacking, Undefined):
            unchecked.append(row.name)
            continue
        sign = _SIGNS.get(type(row.expr).__name__, "")
        left = row.expr.lhs if sign else row.expr
        name = getattr(left, "name", "")
        rows.append(Test(row.name, sign, left, row.expr.rhs if sign else None, "", name))
    return rows, tuple(unchecked)


def _refuse_results(chain: Chain, varied: frozenset[str], withdrawn: Mapping[str, str]) -> None:
    """A Problem for a stated fact that the plan itself decides."""
    moved = varied.union(*(chain.catalogue.downstream(name) for name in varied)) - varied
    clashing = moved & set(withdrawn.values())
    for name in sorted(moved & set(chain.equated()) | clashing):
        without = chain.scenario.without(name)
        allowed = frozenset(chain.catalogue.defaults) - {name}
        lone = replace(chain, scenario=without, allowed=allowed, withdrawn=frozenset())
        if name in clashing or _has(lone, name):
            text = chain.scenario.given[name].text
            message = f"{name} follows from what is searched, and cannot be stated"
            advice = (f"limit it:  {name} <= ...", f"or state it over its relation:  {name} := ...")
            raise Problem("plan", message, advice, text)


def _has(chain: Chain, name: str) -> bool:
    try:
        return is_number(chain.value(name).value)
    except (Lacking, Undefined):
        return False


def _value(chain: Chain, name: str, asked: str) -> None:
    """Refused with what to give where the quantity has no value."""
    from solvers.answer import Missing
    from solvers.missing import alternatives

    if _has(chain, name):
        return
    known = replace(chain, asked=name)
    raise Refused(Missing(name, alternatives(known, name)))
