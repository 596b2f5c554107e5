"""Statements that speak of other quantities: those whose values are stated become facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from formulas.errors import Problem
from formulas.quantities import SCALARS
from formulas.statements import Calculated, Fact, Relate, Same, Statement

_BY_NAME = {quantity.name: quantity for quantity in SCALARS}


def resolved(
    rows: Iterable[Statement], stated: Mapping[str, Any]
) -> tuple[list[Fact], list[Same], list[Relate]]:
    """The facts that equations and calculations come to, and those left as relations to be solved.

    `stated` are the values of all plain facts. The order of the statements does not matter.
    """
    known = dict(stated)
    facts: list[Fact] = []
    rest = [row for row in rows if isinstance(row, Same | Calculated)]
    progress = True
    while progress:
        progress = False
        for row in list(rest):
            fact = _fact(row, known)
            if fact is not None:
                known.setdefault(fact.quantity, fact.value)
                facts.append(fact)
                rest.remove(row)
                progress = True
    relates = [row for row in rows if isinstance(row, Relate)]
    relates += [_relation(row) for row in rest if isinstance(row, Calculated)]
    return facts, [row for row in rest if isinstance(row, Same)], relates


def _fact(row: Same | Calculated, known: Mapping[str, Any]) -> Fact | None:
    """What the statement says of one quantity, where everything else in it is stated."""
    if isinstance(row, Same):
        for name, other in ((row.quantity, row.other), (row.other, row.quantity)):
            if name in known:
                return Fact(other, known[name], text=row.text)
        return None
    names = {symbol.name for symbol in row.expr.free_symbols}
    if not all(isinstance(known.get(name), Fraction) for name in names):
        return None
    value = _value(row, known)
    # What is said of a quantity by its own value replaces that value.
    return Fact(row.quantity, value, row.override or row.quantity in names, row.text)


def _value(row: Calculated, known: Mapping[str, Any]) -> Fraction:
    import sympy

    values = {s: sympy.Rational(known[s.name]) for s in row.expr.free_symbols}
    found = row.expr.xreplace(values)
    if not found.is_Rational:
        raise Problem("number", f"{row.text or row.quantity} has no value", ("division by 0",))
    return Fraction(int(found.p), int(found.q))


def _relation(row: Calculated) -> Relate:
    """A calculation whose parts are not stated is an equation."""
    if row.override:
        advice = "what an override is calculated from has to be stated"
        raise Problem("syntax", f"{row.text or row.quantity} has no value", (advice,))
    return Relate(_BY_NAME[row.quantity].symbol, "=", row.expr, row.text)
