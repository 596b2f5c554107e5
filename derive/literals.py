"""One number with its suffix and unit, read exactly: 30 ms, 80%, 128Ki, $2.50/h, 400 Gbit/s."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from derive.complain import Span, fault
from derive.lexer import DOLLAR, NUMBER, Cursor, keyword
from derive.names import is_quantity
from formulas.amounts import display, grouped, read_number, shortened
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.units import Unit, parse_unit

SUFFIXES = {
    **{letter: 1000**power for power, letter in enumerate("kMGT", start=1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("KMGT", start=1)},
}
# Words of the grammar that may follow a number and are no unit.
AFTER_NUMBER = keyword(
    "given where st with in over by for top as to step log log2 not and or require at"
)

_LONGEST_UNIT = 40
_MICRO = "\u00b5\u03bc"
_SUFFIX = re.compile(rf"(?:[KMGT]i|[kMGT])(?![A-Za-z0-9_%{_MICRO}])")
_UNIT = re.compile(rf"(?:%|[A-Za-z_${_MICRO}][\w{_MICRO}]*)(?:/[A-Za-z_{_MICRO}][\w{_MICRO}]*)*")
_PER = re.compile(rf"(?:/[A-Za-z_{_MICRO}][\w{_MICRO}]*)+")
_SEPARATED = re.compile(r"(?:,[0-9]{3})+(?![0-9_])(?:\.[0-9]+)?")
_WITH_ZERO = re.compile(r",0[0-9]{2}(?:,[0-9]{3})*(?![0-9_])(?:\.[0-9]+)?")
_SPACED = re.compile(r"[0-9]{3}(?![0-9_.])")
CURRENCY = re.compile("[\u20ac\u00a3\u00a5\u20b9]")
_TIMES = re.compile(r"x\s*[0-9($]")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a unit. `bare`: nobody wrote a unit; `literal`: one number, not a calculation.

    With quantities in it the number is an expression in base units. `quantity` alone is not yet
    one, so that a line that only names it needs no algebra.
    """

    number: Any
    unit: Unit
    span: Span
    bare: bool = False
    literal: bool = False
    quantity: Quantity | None = None

    @property
    def symbolic(self) -> bool:
        """True where a quantity stands in it."""
        return not isinstance(self.number, Fraction)

    @property
    def base(self) -> Any:
        """The number in base units."""
        return self.number * self.unit.scale


def read_literal(cursor: Cursor) -> Amount:
    """The number that comes next, with the suffix and the unit that belong to it."""
    start = cursor.start
    dollar = cursor.take(DOLLAR)
    where = cursor.here()
    digits = cursor.take(NUMBER)
    if not digits:
        raise fault("syntax", "'$' stands before a number", where, "example: $2.50/h")
    _refuse_separators(cursor, digits)
    number = _number(digits, where)
    suffix = cursor.take(_SUFFIX) if cursor.glued else ""
    unit = _dollars(cursor) if dollar else _unit(cursor, start)
    span = (start, cursor.end)
    if suffix and not dollar and (unit is None or not unit.powers):
        _note_suffix(cursor, digits, suffix, number)
    scaled = number * SUFFIXES.get(suffix, 1)
    if unit is None:
        return Amount(scaled, Unit(), span, bare=True, literal=True)
    _note_unit(cursor, cursor.since(start), scaled, unit)
    return Amount(scaled, unit, span, literal=True)


def read_unit(cursor: Cursor) -> Unit:
    """The unit that comes next, where one is asked for."""
    where = cursor.here()
    word = cursor.take(_PER if cursor.look(_PER) else _UNIT) or cursor.take(re.compile("1(?:/s)?"))
    if not word and not cursor.done:
        example = "example: tpot -> us"
        raise fault("syntax", "a unit was expected", where, example)
    return _parsed("1" + word if word.startswith("/") else word, where)


def _number(digits: str, span: Span) -> Fraction:
    try:
        return read_number(re.sub("[\u202f\u2009]", "_", digits))
    except Problem as problem:
        problem.span = span
        raise


def _refuse_separators(cursor: Cursor, digits: str) -> None:
    # Between braces a comma separates values: {64,128}. No value begins with a zero.
    separated = _WITH_ZERO if cursor.listing else _SEPARATED
    groups = separated.match(cursor.text, cursor.end)
    spaced = cursor.look(_SPACED)
    if groups:
        whole = digits + groups.group()
        span = (cursor.end, cursor.end + 1)
        message = "',' separates facts, it is not a digit separator"
        raise fault("number", message, span, _without(whole, ","))
    if spaced and not cursor.glued:
        span = (cursor.end, cursor.end + 1)
        message = "a space is not a digit separator"
        raise fault("number", message, span, _without(f"{digits},{spaced.group()}", ","))


