"""Backwards: the values of the asked quantity that make everything stated come out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from formulas.amounts import display
from formulas.quantity import Quantity
from solvers.answer import (
    Answer,
    Branch,
    Evidence,
    Exact,
    Infeasible,
    Interval,
    Range,
    Statement,
    Step,
    Unproved,
)
from solvers.chain import Chain
from solvers.demands import demanded
from solvers.equation import Solved, solve_equation
from solvers.evidence import assumptions, evidence, replayed, wanted
from solvers.exact import substitute
from solvers.found import Found, Lacking
from solvers.neighbours import neighbours
from solvers.number import Number, Undefined, divide, is_number, less, minus, same, to_sympy
from solvers.remaining import equal_sides, related
from solvers.spans import common, contains


@dataclass(frozen=True, slots=True)
class Equation:
    """A stated quantity or a difference of two, as a function of the asked one, and its target."""

    name: str
    function: Any
    target: Number
    found: Found
    text: str
    guessed: frozenset[str] = frozenset()
    difference: bool = False

    @property
    def shown(self) -> tuple[str, ...]:
        """The quantities whose values prove it."""
        return self.found.inputs if self.difference else (self.name,)


def equations(chain: Chain) -> list[Equation]:
    """Everything stated that depends on the asked quantity, as a function of it."""
    name = chain.asked
    symbol = chain.catalogue.quantities[name].symbol
    rows: list[Equation] = []
    for target in chain.equated():
        if target == name:
            continue
        try:
            found = replace(chain, unknowns=frozenset()).function_of(name, target)
        except (Lacking, Undefined):
            continue
        given = chain.scenario.given[target]
        if isinstance(found.value, sympy.Expr) and symbol in found.value.free_symbols:
            row = Equation(target, found.value, given.value, found, given.text, found.guessed)
            rows.append(row)
    work = replace(
        chain,
        scenario=chain.scenario.without(name),
        unknowns=frozenset((name,)),
        solving=chain.solving | {name},
    )
    for _, left, right, text in equal_sides(chain):
        try:
            one, other, used = related(left, right)(work)
        except (Lacking, Undefined):
            continue
        difference = to_sympy(one) - to_sympy(other)
        if symbol in difference.free_symbols:
            found = _united(text, used)
            side = min(found.inputs, key=lambda n: (n == name, n))
            rows.append(
                Equation(side, difference, Fraction(0), found, text, found.guessed, difference=True)
            )
    return rows


def _united(text: str, used: list[Found]) -> Found:
    """Everything that both sides of an equation rest on."""
    return Found(
        text,
        None,
        next((f.relation for f in used if f.relation), None),
        inputs=tuple(f.quantity for f in used),
        assumed=frozenset[str]().union(*(f.assumed for f in used)),
        stated=frozenset[str]().union(*(f.stated for f in used)),
        inferred=frozenset[str]().union(*(f.inferred for f in used)),
    )


def backward(chain: Chain, assuming: bool) -> Answer | None:
    """The values of what is asked that give everything stated; None where nothing depends on it."""
    rows = equations(chain)
    firm = [row for row in rows if not row.guessed]
    rows = firm if firm or not assuming else rows
    if not rows:
        return None
    quantity = chain.catalogue.quantities[chain.asked]
    solutions = [solve_equation(row.function, row.target, quantity) for row in rows]
    # One that gives values decides; those that give ranges are looked at only where none does.
    index = next((i for i, s in enumerate(solutions) if not s.spans), 0)
    first, solved = rows[index], solutions[index]
    others = [row for row in rows if row is not first]
    if solved.refused:
        return Unproved(chain.asked, f"{first.text or first.name}: {solved.refused}")
    points = [p for p in solved.points if all(_meets(p, row, chain.asked) for row in others)]
    notes: list[str] = []
    if first.difference and Fraction(0) in points:
        points = [p for p in points if p != 0]
        notes.append("the root 0, where both sides are 0, is dropped")
    if solved.spans:
        return _range(chain, first, common([s.spans for s in solutions]), points)
    if not points:
        return _no_value(chain, first, solved, rows)
    if solved.dropped:
        notes.append(
            f"{len(solved.dropped)} root outside the domain ({quantity.domain}) is dropped"
        )
    return _solution(chain, rows, points, tuple(notes))


def _meets(point: Number, row: Equation, name: str) -> bool:
    try:
        value = substitute(row.function, name, point)
    except Undefined:
        return False
    return is_number(value) and (same(value, row.target) or abs(minus(value, row.target)) == 0)


def _solution(
    chain: Chain,
    rows: list[Equation],
    points: list[Number],
    notes: tuple[str, ...],
) -> Exact:
    first = rows[0]
    name, value = chain.asked, points[0]
    replay = _forwards(chain, rows, value)
    key = first.found.relation.key if first.found.relation else ""
    stated = {} if first.difference else {first.name: first.target}
    by, source = (first.text, "") if first.difference else (key, first.name)
    last = Step(by, name, value, stated, source)
    equated = tuple(shown for row in rows for shown in row.shown)
    proof = evidence(replay, (*equated, *wanted(replay)), last)
    relied_on = frozenset[str]().union(*(row.found.stated for row in rows))
    unused = tuple(name for name in proof.unused if name not in relied_on)
    proof = replace(proof, notes=(*proof.notes, *notes), unused=unused)
    branches = tuple(Branch(p) for p in points) if len(points) > 1 else ()
    return Exact(name, value, branches, numeric=not isinstance(value, Fraction), evidence=proof)


def _forwards(chain: Chain, rows: list[Equation], value: Number) -> Chain:
    """The replay in which what the equations were read from is computed; stated where it must be.

    A limit on such a quantity needs its value even where only the statement has one.
    """
    computed = chain.scenario.without(*(row.name for row in rows if not row.difference))
    replay = replayed(replace(chain, scenario=computed), chain.asked, value)
    try:
        for name in demanded(chain):
            replay.value(name)
    except Lacking:
        return replayed(chain, chain.asked, value)
    return replay


def _range(
    chain: Chain, first: Equation, spans: list[Interval], points: list[Number]
) -> Range | Infeasible:
    if not spans and not points:
        said = (Statement(first.name, first.text, "you"),)
        return Infeasible(chain.asked, f"no {chain.asked} gives all that is stated", said)
    spans += [Interval(p, p) for p in points if not any(contains(s, p) for s in spans)]
    key = first.found.relation.key if first.found.relation else ""
    last = Step(key, chain.asked, None, {first.name: first.target}, first.name)
    # Seen from one value inside the range; what differs along it is no step.
    forwards = replace(chain, scenario=chain.scenario.without(first.name))
    replay = replayed(forwards, chain.asked, _inner(spans[0]))
    proof = evidence(replay, (first.name, *wanted(replay)), last, checked=False)
    moving = chain.catalogue.downstream(chain.asked)
    steps = tuple(s for s in proof.steps if s.solved_for not in moving)
    outcomes = {n: v for n, v in proof.outcomes.items() if n not in moving}
    proof = replace(proof, steps=steps, outcomes=outcomes)
    return Range(chain.asked, tuple(spans), evidence=proof)


def _inner(span: Interval) -> Number:
    """A value inside the interval."""
    if span.low is None or span.high is None:
        edge = span.high if span.low is None else span.low
        return Fraction(1) if edge is None else edge
    return divide(minus(span.low, minus(Fraction(0), span.high)), Fraction(2))


def _no_value(chain: Chain, first: Equation, solved: Solved, rows: list[Equation]) -> Infeasible:
    said = tuple(Statement(row.name, row.text, "you") for row in rows)
    quantity = chain.catalogue.quantities[chain.asked]
    texts = [row.text or row.name for row in rows]
    reason = f"no {chain.asked} in its domain ({quantity.domain}) gives {' and '.join(texts)}"
    if solved.points and len(rows) > 1:
        shown = " or ".join(display(p, quantity.unit, quantity.label) for p in solved.points)
        reason += f" together; {texts[0]} takes {shown}"
    if isinstance(first.function, sympy.Expr) and first.function.has(sympy.ceiling, sympy.floor):
        reason += "; it takes whole steps" + _attainable(chain, first, quantity)
    if first.difference:
        reason += _always_wins(first, quantity.name)
    if solved.dropped:
        shown = ", ".join(f"{float(p):.6g}" for p in solved.dropped)
        reason += f"; the equation alone gives {shown}"
    guessed = frozenset[str]().union(*(row.guessed for row in rows))
    return Infeasible(chain.asked, reason, said, Evidence(assumed=assumptions(chain, guessed)))


def _attainable(chain: Chain, row: Equation, quantity: Quantity) -> str:
    """The two values next to the stated one that whole steps reach."""
    target = chain.catalogue.quantities.get(row.name)
    if target is None or row.difference:
        return ""
    found = neighbours(row.function, row.target, quantity)
    shown = " and ".join(display(value, target.unit, target.label) for value in found)
    return f"; attainable: {shown}" if shown else ""


def _always_wins(row: Equation, name: str) -> str:
    """Of two sides that never meet, the one that stays below."""
    try:
        gap = substitute(row.function, name, Fraction(1))
    except Undefined:
        return ""
    left, _, right = row.text.partition("=")
    less_side, more_side = (left, right) if less(gap, Fraction(0)) else (right, left)
    return f"; beyond 0, {less_side.strip()} is always less than {more_side.strip()}"
