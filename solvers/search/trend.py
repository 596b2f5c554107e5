"""Which way a quantity goes along the searched line, proved term by term; else nothing is assumed.

The signs of what does not move are read from its values in every configuration at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import sympy

from formulas.fold import Table, fold
from solvers.straight import names_in

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trend:
    """`up`: never falls; `down`: never rises; `share`: not negative, and over the line's own
    number it never rises (a cost per piece that falls with the pieces); `positive`: not negative.
    """

    up: bool = False
    down: bool = False
    share: bool = False
    positive: bool = False

    @property
    def direction(self) -> int | None:
        """0 where it is constant, 1 rising, -1 falling, None where it is not known."""
        if self.up and self.down:
            return 0
        return 1 if self.up else -1 if self.down else None


UNKNOWN = Trend()
LINE = Trend(up=True, share=True, positive=True)


@dataclass(frozen=True)
class Trends:
    """The trends of names that move, and the values of those that do not."""

    line: str
    moving: Mapping[str, Trend]
    values: Values

    def of(self, expr: Any) -> Trend:
        """The trend of an expression."""
        if not self.moves(expr):
            positive = self.never_below(expr, 0)
            return Trend(True, True, positive, positive)
        if expr.is_Symbol:
            return self.moving[expr.name]
        rule = _RULES.get(expr.func)
        return UNKNOWN if rule is None else rule(self, expr)

    def never_below(self, expr: Any, least: float) -> bool:
        """Whether something that does not move is at least this, in every configuration."""
        import numpy

        value = numpy.asarray(computed(expr, self.values), float)
        known = value[~numpy.isnan(value)] if value.ndim else value
        return bool(numpy.all(known >= least))

    def never(self, condition: Any) -> bool:
        """Whether a condition on what does not move holds nowhere."""
        import numpy

        return not numpy.any(computed(condition, self.values))

    def moves(self, expr: Any) -> bool:
        """Whether the line moves it."""
        return not self.moving.keys().isdisjoint(names_in(expr))


def _joined(trends: list[Trend]) -> Trend:
    return Trend(
        all(t.up for t in trends),
        all(t.down for t in trends),
        all(t.share for t in trends),
        all(t.positive for t in trends),
    )


def _sum(self: Trends, expr: Any) -> Trend:
    special = _saturating(self, expr)
    return special or _joined([self.of(part) for part in expr.args])


def _saturating(self: Trends, expr: Any) -> Trend | None:
    """1 - q^x with q a share: concave in x and 0 at 0, so that it never outgrows x."""
    if len(expr.args) != 2 or sympy.S.One not in expr.args:
        return None
    power = -(expr - 1)
    if not power.is_Pow or self.moves(power.base):
        return None
    inside = self.of(power.exp)
    share = self.never_below(power.base, 0) and self.never_below(1 - power.base, 0)
    if share and inside.up and inside.share:
        return Trend(up=True, share=True, positive=True)
    return None


def _product(self: Trends, expr: Any) -> Trend:
    moving = [part for part in expr.args if self.moves(part)]
    rest = sympy.Mul(*(part for part in expr.args if not self.moves(part)))
    found = _moving_product(self, moving)
    if self.never_below(rest, 0):
        return found
    if self.never_below(-rest, 0):
        return Trend(found.down, found.up)
    return UNKNOWN


def _moving_product(self: Trends, factors: list[Any]) -> Trend:
    if len(factors) == 1:
        return self.of(factors[0])
    # The line's own number over a cost that grows no faster never falls.
    own = [f for f in factors if f.is_Symbol and f.name == self.line]
    costs = [f for f in factors if f.is_Pow and f.exp == -1 and self.of(f.base).share]
    if own and costs:
        rest = [f for f in factors if f is not own[0] and f is not costs[0]]
        trends = [Trend(up=True, positive=True), *(self.of(f) for f in rest)]
    else:
        trends = [self.of(f) for f in factors]
    if not all(t.positive for t in trends):
        return UNKNOWN
    up, down = all(t.up for t in trends), all(t.down for t in trends)
    return Trend(up, down, share=down, positive=True)


def _power(self: Trends, expr: Any) -> Trend:
    base, exponent = expr.args
    if self.moves(exponent):
        inside = self.of(exponent)
        if self.moves(base) or not self.never_below(base, 0):
            return UNKNOWN
        if self.never_below(1 - base, 0):
            return Trend(inside.down, inside.up, share=inside.up, positive=True)
        if self.never_below(base, 1):
            return Trend(inside.up, inside.down, positive=True)
        return UNKNOWN
    inside = self.of(base)
    if not inside.positive or not exponent.is_number:
        return UNKNOWN
    if exponent > 0:
        return Trend(inside.up, inside.down, positive=True)
    return Trend(inside.down, inside.up, share=inside.up, positive=True)


def _greatest(self: Trends, expr: Any) -> Trend:
    trends = [self.of(part) for part in expr.args]
    joined = _joined(trends)
    return Trend(joined.up, joined.down, joined.share, any(t.positive for t in trends))


def _least(self: Trends, expr: Any) -> Trend:
    return _joined([self.of(part) for part in expr.args])


def _stepped(self: Trends, expr: Any) -> Trend:
    inside = self.of(expr.args[0])
    return Trend(inside.up, inside.down, positive=inside.positive)


def _cases(self: Trends, expr: Any) -> Trend:
    trends = []
    for term, condition in expr.args:
        if self.moves(condition):
            return UNKNOWN
        if condition != sympy.true and self.never(condition):
            continue
        trends.append(self.of(term))
    return _joined(trends)


_RULES: Mapping[Any, Callable[[Trends, Any], Trend]] = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.Max: _greatest,
    sympy.Min: _least,
    sympy.ceiling: _stepped,
    sympy.floor: _stepped,
    sympy.Piecewise: _cases,
}


def computed(expr: Any, values: Values) -> Any:
    """The value of a small expression by numpy, without printing it first."""
    import numpy

    with numpy.errstate(all="ignore"):
        return fold(expr, _numpy_rules(), values.__getitem__)


@cache
def _numpy_rules() -> Table:
    import numpy

    from formulas.expressions import Round

    def cases(_: Any, *pairs: Any) -> Any:
        found: Any = numpy.nan
        for term, condition in reversed(pairs):
            found = numpy.where(condition, term, found)
        return found

    def many(function: Any) -> Any:
        return lambda _, *parts: reduce(function, parts)

    def two(function: Any) -> Any:
        return lambda _, left, right: function(left, right)

    rules = {
        sympy.Number: float,
        sympy.NumberSymbol: float,
        sympy.logic.boolalg.BooleanAtom: bool,
        sympy.Add: many(numpy.add),
        sympy.Mul: many(numpy.multiply),
        sympy.Pow: two(numpy.float_power),
        sympy.Max: many(numpy.maximum),
        sympy.Min: many(numpy.minimum),
        sympy.ceiling: lambda _, value: numpy.ceil(value),
        sympy.floor: lambda _, value: numpy.floor(value),
        sympy.Mod: two(numpy.mod),
        sympy.And: many(numpy.logical_and),
        sympy.Or: many(numpy.logical_or),
        sympy.Not: lambda _, value: numpy.logical_not(value),
        sympy.Eq: two(numpy.equal),
        sympy.Ne: two(numpy.not_equal),
        sympy.Le: two(numpy.less_equal),
        sympy.Ge: two(numpy.greater_equal),
        sympy.Lt: two(numpy.less),
        sympy.Gt: two(numpy.greater),
        sympy.log: lambda _, value: numpy.log(value),
        sympy.exp: lambda _, value: numpy.exp(value),
        sympy.Abs: lambda _, value: numpy.abs(value),
        Round: lambda _, value: numpy.rint(value),
        sympy.Piecewise: cases,
        sympy.functions.elementary.piecewise.ExprCondPair: lambda _, term, condition: (
            term,
            condition,
        ),
    }
    return Table(rules)
