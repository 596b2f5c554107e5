"""A largest or smallest value, or the range that limits leave, over a box of uncertain facts.

Where no more of one fact tightens one limit and loosens another, the feasible sets lie inside each
other, and two corners of the box have the ends. Else every limit is taken at its own best and worst
corner: between the two answers lies the true one, and the box is cut until they are close.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from formulas.quantity import Quantity
from solvers.along import Along
from solvers.answer import (
    Answer,
    Contradiction,
    Exact,
    Infeasible,
    Interval,
    Missing,
    Range,
    Unbounded,
    Unproved,
)
from solvers.backward import equations
from solvers.bounds import feasible_set
from solvers.evidence import constrained, replayed
from solvers.extreme import grid_of
from solvers.limits import limits_of, ways
from solvers.loosening import loosest_and_tightest, symbols_of, together
from solvers.number import Number, ordered
from solvers.roots import Unseparated
from solvers.solve import Request, chain_of, settled_of, solve
from solvers.spans import extreme
from solvers.uncertain import Box, Corners, at, corners, halves, noted, widest
from solvers.uncertain_values import worst

_MOST_CUTS = 60


@dataclass(frozen=True, slots=True)
class _Limits:
    """Every limit in what is asked and in the uncertain facts."""

    request: Request
    quantity: Quantity
    conditions: Mapping[str, Any]
    grid: Fraction | None

    @property
    def sense(self) -> str:
        return self.request.sense

    @property
    def stretch(self) -> tuple[Any, Any]:
        domain = self.quantity.domain
        low = -math.inf if domain.low is None else domain.low
        return low, math.inf if domain.high is None else domain.high


def extreme_within(request: Request, box: Box, middle: Answer) -> Answer:
    """The answer over the box: its ends, or the reason why they are not known."""
    if isinstance(middle, Contradiction | Missing | Unproved):
        return middle
    limits = _limits(request, box)
    if isinstance(limits, Unproved):
        return limits
    moving = frozenset(
        symbol.name for c in limits.conditions.values() for symbol in symbols_of(c)
    ) & box.keys()  # fmt: skip
    if not moving:
        return middle
    inner = {name: box[name] for name in sorted(moving)}
    loosening = together(limits.conditions.values(), inner, limits.quantity, limits.stretch)
    if loosening is not None:
        return _nested(request, middle, corners(inner, loosening))
    if not request.sense or limits.quantity.domain.choices:
        names = " and ".join(inner)
        return Unproved(request.find, f"what is left over a range of {names} is not one interval")
    return _cut(limits, inner, middle)


def _limits(request: Request, box: Box) -> _Limits | Unproved:
    settled = settled_of(chain_of(request))
    if isinstance(settled, Contradiction):
        return Unproved(request.find, "what is stated contradicts itself")
    quantity = settled.chain.catalogue.quantities[request.find]
    known = replace(settled.chain, unknowns=frozenset())
    if request.sense and known.by_relation(request.find) is not None:
        return Unproved(request.find, "the facts leave one value: ask it without max or min")
    if equations(settled.chain):
        reason = "a stated result and a range of facts together are not solved"
        return Unproved(request.find, reason)
    deciding = _deciding(known, box)
    if deciding:
        return Unproved(request.find, f"which relation answers depends on {deciding}")
    chain = replace(settled.chain, unknowns=frozenset((request.find, *box)))
    found = limits_of(chain)
    if isinstance(found, Missing):
        return Unproved(request.find, found.reason)
    conditions = found.conditions
    return _Limits(request, quantity, conditions, grid_of(settled.chain, quantity))


def _deciding(known: Any, box: Box) -> str:
    """A fact of the box on which it hangs which relation answers, "" where there is none."""
    point = replayed(known, known.asked, Fraction(1))
    along = Along(point, frozenset((known.asked, *box)))
    return next(iter(sorted(along.deciding(constrained(point)) & box.keys())), "")


# -- feasible sets inside each other


def _nested(request: Request, middle: Answer, ends: Corners) -> Answer:
    """The answers at the tightest and at the loosest corner."""
    tight, loose = (solve(at(request, point)) for point in (ends.least, ends.greatest))
    if isinstance(loose, Infeasible | Unbounded | Unproved) or not isinstance(loose, Exact | Range):
        return loose
    if isinstance(loose, Range) and (isinstance(tight, Range) or not request.sense):
        return _ranges(loose, tight)
    if isinstance(tight, Exact) and isinstance(loose, Exact):
        low, high = ordered([tight.value, loose.value])
        found = Range(request.find, (Interval(low, high),), evidence=_proof(middle, tight, loose))
        return noted(found, *_binds(tight, loose, ends))
    if isinstance(tight, Infeasible) and isinstance(loose, Exact):
        return _down_to_nothing(request, tight, loose, ends)
    return Unproved(request.find, "at the worst of what is stated there is no one value")


def _proof(middle: Answer, tight: Exact, loose: Exact) -> Any:
    source = middle if isinstance(middle, Exact) else tight
    checks = worst([*source.evidence.checks, *tight.evidence.checks, *loose.evidence.checks])
    return replace(source.evidence, checks=checks)


def _binds(tight: Exact, loose: Exact, ends: Corners) -> list[str]:
    """What binds, where that differs between the two ends."""
    if tight.binding == loose.binding:
        return [f"{' and '.join(tight.binding)} binds throughout"] if tight.binding else []
    words = (("worst", tight, ends.least), ("best", loose, ends.greatest))
    return [f"at the {word} ({_spelt(p)}) {' and '.join(a.binding)} binds" for word, a, p in words]


def _spelt(point: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {float(value):.6g}" for name, value in point.items())


def _down_to_nothing(request: Request, tight: Infeasible, loose: Exact, ends: Corners) -> Answer:
    """At the worst nothing satisfies the question: the answer may be anything that does at best."""
    note = f"at {_spelt(ends.least)} nothing satisfies it: {tight.reason}"
    span = (loose.intervals[0].low, loose.value)
    if request.sense == "min":
        span = (loose.value, loose.intervals[-1].high)
    found = Range(request.find, (Interval(*span),), evidence=loose.evidence)
    return noted(found, note)


def _ranges(loose: Range, tight: Answer) -> Answer:
    """What may satisfy the limits; what surely does is said."""
    if isinstance(tight, Infeasible):
        return noted(loose, f"at the worst of what is stated nothing does: {tight.reason}")
    return noted(loose, "at the best of what is stated; at its worst fewer values do")


# -- limits that move against each other


def _cut(limits: _Limits, box: Box, middle: Answer) -> Answer:
    """Between the best of every limit's own corner and the worst, the box cut until both meet."""
    try:
        parts = [(box, *_between(limits, box))]
        for _ in range(_MOST_CUTS):
            wide = [p for p in parts if _gap(p, limits, parts) > 0]
            if not wide:
                break
            worst = max(wide, key=lambda part: _gap(part, limits, parts))
            parts.remove(worst)
            for half in halves(worst[0], widest(worst[0], frozenset(box))):
                parts.append((half, *_between(limits, half)))
    except Unseparated as trouble:
        return Unproved(limits.quantity.name, f"the limits could not be separated: {trouble}")
    outer = [best for _, best, _ in parts if best is not None]
    inner = [sure for _, _, sure in parts if sure is not None]
    if not outer:
        reason = "nowhere in the range of what is stated is there a value"
        return Infeasible(limits.quantity.name, reason)
    upwards = limits.sense == "max"
    best = ordered(outer)[-1 if upwards else 0]
    if any(isinstance(value, float) or math.isinf(float(value)) for value in outer):
        turning = _turning(limits, box)
        if turning:
            reason = f"how {turning} moves over a range of {' and '.join(box)} is not proved"
            return Unproved(limits.quantity.name, f"{reason}: state one value")
        return Unbounded(limits.quantity.name, limits.sense)
    domain = limits.quantity.domain
    end = domain.low if upwards else domain.high
    sure = ordered(inner)[0 if upwards else -1] if len(inner) == len(parts) else end
    low, high = (sure, best) if upwards else (best, sure)
    found = Range(limits.quantity.name, (Interval(low, high),), evidence=middle.evidence)
    notes = [f"limits move against each other along {' and '.join(box)}: rounded outwards"]
    if len(inner) < len(parts):
        notes.append("for some of what is stated, nothing is shown to satisfy it")
    return noted(found, *notes)


