"""The ways to compare what is stated: results, bounds, limits, domains, standing constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from formulas.deployment.constraints import OF_STRUCTURE
from formulas.deployment.engine_constraints import REFUSED
from formulas.deployment.estimates import AT_BEST
from formulas.formula import Condition, Relation
from formulas.scenario import YOU, Given
from solvers.audit_text import TWICE, sentence
from solvers.enclosure import enclosure, truth
from solvers.ground import Ground
from solvers.known_sides import (
    Side,
    compared,
    compared_with,
    domain_side,
    half,
    sense_of,
    side_of,
    sides_of,
)
from solvers.number import Number, is_number
from solvers.reach import given_by, reach

_NOMINAL = 0.01


@dataclass(frozen=True, slots=True)
class Finding:
    """One relation tried: what is stated of `quantity`, and what the other facts make of it.

    `sense` is = where both sides are known, >= or <= where `right` is the least or the most that is
    allowed; it is .. where anything from `right` to `high` agrees. `off` is how far `left` is from
    `right`, or the end that it is beyond, relative to it. `quantities` are the stated facts that
    take part, `sources` those behind `left`, `through` the relations on the way, `inputs` what went
    in last.
    """

    relation: str
    holds: bool
    left: Number | None
    right: Number | None
    quantities: tuple[str, ...]
    quantity: str = ""
    sense: str = "="
    off: float | None = None
    through: tuple[str, ...] = ()
    inputs: tuple[tuple[str, float, float], ...] = ()
    sources: tuple[str, ...] = ()
    high: Number | None = None

    @property
    def text(self) -> str:
        """The finding as a sentence, with its numbers."""
        return sentence(self)


@dataclass(frozen=True)
class Trial:
    """The stated facts, and how far two known sides may be apart."""

    base: Ground
    tolerance: float

    def findings(self, among: frozenset[str] | None = None) -> Iterator[Finding]:
        """Everything that can be compared; of stated results only those named, where some are."""
        yield from self._twice()
        yield from self._results(among)
        sides = reach(self.base)
        yield from self._bounds()
        yield from self._limits(sides)
        yield from self._relates(sides)
        yield from self._domains(sides)
        for condition in self.base.names.constraints:
            if condition.name not in REFUSED:
                yield from self._constraint(condition, sides)

    # -- the ways

    def _twice(self) -> Iterator[Finding]:
        """One quantity that two statements fix."""
        for first, second in self.base.scenario.clashes:
            if is_number(first.value) and is_number(second.value):
                left = self.base.stated[first.quantity]
                yield self._finding(TWICE, first.quantity, left, _as_row(second))

    def _results(self, among: frozenset[str] | None) -> Iterator[Finding]:
        """Each stated result against its relations, from all other facts."""
        for name, left in self.base.stated.items():
            if among is not None and name not in among:
                continue
            rows = [r for r in self.base.relations if r.gives == name]
            if not rows:
                continue
            sides = reach(self.base, hidden=name)
            for relation in rows:
                yield from self._tried(relation, left, sides)

    def _bounds(self) -> Iterator[Finding]:
        """Each bound of a quantity that follows backwards from what is stated."""
        sides = reach(self.base, estimates=False)
        for relation in self.base.relations:
            left = sides.get(relation.gives)
            if relation.is_bound and relation.gives not in self.base.stated and left is not None:
                yield from self._tried(relation, left, sides)

    def _tried(self, relation: Relation, left: Side, sides: dict[str, Side]) -> Iterator[Finding]:
        right = given_by(relation, sides)
        # What makes the relation valid takes part as well.
        valid = (sides[n] for c in relation.valid for n in c.inputs if n in sides)
        facts = right.facts.union(*(side.facts for side in valid))
        if right.facts - left.facts and self._says_something(relation.gives, right):
            inputs = tuple((n, *sides[n].pair) for n in relation.inputs if n in sides)
            right = replace(right, facts=facts)
            yield self._finding(relation.key, relation.gives, left, right, inputs)

    def _limits(self, sides: dict[str, Side]) -> Iterator[Finding]:
        """Each stated limit against what the facts make of its quantity."""
        for limit in self.base.scenario.limits:
            left = sides.get(limit.quantity)
            if left is None or not left.facts:
                continue
            value = float(limit.value)
            right = half(Side(value, value, frozenset((limit.quantity,))), limit.relation)
            by = limit.text or f"{limit.quantity} {limit.relation} {limit.value}"
            # Two figures that a person stated of one quantity are not measured apart.
            exact = limit.quantity in self.base.stated
            yield self._finding(by, limit.quantity, left, right, hard=exact)

    def _relates(self, sides: dict[str, Side]) -> Iterator[Finding]:
        """Each relation between calculations that a person stated."""
        names, scenario = self.base.names.quantities, self.base.scenario
        rows = [(r.left, r.relation, r.right, r.text) for r in scenario.relates]
        rows += [
            (names[r.quantity].symbol, "=", names[r.other].symbol, r.text)
            for r in scenario.equations
        ]
        for one, relation, other, text in rows:
            left, right = self._calculated(one, sides), self._calculated(other, sides)
            if left.facts or right.facts:
                right = right if relation == "=" else half(right, relation)
                by, name, hard = text or relation, getattr(one, "name", ""), relation != "="
                yield self._finding(by, name, left, right, hard=hard)

    def _calculated(self, expr: Any, sides: dict[str, Side]) -> Side:
        used = {s.name: side_of(sides, s.name) for s in expr.free_symbols}
        low, high = enclosure(expr, {name: side.pair for name, side in used.items()})
        return Side(low, high, frozenset(fact for side in used.values() for fact in side.facts))

    def _domains(self, sides: dict[str, Side]) -> Iterator[Finding]:
        """Each result that nobody states against its domain: no share is above 1."""
        for relation in self.base.relations:
            if relation.gives in self.base.stated or relation.is_bound:
                continue
            left = given_by(relation, sides)
            low, high = domain_side(self.base.names.quantities[relation.gives].domain)
            # What remains of large terms is known no better than they are.
            room = self.tolerance * self._largest_term(relation, sides)
            for right in (Side(low - room, math.inf), Side(-math.inf, high + room)):
                if left.facts and self._gap(left, right, 0.0) > 0:
                    inputs = ((n, *sides[n].pair) for n in relation.inputs if n in sides)
                    yield self._finding(relation.key, relation.gives, left, right, tuple(inputs))

    def _largest_term(self, relation: Relation, sides: dict[str, Side]) -> float:
        names = self.base.names.quantities
        unit = names[relation.gives].unit
        ends = (e for n in relation.inputs if names[n].unit == unit for e in side_of(sides, n).pair)
        return max((abs(e) for e in ends if math.isfinite(e)), default=0.0)

    def _constraint(self, condition: Condition, sides: dict[str, Side]) -> Iterator[Finding]:
        parts = [side_of(sides, n) for n in condition.inputs]
        facts = frozenset(fact for side in parts for fact in side.facts)
        through = tuple(dict.fromkeys(v for side in parts for v in side.via))
        box = sides_of(condition, sides)
        if isinstance(condition.expr, sympy.Le):
            low, high = enclosure(condition.expr.lhs, box)
            most = enclosure(condition.expr.rhs, box)[1]
            trivial = low <= 0 or (condition.name in OF_STRUCTURE and low <= most)
            if facts and low > -math.inf and most < math.inf and not trivial:
                left, right = Side(low, high, facts, through), Side(-math.inf, most)
                name = getattr(condition.expr.lhs, "name", "")
                inputs = tuple((n, *box[n]) for n in condition.inputs if n != name)
                yield self._finding(condition.name, name, left, right, inputs)
            return
        holds = truth(condition.expr, box)
        if holds is False:
            inputs = tuple((n, *box[n]) for n in condition.inputs)
            yield Finding(
                condition.name,
                holds,
                None,
                None,
                tuple(sorted(facts)),
                "",
                "",
                None,
                through,
                inputs,
            )

    # -- comparing

    def _says_something(self, name: str, side: Side) -> bool:
        """Whether the side is less than the whole domain."""
        low, high = domain_side(self.base.names.quantities[name].domain)
        return side.low > low or side.high < high

    def _gap(self, left: Side, right: Side, tolerance: float) -> float:
        """How far the two are apart beyond the tolerance; above 0 where they do not agree."""
        above, below = left.low - right.high, right.low - left.high
        gap, end = (above, right.high) if above > below else (below, right.low)
        if gap <= 0 or math.isinf(gap):
            return 0.0
        return gap - tolerance * abs(end)

    def _opened(self, name: str, side: Side) -> Side:
        """Without the ends that are only those of the domain."""
        quantity = self.base.names.quantities.get(name)
        if quantity is None or side.low == side.high:
            return side
        low, high = domain_side(quantity.domain)
        return replace(
            side,
            low=-math.inf if side.low <= low and side.high < high else side.low,
            high=math.inf if side.high >= high and side.low > low else side.high,
        )

    def _finding(
        self,
        relation: str,
        name: str,
        left: Side,
        right: Side,
        inputs: tuple[tuple[str, float, float], ...] = (),
        hard: bool = False,
    ) -> Finding:
        right = self._opened(name, right)
        sense = sense_of(right)
        hard |= sense != "=" and any(_is_physics(key) for key in (*right.via, relation))
        holds = self._gap(left, right, 0.0 if hard else self.tolerance) <= 0
        value, end = compared(left, right), compared_with(left, right)
        off = None if value is None or not end else value / end - 1
        high = None
        if sense == "..":
            off = 0.0 if holds else off
            end, high = right.low, Fraction(right.high)
        facts = left.facts | right.facts
        through = (k for k in dict.fromkeys((*left.via, *right.via)) if k != relation)
        return Finding(
            relation,
            holds,
            None if value is None else Fraction(value),
            None if end is None else Fraction(end),
            tuple(sorted(facts)),
            name,
            sense,
            off,
            tuple(through),
            inputs,
            tuple(sorted(left.facts - {name})),
            high,
        )


def _is_physics(key: str) -> bool:
    return key in AT_BEST or key.startswith("decode_step_bound")


def _as_row(given: Given) -> Side:
    """What a second statement says, with the slack of a data sheet where it is one."""
    value = float(given.value)
    slack = 0.0 if given.origin == YOU else abs(value) * _NOMINAL
    return Side(value - slack, value + slack, frozenset((given.quantity,)))
