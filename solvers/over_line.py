"""One number searched along its line: the objective over every value that meets the limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from solvers.answer import Answer, Contradiction, Exact, Infeasible, Interval, Missing, Unproved
from solvers.bounds import Feasible, feasible_set
from solvers.chain import Chain
from solvers.counts import holds_at
from solvers.exact import substitute
from solvers.extreme import grid_of
from solvers.found import Lacking
from solvers.infeasible import infeasible
from solvers.limits import limits_of, shown_names
from solvers.missing import alternatives
from solvers.number import Undefined, is_number, less
from solvers.roots import Unseparated
from solvers.solve import Request, chain_of, settled_of
from solvers.spans import contains, on_grid

MOST_ON_LINE = 20_000
_NEAR = 1e-9


# What decides between configurations that are equally good: the less of it, the better.
TIES = ("n_gpus", "gpus_per_replica", "tpot", "tp")
# How far beyond its limits a line is looked along for something better, in doubling steps.
_DOUBLINGS = 14

Point = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scored:
    """A configuration that meets every limit: its value, and what decides between equals."""

    point: Point
    value: Any
    ties: tuple[Any, ...]
    answer: Exact | None = None
    binding: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A configuration that does not: the answer that says why, what it breaks and would give."""

    point: Point
    answer: Answer
    broken: tuple[str, ...] = ()
    value: Any = None


@dataclass(frozen=True, slots=True)
class Line:
    """The feasible set of one quantity, and what is asked as a function of it."""

    chain: Chain
    objective: Any
    conditions: Mapping[str, Any]
    feasible: Feasible
    grid: Fraction | None


class Endless(Exception):
    """Nothing limits the quantity, so that its values cannot all be looked at."""


def along(
    request: Request,
    point: Point,
    name: str,
    values: Sequence[Any] | None,
    explain: bool = False,
) -> Iterator[Scored | Failed]:
    """The best value of the line, or why there is none; the reasons in full on demand."""
    settled = settled_of(chain_of(replace(request, find=name, sense="max")))
    if isinstance(settled, Contradiction):
        yield Failed(point, replace(settled, find=request.find))
        return
    try:
        line = line_of(settled.chain, request.find)
        numbers = candidates(line, values) if isinstance(line, Line) else []
    except Lacking:
        known = replace(settled.chain, unknowns=frozenset(), asked=request.find)
        yield Failed(point, Missing(request.find, alternatives(known, request.find)))
    except Endless:
        reason = f"nothing limits {name}, so that not every value of it can be looked at"
        yield Failed(point, Unproved(request.find, reason))
    except Unseparated as trouble:
        yield Failed(point, Unproved(request.find, f"the limits could not be separated: {trouble}"))
    else:
        if isinstance(line, Missing):
            yield Failed(point, replace(line, find=request.find))
        elif numbers:
            yield from _best_on(request, point, name, line, numbers)
        else:
            yield _no_value(request, point, line, explain or not point)


def _no_value(request: Request, point: Point, line: Line, explain: bool) -> Failed:
    """That no value of the line meets every limit."""
    rows = line.feasible.holds
    never = tuple(n for n in line.conditions if not any(holds.get(n, True) for holds in rows))
    broken = shown_names(never or line.feasible.smallest_clash())
    if explain:
        found = infeasible(line.chain, line.feasible)
        return Failed(point, replace(found, find=request.find), broken)
    reason = f"it breaks {' and '.join(broken)}"
    return Failed(point, Infeasible(request.find, reason), broken)


def _best_on(
    request: Request, point: Point, name: str, line: Line, numbers: Sequence[Fraction]
) -> Iterator[Scored]:
    score = tabulated(line, line.objective)
    ties = [tabulated(line, e) for t in TIES if (e := value_or_none(line.chain, t)) is not None]
    rows = [(score(number), number) for number in numbers]
    scored = [(float(value), number) for value, number in rows if value is not None]
    if not scored:
        return
    top = (max if request.sense == "max" else min)(value for value, _ in scored)
    equal = [number for value, number in scored if abs(value - top) <= 1e-9 * abs(top)]
    best = min(equal, key=lambda n: tuple(float(t(n)) for t in ties))
    binding = _binding(line, best, score, request.sense)
    ranks = tuple(float(t(best)) for t in ties)
    yield Scored({**point, name: best}, Fraction(top), ranks, None, binding)


