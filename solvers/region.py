"""The pairs of two quantities that meet every limit, slice by slice, and what ends each slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import attrgetter
from typing import Any

from formulas.errors import Problem
from formulas.scenario import scenario
from formulas.statements import Fact, Limit
from solvers.answer import Answer, Exact, Infeasible
from solvers.slices import Axes, End, Slice, last_value, slice_at, slice_near
from solvers.solve import Request, solve

# So many slices are looked at before corners are sought between them.
SLICES = 24
# A corner, or the end of the region, is sought until it is known to this share of where it is.
_CLOSE = Fraction(1, 500)
_MOST_DOUBLINGS = 24
_WIDE = 20
# Between slices whose largest values differ by more than this factor there are others.
_STEEP, _HALVINGS = Fraction(3, 2), 4


@dataclass(frozen=True, slots=True)
class Region:
    """Runs of slices between which everything lies in the region, from left to right.

    `ends` are the sides of each run, where the second quantity may still lie between two values
    and the first may go no further. Without any run `refused` says why.
    """

    runs: tuple[tuple[Slice, ...], ...]
    ends: tuple[tuple[End, End], ...] = ()
    refused: Answer | None = None


def region(axes: Axes) -> Region:
    """The region of the part of the axis that is looked at.

    Problem where the first quantity has no end there.
    """
    if axes.values:
        found = [slice_at(axes, value) for value in axes.values]
        return _region(axes, found, refine=False)
    first = _first(axes)
    if not isinstance(first, Slice):
        return Region((), refused=first)
    low = min(_end(axes, first, "min") or axes.low, first.x)
    high = _end(axes, _last(axes, first), "max")
    if high is None:
        example = f"example: {axes.x} <= {float(first.x * 100):g}"
        raise Problem("plot", f"nothing limits {axes.x}", (f"state where it ends; {example}",))
    return _region(axes, [slice_near(axes, x, low) for x in _places(axes, low, high)], refine=True)


# -- how far it goes


def _first(axes: Axes) -> Slice | Answer:
    """The first slice that there is, from the lower end on by doubling."""
    refused: Answer | None = None
    x = axes.low
    for _ in range(_MOST_DOUBLINGS):
        # A grid is met near the lower end, where it is as likely as anywhere.
        found = slice_at(axes, x) if refused else slice_near(axes, x, axes.low)
        if isinstance(found, Slice):
            return found
        refused = refused or found
        if not isinstance(found, Infeasible):
            break
        x = _further(axes, x)
        if axes.high is not None and x > axes.high:
            break
    assert refused is not None
    return refused


def _last(axes: Axes, first: Slice) -> Slice:
    """The last slice that doubling finds."""
    found = first
    for _ in range(_MOST_DOUBLINGS):
        x = _further(axes, found.x)
        if axes.high is not None and x > axes.high:
            break
        after = slice_near(axes, x, found.x + 1)
        if not isinstance(after, Slice):
            break
        found = after
    return found


def _further(axes: Axes, x: Fraction) -> Fraction:
    if axes.high is None or axes.high > _WIDE * axes.low > 0:
        return max(2 * x, x + 1) if axes.domain.whole else 2 * x
    return x + (axes.high - axes.low) / SLICES


def _end(axes: Axes, at: Slice, sense: str) -> Fraction | None:
    """How far the first quantity goes where the second is least demanding; None for ever."""
    found = _side(axes, at, sense)
    if found is not None and (found.value - at.x) * (1 if sense == "max" else -1) >= 0:
        return found.value
    return axes.high if sense == "max" else axes.low


def _with_y(axes: Axes, value: Any) -> Any:
    rows = (*axes.stated, Fact(axes.y, value))
    if axes.high is not None:
        rows = (*rows, Limit(axes.x, "<=", axes.high))
    return scenario((*rows, Limit(axes.x, ">=", axes.low)))


def _places(axes: Axes, low: Fraction, high: Fraction) -> list[Fraction]:
    """Where slices are: all of them where they are few, else by equal steps or equal factors."""
    whole = axes.domain.whole
    if whole and high - low < SLICES:
        return [low + step for step in range(int(high - low) + 1)]
    shares = [step / SLICES for step in range(1, SLICES)]
    if low > 0 and high > _WIDE * low:
        between = [float(low) * float(high / low) ** share for share in shares]
    else:
        between = [float(low) + float(high - low) * share for share in shares]
    inner = [Fraction(round(x)) if whole else Fraction(f"{x:.4g}") for x in between]
    return sorted({low, *(x for x in inner if low < x < high), high})


# -- runs, corners and sides


def _region(axes: Axes, found: Sequence[Slice | Answer], refine: bool) -> Region:
    runs: list[list[Slice]] = [[]]
    for row in found:
        if not isinstance(row, Slice):
            runs.append([])
        elif not runs[-1] or row.x > runs[-1][-1].x:
            runs[-1].append(row)
    whole = [run for run in runs if run]
    if not whole:
        refused = next((row for row in found if not isinstance(row, Slice)), None)
        return Region((), refused=refused)
    if not refine:
        return Region(tuple(tuple(run) for run in whole))
    fine = tuple(tuple(_with_corners(axes, run)) for run in whole)
    return Region(
        fine, tuple((_end_of(axes, run[0], "min"), _end_of(axes, run[-1], "max")) for run in fine)
    )


def _with_corners(axes: Axes, run: Sequence[Slice]) -> list[Slice]:
    """The run, with slices on both sides of every place where something else begins to bind, and
    closer to each other where the second quantity falls or rises fast.
    """
    rows = [run[0]]
    for one, other in pairwise(run):
        rows += [*_corner(axes, one, other), other]
    return [rows[0], *(row for pair in pairwise(rows) for row in _closer(axes, *pair, _HALVINGS))]


def _closer(axes: Axes, one: Slice, other: Slice, halvings: int) -> list[Slice]:
    """The slices behind `one` up to `other`."""
    low, high = sorted((one.top.value, other.top.value))
    if halvings == 0 or high <= _STEEP * low or other.x - one.x <= _step(axes, one.x):
        return [other]
    x = (one.x + other.x) / 2
    found = slice_near(axes, Fraction(int(x)) if axes.domain.whole else x, one.x + 1)
    if not isinstance(found, Slice) or not one.x < found.x < other.x:
        return [other]
    left = _closer(axes, one, found, halvings - 1)
    return [*left, *_closer(axes, found, other, halvings - 1)]


def _corner(axes: Axes, one: Slice, other: Slice) -> list[Slice]:
    """The slices next to each other between which the limit changes; none where it does not."""
    between: dict[Fraction, Slice] = {}
    for at in (attrgetter("top.binding"), attrgetter("bottom.binding")):
        left, right = one, other
        while at(left) != at(right) and right.x - left.x > _step(axes, left.x):
            x = (left.x + right.x) / 2
            found = slice_near(axes, Fraction(int(x)) if axes.domain.whole else x, left.x + 1)
            if not isinstance(found, Slice) or not left.x < found.x < right.x:
                break
            left, right = (found, right) if at(found) == at(left) else (left, found)
        between |= {row.x: row for row in (left, right) if one.x < row.x < other.x}
    return [between[x] for x in sorted(between)]


def _step(axes: Axes, x: Fraction) -> Fraction:
    return max(Fraction(1), x * _CLOSE) if axes.domain.whole else abs(x) * _CLOSE


def _side(axes: Axes, row: Slice, sense: str) -> End | None:
    """How far the first quantity goes where the second is as in the slice at its least."""
    stated = _with_y(axes, row.bottom.value)
    found = solve(Request(axes.x, stated, sense, prefer=axes.prefer))
    return last_value(found) if isinstance(found, Exact) else None


def _end_of(axes: Axes, row: Slice, sense: str) -> End:
    """What keeps the first quantity from going past the slice; nothing where it is not known."""
    found = _side(axes, row, sense)
    return found if found is not None and found.value == row.x else End(row.x, ())
