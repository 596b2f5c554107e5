"""One quantity at a value, and what another may be there under every limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from formulas.catalogue import catalogue
from formulas.quantity import Domain
from formulas.scenario import scenario
from formulas.statements import Fact, Limit, Statement
from solvers.answer import Answer, Exact, Infeasible
from solvers.number import fraction_of
from solvers.solve import Request, solve

# A grid that only multiples of one of these meet is found.
_GRAINS = (2, 4, 8, 16, 32, 3, 6, 12)


@dataclass(frozen=True, slots=True)
class Axes:
    """What is drawn against what, what is stated of the rest, and the part that is looked at.

    With `values` only those are looked at, else everything from `low` to `high`; without `high` as
    far as the limits go.
    """

    x: str
    y: str
    stated: tuple[Statement, ...]
    low: Fraction
    high: Fraction | None = None
    values: tuple[Fraction, ...] = ()
    prefer: Mapping[str, str] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        """Where the first quantity may lie."""
        return catalogue().quantities[self.x].domain


@dataclass(frozen=True, slots=True)
class End:
    """The last value that is allowed, and the names of what allows no more."""

    value: Fraction
    binding: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """At `x` the second quantity may lie in each of the intervals, the lowest first."""

    x: Fraction
    intervals: tuple[tuple[End, End], ...]
    answer: Exact

    @property
    def bottom(self) -> End:
        """The smallest value."""
        return self.intervals[0][0]

    @property
    def top(self) -> End:
        """The largest value."""
        return self.intervals[-1][1]


def slice_at(axes: Axes, x: Fraction) -> Slice | Answer:
    """What the second quantity may be at `x`, or the answer that it may be nothing."""
    top = _extreme(axes, x, "max")
    if not isinstance(top, Exact):
        return top
    bottom = _extreme(axes, x, "min")
    if not isinstance(bottom, Exact):
        return bottom
    ends = [last_value(bottom)]
    for one, other in pairwise(top.intervals):
        if one.high is None or other.low is None:
            continue
        # A limit in the gap between two intervals binds neither of them.
        gap = (fraction_of(one.high) + fraction_of(other.low)) / 2
        for sense, relation in (("max", "<="), ("min", ">=")):
            found = _extreme(axes, x, sense, Limit(axes.y, relation, gap))
            if not isinstance(found, Exact):
                return found
            ends.append(last_value(found))
    ends.append(last_value(top))
    return Slice(x, tuple(zip(ends[::2], ends[1::2], strict=True)), top)


def last_value(found: Exact) -> End:
    """The end that a largest or a smallest value is."""
    return End(fraction_of(found.value), found.binding)


def _extreme(axes: Axes, x: Fraction, sense: str, *more: Statement) -> Answer:
    stated = scenario((*axes.stated, Fact(axes.x, x), *more))
    return solve(Request(axes.y, stated, sense, prefer=axes.prefer))


def slice_near(axes: Axes, x: Fraction, low: Fraction) -> Slice | Answer:
    """The slice at `x`, or at a multiple near it where only those are allowed."""
    found = slice_at(axes, x)
    if not isinstance(found, Infeasible) or not axes.domain.whole:
        return found
    for grain in _GRAINS:
        place = Fraction(x // grain * grain)
        if place < low:
            place += grain
        near = slice_at(axes, place) if place != x else found
        if isinstance(near, Slice):
            return near
    return found