def _gap(part: Any, limits: _Limits, parts: list[Any]) -> float:
    """How far what may be and what surely is lie apart, where that moves an end."""
    _, best, sure = part
    if best is None:
        return 0.0
    if sure is None:
        return math.inf
    gap = abs(float(best) - float(sure))
    ends = [float(p[1]) for p in parts if p[1] is not None]
    certain = [float(p[2]) for p in parts if p[2] is not None]
    edges = (max(ends), min(certain)) if limits.sense == "max" else (min(ends), max(certain))
    at_edge = float(best) == edges[0] or float(sure) == edges[1]
    return gap if at_edge and gap > 1e-9 * abs(float(best)) else 0.0


def _between(limits: _Limits, box: Box) -> tuple[Number | None, Number | None]:
    """The end where every limit is at its best, and where every one is at its worst."""
    best: dict[str, Any] = {}
    worst: dict[str, Any] | None = {}
    for name, condition in limits.conditions.items():
        loose, tight = loosest_and_tightest(condition, box, limits.quantity, limits.stretch)
        if loose is not None:
            best[name] = loose
        worst = None if worst is None or tight is None else {**worst, name: tight}
    return _end(limits, best), None if worst is None else _end(limits, worst)


def _turning(limits: _Limits, box: Box) -> str:
    """A limit whose best corner of the box is not known, "" where there is none."""
    rows = limits.conditions.items()
    best = {n: loosest_and_tightest(c, box, limits.quantity, limits.stretch)[0] for n, c in rows}
    return next((name for name, loosest in best.items() if loosest is None), "")


def _end(limits: _Limits, conditions: Mapping[str, Any]) -> Number | None:
    for within, step in ways(conditions, limits.quantity, limits.sense, limits.grid):
        spans = feasible_set(within, limits.quantity, step).intervals()
        found = extreme(spans, limits.sense, step)
        if found.unbounded:
            return math.inf
        if found.value is not None:
            return found.value
    return None
