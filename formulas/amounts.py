"""Amounts as people write them: decimal text read exactly, values printed in four digits."""

from __future__ import annotations

import re
from contextvars import ContextVar
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from formulas.errors import Problem
from formulas.units import Powers, Unit, parse_unit

LONGEST_NUMBER = 30
LARGEST_EXPONENT = 60
SHOWN_ITEMS = 8

# A narrow no-break space groups digits; the grammar reads it back.
THIN_SPACE = "\u202f"

_RUN = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(rf"([+-]?)({_RUN}|(?=\.))(?:\.({_RUN})?)?(?:[eE]([+-]?[0-9]+))?")
FEWEST_DIGITS, MOST_DIGITS = 4, 15
# How many digits a number that is no whole one is printed in, where a session asks for more.
DIGITS: ContextVar[int] = ContextVar("digits", default=FEWEST_DIGITS)
# Above these a fixed-point number would be mostly zeros.
_LONGEST_WHOLE = 21
_FIXED_FROM, _FIXED_TO = -4, 15
_CENTS = 2
# Wide enough for every rounding, and with exponents that no answer reaches.
_WIDE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)


def read_number(text: str) -> Fraction:
    """The exact value of a decimal literal: 0.1 is one tenth; nan and infinity are no numbers."""
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        message = f"'{shortened(text)}' is not a number"
        raise Problem("number", message, ("example: 0.92 or 1.5e9",), text)
    sign, whole, part, exponent = (piece or "" for piece in match.groups())
    # Zeros in front are no digits of the value.
    digits = (whole + part).replace("_", "").lstrip("0") or "0"
    # The lengths are looked at first: int() refuses, and a power would fill the memory.
    if len(digits) > LONGEST_NUMBER:
        raise _too_long(text, f"has {len(digits)} digits; at most {LONGEST_NUMBER} are read")
    if len(exponent) > LONGEST_NUMBER or abs(int(exponent or 0)) > LARGEST_EXPONENT:
        raise _too_long(text, f"has an exponent beyond {LARGEST_EXPONENT}; it is not read")
    shift = int(exponent or 0) - len(part.replace("_", ""))
    return Fraction(int(f"{sign}{digits}")) * Fraction(10) ** shift


def _too_long(text: str, reason: str) -> Problem:
    return Problem("number", f"'{shortened(text)}' {reason}", (), text)


def shortened(text: str, longest: int = 24) -> str:
    """The text, with its end left out where it would fill a message."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def grouped(digits: str) -> str:
    """A run of digits in groups of three."""
    return f"{int(digits):,}".replace(",", THIN_SPACE) if len(digits) <= _LONGEST_WHOLE else digits


def _ladder(words: str, suffix: str = "") -> tuple[tuple[Fraction, str], ...]:
    return tuple((parse_unit(word + suffix).scale, word + suffix) for word in words.split())


_SIZES = "B kB MB GB TB PB"
_WORK = "FLOP kFLOP MFLOP GFLOP TFLOP PFLOP"
# Each dimension's units from small to large: printed in the largest that leaves at least 1.
LADDERS: dict[Powers, tuple[tuple[Fraction, str], ...]] = {
    parse_unit(words.split()[0] + suffix).powers: _ladder(words, suffix)
    for words, suffix in (
        (_SIZES, ""),
        (_SIZES, "/s"),
        (_WORK, ""),
        (_WORK, "/s"),
        ("ns us ms s", ""),
        ("J kJ", ""),
        ("W kW", ""),
        ("FLOP/B", ""),
        ("1/s", ""),
        ("$", ""),
        ("$/h", ""),
    )
}


_WORDS: dict[bool | str, str] = {True: "yes", False: "no"}


def display(value: Any, quantity_unit: Unit, label: str = "", unit: Unit | None = None) -> str:
    """The value for people, in `unit` where one is asked, else in the unit that suits its size.

    Example:
        >>> display(Fraction(3, 100), parse_unit("s"))
        '30 ms'
    """
    if isinstance(value, (bool, str)):
        return _WORDS.get(value, str(value))
    if isinstance(value, (tuple, list)):
        return _array(value, quantity_unit, label, unit)
    number = _decimal(value)
    if not number.is_finite():
        return str(value)
    if unit is not None:
        return _joined(_in_unit(number, quantity_unit, label, unit), _name(unit))
    if label:
        return _labelled(number, quantity_unit, label)
    return _on_ladder(number, quantity_unit)


def _array(items: Any, quantity_unit: Unit, label: str, unit: Unit | None) -> str:
    """The first items in brackets, each in the quantity's own unit or the one asked."""
    own = unit or quantity_unit

    def shown(item: Any) -> str:
        if isinstance(item, (tuple, list)):
            return listed(item)
        if isinstance(item, (bool, str)):
            return display(item, own)
        number = _decimal(item)
        if not number.is_finite():
            return str(item)
        return _number(_in_unit(number, quantity_unit, label, own))

    def listed(part: Any) -> str:
        rest = f", ... ({len(part)} in all)" if len(part) > SHOWN_ITEMS else ""
        return f"[{', '.join(shown(item) for item in part[:SHOWN_ITEMS])}{rest}]"

    return _joined_text(listed(items), _name(own) or label)


