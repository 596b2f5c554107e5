"""Questions and statements written out in one canonical way that the grammar reads back exactly."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from formulas.amounts import LADDERS, LONGEST_NUMBER
from formulas.errors import Problem
from formulas.quantities import SCALARS
from formulas.quantity import Quantity
from formulas.statements import (
    Among,
    AmongNames,
    Between,
    Calculated,
    Choose,
    Fact,
    Limit,
    Relate,
    Same,
    Spread,
    Statement,
    UseGpu,
    UseModel,
)
from formulas.units import Powers

_QUANTITIES = {quantity.name: quantity for quantity in SCALARS}
_CHUNK = 10**LONGEST_NUMBER
_LARGEST_LEAD = 1000
_LONGEST_LIST = 12


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
            return f"model {quoted(name)}"
        case UseGpu(name, count):
            return f"gpu {quoted(name)}" if count is None else f"gpu {count} x {quoted(name)}"
        case Choose(choice, value):
            return f"{choice} = {value}"
        case Among(name, values):
            return spelt_values(name, values)
        case AmongNames(choice, names):
            return f"{choice} in {{{', '.join(map(quoted, names))}}}"
        case Between(name, low, high):
            return f"{name} = {'..'.join(_together(name, (low, high)))}"
        case Spread(name, value, deviation):
            return f"{name} = {' +/- '.join(_together(name, (value, deviation)))}"
        case Calculated() | Relate():
            from derive.spelt_calculation import spelt_calculated

            return spelt_calculated(statement)


def quoted(name: str) -> str:
    """The name, in quotes where it would not be read as one word."""
    plain = name.isascii() and all(char.isalnum() or char in "-_./" for char in name)
    return name if plain and (name[0].isalnum() or name[0] in "./") else f'"{name}"'


def spelt_values(name: str, values: tuple[Fraction, ...]) -> str:
    """`name in ...`: a list, or where that would be long a range that has the same values."""
    steps = {after - before for before, after in pairwise(values)}
    doubles = {after == 2 * before for before, after in pairwise(values)}
    ends = (values[0], values[-1])
    if len(values) <= _LONGEST_LIST or values[0] <= 0 < len(steps) - 1:
        return f"{name} in {{{', '.join(_together(name, values))}}}"
    if len(steps) == 1 and (step := steps.pop()) > 0:
        low, high, width = _together(name, (*ends, step))
        return f"{name} in {low}..{high} step {width}"
    if doubles == {True}:
        return f"{name} in {'..'.join(_together(name, ends))} log2"
    return f"{name} in {{{', '.join(_together(name, values))}}}"


def _together(name: str, values: Iterable[Fraction]) -> list[str]:
    """The values, all with a unit or all without: a unit behind one is read for others too."""
    quantity = _QUANTITIES.get(name)
    texts = [(value, spelt_number(value, quantity)) for value in values]
    if all(text == bare_number(value) for value, text in texts):
        return [text for _, text in texts]
    if any(text == bare_number(value) for value, text in texts):
        return [bare_number(value) for value, _ in texts]
    return [text for _, text in texts]


def _spelt_value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, Fraction):
        raise Problem("syntax", f"{name} is no number, and cannot be given in a line")
    return spelt_number(value, _QUANTITIES.get(name))


def spelt_number(value: Fraction, quantity: Quantity | None) -> str:
    """The exact value: a decimal in a unit that suits it, else a calculation."""
    if quantity is None or quantity.label:
        return bare_number(value)
    return spelt_amount(value * quantity.unit.scale, quantity.unit.powers) or bare_number(value)


def spelt_amount(base: Fraction, powers: Powers) -> str:
    """A number of base units as a decimal in a unit that suits it; empty where there is none."""
    for scale, unit in LADDERS.get(powers, ()) if powers else ():
        text = _decimal(base / scale)
        if text and 1 <= abs(base / scale) < _LARGEST_LEAD:
            return _with_unit(text, unit)
    return ""


def bare_number(value: Fraction) -> str:
    """The exact value without a unit."""
    return _decimal(value) or _quotient(value)


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
