"""What was said or is assumed, as the statements that a clash names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from formulas.amounts import display
from formulas.scenario import YOU, Given
from formulas.statements import Limit
from formulas.storage import BYTES_PER_ELEMENT
from solvers.answer import Statement
from solvers.chain import Chain
from solvers.found import Found
from solvers.number import Number, is_number, to_sympy

ASSUMED = "assumed"
RELATIONS = {
    "<=": sympy.Le,
    ">=": sympy.Ge,
    "<": sympy.Lt,
    ">": sympy.Gt,
    "=": sympy.Eq,
}
# Choices that are made by name, and the quantity that they fix.
FORMATS = {"bytes_per_weight": "weight_dtype", "kv_bytes_per_element": "kv_dtype"}


@dataclass(frozen=True, slots=True)
class Bound:
    """A quantity compared with a number: a limit, or a stated result."""

    quantity: str
    relation: str
    value: Number
    limit: Limit | None = None


@dataclass(frozen=True)
class Said:
    """One statement or assumption, and what is true while it is kept.

    `points` are the values that it gives to base quantities, `formulas` what it takes one to
    equal, `conditions` what it limits. `bound` is one comparison of a quantity with a number, in
    place of a condition; `said` is what a person stated.
    """

    statement: Statement
    points: Mapping[str, Number] = field(default_factory=dict)
    formulas: Mapping[str, Any] = field(default_factory=dict)
    conditions: tuple[Any, ...] = ()
    bound: Bound | None = None
    among: Mapping[str, tuple[Number, ...]] = field(default_factory=dict)

    @property
    def assumed(self) -> bool:
        """True for what nobody said."""
        return self.statement.origin == ASSUMED

    @property
    def names(self) -> frozenset[str]:
        """The quantities that it speaks of."""
        exprs = (*self.formulas.values(), *self.conditions)
        free = {s.name for e in exprs if hasattr(e, "free_symbols") for s in e.free_symbols}
        bound = (self.bound.quantity,) if self.bound else ()
        return frozenset([*self.points, *self.formulas, *self.among, *bound, *free])


def statements_of(
    chain: Chain,
    leaves: Mapping[str, Found | None],
    definitions: Mapping[str, Any],
    limits: bool = True,
) -> tuple[Said, ...]:
    """Every statement that speaks of these quantities, as they were said; then what is assumed."""
    rows = [*_facts(chain, leaves, definitions), *_relations(chain, limits)]
    if limits:
        rows += [_limit(limit) for limit in chain.scenario.limits]
    rows += [_assumption(chain, n, f) for n, f in leaves.items() if f is not None]
    return tuple(sorted(rows, key=lambda row: (row.assumed, row.statement.text)))


def _facts(
    chain: Chain, leaves: Mapping[str, Found | None], definitions: Mapping[str, Any]
) -> list[Said]:
    """The given values by what was said; one that is derived as well is an equation."""
    given = chain.scenario.given
    texts = {g.text: g.origin for g in given.values() if g.origin != YOU}
    groups: dict[str, list[Given]] = {}
    for name, row in sorted(given.items()):
        if name in leaves and name != chain.asked:
            origin = texts.get(row.text, row.origin) if row.text else row.origin
            key = origin if origin != YOU else row.text or name
            groups.setdefault(key, []).append(row)
    return [_fact(chain, rows, definitions) for rows in groups.values()]


def _fact(chain: Chain, rows: list[Given], definitions: Mapping[str, Any]) -> Said:
    points: dict[str, Number] = {}
    conditions: list[Any] = []
    for row in rows:
        symbol = chain.catalogue.quantities[row.quantity].symbol
        if isinstance(row.value, bool):
            truth = definitions.get(row.quantity)
            if truth is not None:
                conditions.append(truth if row.value else sympy.Not(truth))
        elif not is_number(row.value):
            continue
        elif row.quantity in definitions:
            conditions.append(sympy.Eq(symbol, to_sympy(row.value), evaluate=False))
        else:
            points[row.quantity] = row.value
    if len(rows) == 1 and conditions and is_number(rows[0].value):
        return Said(_statement(chain, rows), bound=Bound(rows[0].quantity, "=", rows[0].value))
    return Said(_statement(chain, rows), points, conditions=tuple(conditions))


def _statement(chain: Chain, rows: list[Given]) -> Statement:
    kept = next((row for row in rows if row.origin != YOU), rows[0])
    if kept.origin != YOU:
        kind = kept.origin.partition(" ")[0]
        return Statement(kind, kept.text or kept.origin, YOU)
    choice = FORMATS.get(kept.quantity, "")
    name = choice if choice in chain.scenario.chosen else kept.quantity
    return Statement(name, kept.text or f"{kept.quantity} = {kept.value}", YOU)


def _limit(limit: Limit) -> Said:
    text = limit.text or f"{limit.quantity} {limit.relation} {limit.value}"
    bound = Bound(limit.quantity, limit.relation, limit.value, limit)
    return Said(Statement(limit.quantity, text, YOU), bound=bound)


def _relations(chain: Chain, limits: bool) -> list[Said]:
    quantities = chain.catalogue.quantities
    rows = []
    for same in chain.scenario.equations:
        sides = (quantities[same.quantity].symbol, quantities[same.other].symbol)
        condition = sympy.Eq(*sides, evaluate=False)
        rows.append(Said(Statement(same.quantity, same.text, YOU), conditions=(condition,)))
    for row in chain.scenario.relates:
        if row.relation == "=" or limits:
            condition = RELATIONS[row.relation](row.left, row.right, evaluate=False)
            rows.append(Said(Statement(row.text, row.text, YOU), conditions=(condition,)))
    for name, values in chain.scenario.among.items() if limits else ():
        text = f"{name} in {{{', '.join(str(v) for v in values)}}}"
        rows.append(Said(Statement(name, text, YOU), among={name: values}))
    return rows


def _assumption(chain: Chain, name: str, found: Found) -> Said:
    """What is assumed: a number, or what the quantity is taken to equal."""
    quantity = chain.catalogue.quantities[name]
    shown_name = FORMATS.get(name, name)
    value = found.value
    text = display(value, quantity.unit, quantity.label) if is_number(value) else "by default"
    if name in FORMATS:
        text = next((word for word, size in BYTES_PER_ELEMENT.items() if size == value), text)
    statement = Statement(shown_name, f"{shown_name} = {text}", ASSUMED)
    relation = found.relation
    if relation is None or not relation.inputs or name == "tp":
        return Said(statement, {name: value})
    return Said(statement, formulas={name: relation.value})