def _decimal(value: Any) -> Decimal:
    """The value to 60 digits, without passing through a float where it is none."""
    if isinstance(value, Fraction):
        return _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    if isinstance(value, (int, float)):
        return Decimal(value)
    number = Decimal(str(value))
    # A number of another library shows some 15 digits; those behind them would be made up.
    return number if number.adjusted() < _FIXED_TO else _round(number)


def _scaled(number: Decimal, factor: Fraction) -> Decimal:
    product = _WIDE.multiply(number, Decimal(factor.numerator))
    return _WIDE.divide(product, Decimal(factor.denominator))


def _in_unit(number: Decimal, quantity_unit: Unit, label: str, unit: Unit) -> Decimal:
    own = counted_in(quantity_unit, label) if unit.tags else quantity_unit
    if not own.same_dimension(unit):
        raise Problem(
            "dimension",
            f"a value in {label or own} cannot be written in {unit}",
            (f"ask for a unit of the same dimension as {own}",),
            str(unit),
        )
    return _scaled(number, own.scale / unit.scale)


def counted_in(quantity_unit: Unit, label: str) -> Unit:
    """The unit of a value with tags: USD labelled $/Mtok is dollars per 10^6 tokens."""
    if not label:
        return quantity_unit
    labelled = parse_unit(label)
    return labelled if labelled.same_dimension(quantity_unit) else quantity_unit


def _labelled(number: Decimal, quantity_unit: Unit, label: str) -> str:
    # 327 680 B/tok is read off a model's shape and stays whole; longer sizes go up the ladder.
    if quantity_unit.powers in LADDERS and label.startswith("B/") and not _is_short_whole(number):
        amount, _, name = _on_ladder(number, quantity_unit).rpartition(" ")
        return f"{amount} {name}{label[1:]}"
    return _joined(number, label)


def _is_short_whole(number: Decimal) -> bool:
    return _is_whole(number) and number.adjusted() < 9


def _on_ladder(number: Decimal, quantity_unit: Unit) -> str:
    base = _scaled(number, quantity_unit.scale)
    ladder = LADDERS.get(quantity_unit.powers)
    if ladder is None:
        return _joined(number, _name(quantity_unit))
    # Rounded first: 999.96 MB is 1 GB.
    rounded = abs(_round(base))
    fitting = [rung for rung in ladder if rounded >= _scaled(Decimal(1), rung[0])]
    smallest = ladder[-1] if not number and ladder[-1][0] == 1 else ladder[0]
    scale, name = fitting[-1] if fitting else smallest
    return _joined(_scaled(base, 1 / scale), name)


def _name(unit: Unit) -> str:
    text = str(unit)
    return "" if text == "1" else text


def _joined(number: Decimal, name: str) -> str:
    """Number and unit in the order that people write them: $2.50/h, 92%, 30 ms, 0.80."""
    if name.startswith("$"):
        sign = "-" if number < 0 else ""
        return f"{sign}${_number(abs(number), _CENTS)}{name[1:]}"
    if name == "1/s":
        return f"{_number(number)}/s"
    if not name:
        return _number(number, 0 if _is_whole(number) else _CENTS)
    return _joined_text(_number(number), name)


def _joined_text(number: str, name: str) -> str:
    if not name:
        return number
    return f"{number}{name}" if name in ("%", "x") else f"{number} {name}"


def _is_whole(number: Decimal) -> bool:
    return number.adjusted() < _LONGEST_WHOLE and number == number.to_integral_value()


def _round(number: Decimal) -> Decimal:
    return _short(DIGITS.get()).plus(number)


@cache
def _short(digits: int) -> Context:
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_UP)


def _number(number: Decimal, places: int = 0) -> str:
    """A whole number in full, another in four digits, with `places` decimals where they fit."""
    if not number:
        return "0" if not places else f"0.{'0' * places}"
    if not _is_whole(number):
        number = _round(number)
    exponent = number.adjusted()
    if not _FIXED_FROM <= exponent < (_LONGEST_WHOLE if _is_whole(number) else _FIXED_TO):
        mantissa, power = f"{_round(number):e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(power)}"
    whole, _, part = f"{number:f}".partition(".")
    sign = "-" if whole.startswith("-") else ""
    whole = whole.lstrip("-")
    # No more decimals than four significant digits leave room for.
    room = max(0, DIGITS.get() - 1 - exponent) if exponent >= 0 else places
    part = part.rstrip("0").ljust(min(places, room), "0")
    return f"{sign}{grouped(whole)}{'.' if part else ''}{part}"
