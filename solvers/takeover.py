"""How far a fact may move before something else decides: another limit, or another arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy

from formulas.expressions import Round
from formulas.fold import NoRule
from formulas.formula import VOCABULARY
from formulas.quantity import Domain, stand_in
from solvers.along import Along
from solvers.chain import Chain
from solvers.curve import Curve, Gap
from solvers.events import ARM
from solvers.exact import evaluate
from solvers.found import Lacking
from solvers.number import (
    Number,
    Undefined,
    divide,
    from_sympy,
    inside,
    is_number,
    less,
    minus,
    ordered,
    rounded,
    same,
    to_sympy,
)
from solvers.roots import HIGHEST_DEGREE, Unseparated, smooth_arms, zeros
from solvers.slopes import NotSmooth, plus, times

_BESIDE = Fraction(1, 10**9)
_ONE = Fraction(1)
_COMPARED = (sympy.Le, sympy.Ge, sympy.Lt, sympy.Gt)


@dataclass(frozen=True, slots=True)
class Moving:
    """What is moved: a quantity, or the number of a `limit`."""

    name: str
    symbol: Any
    value: Number
    domain: Domain
    limit: Gap | None = None


@dataclass(frozen=True, slots=True)
class Takeover:
    """A value of what is moved at which something else begins to decide, and its name."""

    value: Number
    name: str
    arm: bool = False


def takeovers(
    curve: Curve, events: tuple[Gap, ...], moving: Moving
) -> tuple[list[Takeover], list[Takeover]]:
    """Where something else begins to decide, below and above what is now, the nearest first.

    NotSmooth where the places cannot all be found.
    """
    if _is_under_a_power(curve.chain, moving):
        raise NotSmooth(f"{moving.name} stands under a power that is too high")
    # A value that follows from the facts is no symbol beside them.
    asked = frozenset((curve.find,)) if curve.gap is not None else frozenset[str]()
    moved = frozenset((moving.name,)) if moving.limit is None else frozenset[str]()
    path = _Path(curve, moving, Along(curve.chain, asked | moved))
    try:
        found = [
            Takeover(at, event.name, event.relation == ARM)
            for event in events
            for at in path.crossings(event)
        ]
    except (Unseparated, Lacking, Undefined, NoRule, RecursionError) as trouble:
        raise NotSmooth(f"how far {moving.name} may move was not found: {trouble}") from None
    places = {place.value: place for place in reversed(found)}
    rows = [places[value] for value in ordered(places) if inside(moving.domain, value)]
    below = [row for row in rows if less(row.value, moving.value)]
    above = [row for row in rows if less(moving.value, row.value)]
    return below[::-1], above


@dataclass
class _Path:
    """What is asked as what is moved moves it, in these two symbols; of one call only."""

    curve: Curve
    moving: Moving
    along: Along
    differences: dict[Gap, Any] = field(default_factory=dict)

    def crossings(self, event: Gap) -> Iterator[Number]:
        """The values at which the two sides of the event change places."""
        difference = self.difference(event)
        if is_number(difference):
            return
        base = None if self.curve.gap is None else self.difference(self.curve.gap)
        if self.moving.symbol not in difference.free_symbols | _symbols(base):
            return
        now = self._sign(difference, self.curve.value, self.moving.value)
        if now == 0:
            return
        for asked, moved in self._meetings(base, difference):
            if same(moved, self.moving.value) or not self._meets(event, asked, moved):
                continue
            if base is not None and not self._is_on(base, asked, moved):
                continue
            signs = [self._beside(base, difference, asked, moved, s) for s in (-_ONE, _ONE)]
            if signs[0] * signs[1] < 0:
                yield moved

    def difference(self, gap: Gap) -> Any:
        """The left side less the right one, in what is asked and what is moved."""
        if gap not in self.differences:
            left, right = self._sides(gap)
            whole = _without_steps(to_sympy(left) - to_sympy(right))
            self.differences[gap] = from_sympy(whole)
        return self.differences[gap]

    def _sides(self, gap: Gap) -> tuple[Any, Any]:
        left = self.along.of(gap.left)
        return left, self.moving.symbol if gap == self.moving.limit else self.along.of(gap.right)

    # -- where the event meets the path

    def _meetings(self, base: Any, difference: Any) -> Iterator[tuple[Number | None, Number]]:
        asked, moved = VOCABULARY[self.curve.find], self.moving
        if base is None or asked.symbol not in difference.free_symbols:
            if moved.symbol in difference.free_symbols:
                yield from ((None, at) for at in _places(difference, moved.symbol, moved.domain))
            return
        if moved.symbol not in base.free_symbols:
            fixed = self._put(difference, {asked.symbol: self.curve.value})
            if not is_number(fixed):
                places = _places(fixed, moved.symbol, moved.domain)
                yield from ((self.curve.value, at) for at in places)
            return
        window = {asked.symbol: asked.domain, moved.symbol: moved.domain}
        for gone, kept in ((moved.symbol, asked.symbol), (asked.symbol, moved.symbol)):
            ways = _solved_for(base, gone)
            if ways is None:
                continue
            for way in ways:
                whole = difference.xreplace({gone: way})
                if kept not in whole.free_symbols:
                    continue
                for at in _places(whole, kept, window[kept]):
                    other = self._put(way, {kept: at})
                    if is_number(other):
                        yield (at, other) if kept == asked.symbol else (other, at)
            return
        raise Unseparated(f"{moved.name} does not stand alone in what binds")

    def _put(self, expr: Any, values: dict[Any, Number]) -> Any:
        """The expression with these values; what has none there is no meeting."""
        if is_number(expr):
            return expr
        names = {symbol.name: value for symbol, value in values.items()}
        free = {symbol.name: symbol for symbol in expr.free_symbols}
        try:
            return evaluate(expr, {**free, **names}.__getitem__)
        except Undefined:
            return None

    def _values_at(self, asked: Number | None, moved: Number) -> dict[Any, Number]:
        own = VOCABULARY[self.curve.find].symbol
        return {own: self.curve.value if asked is None else asked, self.moving.symbol: moved}

    def _meets(self, event: Gap, asked: Number | None, moved: Number) -> bool:
        left, right = (
            self._put(side, self._values_at(asked, moved)) for side in self._sides(event)
        )
        return is_number(left) and is_number(right) and same(left, right)

    def _is_on(self, base: Any, asked: Number | None, moved: Number) -> bool:
        gap = self.curve.gap
        return asked is None or gap is None or self._meets(gap, asked, moved)

    def _sign(self, difference: Any, asked: Number | None, moved: Number) -> int:
        value = self._put(difference, self._values_at(asked, moved))
        if not is_number(value) or value == 0:
            return 0
        return -1 if value < 0 else 1

    def _beside(
        self, base: Any, difference: Any, asked: Number | None, moved: Number, side: Fraction
    ) -> int:
        """On which side of the event the path runs, just before or just after the meeting."""
        step = times(times(side, _BESIDE), rounded(abs(moved)) if moved else _ONE)
        there = plus(moved, step)
        if base is None or asked is None:
            return self._sign(difference, asked, there)
        reach = times(_BESIDE, abs(asked) if asked else _ONE)
        off, high, low = (
            self._put(base, self._values_at(x, p))
            for x, p in (
                (asked, there), (plus(asked, reach), there), (minus(asked, reach), there),
            )
        )  # fmt: skip
        if not all(map(is_number, (off, high, low))) or high == low:
            return 0
        slope = divide(minus(high, low), times(Fraction(2), reach))
        return self._sign(difference, minus(asked, divide(off, slope)), there)


def _is_under_a_power(chain: Chain, moving: Moving) -> bool:
    """True where a relation raises it to a power that is no number: with numbers put in, a
    polynomial of some hundreds of degrees, which is not taken apart in reasonable time.
    """
    rows = chain.catalogue.by_input.get(moving.name, ())
    powers = [p for row in rows if not row.is_array for p in row.value.atoms(sympy.Pow)]
    return any(moving.symbol in p.base.free_symbols and p.exp.free_symbols for p in powers)


def _places(expr: Any, symbol: Any, domain: Domain) -> list[Number]:
    """The zeros of an expression; Unseparated where it has a power too high to be taken apart."""
    if _is_high(expr, symbol):
        raise Unseparated("a high power")
    return zeros(expr, symbol, domain)


def _is_high(expr: Any, symbol: Any) -> bool:
    powers = [p for p in expr.atoms(sympy.Pow) if symbol in p.free_symbols]
    return any(symbol in p.exp.free_symbols or abs(p.exp) > HIGHEST_DEGREE for p in powers)


def _without_steps(expr: Any) -> Any:
    """The expression in which a whole quantity is its own ceiling; Unseparated where it steps."""
    steps = expr.atoms(sympy.ceiling, sympy.floor, Round, sympy.Mod)
    own = {node: node.args[0] for node in steps if _is_whole(node.args[0])}
    if len(own) < len(steps):
        raise Unseparated("it takes steps")
    return expr.xreplace(own) if own else expr


def _symbols(expr: Any) -> set[Any]:
    return set(getattr(expr, "free_symbols", ()))


def _is_whole(node: Any) -> bool:
    return bool(node.is_Symbol and VOCABULARY[node.name].domain.whole)


def _solved_for(base: Any, symbol: Any) -> list[Any] | None:
    """The base solved for the symbol, arm by arm; None where it stands in a higher power."""
    found: list[Any] = []
    if _is_high(base, symbol):
        return None
    for arm in smooth_arms(base, symbol):
        if symbol not in arm.free_symbols:
            continue
        parts: dict[Any, Any] = {}
        top = sympy.fraction(sympy.together(_folded(arm, symbol, parts)))[0]
        if not top.is_polynomial(symbol):
            return None
        poly = sympy.Poly(top, symbol)
        if poly.degree() == 1:
            a, b = poly.all_coeffs()
            ways = [-b / a]
        elif poly.degree() == 2:
            a, b, c = poly.all_coeffs()
            root = sympy.sqrt(b**2 - 4 * a * c)
            ways = [(-b - root) / (2 * a), (-b + root) / (2 * a)]
        else:
            return None
        found += [way.xreplace(parts) for way in ways]
    return found or None


def _folded(node: Any, symbol: Any, parts: dict[Any, Any]) -> Any:
    """The expression with a stand-in for whatever in it is free of the symbol, kept in `parts`."""
    if symbol not in node.free_symbols:
        name = stand_in(real=True)
        parts[name] = node
        return name
    if isinstance(node, sympy.Add | sympy.Mul):
        own = [part for part in node.args if symbol in part.free_symbols]
        rest = node.func(*(part for part in node.args if symbol not in part.free_symbols))
        folded = [_folded(part, symbol, parts) for part in own]
        return (
            node.func(*folded, _folded(rest, symbol, parts))
            if len(own) < len(node.args)
            else (node.func(*folded))
        )
    if isinstance(node, sympy.Pow) and symbol not in node.exp.free_symbols:
        return _folded(node.base, symbol, parts) ** node.exp
    return node
