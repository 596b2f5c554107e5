"""The values behind `in`: {1, 2, 4}, 1..256 log2, {bf16, fp8}; and two values with one unit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from derive.complain import Span, fault
from derive.kinds import example_of
from derive.lexer import BRACE, COMMA, DOTS, END_BRACE, Cursor, keyword
from derive.literals import Amount
from derive.values import in_quantity, read_amount
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.quantity import Quantity

MOST_VALUES = 100_000

IN = keyword("in")
_DOMAIN = re.compile(r"(?ai:in)(?![A-Za-z0-9_.])\s*(?:[{0-9.$(+-]|$)")
_LOG2, _LOG, _STEP = keyword("log2"), keyword("log"), keyword("step")


def opens_domain(cursor: Cursor) -> bool:
    """True before the values that are allowed: a unit, which may follow `in` too, begins else."""
    return cursor.look(_DOMAIN) is not None


def read_domain(cursor: Cursor, quantity: Quantity, name: str) -> tuple[Fraction, ...]:
    """The values behind `in`, each in the quantity's own unit and once."""
    where = cursor.here()
    cursor.take(IN)
    if cursor.take(BRACE):
        return tuple(dict.fromkeys(_listed(cursor, quantity, name)))
    start = cursor.start
    low = read_number_of(cursor, quantity, name)
    if not cursor.take(DOTS):
        advice = f"example: {name} in {{1, 2, 4, 8}}, or {name} in 1..256 log2"
        raise fault("syntax", "several values stand behind 'in'", (where[0], cursor.end), advice)
    high = read_number_of(cursor, quantity, name)
    ends = in_one_unit(cursor, low, high, quantity)
    span = (start, cursor.end)
    first, last = (in_quantity(cursor, end, quantity, name) for end in ends)
    if first > last:
        raise fault("syntax", "the range runs backwards", span, "the smaller end stands first")
    return _stepped(cursor, quantity, name, (first, last), ends[1], span)


def read_number_of(cursor: Cursor, quantity: Quantity, name: str) -> Amount:
    """A value without a quantity in it."""
    if cursor.done:
        message = "line ends where a value was expected"
        example = f"example: {name} in {{{example_of(quantity)}}}"
        raise fault("syntax", message, cursor.here(), example)
    amount = read_amount(cursor)
    if amount.symbolic:
        message = f"a quantity cannot stand in a list or range ('{cursor.since(amount.span[0])}')"
        raise fault("syntax", message, amount.span, "write numbers there")
    return amount


def in_one_unit(
    cursor: Cursor, one: Amount, other: Amount, quantity: Quantity
) -> tuple[Amount, Amount]:
    """Both amounts; a unit behind the second holds for the first too: 20..30 ms."""
    if one.bare == other.bare or not quantity.unit.powers:
        return one, other
    text = cursor.text[one.span[0] : other.span[1]]
    if other.bare:
        advice = "write the unit behind both values, or behind the second only"
        raise fault("unit", f"'{shortened(text)}' lacks a unit", other.span, advice)
    cursor.note(f"{text}: both in {other.unit}")
    return replace(one, unit=other.unit, bare=False), other


def _listed(cursor: Cursor, quantity: Quantity, name: str) -> Iterator[Fraction]:
    cursor.listing = True
    bare: set[bool] = set()
    while True:
        amount = read_number_of(cursor, quantity, name)
        bare.add(amount.bare)
        if len(bare) > 1 and quantity.unit.powers:
            advice = "write a unit behind each value, or behind none"
            raise fault("unit", "some values have a unit and some have none", amount.span, advice)
        yield in_quantity(cursor, amount, quantity, name)
        if cursor.take(END_BRACE):
            break
        if not cursor.take(COMMA):
            raise missing_brace(cursor)
    cursor.listing = False


def missing_brace(cursor: Cursor) -> Problem:
    """The problem of a list that is not closed."""
    return fault("syntax", "'}' is missing", cursor.here(), "example: tp in {1, 2, 4, 8}")


def _stepped(
    cursor: Cursor,
    quantity: Quantity,
    name: str,
    ends: tuple[Fraction, Fraction],
    high: Amount,
    span: Span,
) -> tuple[Fraction, ...]:
    low = ends[0]
    if cursor.take(_STEP):
        where = cursor.start
        amount = read_number_of(cursor, quantity, name)
        if amount.bare and quantity.unit.powers:
            amount = replace(amount, unit=high.unit, bare=high.bare)
        step = in_quantity(cursor, amount, quantity, name)
        if step <= 0:
            raise fault("number", "a step is above 0", (where, cursor.end), "example: step 8")
        return _spaced(low, ends[1], step, span)
    doubles = cursor.take(_LOG2)
    if doubles or cursor.take(_LOG):
        if low <= 0:
            raise fault("number", "such a range begins above 0", span, f"example: {name} in 1..64")
        return tuple(_doubled(*ends) if doubles else _decades(*ends))
    # Of an amount with a unit, the whole numbers of that unit.
    in_units = quantity.unit.powers and not high.bare
    step = high.unit.scale / quantity.unit.scale if in_units else Fraction(1)
    first = math.ceil(low / step) * step
    if first > ends[1]:
        text = shortened(cursor.text[slice(*span)])
        ways = f"{name} = {text} is an interval; {name} in {text} step ... is a list"
        raise fault("number", f"no whole number lies in {text}", span, ways)
    return _spaced(first, ends[1], step, span)


def _spaced(low: Fraction, high: Fraction, step: Fraction, span: Span) -> tuple[Fraction, ...]:
    count = (high - low) // step + 1
    if count > MOST_VALUES:
        shown = count if count < 10**15 else f"{float(count):.0e}"
        message = f"the range has {shown} values; at most {MOST_VALUES} are read"
        raise fault("number", message, span, "example: 1..100k step 1k, or 1..128Ki log2")
    return tuple(low + step * place for place in range(int(count)))


def _doubled(low: Fraction, high: Fraction) -> Iterator[Fraction]:
    while low <= high:
        yield low
        low *= 2


def _decades(low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """The low end, and 1, 2 and 5 times each power of ten above it."""
    yield low
    power = Fraction(10) ** (len(str(math.floor(low))) - 1 if low >= 1 else -_zeros(low))
    while power <= high:
        yield from (m * power for m in (1, 2, 5) if low < m * power <= high)
        power *= 10


def _zeros(small: Fraction) -> int:
    """The n for which 10^-n is the largest power of ten that is at most `small`, below 1."""
    found = len(str(math.floor(1 / small)))
    return found if 10 ** (found - 1) * small < 1 else found - 1
