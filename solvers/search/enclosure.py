"""Between what two numbers an expression lies where each name lies between two numbers.

Low and high ends are arrays, one place for each box; a truth is 0 or 1 at both ends where it is
certain. Every end is rounded outwards, so that no value of a box lies outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import sympy

from formulas.expressions import Round
from formulas.fold import NoRule, Table, fold

Interval = tuple[Any, Any]
_WHOLE = 2.0**53
# As near as this counts as equal wherever a step or a comparison is decided.
_NEAR = 2e-9


def enclosed(expr: Any, values: Mapping[str, Interval]) -> Interval:
    """The ends of the expression; infinite ones where nothing is known of it."""
    import numpy

    with numpy.errstate(all="ignore"):
        try:
            found: Interval = fold(expr, _RULES, values.__getitem__)
        except (NoRule, KeyError):
            return _anything()
    return found


def exact_ends(low: Any, high: Any) -> Interval:
    """Ends that were rounded to floats, wide enough for what they were."""
    import numpy

    low, high = numpy.asarray(low, float), numpy.asarray(high, float)
    return _signed(_wider(low, high, False), low >= 0)


def surely(interval: Interval, wanted: bool) -> Any:
    """Where a truth is certain."""
    return interval[0] == 1 if wanted else interval[1] == 0


def compare(sign: str, left: Interval, right: Interval) -> Interval:
    """The truth of a comparison, in which what is near counts as equal."""
    return _COMPARED[sign](left, right)


def _anything() -> Interval:
    return -float("inf"), float("inf")


def _wider(low: Any, high: Any, whole: bool | Any) -> Interval:
    """Ends moved outwards, but not where they are exact whole numbers."""
    import numpy

    inf = numpy.inf
    keep_low = (low == numpy.rint(low)) & (numpy.abs(low) < _WHOLE) & whole
    keep_high = (high == numpy.rint(high)) & (numpy.abs(high) < _WHOLE) & whole
    below = numpy.nextafter(numpy.nextafter(low, -inf), -inf)
    above = numpy.nextafter(numpy.nextafter(high, inf), inf)
    low, high = numpy.where(keep_low, low, below), numpy.where(keep_high, high, above)
    return numpy.where(numpy.isnan(low), -inf, low), numpy.where(numpy.isnan(high), inf, high)


def _signed(found: Interval, positive: Any) -> Interval:
    """Ends of what is not negative, which rounding does not make so."""
    import numpy

    return numpy.where(positive, numpy.maximum(found[0], 0.0), found[0]), found[1]


def _is_whole(*parts: Interval) -> Any:
    import numpy

    return reduce(
        numpy.logical_and, [(e == numpy.rint(e)) & (abs(e) < _WHOLE) for p in parts for e in p]
    )


def _sum(_: Any, *parts: Interval) -> Interval:
    return reduce(_plus, parts)


def _plus(one: Interval, other: Interval) -> Interval:
    found = _wider(one[0] + other[0], one[1] + other[1], _is_whole(one, other))
    return _signed(found, (one[0] >= 0) & (other[0] >= 0))


def _product(_: Any, *parts: Interval) -> Interval:
    return reduce(_times, parts)


def _times(one: Interval, other: Interval) -> Interval:
    import numpy

    # An infinite end is reached by no value, so that nothing times it is nothing.
    corners = [numpy.where((a == 0) | (b == 0), 0.0, a * b) for a in one for b in other]
    found = _wider(*_hull(corners), _is_whole(one, other))
    return _signed(found, (one[0] >= 0) & (other[0] >= 0))


def _hull(ends: list[Any]) -> Interval:
    import numpy

    return reduce(numpy.minimum, ends), reduce(numpy.maximum, ends)


def _power(node: Any, base: Interval, exponent: Interval) -> Interval:
    import numpy

    corners = [numpy.float_power(b, e) for b in base for e in exponent]
    low, high = _signed(_wider(*_hull(corners), False), base[0] >= 0)
    if node.exp.is_Integer and node.exp > 0:
        if node.exp % 2 == 0:
            low = numpy.where((base[0] <= 0) & (base[1] >= 0), 0.0, low)
        return low, high
    known = base[0] >= 0
    if node.exp.is_Integer:
        known = known | (base[1] < 0)
    return numpy.where(known, low, -numpy.inf), numpy.where(known, high, numpy.inf)


def _each(name: str) -> Callable[..., Interval]:
    def rule(_: Any, *parts: Interval) -> Interval:
        import numpy

        function = getattr(numpy, name)
        return reduce(function, [p[0] for p in parts]), reduce(function, [p[1] for p in parts])

    return rule


def _stepped(name: str) -> Callable[..., Interval]:
    def rule(_: Any, part: Interval) -> Interval:
        import numpy

        function = getattr(numpy, name)
        room = [_NEAR * numpy.abs(numpy.where(numpy.isfinite(e), e, 0)) for e in part]
        return function(part[0] - room[0]), function(part[1] + room[1])

    return rule


def _rising(name: str) -> Callable[..., Interval]:
    def rule(_: Any, part: Interval) -> Interval:
        import numpy

        function = getattr(numpy, name)
        low, high = function(part[0]), function(part[1])
        return _wider(*_wider(low, high, False), False)

    return rule


def _absolute(_: Any, part: Interval) -> Interval:
    import numpy

    low, high = _hull([numpy.abs(part[0]), numpy.abs(part[1])])
    return numpy.where((part[0] <= 0) & (part[1] >= 0), 0.0, low), high


def _remainder(_: Any, left: Interval, right: Interval) -> Interval:
    import numpy

    # Of single whole numbers it is known; of positive ones it is at least below the divisor.
    single = (left[0] == left[1]) & (right[0] == right[1]) & _is_whole(left, right)
    value = numpy.mod(left[0], numpy.where(right[0] == 0, 1, right[0]))
    single = single & (right[0] != 0)
    positive = right[0] > 0
    low = numpy.where(positive, 0.0, -numpy.inf)
    high = numpy.where(positive, right[1], numpy.inf)
    return numpy.where(single, value, low), numpy.where(single, value, high)


def _truth(certain: Any, possible: Any) -> Interval:
    import numpy

    return numpy.where(certain, 1.0, 0.0), numpy.where(possible, 1.0, 0.0)


def _room(left: Interval, right: Interval) -> Any:
    import numpy

    ends = [numpy.abs(numpy.where(numpy.isfinite(e), e, 0)) for e in (*left, *right)]
    whole = _is_whole(left, right)
    return numpy.where(whole, 0.0, _NEAR * reduce(numpy.maximum, ends))


def _at_most(left: Interval, right: Interval) -> Interval:
    return _truth(left[1] <= right[0], left[0] <= right[1] + _room(left, right))


def _below(left: Interval, right: Interval) -> Interval:
    return _truth(left[1] + _room(left, right) < right[0], left[0] < right[1])


def _equal(left: Interval, right: Interval) -> Interval:
    room = _room(left, right)
    possible = (left[0] <= right[1] + room) & (right[0] <= left[1] + room)
    single = (left[0] == left[1]) & (right[0] == right[1]) & (left[0] == right[0])
    return _truth(single, possible)


def _not(part: Interval) -> Interval:
    return 1 - part[1], 1 - part[0]


_COMPARED: dict[str, Callable[[Interval, Interval], Interval]] = {
    "<=": _at_most,
    ">=": lambda left, right: _at_most(right, left),
    "<": _below,
    ">": lambda left, right: _below(right, left),
    "=": _equal,
    "!=": lambda left, right: _not(_equal(left, right)),
}


def _relation(sign: str) -> Callable[..., Interval]:
    return lambda _, left, right: _COMPARED[sign](left, right)


def _cases(_: Any, *pairs: tuple[Interval, Interval]) -> Interval:
    """The hull of every case that may come before the first certain one."""
    import numpy

    low: Any = numpy.inf
    high: Any = -numpy.inf
    left: Any = numpy.array(True)
    for term, condition in pairs:
        possible = left & (condition[1] == 1)
        low = numpy.where(possible, numpy.minimum(low, term[0]), low)
        high = numpy.where(possible, numpy.maximum(high, term[1]), high)
        left = left & (condition[0] != 1)
    return low, high


def _number(node: Any) -> Interval:
    value = float(node)
    return exact_ends(value, value) if not node.is_Integer else (value, value)


def _boolean(node: Any) -> Interval:
    value = float(bool(node))
    return value, value


_RULES = Table(
    {
        sympy.Number: _number,
        sympy.NumberSymbol: _number,
        sympy.logic.boolalg.BooleanAtom: _boolean,
        sympy.Add: _sum,
        sympy.Mul: _product,
        sympy.Pow: _power,
        sympy.Max: _each("maximum"),
        sympy.Min: _each("minimum"),
        sympy.ceiling: _stepped("ceil"),
        sympy.floor: _stepped("floor"),
        Round: _stepped("rint"),
        sympy.Mod: _remainder,
        sympy.Abs: _absolute,
        sympy.log: _rising("log"),
        sympy.exp: _rising("exp"),
        sympy.And: _each("minimum"),
        sympy.Or: _each("maximum"),
        sympy.Not: lambda _, part: _not(part),
        sympy.Eq: _relation("="),
        sympy.Ne: _relation("!="),
        sympy.Le: _relation("<="),
        sympy.Ge: _relation(">="),
        sympy.Lt: _relation("<"),
        sympy.Gt: _relation(">"),
        sympy.Piecewise: _cases,
        sympy.functions.elementary.piecewise.ExprCondPair: lambda _, term, condition: (
            term,
            condition,
        ),
    }
)