def _binding(line: Line, best: Fraction, score: Any, sense: str) -> tuple[str, ...]:
    """What fails just beyond the values that meet the limits, where a better one lies further."""
    here = score(best)
    step = line.grid or Fraction(1)
    span = next(s for s in line.feasible.intervals() if contains(s, best))
    for end, sign in ((span.high, 1), (span.low, -1)):
        if end is None:
            continue
        edge = on_grid(end, step, down=sign > 0)
        tried = (edge + sign * step * 2**power for power in range(_DOUBLINGS))
        others = [score(value) for value in tried if value > 0]
        if any(v is not None and (v > here) == (sense == "max") and v != here for v in others):
            failing = _failing_at(line, edge + sign * step)
            if failing:
                return shown_names(failing)
    return ()


def _failing_at(line: Line, value: Fraction) -> tuple[str, ...]:
    name = line.chain.asked
    return tuple(n for n, c in line.conditions.items() if not holds_at(c, name, value))


def line_of(chain: Chain, find: str) -> Line | Missing:
    """The line of what the chain asks, with `find` a function of it; Lacking where it is none."""
    name = chain.asked
    spoken = replace(chain, speaks_of=chain.speaks_of | {find})
    objective = spoken.value(find).value
    limits = limits_of(spoken)
    if isinstance(limits, Missing):
        return limits
    grid = grid_of(spoken, chain.catalogue.quantities[name])
    feasible = feasible_set(limits.conditions, chain.catalogue.quantities[name], grid)
    return Line(spoken, objective, limits.conditions, feasible, grid)


def candidates(line: Line, values: Sequence[Fraction] | None) -> list[Fraction]:
    """The values that meet the limits: those of the list, or all of the grid; Endless if too many.

    Below its grid every whole number is one.
    """
    spans = line.feasible.intervals()
    if values is not None:
        return [v for v in sorted(set(values)) if any(contains(s, v) for s in spans)]
    grid = line.grid or Fraction(1)
    found: dict[Fraction, None] = {}
    for span in spans:
        for value in _on_span(span, grid):
            found[value] = None
            if len(found) > MOST_ON_LINE:
                raise Endless
    return list(found)


def _on_span(span: Interval, grid: Fraction) -> Iterator[Fraction]:
    if span.low is None or span.high is None:
        raise Endless
    below = Fraction(1)
    while below < grid:
        if contains(span, below):
            yield below
        below += 1
    value = on_grid(span.low, grid, down=False)
    while not less(span.high, value) or contains(span, value):
        if contains(span, value) and value > 0:
            yield value
        value += grid


def tabulated(line: Line, expr: Any) -> Callable[[Fraction], Any]:
    """The expression's value at a number: in floats, exactly wherever a step is near."""
    if is_number(expr):
        return lambda value: expr
    name = line.chain.asked
    symbol = line.chain.catalogue.quantities[name].symbol
    fast = sympy.lambdify(symbol, expr, modules="math")
    steps = [node.args[0] for node in expr.atoms(sympy.ceiling, sympy.floor)]
    watch = sympy.lambdify(symbol, steps, modules="math")

    def at(value: Fraction) -> Any:
        number = float(value)
        try:
            near = any(abs(v - round(v)) <= _NEAR * max(1.0, abs(v)) for v in watch(number))
            found = float(fast(number))
            if not near and math.isfinite(found):
                return found
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            pass
        try:
            exact = substitute(expr, name, value)
        except Undefined:
            return None
        return float(exact) if is_number(exact) else None

    return at


def value_or_none(chain: Chain, name: str) -> Any:
    """The quantity as a function of the line, None where it has no value."""
    try:
        return chain.value(name).value
    except (Lacking, Undefined):
        return None
