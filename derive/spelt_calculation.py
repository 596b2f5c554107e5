"""Calculations with quantities written out so that the grammar reads the same expression again."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import sympy

from derive.kinds import label_unit
from derive.names import quantity_named
from derive.spelling import bare_number, spelt_amount
from derive.symbolic import own_unit, scale_of
from formulas.statements import Calculated, Relate
from formulas.units import Powers, Unit

_BASES = {"byte": "1 B", "second": "1 s", "dollar": "1 USD", "joule": "1 J", "FLOP": "1 FLOP"}


def spelt_calculated(statement: Calculated | Relate) -> str:
    """The statement as a person would type it."""
    if isinstance(statement, Relate):
        unit = statement.unit or own_unit(dimension_of(statement.left))
        left, right = (spelt(side, unit) for side in (statement.left, statement.right))
        return f"{left} {statement.relation} {right}"
    quantity = quantity_named(statement.quantity)
    # What counts nothing is read in the quantity's own unit.
    counts = dimension_of(statement.expr).tags
    scale = scale_of(quantity) if counts else quantity.unit.scale
    relation = ":=" if statement.override else "="
    return f"{quantity.name} {relation} {spelt(statement.expr, Unit(quantity.unit.powers, scale))}"


def spelt(expr: Any, unit: Unit) -> str:
    """The expression, whose values are in `unit`."""
    scales = {symbol: scale_of(quantity_named(symbol.name)) for symbol in expr.free_symbols}
    typed = {symbol: symbol / _rational(scale) for symbol, scale in scales.items() if scale != 1}
    return _sum((expr * _rational(unit.scale)).xreplace(typed), unit.powers)


def dimension_of(expr: Any) -> Unit:
    """What the quantities of an expression make of dimension and tags; its numbers say nothing."""
    if expr.is_Symbol:
        quantity = quantity_named(expr.name)
        own = label_unit(quantity)
        tags = own.tags if own.same_dimension(quantity.unit) else ()
        return Unit(quantity.unit.powers, tags=tags)
    if expr.is_Pow:
        return dimension_of(expr.base).power(Fraction(int(expr.exp)))
    known = sorted((part for part in expr.args if part.free_symbols), key=str)
    parts = [dimension_of(part) for part in known]
    if expr.is_Add:
        # Terms may differ where numbers bring units; the sum is written in that of the first.
        same = all(part.tags == parts[0].tags for part in parts)
        return Unit(parts[0].powers, tags=parts[0].tags if same else ())
    unit = Unit()
    for part in parts:
        unit = unit * part
    return unit


def _rational(number: Fraction) -> Any:
    return sympy.Rational(number.numerator, number.denominator)


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _sum(expr: Any, powers: Powers) -> str:
    # A number stands last, so that the unit of what stands first is the sum's.
    terms = sorted(sympy.Add.make_args(expr), key=lambda term: (term.is_Rational, str(term)))
    first, *rest = (_term(term, powers) for term in terms)
    return first + "".join(
        f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in rest
    )


def _term(term: Any, powers: Powers) -> str:
    if term.is_Rational:
        base = _fraction(term)
        return spelt_amount(base, powers) or bare_number(base) + _in_units(powers)
    lacking = Unit(powers) / Unit(dimension_of(term).powers)
    return _product(term) + _in_units(lacking.powers)


def _in_units(powers: Powers) -> str:
    return "".join(
        f" {'*' if power > 0 else '/'} ({_BASES[base]}){_exponent(abs(power))}"
        for base, power in powers
    )


def _exponent(power: Any) -> str:
    return "" if power == 1 else f"^{power}"


def _product(term: Any) -> str:
    """Factors with the coefficient first, but last where it would be multiplied into a sum."""
    coefficient, rest = term.as_coeff_Mul()
    factors = sorted(sympy.Mul.make_args(rest), key=lambda f: (f.is_Add, str(f)))
    number = bare_number(_fraction(coefficient))
    above = [_power(factor) for factor in factors if not _negative(factor)]
    below = [_power(factor) for factor in factors if _negative(factor)]
    sums_only = all(factor.is_Add for factor in factors if not _negative(factor))
    if above and sums_only:
        return _joined(above, below) + ("" if coefficient == 1 else f" * {number}")
    if coefficient == -1 and above:
        return f"-{_joined(above, below)}"
    return _joined(above if coefficient == 1 and above else [number, *above], below)


def _joined(above: Iterable[str], below: Iterable[str]) -> str:
    return " * ".join(above) + "".join(f" / {factor}" for factor in below)


def _negative(factor: Any) -> bool:
    return bool(factor.is_Pow and factor.exp < 0)


def _power(factor: Any) -> str:
    base, exponent = factor.as_base_exp() if factor.is_Pow else (factor, 1)
    text = str(base.name) if base.is_Symbol else f"({_sum(base, dimension_of(base).powers)})"
    return text + _exponent(abs(exponent))
