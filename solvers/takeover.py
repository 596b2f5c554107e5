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
from formulas.quantity import Domain
from solvers.along import Along
from solvers.chain import Chain
from solvers.closed_form import places, solved_for
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
from solvers.roots import Unseparated
from solvers.slopes import NotSmooth, plus, times

_BESIDE = Fraction(1, 10**9)
_NOTHING = _BESIDE**3
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
    at = {place.value: place for place in reversed(found)}
    rows = [at[value] for value in ordered(at) if inside(moving.domain, value)]
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
            if self._is_here(moved) or not self._meets(event, asked, moved):
                continue
            if base is not None and not self._is_on(base, asked, moved):
                continue
            if self._passes(base, difference, asked, moved):
                yield moved

    def _is_here(self, moved: Number) -> bool:
        """Whether it is where the fact is now, but for digits that were rounded away."""
        off = abs(minus(moved, self.moving.value))
        return not less(times(_NOTHING, abs(self.moving.value)), off)

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
                yield from ((None, at) for at in places(difference, moved.symbol, moved.domain))
            return
        if moved.symbol not in base.free_symbols:
            fixed = self._put(difference, {asked.symbol: self.curve.value})
            if not is_number(fixed):
                found = places(fixed, moved.symbol, moved.domain)
                yield from ((self.curve.value, at) for at in found)
            return
        window = {asked.symbol: asked.domain, moved.symbol: moved.domain}
        for gone, kept in ((moved.symbol, asked.symbol), (asked.symbol, moved.symbol)):
            ways = solved_for(base, gone)
            if ways is None:
                continue
            for way in ways:
                whole = difference.xreplace({gone: way})
                if kept not in whole.free_symbols:
                    continue
                for at in places(whole, kept, window[kept]):
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

    def _passes(self, base: Any, difference: Any, asked: Number | None, moved: Number) -> bool:
        """Whether the path is on one side of the event before the meeting, on the other after.

        Where the path ends there, since nothing that is asked satisfies what binds any more, it is
        followed straight on.
        """
        step = times(_BESIDE, rounded(abs(moved)) if moved else _ONE)
        if less(moved, self.moving.value):
            step = minus(Fraction(0), step)
        near, far = minus(moved, step), plus(moved, step)
        before, after = (self._followed(base, asked, there) for there in (near, far))
        if asked is not None and before is not None and after is None:
            after = minus(plus(asked, asked), before)
        if base is not None and asked is not None and (before is None or after is None):
            return False
        signs = [self._sign(difference, x, p) for x, p in ((before, near), (after, far))]
        return signs[0] * signs[1] < 0

    def _followed(self, base: Any, asked: Number | None, there: Number) -> Number | None:
        """What is asked beside a place of the path; None where the path does not go on."""
        if base is None or asked is None:
            return asked
        reach = times(times(_BESIDE, _BESIDE), abs(asked) if asked else _ONE)
        off, high, low = (
            self._put(base, self._values_at(x, there))
            for x in (asked, plus(asked, reach), minus(asked, reach))
        )
        if not all(map(is_number, (off, high, low))) or high == low:
            return None
        return minus(asked, divide(times(off, times(Fraction(2), reach)), minus(high, low)))


def _is_under_a_power(chain: Chain, moving: Moving) -> bool:
    """True where a relation raises it to a power that is no number: with numbers put in, a
    polynomial of some hundreds of degrees, which is not taken apart in reasonable time.
    """
    rows = chain.catalogue.by_input.get(moving.name, ())
    powers = [p for row in rows if not row.is_array for p in row.value.atoms(sympy.Pow)]
    return any(moving.symbol in p.base.free_symbols and p.exp.free_symbols for p in powers)


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