def _without(number: str, separator: str) -> str:
    """The ways in which a number with separators may be written."""
    joined = number.replace(separator, "")
    ways = [shortened(joined), shortened(number.replace(separator, "_"))]
    zeros = min(12, 3 * ((len(joined) - len(joined.rstrip("0"))) // 3))
    if joined.isdecimal() and zeros and not joined.startswith("0"):
        ways.append(f"{shortened(joined[:-zeros])}{'kMGT'[zeros // 3 - 1]}")
    return f"write {', '.join(ways[:-1])} or {ways[-1]}"


def _dollars(cursor: Cursor) -> Unit:
    start, glued = cursor.start, cursor.glued
    per = cursor.take(_PER) if glued else ""
    return _parsed("$" + per, (start, cursor.end))


def _unit(cursor: Cursor, start: int) -> Unit | None:
    """The unit behind a number, or None where what follows is none."""
    if cursor.look(AFTER_NUMBER) or cursor.look(_TIMES):
        return None
    where = cursor.here()
    if cursor.glued and (per := cursor.look(_PER)):
        return _rate(cursor, per.group())
    if cursor.look(CURRENCY):
        raise other_money(cursor)
    word = cursor.take(_UNIT)
    if not word:
        return None
    return _unit_or_advice(cursor, word, start, (where[0], cursor.end))


def other_money(cursor: Cursor) -> Problem:
    """The problem of another currency: nothing here knows what it is worth."""
    where = cursor.here()
    sign = cursor.text[slice(*where)]
    advice = "prices are in US dollars: $2.50/h"
    return fault("unit", f"unknown unit '{sign}'", where, advice)


def _rate(cursor: Cursor, per: str) -> Unit | None:
    """10/s is a rate, 10/tp is a division."""
    try:
        unit = parse_unit("1" + _ascii(per))
    except Problem:
        return None
    cursor.take(_PER)
    return unit


def _ascii(word: str) -> str:
    return re.sub(f"[{_MICRO}]", "u", word)


def _parsed(word: str, span: Span) -> Unit:
    try:
        return parse_unit(_ascii(word))
    except Problem as problem:
        problem.word = problem.word if problem.word in word else word
        inside = word.find(problem.word)
        offset = 1 if word.startswith(("$/", "1/")) else 0
        place = span[0] + max(0, inside - offset)
        problem.span = (place, place + len(problem.word))
        raise


def _unit_or_advice(cursor: Cursor, word: str, start: int, span: Span) -> Unit:
    number = shortened(cursor.text[start : span[0]].rstrip())
    if len(word) > _LONGEST_UNIT:
        raise fault("unit", f"unknown unit '{shortened(word)}'", span)
    if word == "K" or word.startswith("K/"):
        ways = f"write {number}k (thousands) or {number}Ki (times 1024)"
        raise fault("unit", f"'{number}K' can be read two ways", (start, span[1]), ways)
    if word in SUFFIXES:
        message = f"'{word}' is a suffix and stands directly behind its number"
        raise fault("unit", message, span, f"write {number}{word}")
    try:
        return _parsed(word, span)
    except Problem as problem:
        if len(problem.candidates) > 1:
            problem.help = (_two_ways(number, *problem.candidates),)
        if is_quantity(word):
            advice = f"'{word}' is a quantity: separate facts with ',' and write {word} = VALUE"
            problem.help = (advice,)
        raise


def _two_ways(number: str, bits: str, bytes_: str) -> str:
    """Both spellings with the number, and what the bits are in bytes."""
    unit = parse_unit(bits)
    try:
        same = f" (= {display(read_number(number), unit)})"
    except Problem:
        same = ""
    return f"write {number} {bits}{same} or {number} {bytes_}"


def _note_suffix(cursor: Cursor, digits: str, suffix: str, number: Fraction) -> None:
    read = f"{digits}{suffix} = {plain(number * SUFFIXES[suffix])}"
    if len(suffix) == 1:
        binary = f"{suffix.upper()}i"
        read += f", not {plain(number * SUFFIXES[binary])} ({digits}{binary})"
    cursor.note(read)


def plain(number: Fraction) -> str:
    """A whole number in full, for the note of how something was read."""
    return grouped(str(number)) if number.denominator == 1 else str(float(number))


def _note_unit(cursor: Cursor, typed: str, number: Fraction, unit: Unit) -> None:
    words = unit.text.split("/")
    if "KB" in words:
        cursor.note("KB read as kB (1000 bytes; KiB is 1024)")
    if any(word.endswith(("bit", "bps")) for word in words):
        cursor.note(f"{typed} = {display(number, unit)}")
    for word in words:
        if word.endswith("FLOPS"):
            cursor.note(f"{word} read as {word.removesuffix('S')}/s")
