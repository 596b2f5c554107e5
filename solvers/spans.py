"""Intervals of the line: what they share, and their largest and smallest values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from solvers.answer import Interval
from solvers.number import Number, ceiling, divide, floor, less, same


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest or smallest value of a feasible set; `open` where it is not reached."""

    value: Number | None
    unbounded: bool = False
    open: bool = False


def extreme(
    intervals: list[Interval],
    sense: str,
    grid: Fraction | None,
    listed: tuple[Fraction, ...] = (),
) -> Extreme:
    """The end of the set in the direction asked, on the grid or the list where there is one."""
    if listed:
        points = [span.low for span in among(intervals, listed)]
        return Extreme((points[-1] if sense == "max" else points[0]) if points else None)
    upwards = sense == "max"
    for interval in reversed(intervals) if upwards else intervals:
        end = interval.high if upwards else interval.low
        is_open = interval.high_open if upwards else interval.low_open
        if end is None:
            return Extreme(None, unbounded=True)
        if grid is None:
            return Extreme(end, open=is_open)
        value = on_grid(end, grid, upwards)
        if is_open and same(value, end):
            value = value - grid if upwards else value + grid
        if contains(interval, value):
            return Extreme(value)
    return Extreme(None)


def among(intervals: list[Interval], values: tuple[Fraction, ...]) -> list[Interval]:
    """The values that lie in the set, each as an interval, from low to high."""
    kept = (v for v in sorted(set(values)) if any(contains(span, v) for span in intervals))
    return [Interval(v, v) for v in kept]


def on_grid(value: Number, grid: Fraction, down: bool) -> Fraction:
    """The nearest multiple of the grid below, or above."""
    steps = divide(value, grid)
    return (floor(steps) if down else ceiling(steps)) * grid


def common(sets: list[tuple[Interval, ...]]) -> list[Interval]:
    """The intervals that lie in every one of several sets of intervals."""
    first, *others = sets
    kept = list(first)
    for other in others:
        kept = [both for one in kept for two in other if (both := _overlap(one, two)) is not None]
    return kept


def is_empty(span: Interval) -> bool:
    """True where no value lies in the interval."""
    if span.low is None or span.high is None or less(span.low, span.high):
        return False
    return span.low != span.high or span.low_open or span.high_open


def _overlap(one: Interval, two: Interval) -> Interval | None:
    low, low_open = _inner(one.low, one.low_open, two.low, two.low_open, upwards=True)
    high, high_open = _inner(one.high, one.high_open, two.high, two.high_open, upwards=False)
    shared = Interval(low, high, low_open, high_open)
    return None if is_empty(shared) else shared


def _inner(
    one: Number | None, one_open: bool, two: Number | None, two_open: bool, upwards: bool
) -> tuple[Number | None, bool]:
    """The end that leaves less of the line."""
    if one is None or two is None:
        return (two, two_open) if one is None else (one, one_open)
    if one == two:
        return one, one_open or two_open
    return (one, one_open) if less(two, one) == upwards else (two, two_open)


def contains(interval: Interval, value: Number) -> bool:
    """True where the value lies in the interval."""
    low, high = interval.low, interval.high
    above = low is None or less(low, value) or (same(low, value) and not interval.low_open)
    below = high is None or less(value, high) or (same(high, value) and not interval.high_open)
    return above and below
