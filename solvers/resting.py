"""All that some values rest on, and what decides that these relations are the ones that give them.

What holds at one configuration holds at every other that decides alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy

from formulas.formula import VOCABULARY, Condition, Relation
from solvers.chain import Chain
from solvers.columns import decisions
from solvers.found import Found, Lacking
from solvers.number import CONTEXT, Undefined
from solvers.straight import names_in


@dataclass(frozen=True, slots=True)
class Calculation:
    """One quantity as an expression in others."""

    gives: str
    expr: Any
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resting:
    """The rows, inputs first. Where every condition of `true` is true and every one of `false` is
    false, the same relations answer.
    """

    rows: tuple[Found, ...]
    true: tuple[Condition, ...]
    false: tuple[Condition, ...]


def resting_on(chain: Chain, names: Iterable[str]) -> Resting:
    """What the quantities rest on, and what the conditions rest on that decide it."""
    needed = dict.fromkeys(names)
    while True:
        rows = _behind(chain, needed)
        true, false = _deciding(chain, rows)
        inputs = {name for condition in (*true, *false) for name in condition.inputs}
        more = inputs - {row.quantity for row in rows}
        if not more:
            return Resting(tuple(rows), true, false)
        needed |= dict.fromkeys(sorted(more))


def calculation_of(relation: Relation, found: Mapping[str, Found]) -> Calculation:
    """The relation, in which a step sees through what is assumed by an expression.

    What is assumed to fill one replica needs one: the ceiling of exactly 1 cancels on paper, and
    would be decided by the last digit of a float.
    """
    expr = relation.value
    if decisions(expr):
        rows = (found[name].relation for name in relation.inputs)
        guesses = [row for row in rows if row and row.kind == "assumption" and row.inputs]
        expr = expr.xreplace({VOCABULARY[row.gives].symbol: row.value for row in guesses})
    return Calculation(relation.gives, expr, tuple(sorted(names_in(expr))))


def _behind(chain: Chain, names: Iterable[str]) -> list[Found]:
    """All that these values rest on anywhere, inputs first; what lacks is no number.

    A case of a relation that is not the one here may be the one elsewhere.
    """
    done: dict[str, Found] = {}
    entered: set[str] = set()

    def visit(name: str) -> None:
        if name in entered:
            return
        entered.add(name)
        try:
            found = chain.value(name)
        except (Lacking, Undefined):
            found = Found(name, CONTEXT.nan)
        for other in found.relation.inputs if found.relation else ():
            visit(other)
        done[name] = found

    for name in names:
        visit(name)
    return list(done.values())


def _deciding(
    chain: Chain, found: list[Found]
) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """What is true here, and what is false, so that these relations are the ones that answer."""
    true: dict[Condition, None] = {}
    false: dict[Condition, None] = {}
    for row in found:
        if row.relation is None or row.relation.kind == "assumption":
            continue
        needed = (c for c in row.relation.valid if not _goes_on(chain, row.relation, c))
        true |= dict.fromkeys(c for c in needed if _known(chain, c) is True)
        false |= dict.fromkeys(_passed_over(chain, row.relation))
    return tuple(true), tuple(false)


def _known(chain: Chain, condition: Condition) -> Any:
    try:
        return chain.holds(condition)
    except (Lacking, Undefined):
        return None


def _passed_over(chain: Chain, used: Relation) -> list[Condition]:
    """Of each relation of higher rank that is not valid here, the condition that says so."""
    rows = chain.relations(used.gives)
    higher = rows[: next((i for i, row in enumerate(rows) if row.key == used.key), 0)]
    others = [row for row in higher if not _is_case_of(row, used)]
    refusing = ([c for c in row.valid if _known(chain, c) is False] for row in others)
    return [conditions[0] for conditions in refusing if conditions]


def _goes_on(chain: Chain, used: Relation, condition: Condition) -> bool:
    """Whether x > 0 need not be asked: at 0, the end of x, the next relation says the same."""
    rows = [row for row in chain.relations(used.gives) if chain.spoken_of(row)]
    below = rows[next((i + 1 for i, row in enumerate(rows) if row.key == used.key), len(rows)) :]
    if not below or not _is_case_of(below[0], used):
        return False
    end = VOCABULARY[below[0].valid[0].inputs[0]]
    return end.domain.low == 0 and bool(condition.expr == sympy.StrictGreaterThan(end.symbol, 0))


def _is_case_of(row: Relation, used: Relation) -> bool:
    """Whether the relation is what the other one comes to where a quantity is 0."""
    if len(row.valid) != 1 or len(row.valid[0].inputs) != 1:
        return False
    symbol = VOCABULARY[row.valid[0].inputs[0]].symbol
    is_zero = row.valid[0].expr == sympy.Eq(symbol, 0)
    return bool(is_zero and _at_zero(used.value, symbol) == row.value)


@lru_cache(maxsize=1024)
def _at_zero(expr: Any, symbol: Any) -> Any:
    return expr.xreplace({symbol: sympy.Integer(0)})
