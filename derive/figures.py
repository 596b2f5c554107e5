"""Numbers on paper: exact where that is short, else four significant digits."""

from __future__ import annotations

import decimal
from fractions import Fraction

from derive.shapes import Decimal, Integer, Negative, Quotient, Shape

LONGEST = 10**21
SIGNIFICANT_DIGITS = 4
SMALLEST_PLAIN_EXPONENT = -3
GROUP = 3
ZEROS_OF_A_POWER = 6


def number(value: Fraction) -> Shape:
    """The number exactly, or at four digits where its exact form is too long for a line."""
    if value < 0:
        return Negative(number(-value))
    if max(value.numerator, value.denominator) > LONGEST:
        return rounded(value)
    if value.denominator == 1:
        return Integer(value.numerator)
    return Quotient(Integer(value.numerator), Integer(value.denominator))


def rounded(value: Fraction) -> Shape:
    """The number at four significant digits, with a power of ten where it is large or small."""
    if value < 0:
        return Negative(rounded(-value))
    if value == 0:
        return Integer(0)
    context = decimal.Context(prec=60)
    exact = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    short = decimal.Context(prec=SIGNIFICANT_DIGITS).plus(exact)
    exponent = short.adjusted()
    if not SMALLEST_PLAIN_EXPONENT <= exponent < SIGNIFICANT_DIGITS:
        return Decimal(_digits(short.scaleb(-exponent)), exponent)
    return Decimal(_digits(short))


def _digits(value: decimal.Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def grouped(digits: str, space: str) -> str:
    """The digits in groups of three from the right, where there are more than four."""
    if len(digits) <= GROUP + 1:
        return digits
    first = len(digits) % GROUP or GROUP
    return space.join(
        [digits[:first], *(digits[i : i + GROUP] for i in range(first, len(digits), GROUP))]
    )


def split_power_of_ten(value: int) -> tuple[int, int]:
    """A short number and the power of ten that multiplies it; power 0 where none is shorter."""
    digits = str(value)
    zeros = len(digits) - len(digits.rstrip("0"))
    if zeros < ZEROS_OF_A_POWER:
        return value, 0
    exponent = zeros if digits.rstrip("0") == "1" else zeros - zeros % GROUP
    short = value // 10**exponent
    return (short, exponent) if short < 10**GROUP else (value, 0)
