"""What a person demands: limits, relations between calculations, and lists of allowed values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from formulas.scenario import Scenario
from formulas.statements import Among
from formulas.units import Unit
from solvers.answer import Check, Statement
from solvers.chain import Chain
from solvers.exact import evaluate
from solvers.found import Lacking
from solvers.number import is_number, less, same, to_sympy

_RELATIONS = {"<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt}
_EQUATION = "="


@dataclass(frozen=True, slots=True)
class Demand:
    """A limit or relation, `left relation right`, or with `values` a list that left must be in.

    `quantity` is the one that is limited, where it is one; `name` is what the demand is called,
    `unit` that of both sides where they are calculations.
    """

    name: str
    left: Any
    relation: str
    right: Any
    text: str
    quantity: str = ""
    values: tuple[Fraction, ...] = ()
    unit: Unit | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The quantities in it."""
        sides = (side for side in (self.left, self.right) if side is not None)
        return tuple(sorted({s.name for side in sides for s in side.free_symbols}))

    def sides(self, chain: Chain) -> tuple[Any, Any]:
        """Both sides here; Lacking where a quantity has no value."""

        def lookup(name: str) -> Any:
            return chain.value(name).value

        right = None if self.right is None else evaluate(self.right, lookup)
        return evaluate(self.left, lookup), right

    def as_condition(self, chain: Chain) -> Any:
        """True, false, or a condition in what is unknown."""
        left, right = self.sides(chain)
        if self.values:
            return _is_one_of(left, self.values)
        return as_condition(left, self.relation, right)

    def check(self, chain: Chain) -> Check:
        """The demand at a point where everything has a value."""
        left, right = self.sides(chain)
        if self.values:
            return Check(self.name, "", None, None, _is_one_of(left, self.values), stated=True)
        holds = compare(left, self.relation, right)
        quantity, unit = self.quantity, self.unit
        return Check(self.name, self.relation, left, right, holds, quantity, True, unit)


def demands(chain: Chain) -> tuple[Demand, ...]:
    """Everything that is demanded beside equations; a list for what is asked is no demand on it."""
    return tuple(_demands(chain.scenario, chain))


def demanded(chain: Chain) -> list[str]:
    """The quantities in all demands."""
    return [name for row in demands(chain) for name in row.inputs]


def first_lacking(chain: Chain) -> tuple[Demand, str] | None:
    """The first demand that cannot be evaluated, and the quantity that it lacks."""
    for row in demands(chain):
        for name in row.inputs:
            try:
                chain.value(name)
            except Lacking:
                return row, name
    return None


def _demands(scenario: Scenario, chain: Chain) -> Iterator[Demand]:
    symbol = chain.catalogue.quantities
    for limit in scenario.limits:
        name, text = (
            limit.quantity,
            limit.text or f"{limit.quantity} {limit.relation} {limit.value}",
        )
        yield Demand(name, symbol[name].symbol, limit.relation, to_sympy(limit.value), text, name)
    for row in scenario.relates:
        if row.relation != _EQUATION:
            text = row.text or f"{row.left} {row.relation} {row.right}"
            yield Demand(text, row.left, row.relation, row.right, text, unit=row.unit)
    texts = {row.quantity: row.text for row in scenario.statements if isinstance(row, Among)}
    for name, values in scenario.among.items():
        if name != chain.asked:
            text = texts.get(name) or f"{name} in {{{', '.join(map(str, values))}}}"
            yield Demand(text, symbol[name].symbol, "in", None, text, values=values)


def statement_of_demand(chain: Chain, name: str) -> Statement | None:
    """The demand of that name, where it is no plain limit."""
    row = next((r for r in demands(chain) if r.name == name and not r.quantity), None)
    return None if row is None else Statement(row.name, row.text, "you")


def as_condition(left: Any, relation: str, right: Any) -> Any:
    """Whether left and right are so related: a truth value, or a condition in what is unknown."""
    if is_number(left) and is_number(right):
        return compare(left, relation, right)
    built = _RELATIONS[relation](to_sympy(left), to_sympy(right))
    return bool(built) if built in (sympy.true, sympy.false) else built


def compare(left: Any, relation: str, right: Any) -> bool:
    """Whether a relation holds; a value within 1e-9 of a limit meets it, a strict one is exact."""
    if relation in ("<", ">"):
        return less(left, right) if relation == "<" else less(right, left)
    beyond = less(right, left) if relation == "<=" else less(left, right)
    return not beyond or same(left, right)


def _is_one_of(value: Any, values: tuple[Fraction, ...]) -> Any:
    if is_number(value):
        return any(same(value, one) for one in values)
    return sympy.Or(*(sympy.Eq(value, to_sympy(one)) for one in values))
