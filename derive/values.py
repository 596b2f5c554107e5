"""The right side of a fact: arithmetic over numbers with units, exact and checked."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from derive import symbolic
from derive.complain import Span, fault
from derive.guesses import as_name_of_a_product, as_word_of_a_line
from derive.kinds import different, label_unit, tags_clash, wrong_dimension, wrong_tag
from derive.lexer import (
    CLOSE,
    DOLLAR,
    FACTOR,
    NAME,
    NUMBER,
    OPEN,
    PLUS_MINUS,
    POWER,
    SIGN,
    TIME,
    Cursor,
)
from derive.literals import CURRENCY, Amount, other_money, plain, read_literal
from derive.names import is_quantity, quantity_named
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.units import Unit, unit_words

DEEPEST = 40
LARGEST_POWER = 60
MOST_BITS = 2000
# Left free so that a value can be written out as a calculation that is read again.
SPARE_BITS = 200

VALUE_START = (NUMBER, DOLLAR, OPEN, SIGN)
_EXPONENT = re.compile(r"[+-]?[0-9]{1,4}(?![0-9_.A-Za-z%$])")
_OPTION = re.compile(r"--([a-z][a-z-]*)")
_LETTERS = re.compile(r"\w+")
_BILLION = Fraction(10**9)


def read_amount(cursor: Cursor, first: Amount | None = None) -> Amount:
    """The value that comes next, calculated exactly; `first` is what was read of it before."""
    left = _product(cursor, first)
    while cursor.look(SIGN) and not cursor.look(PLUS_MINUS):
        _refuse_option(cursor)
        sign = cursor.take(SIGN)
        left = _sum(cursor, sign, left, _product(cursor))
    return left


def continues(cursor: Cursor) -> bool:
    """True where what was read is the beginning of a calculation."""
    _refuse_option(cursor)
    return any(cursor.look(p) for p in (SIGN, FACTOR, POWER)) and not cursor.look(PLUS_MINUS)


def _refuse_option(cursor: Cursor) -> None:
    match = cursor.look(_OPTION)
    if match and not cursor.look(TIME) and not is_quantity(match[1]):
        advice = "options stand outside the quotes:  derive ask '...' " + match.group()
        raise fault("syntax", f"'{match.group()}' is an option", match.span(), advice)


def not_yet(what: str, span: Span, *lines: str) -> Problem:
    """The problem of a part of the grammar that is not there yet."""
    return fault("syntax", f"{what} is not understood yet", span, *lines)


def _product(cursor: Cursor, first: Amount | None = None) -> Amount:
    left = _power(cursor, first) if first else _signed(cursor)
    while cursor.look(FACTOR) and not cursor.look(POWER):
        divides = cursor.take(FACTOR) == "/"
        right = _signed(cursor)
        left = _times(cursor, divides, left, right)
    return left


def _times(cursor: Cursor, divides: bool, left: Amount, right: Amount) -> Amount:
    span = (left.span[0], right.span[1])
    if divides and not right.symbolic and not right.number:
        raise fault("number", "division by 0", right.span)
    if left.symbolic or right.symbolic:
        return symbolic.product(cursor, divides, left, right)
    calculate: Callable[[Fraction, Fraction], Fraction]
    calculate = operator.truediv if divides else operator.mul
    unit = left.unit / right.unit if divides else left.unit * right.unit
    number = calculate(left.number, right.number)
    return _bounded(Amount(number, unit, span, left.bare and right.bare))


def _signed(cursor: Cursor) -> Amount:
    """A power with any number of signs before it; -2^2 is -4."""
    start, negative = cursor.start, False
    while sign := cursor.take(SIGN):
        negative ^= sign == "-"
    amount = _power(cursor)
    if cursor.text[start] not in "+-":
        return amount
    span = (start, cursor.end)
    if amount.symbolic:
        return symbolic.negated(cursor, amount, span) if negative else amount
    number = -amount.number if negative else amount.number
    return Amount(number, amount.unit, span, amount.bare, amount.literal)


def _power(cursor: Cursor, first: Amount | None = None) -> Amount:
    base = first or _atom(cursor)
    if not cursor.look(POWER):
        return base
    where = cursor.here()
    cursor.take(POWER)
    if base.literal and not base.bare:
        piece = cursor.text[slice(*base.span)]
        raise fault("syntax", f"'{piece}^' can be read two ways", where, f"write ({piece})^2")
    where = cursor.here()
    text = cursor.take(_EXPONENT)
    exponent = int(text or LARGEST_POWER + 1)
    if abs(exponent) > LARGEST_POWER or cursor.look(POWER):
        limits = f"from -{LARGEST_POWER} to {LARGEST_POWER}"
        raise fault("number", f"an exponent is a whole number {limits}", where, "example: 2^10")
    if base.symbolic:
        return symbolic.power(cursor, base, exponent)
    if exponent < 0 and not base.number:
        raise fault("number", "division by 0", base.span)
    unit = base.unit.power(Fraction(exponent))
    return _bounded(Amount(base.number**exponent, unit, (base.span[0], cursor.end), base.bare))


def _atom(cursor: Cursor) -> Amount:
    if cursor.look(NUMBER) or cursor.look(DOLLAR):
        return read_literal(cursor)
    where = cursor.here()
    if cursor.look(NAME):
        return _named(cursor)
    if not cursor.take(OPEN):
        raise no_value(cursor)
    cursor.depth += 1
    if cursor.depth > DEEPEST:
        raise fault("syntax", f"parentheses are read {DEEPEST} deep", where)
    inner = read_amount(cursor)
    if not cursor.take(CLOSE):
        raise fault("syntax", "')' is missing", cursor.here())
    cursor.depth -= 1
    return replace(inner, span=(where[0], cursor.end), literal=False)


def _named(cursor: Cursor) -> Amount:
    name = cursor.take(NAME)
    span = (cursor.end - len(name), cursor.end)
    quantity = take_quantity(cursor, name) if is_quantity(name) else named_in_value(cursor, name)
    return alone(quantity, name, span)


def alone(quantity: Quantity, name: str, span: Span) -> Amount:
    """The quantity as the beginning of a calculation; one that is no number is a Problem."""
    if not symbolic.is_number(quantity):
        raise _no_number(quantity, name, span)
    return symbolic.lone(quantity, span)


def _no_number(quantity: Quantity, name: str, span: Span) -> Problem:
    if quantity.unit.text == "bool":
        message = f"{name} is yes or no, and has no limits"
        return fault("domain", message, span, f"example: {name} = yes")
    message = f"{name} is no number, and is not calculated with"
    return fault("syntax", message, span, "arrays are given in JSON: --jsonl reads nested lists")


def no_value(cursor: Cursor) -> Problem:
    """The problem of something else standing where a value has to."""
    where = cursor.here()
    if cursor.done:
        return fault("syntax", "line ends where a value was expected", where)
    if cursor.look(CURRENCY):
        return other_money(cursor)
    word = shortened(cursor.text[slice(*where)])
    if word == "{":
        return fault("syntax", "several values stand behind 'in'", where, "example: tp in {1, 2}")
    lines = ("example: tp in {1, 2, 4, 8}",) if word == "}" else ()
    return fault("syntax", f"'{word}' stands where a value was expected", where, *lines)


def named_in_value(cursor: Cursor, name: str) -> Quantity:
    """The quantity that a name means where a value could stand; a lonely unit is told apart."""
    span = (cursor.end - len(name), cursor.end)
    if name in ("x", "X"):
        advice = "a value is a number with its unit; to ask for it write  NAME = ?"
        raise fault("syntax", f"'{name}' stands where a value was expected", span, advice)
    if name in unit_words():
        advice = "a unit is written directly behind its number: 400 Gbit/s"
        raise fault("syntax", f"the unit '{name}' has no number", span, advice)
    return take_quantity(cursor, name)


def take_quantity(cursor: Cursor, name: str) -> Quantity:
    """The quantity that the name just taken means, noted where it was not the canonical name."""
    span = (cursor.end - len(name), cursor.end)
    if cursor.look(OPEN):
        operators = "numbers are combined with + - * / ^ and parentheses"
        raise fault("syntax", f"'{shortened(name)}' is not a function", span, operators)
    if letters := _LETTERS.match(cursor.text, cursor.end):
        # A letter with an accent ends a name; the fault is the whole word.
        name, span = name + letters.group(), (span[0], letters.end())
    try:
        quantity = quantity_named(name)
    except Problem as problem:
        problem.span = span
        problem = as_word_of_a_line(problem, name, not cursor.text[: span[0]].strip())
        raise as_name_of_a_product(problem, cursor.text[span[0] :]) from None
    if quantity.name != name:
        cursor.note(f"{name} read as {quantity.name}")
    return quantity


def _sum(cursor: Cursor, sign: str, left: Amount, right: Amount) -> Amount:
    if left.symbolic or right.symbolic:
        return symbolic.total(cursor, sign, left, right)
    span = (left.span[0], right.span[1])
    if left.unit.powers != right.unit.powers or tags_clash(left.unit, right.unit):
        texts = (shortened(cursor.text[slice(*part.span)]) for part in (left, right))
        pieces = list(zip(texts, (left.unit, right.unit), strict=True))
        raise different(pieces[0], pieces[1], span)
    unit = right.unit if left.bare else left.unit
    base = left.base + right.base if sign == "+" else left.base - right.base
    return _bounded(Amount(base / unit.scale, unit, span, left.bare and right.bare))


def _bounded(amount: Amount) -> Amount:
    parts = (amount.number, amount.unit.scale)
    if max(abs(n).bit_length() for part in parts for n in part.as_integer_ratio()) > MOST_BITS:
        raise _too_many_digits(amount.span)
    return amount


def _too_many_digits(span: Span) -> Problem:
    return fault("number", "the result has more digits than are read", span)


def in_quantity(cursor: Cursor, amount: Amount, quantity: Quantity, typed: str) -> Fraction:
    """The exact value in the quantity's own unit; `typed` is how the person calls the quantity."""
    if amount.symbolic:
        raise fault("syntax", "a number was expected, not a quantity", amount.span)
    value: Fraction = amount.number if amount.bare else _converted(cursor, amount, quantity, typed)
    if max(part.bit_length() for part in value.as_integer_ratio()) > MOST_BITS - SPARE_BITS:
        raise _too_many_digits(amount.span)
    return value


