"""Sums, products and powers of intervals of floats, rounded outwards."""

from __future__ import annotations

import math
import sys

Pair = tuple[float, float]

EVERYTHING: Pair = (-math.inf, math.inf)
UPWARDS: Pair = (0.0, math.inf)
UNIT: Pair = (1.0, 1.0)
_LARGEST_WHOLE = 2.0**53
# The mantissas of those: what is multiplied by one of them loses nothing.
_POWERS_OF_TWO = (0.5, -0.5)
_LARGEST, _LEAST = sys.float_info.max, sys.float_info.min
# What a library function may be off by, relative, with room to spare.
_LIBRARY = 4e-16


def added(one: Pair, other: Pair) -> Pair:
    """Every sum of a value of the one and a value of the other."""
    low, high = one[0] + other[0], one[1] + other[1]
    if low - one[0] != other[0] or low - other[0] != one[0]:
        low = -math.inf if math.isnan(low) else math.nextafter(low, -math.inf)
    if high - one[1] != other[1] or high - other[1] != one[1]:
        high = math.inf if math.isnan(high) else math.nextafter(high, math.inf)
    return low, high


def multiplied(one: Pair, other: Pair) -> Pair:
    """Every product; 0 times anything is 0, however large."""
    if one[0] >= 0 and other[0] >= 0:
        return _product(one[0], other[0], -math.inf), _product(one[1], other[1], math.inf)
    low = min(_product(a, b, -math.inf) for a in one for b in other)
    return low, max(_product(a, b, math.inf) for a in one for b in other)


def _product(one: float, other: float, towards: float) -> float:
    """The product, rounded towards minus or plus infinity unless it is seen to be exact."""
    if one == 0 or other == 0:
        return 0.0
    found = one * other
    if found.is_integer() and _is_exact(one, other, found):
        return found
    if math.isinf(found) and not (math.isinf(one) or math.isinf(other)):
        # What overflowed is large, and not infinite.
        return found if found == towards else math.copysign(_LARGEST, found)
    if found == 0:
        # A sign is never lost.
        positive = (one > 0) == (other > 0)
        return 0.0 if positive == (towards < 0) else math.nextafter(0.0, towards)
    return math.nextafter(found, towards)


def _is_exact(one: float, other: float, found: float) -> bool:
    if math.frexp(one)[0] in _POWERS_OF_TWO or math.frexp(other)[0] in _POWERS_OF_TWO:
        return True
    return abs(found) < _LARGEST_WHOLE and one.is_integer() and other.is_integer()


def inverted(value: Pair) -> Pair:
    """Every 1/x; where 0 lies inside there is no bound."""
    low, high = value
    if low > 0 or high < 0:
        return _inverse(high)[0], _inverse(low)[1]
    if low == 0 and high > 0:
        return _inverse(high)[0], math.inf
    if high == 0 and low < 0:
        return -math.inf, _inverse(low)[1]
    return EVERYTHING


def _inverse(value: float) -> Pair:
    if math.isinf(value):
        return 0.0, 0.0
    found = 1.0 / value
    if math.frexp(value)[0] in _POWERS_OF_TWO:
        return found, found
    low, high = math.nextafter(found, -math.inf), math.nextafter(found, math.inf)
    return (max(low, 0.0), high) if value > 0 else (low, min(high, 0.0))


def powered(base: Pair, exponent: Pair) -> Pair:
    """Every power; of a negative base only whole ones."""
    if exponent[0] == exponent[1] and exponent[0].is_integer():
        return _whole_power(base, int(exponent[0]))
    if base[1] < 0:
        return EVERYTHING
    low_base = max(base[0], 0.0)
    if base == (1.0, 1.0) or exponent == (0.0, 0.0):
        return UNIT
    if base == (0.0, 0.0) and exponent[0] > 0:
        return 0.0, 0.0
    # For a base that is not negative a power moves one way along each side.
    ends = [_power(b, e) for b in (low_base, base[1]) for e in exponent]
    if base[0] <= 0 and exponent[0] < 0:
        ends.append(math.inf)
    if low_base == 0 and exponent[0] <= 0 <= exponent[1]:
        ends += [0.0, 1.0]
    low, high = widened(min(ends), max(ends))
    return max(low, 0.0), high


def _whole_power(base: Pair, exponent: int) -> Pair:
    if exponent == 1:
        return base
    if exponent == 0:
        return UNIT
    if exponent < 0:
        return inverted(_whole_power(base, -exponent))
    if exponent % 2 == 0:
        least, most = sorted((abs(base[0]), abs(base[1])))
        least = 0.0 if base[0] < 0 < base[1] else least
    else:
        least, most = base
    if exponent == 2:
        return _product(least, least, -math.inf), _product(most, most, math.inf)
    low = least if math.isinf(least) else widened(_signed(least, exponent), 0.0)[0]
    high = most if math.isinf(most) else widened(0.0, _signed(most, exponent))[1]
    return (max(low, 0.0), high) if least >= 0 else (low, high)


def _signed(base: float, exponent: int) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.copysign(math.inf, base)


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        return math.inf
    if base == 1 or exponent == 0:
        return 1.0
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def widened(low: float, high: float) -> Pair:
    """The ends moved outwards by what a library function may be off."""
    # What overflowed is large, and not infinite.
    low = min(low, _LARGEST) if low > 0 else low
    high = max(high, -_LARGEST) if high < 0 else high
    # What vanished is small, and not 0.
    low -= 0.0 if math.isinf(low) else max(_LIBRARY * abs(low), _LEAST)
    high += 0.0 if math.isinf(high) else max(_LIBRARY * abs(high), _LEAST)
    return low, high


def hull(one: Pair, other: Pair) -> Pair:
    """The smallest interval that holds both."""
    return min(one[0], other[0]), max(one[1], other[1])
