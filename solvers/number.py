"""Numbers: a Fraction while rational and short, else one of 40 digits; the two are compared
here.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import sympy
from mpmath import MPContext

from formulas.quantity import Domain

DIGITS = 40
EXACT_BITS = 2000
EQUAL = Fraction(1, 10**9)

CONTEXT = MPContext()
CONTEXT.dps = DIGITS

# A Fraction, or a number of the context above.
Number = Any


class Undefined(Exception):
    """The expression has no real value here: a division by zero, a root of a negative number."""


def is_number(value: Any) -> bool:
    """True for a value that is computed: no expression and no truth value."""
    return isinstance(value, Fraction | CONTEXT.mpf)


def short(value: Fraction) -> Number:
    """The fraction itself, or its 40 digits where it has grown beyond 2,000 bits."""
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    return value if bits <= EXACT_BITS else rounded(value)


def fraction_of(value: Number) -> Fraction:
    """The value as a fraction, every digit of it."""
    if isinstance(value, Fraction):
        return value
    man, exp = value.man_exp
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def rounded(value: Number) -> Any:
    """The value as a number of 40 digits."""
    if isinstance(value, Fraction):
        return CONTEXT.mpf(value.numerator) / value.denominator
    return value


def to_sympy(value: Any) -> Any:
    """The value as a sympy number; an expression is returned as it is."""
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, CONTEXT.mpf):
        return sympy.Float(value._mpf_, DIGITS) if CONTEXT.isfinite(value) else _infinity(value)
    return value


def _infinity(value: Any) -> Any:
    return sympy.oo if value > 0 else -sympy.oo


def from_sympy(value: Any) -> Any:
    """A Fraction or a number of 40 digits; an expression that is no number is returned as it is."""
    if value.is_Rational:
        return short(Fraction(int(value.p), int(value.q)))
    if value.is_Float:
        return CONTEXT.make_mpf(value._mpf_)
    if value.is_number and value.is_real:
        return CONTEXT.make_mpf(value.evalf(DIGITS)._mpf_)
    return value


def alike(one: Number, other: Number) -> tuple[Number, Number]:
    """Both as fractions where both are, else both as numbers of 40 digits: the two do not mix."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one, other
    return rounded(one), rounded(other)


def less(one: Number, other: Number) -> bool:
    """True where one is less than the other."""
    left, right = alike(one, other)
    return bool(left < right)


def minus(one: Number, other: Number) -> Number:
    """One less the other."""
    left, right = alike(one, other)
    return short(left - right) if isinstance(left, Fraction) else left - right


def divide(one: Number, other: Number) -> Number:
    """One over the other."""
    left, right = alike(one, other)
    return short(left / right) if isinstance(left, Fraction) else left / right


def same(one: Number, other: Number) -> bool:
    """True where two values are equal within 1e-9 of the larger."""
    left, right = alike(one, other)
    if left == right:
        return True
    if isinstance(left, Fraction):
        return bool(abs(left - right) <= EQUAL * max(abs(left), abs(right)))
    return bool(abs(left - right) <= rounded(EQUAL) * max(abs(left), abs(right)))


def ordered(values: Iterable[Number]) -> list[Number]:
    """The values from the least to the greatest."""
    return sorted(values, key=cmp_to_key(lambda a, b: -1 if less(a, b) else int(less(b, a))))


def inside(domain: Domain, value: Number) -> bool:
    """True where the value lies in the domain; grids are not looked at."""
    return domain.holds(value) if isinstance(value, Fraction) else _inside(domain, value)


def _inside(domain: Domain, value: Any) -> bool:
    low, high = domain.low, domain.high
    if low is not None and (less(value, low) or (domain.low_open and value == rounded(low))):
        return False
    return high is None or not less(high, value)


def floor(value: Number) -> Fraction:
    """The floor; a number of 40 digits within 1e-9 of an integer is that integer."""
    if isinstance(value, Fraction):
        return Fraction(value.numerator // value.denominator)
    if not CONTEXT.isfinite(value):
        raise Undefined("a floor of infinity")
    nearest = Fraction(int(CONTEXT.nint(value)))
    return nearest if same(value, nearest) else Fraction(int(CONTEXT.floor(value)))


def ceiling(value: Number) -> Fraction:
    """The ceiling, with the same rule."""
    return -floor(-value)
