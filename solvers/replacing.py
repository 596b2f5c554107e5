"""What was said, with one thing said otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from formulas.amounts import display
from formulas.quantity import Quantity
from formulas.statements import Choose, Fact, Limit, Statement, UseGpu
from solvers.number import Number
from solvers.said import Said

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Restated:
    """All statements, one of them anew; `text` is how a person would say that one."""

    statements: tuple[Statement, ...]
    text: str


def restated(rows: tuple[Statement, ...], said: Said, value: Any) -> Restated | None:
    """The statements with this value or name in place of what was said; None where it was not."""
    name = said.statement.name
    if isinstance(value, str):
        return _renamed(rows, name, value)
    if said.bound is not None and said.bound.limit is not None:
        old = said.bound.limit
        new = Limit(old.quantity, old.relation, value, f"{name} {old.relation} {value}")
        return _swapped(rows, old, new) if old in rows else None
    quantity = said.bound.quantity if said.bound is not None else next(iter(said.points))
    fact = Fact(quantity, value, text=f"{quantity} = {value}")
    old_fact = next((r for r in rows if isinstance(r, Fact) and r.quantity == quantity), None)
    if old_fact is not None:
        return _swapped(rows, old_fact, replace(old_fact, value=value, text=fact.text))
    return Restated((*rows, fact), fact.text) if said.assumed else None


def _renamed(rows: tuple[Statement, ...], name: str, value: str) -> Restated | None:
    if name == "gpu":
        gpu = next((row for row in rows if isinstance(row, UseGpu)), None)
        if gpu is None:
            return None
        text = f"gpu {value}" if gpu.count is None else f"gpu {gpu.count} x {value}"
        return _swapped(rows, gpu, UseGpu(value, gpu.count, text))
    chosen = Choose(name, value, f"{name} = {value}")
    kept = tuple(r for r in rows if not (isinstance(r, Choose) and r.choice == name))
    return Restated((*kept, chosen), chosen.text)


def _swapped(rows: tuple[Statement, ...], old: Statement, new: Statement) -> Restated:
    return Restated(tuple(new if row is old else row for row in rows), getattr(new, "text", ""))


def shown_statement(row: Restated, quantity: Quantity, value: Number, upwards: bool) -> str:
    """The new statement for people, its number rounded away from what does not hold."""
    head = row.text.rpartition(" ")[0]
    rounded = away(value, upwards)
    return f"{head} {display(rounded, quantity.unit, quantity.label)}"


def away(value: Number, upwards: bool) -> Fraction:
    """The number at four digits, rounded up or down."""
    exact = value if isinstance(value, Fraction) else Fraction(str(value))
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING if upwards else ROUND_FLOOR)
    if exact.denominator == 1:
        return exact
    return Fraction(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
