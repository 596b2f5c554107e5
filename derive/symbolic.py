"""Amounts with quantities in them: an expression in base units, with its dimension beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from derive.complain import Span, fault
from derive.kinds import different, label_unit, tags_clash
from derive.lexer import Cursor
from derive.literals import Amount
from derive.names import quantity_named
from formulas.amounts import shortened
from formulas.quantity import OPAQUE, Quantity
from formulas.units import Unit, parse_unit

MOST_STEPS = 200
MOST_BITS = 2000
LARGEST_POWER = 60
LARGEST_DEGREE = 100

# Prices are kept for an hour; every other amount of a calculation is in base units.
_OWN = {
    unit.powers: unit
    for unit in map(
        parse_unit,
        ("1", "byte", "s", "FLOP", "USD", "J", "byte/s", "FLOP/s", "1/s", "FLOP/byte", "USD/h"),
    )
}


def own_unit(unit: Unit) -> Unit:
    """The unit in which a calculation of this dimension is kept: base units, and $/h for prices."""
    return _OWN.get(unit.powers, Unit(unit.powers))


def scale_of(quantity: Quantity) -> Fraction:
    """What one of the quantity's own is in base units; $1/Mtok is a millionth of a dollar."""
    own = label_unit(quantity)
    return own.scale if own.same_dimension(quantity.unit) else quantity.unit.scale


def lone(quantity: Quantity, span: Span) -> Amount:
    """The quantity itself as an amount; what it needs of algebra is made when it is used."""
    own = label_unit(quantity)
    tags = own.tags if own.same_dimension(quantity.unit) else ()
    return Amount(None, Unit(quantity.unit.powers, tags=tags), span, quantity=quantity)


def expression(amount: Amount) -> Any:
    """The amount in base units as an expression."""
    import sympy

    if amount.quantity is not None:
        return amount.quantity.symbol * sympy.Rational(scale_of(amount.quantity))
    return sympy.Rational(amount.base) if isinstance(amount.number, Fraction) else amount.number


def kept(amount: Amount, unit: Unit) -> Any:
    """The amount as an expression in `unit`, whose dimension it has."""
    import sympy

    return expression(amount) / sympy.Rational(unit.scale)


def total(cursor: Cursor, sign: str, left: Amount, right: Amount) -> Amount:
    """The sum or the difference; two dimensions are a Problem."""
    span = (left.span[0], right.span[1])
    plain = all(part.quantity or part.literal for part in (left, right))
    clash = plain and tags_clash(left.unit, right.unit)
    if left.unit.powers != right.unit.powers or clash:
        texts = (shortened(cursor.text[slice(*part.span)]) for part in (left, right))
        pieces = list(zip(texts, (left.unit, right.unit), strict=True))
        raise different(pieces[0], pieces[1], span)
    # A number among quantities counts what they count.
    counted = {part.unit.tags for part in (left, right) if part.symbolic}
    unit = Unit(left.unit.powers, tags=counted.pop() if len(counted) == 1 else ())
    if sign == "+":
        return _made(cursor, lambda: expression(left) + expression(right), unit, span)
    return _made(cursor, lambda: expression(left) - expression(right), unit, span)


def product(cursor: Cursor, divides: bool, left: Amount, right: Amount) -> Amount:
    """The product or the quotient."""
    span = (left.span[0], right.span[1])
    unit = left.unit / right.unit if divides else left.unit * right.unit
    if divides:
        return _made(cursor, lambda: expression(left) / expression(right), unit, span)
    return _made(cursor, lambda: expression(left) * expression(right), unit, span)


def power(cursor: Cursor, base: Amount, exponent: int) -> Amount:
    """The power to a whole number."""
    span = (base.span[0], cursor.end)
    if abs(exponent) * _degree(expression(base)) > LARGEST_DEGREE:
        raise fault("number", f"powers of quantities are read up to {LARGEST_DEGREE}", span)
    unit = base.unit.power(Fraction(exponent))
    return _made(cursor, lambda: expression(base) ** exponent, unit, span)


def negated(cursor: Cursor, amount: Amount, span: Span) -> Amount:
    """The amount with the other sign."""
    return _made(cursor, lambda: -expression(amount), amount.unit, span)


def _made(cursor: Cursor, calculate: Callable[[], Any], unit: Unit, span: Span) -> Amount:
    """The result in base units; one in which every quantity cancels is a plain number again."""
    cursor.work += 1
    if cursor.work > MOST_STEPS:
        message = f"a line calculates with quantities in at most {MOST_STEPS} steps"
        raise fault("number", message, span)
    found = calculate()
    if any(max(abs(n.p).bit_length(), n.q.bit_length()) > MOST_BITS for n in _numbers(found)):
        raise fault("number", "the result has more digits than are read", span)
    if any(abs(exponent) > LARGEST_POWER for exponent in _exponents(found)):
        limits = f"from -{LARGEST_POWER} to {LARGEST_POWER}"
        raise fault("number", f"an exponent is a whole number {limits}", span)
    number = Fraction(int(found.p), int(found.q)) if found.is_Rational else found
    return _alone(found, unit, span) or Amount(number, Unit(unit.powers, tags=unit.tags), span)


def _alone(found: Any, unit: Unit, span: Span) -> Amount | None:
    """The quantity alone where nothing else is left of a calculation: 1 * tpot."""
    factor, rest = found.as_coeff_Mul()
    if not rest.is_Symbol:
        return None
    quantity = quantity_named(rest.name)
    same = factor == scale_of(quantity) and unit.powers == quantity.unit.powers
    return lone(quantity, span) if same else None


def _numbers(expr: Any) -> Iterator[Any]:
    """The coefficients of the outermost sum; those further inside were looked at before."""
    import sympy

    for term in sympy.Add.make_args(expr):
        yield term.as_coeff_Mul()[0]


def _exponents(expr: Any) -> Iterator[Any]:
    import sympy

    for term in sympy.Add.make_args(expr):
        for part in sympy.Mul.make_args(term):
            if part.is_Pow:
                yield part.exp


def _degree(expr: Any) -> int:
    """How often a quantity is multiplied by quantities, at most."""
    if expr.is_Symbol or expr.is_Number:
        return int(expr.is_Symbol)
    parts = [_degree(part) for part in expr.args]
    if expr.is_Pow:
        return parts[0] * abs(int(expr.exp))
    return sum(parts) if expr.is_Mul else max(parts)


def is_number(quantity: Quantity) -> bool:
    """True for a quantity that can be calculated with."""
    return not quantity.shape and quantity.unit.text not in OPAQUE
