"""Questions and statements written out in one canonical way that the grammar reads back exactly."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from formulas.amounts import LADDERS, LONGEST_NUMBER
from formulas.errors import Problem
from formulas.quantities import SCALARS
from formulas.quantity import Quantity
from formulas.statements import Choose, Fact, Limit, Same, Statement, UseGpu, UseModel
from formulas.units import Unit

_QUANTITIES = {quantity.name: quantity for quantity in SCALARS}
_CHUNK = 10**LONGEST_NUMBER
_LARGEST_LEAD = 1000


def canonical_line(
    verb: str, find: str | None, statements: Iterable[Statement], unit: Unit | None
) -> str:
    """The whole question: what is asked first, then `given` and the statements, then the unit."""
    stated = ", ".join(spelt_statement(statement) for statement in statements)
    if find is None:
        return stated
    asked = find if verb == "value" else f"{verb} {find}"
    given = f" given {stated}" if stated else ""
    return f"{asked}{given}{f' -> {unit}' if unit is not None else ''}"


def spelt_statement(statement: Statement) -> str:
    """The statement as a person would type it."""
    match statement:
        case Fact(name, value, override):
            return f"{name} {':=' if override else '='} {_spelt_value(name, value)}"
        case Limit(name, relation, value):
            return f"{name} {relation} {_spelt_value(name, value)}"
        case Same(name, other):
            return f"{name} = {other}"
        case UseModel(name):
            return f"model {_quoted(name)}"
        case UseGpu(name, count):
            return f"gpu {_quoted(name)}" if count is None else f"gpu {count} x {_quoted(name)}"
        case Choose(choice, value):
            return f"{choice} = {value}"


def _quoted(name: str) -> str:
    plain = name.isascii() and all(char.isalnum() or char in "-_./" for char in name)
    return name if plain and (name[0].isalnum() or name[0] in "./") else f'"{name}"'


def _spelt_value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, Fraction):
        raise Problem("syntax", f"{name} is no number, and cannot be given in a line")
    return spelt_number(value, _QUANTITIES.get(name))


def spelt_number(value: Fraction, quantity: Quantity | None) -> str:
    """The exact value: a decimal in a unit that suits it, else a calculation."""
    for scale, unit in _rungs(quantity):
        text = _decimal(value * scale)
        if text and 1 <= abs(value * scale) < _LARGEST_LEAD:
            return _with_unit(text, unit)
    return _decimal(value) or _quotient(value)


def _rungs(quantity: Quantity | None) -> tuple[tuple[Fraction, str], ...]:
    """How many of each unit make one of the quantity's own."""
    if quantity is None or not quantity.unit.powers or quantity.label:
        return ()
    ladder = LADDERS.get(quantity.unit.powers, ())
    return tuple((quantity.unit.scale / scale, unit) for scale, unit in ladder)


def _with_unit(number: str, unit: str) -> str:
    if unit.startswith("$"):
        sign = "-" if number.startswith("-") else ""
        return f"{sign}${number.lstrip('-')}{unit[1:]}"
    return number + unit[1:] if unit.startswith("1/") else f"{number} {unit}"


def _decimal(value: Fraction) -> str:
    """The value as a decimal, or nothing where it has none that is short enough."""
    tries = (places for places in range(LONGEST_NUMBER) if 10**places % value.denominator == 0)
    places = next(tries, None)
    if places is None or abs(value) * 10**places >= _CHUNK:
        return ""
    text = str(int(abs(value) * 10**places)).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{text[:-places]}.{text[-places:]}" if places else f"{sign}{text}"


def _quotient(value: Fraction) -> str:
    sign = "-" if value < 0 else ""
    top, bottom = _long(abs(value.numerator)), _long(value.denominator)
    return f"{sign}{top}" if value.denominator == 1 else f"{sign}{top} / {bottom}"


def _long(number: int) -> str:
    """A whole number of any length, in pieces that are short enough to be read."""
    if number < _CHUNK:
        return str(number)
    return f"({_long(number // _CHUNK)} * 10^{LONGEST_NUMBER} + {number % _CHUNK})"
