"""A value as a document prints it, together with the number that a reader takes from the page."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from derive.figures import grouped
from formulas.amounts import LADDERS, THIN_SPACE, display
from formulas.quantity import Quantity

DIGITS, MOST_DIGITS = 4, 15
_LONGEST_WHOLE = 12
_FIXED_FROM, _FIXED_TO = -4, 12
_WIDE = Context(prec=60)
# Tags that say what is counted; a number in a formula goes without them.
_RATES = ("$", "/")


@dataclass(frozen=True, slots=True)
class Printed:
    """`latex` with the unit, `text` for a table, `value` what is read, in the quantity's unit.

    The value is None where it is no number.
    """

    latex: str
    text: str
    value: Fraction | None


def printed(quantity: Quantity, value: Any, digits: int = DIGITS) -> Printed:
    """The value in the unit that suits its size: a short whole number in full, any other in so
    many significant digits.
    """
    number = fraction(value)
    if number is None:
        text = display(value, quantity.unit, quantity.label)
        return Printed(rf"\text{{{_escaped(text)}}}", text, None)
    scale, unit = _unit_of(quantity, number, digits)
    shown = _rounded(number / scale, digits)
    latex, text = _written(shown)
    return Printed(latex + _latex_unit(unit, quantity), _with_unit(text, unit), shown * scale)


def fraction(value: Any) -> Fraction | None:
    """The number exactly, or as near as its own digits say; None where it is none."""
    if isinstance(value, bool | str | tuple | list) or value is None:
        return None
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int):
        return Fraction(value)
    try:
        return Fraction(Decimal(str(value)))
    except (ArithmeticError, ValueError):
        return None


def plain_number(value: Fraction, digits: int = DIGITS) -> str:
    """A number without a unit, as LaTeX."""
    return _written(_rounded(value, digits))[0]


def _unit_of(quantity: Quantity, value: Fraction, digits: int) -> tuple[Fraction, str]:
    """How much of the quantity's own unit the printed one is, and its name."""
    own, label = quantity.unit, quantity.label
    ladder = LADDERS.get(own.powers)
    size = label.startswith("B/")
    whole = value.denominator == 1 and abs(value) < 10**9
    if ladder is None or (label and not size) or (size and whole):
        text = label or str(own)
        return Fraction(1), "" if text == "1" else text
    base = abs(value * own.scale)
    # What rounds up to the next unit is printed in it.
    rungs = [rung for rung in ladder if _rounded(base / rung[0], digits) >= 1]
    lowest = ladder[-1] if not value and ladder[-1][0] == 1 else ladder[0]
    scale, name = rungs[-1] if rungs else lowest
    return scale / own.scale, name + label[1:] if size else name


def _rounded(value: Fraction, digits: int) -> Fraction:
    if value.denominator == 1 and abs(value) < 10**_LONGEST_WHOLE:
        return value
    exact = _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(Context(prec=digits, rounding=ROUND_HALF_UP).plus(exact))


def _written(value: Fraction) -> tuple[str, str]:
    """A number that has a finite decimal, as LaTeX and as text."""
    number = _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    sign = "-" if number < 0 else ""
    number = abs(number).normalize(_WIDE)
    exponent = number.adjusted() if number else 0
    if not _FIXED_FROM <= exponent < _FIXED_TO:
        digits = f"{number.scaleb(-exponent):f}"
        return rf"{sign}{digits} \cdot 10^{{{exponent}}}", f"{sign}{digits}e{exponent}"
    whole, _, part = f"{number:f}".partition(".")
    tail = f".{part}" if part else ""
    in_groups = [grouped(whole, space) for space in (r"\,", THIN_SPACE)]
    latex, text = (f"{sign}{digits}{tail}" for digits in in_groups)
    return latex, text


def _latex_unit(unit: str, quantity: Quantity) -> str:
    if not unit or (quantity.label and not any(mark in quantity.label for mark in _RATES)):
        return ""
    if unit == "us":
        return r"\,\mu\mathrm{s}"
    return rf"\,\mathrm{{{_escaped(unit)}}}"


def _escaped(text: str) -> str:
    for mark, word in (("$", "USD"), ("%", r"\%"), ("_", r"\_"), ("\u202f", " "), ("#", "")):
        text = text.replace(mark, word)
    return text


def _with_unit(text: str, unit: str) -> str:
    if unit.startswith("$"):
        return f"${text}{unit[1:]}"
    if unit == "1/s":
        return f"{text}/s"
    return f"{text} {unit}" if unit else text