def _converted(cursor: Cursor, amount: Amount, quantity: Quantity, typed: str) -> Fraction:
    text = cursor.text[slice(*amount.span)]
    if amount.literal and amount.unit.text == "B":
        if _is_count(quantity):
            billions: Fraction = amount.number * _BILLION
            cursor.note(f"{text} read as {plain(billions)}")
            return billions
        if quantity.unit.same_dimension(amount.unit) and not text[-2].isspace():
            cursor.note(f"{text} read as {plain(amount.number)} bytes")
    if not amount.unit.same_dimension(quantity.unit):
        raise wrong_dimension(quantity, typed, shortened(text), amount.unit, amount.span)
    own = label_unit(quantity)
    tagged = own.tags if own.same_dimension(quantity.unit) else ()
    if tagged and tags_clash(own, amount.unit):
        raise wrong_tag(quantity, typed, shortened(text), amount.unit, amount.span)
    # $3/Mtok is 3 in a quantity that is kept in dollars for a million tokens.
    scale = own.scale if tagged and amount.unit.tags else quantity.unit.scale
    return Fraction(amount.base / scale)


def _is_count(quantity: Quantity) -> bool:
    return not quantity.unit.powers and quantity.domain.whole


def same_sort(one: Quantity, other: Quantity, span: Span) -> None:
    """Refuse an equation of two quantities that can never be equal."""
    units = [Unit(q.unit.powers, q.unit.scale, label_unit(q).tags) for q in (one, other)]
    if units[0].powers != units[1].powers or tags_clash(*units):
        raise different((one.name, units[0]), (other.name, units[1]), span)
