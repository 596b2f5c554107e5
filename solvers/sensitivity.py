"""What one per cent of each fact does to an answer, and for how far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from formulas.catalogue import catalogue
from formulas.deployment.defaults import SILENT
from formulas.formula import VOCABULARY
from formulas.quantity import Quantity, stand_in
from formulas.scenario import Scenario
from formulas.statements import Limit
from solvers.answer import Answer, Missing
from solvers.chain import Chain
from solvers.curve import Curve, Gap, curve_of
from solvers.events import events_of
from solvers.evidence import steps_of
from solvers.found import Lacking
from solvers.number import Number, Undefined, divide, fraction_of, is_number, minus
from solvers.roots import Unseparated
from solvers.slopes import NotSmooth, Slopes, implied, plus, slopes_of, times
from solvers.solve import Request
from solvers.takeover import Moving, Takeover, takeovers

ASSUMED, LIMIT, DERIVED, NOTHING = "assumed", "limit", "derived", "nothing"
_BEYOND = Fraction(1, 10**6)
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How an answer moves with one fact, before it is rounded to a grid.

    `elasticity` is its relative change over that of the fact, `slope` its change over that of the
    fact. Between `low` and `high` (None: to the end of its domain) what decides now decides still;
    beyond them `below` and `above` do. `origin` says who stated it, "assumed" or "limit"; `found`
    is false where it is not known how far the fact may move.
    """

    name: str
    elasticity: Number
    slope: Number
    value: Number
    origin: str
    low: Number | None = None
    high: Number | None = None
    below: str = ""
    above: str = ""
    found: bool = True


def sensitivities(
    request: Request, answer: Answer, by: Sequence[str] = ()
) -> tuple[Sensitivity, ...]:
    """The sensitivities of an answer to its facts, its assumptions and the limits of a person, or
    to the quantities `by`, each of which is moved as if it were stated.

    NotSmooth, with the reason, where the answer has no slope.
    """
    curve = curve_of(request, answer)
    if curve.value == 0:
        raise NotSmooth(f"{curve.find} is 0, and has no relative change")
    slopes = _slopes_of(curve)
    events = events_of(curve)
    rows = _moving(curve, slopes, events, by)
    return tuple(_sensitivity(curve, slopes, events, *row) for row in rows)


def slopes_of_answer(request: Request, answer: Answer) -> Slopes:
    """The derivatives of an answer in everything behind it; NotSmooth where it has none."""
    return _slopes_of(curve_of(request, answer))


def _slopes_of(curve: Curve) -> Slopes:
    if curve.gap is None:
        return slopes_of(curve.chain, VOCABULARY[curve.find].symbol)
    gap = curve.gap
    target = gap.name if gap.limit is not None and gap.relation == "=" else ""
    return implied(slopes_of(curve.chain, gap.left - gap.right), curve.find, target)


def _moving(
    curve: Curve, slopes: Slopes, events: tuple[Gap, ...], by: Sequence[str]
) -> Iterator[tuple[Moving, str]]:
    """What is moved, each with its origin."""
    limits = [] if curve.gap is None else [curve.gap]
    limits = [gap for gap in (*limits, *events) if gap.limit is not None]
    given = curve.chain.scenario.given
    names = dict.fromkeys(by or _behind(curve, events))
    for gap in limits:
        if gap.relation != "=" and (gap.name in names or not by):
            symbol = stand_in(positive=True)
            domain = VOCABULARY[gap.name].domain
            assert gap.limit is not None
            yield Moving(gap.name, symbol, gap.limit, replace(domain, whole=False), gap), LIMIT
    limited = {gap.name for gap in limits}
    for name in names:
        quantity = _quantity(name)
        if name == curve.find or (name in limited and name not in given):
            continue
        if curve.gap is not None and name == curve.gap.name and curve.gap.relation == "=":
            assert curve.gap.limit is not None
            yield Moving(name, quantity.symbol, curve.gap.limit, quantity.domain, curve.gap), "you"
            continue
        value = _value(curve.chain, name)
        if not is_number(value) or quantity.domain.choices:
            if by:
                raise NotSmooth(f"{name} does not move by a per cent: which {name} compares them")
            continue
        if _follows(curve.chain, name, curve.find) or name in slopes.turning:
            if by:
                why = "has a corner here" if name in slopes.turning else f"follows {curve.find}"
                raise NotSmooth(f"{name} {why}")
            continue
        origin = given[name].origin if name in given else ASSUMED
        if by and name not in given and name not in curve.chain.catalogue.defaults:
            origin = DERIVED
        yield Moving(name, quantity.symbol, value, quantity.domain), origin


def _quantity(name: str) -> Quantity:
    if name not in VOCABULARY:
        raise NotSmooth(f"{name} is a name and no amount: whatif {name} = ... compares two of them")
    return VOCABULARY[name]


def _value(chain: Chain, name: str) -> Any:
    try:
        return chain.value(name).value
    except (Lacking, Undefined):
        raise NotSmooth(f"{name} has no value here; state it") from None


def _follows(chain: Chain, name: str, find: str) -> bool:
    """Whether the quantity is computed from what is asked."""
    return name not in chain.scenario.given and any(
        row.quantity == find for row in steps_of(chain, (name,))
    )


def _behind(curve: Curve, events: tuple[Gap, ...]) -> Iterator[str]:
    """The facts and assumptions behind the answer and whatever else may decide it."""
    chain = curve.chain
    gaps = [*([curve.gap] if curve.gap else []), *events]
    names = {s.name for gap in gaps for side in (gap.left, gap.right) for s in side.free_symbols}
    rows = [chain.value(name) for name in sorted({curve.find, *names})]
    stated = frozenset[str]().union(*(row.stated for row in rows))
    assumed = frozenset[str]().union(*(row.assumed for row in rows))
    order = list(chain.scenario.given)
    if curve.gap is not None and curve.gap.relation == "=" and curve.gap.limit is not None:
        yield curve.gap.name
    yield from sorted(stated & set(order), key=lambda name: (_rank(chain.scenario, name), name))
    for name in catalogue().defaults:
        default = catalogue().defaults[name].expr
        # What is taken to equal another quantity moves with that one.
        own = not (default.is_Symbol or default.is_Mul)
        if own and name in assumed and name not in SILENT and name not in stated:
            yield name


def _rank(scenario: Scenario, name: str) -> int:
    """What a person said first, then the GPU, then the model."""
    origin = scenario.given[name].origin
    return next((i for i, word in enumerate(("you", "gpu")) if origin.startswith(word)), 2)


def _sensitivity(
    curve: Curve,
    slopes: Slopes,
    events: tuple[Gap, ...],
    moving: Moving,
    origin: str,
) -> Sensitivity:
    slope = slopes.of(moving.name) if moving.limit is None else _slope_in_limit(curve, moving)
    elasticity = divide(times(slope, moving.value), curve.value)
    row = Sensitivity(moving.name, elasticity, slope, moving.value, origin)
    if moving.value == 0:
        return replace(row, found=False)
    try:
        below, above = takeovers(curve, events, moving)
        low, high = _first(curve, moving, below), _first(curve, moving, above)
    except NotSmooth:
        return replace(row, found=False)
    return replace(
        row,
        low=low.value if low else None,
        high=high.value if high else None,
        below=low.name if low else "",
        above=high.name if high else "",
    )


def _slope_in_limit(curve: Curve, moving: Moving) -> Number:
    """The limit that binds is followed; the others move nothing."""
    if moving.limit != curve.gap or curve.gap is None:
        return _ZERO
    found = slopes_of(curve.chain, curve.gap.left - curve.gap.right).of(curve.find)
    if found == 0:
        raise NotSmooth(f"a change of {curve.find} moves nothing here")
    return divide(Fraction(1), found)


def _first(curve: Curve, moving: Moving, places: Iterable[Takeover]) -> Takeover | None:
    """The nearest place beyond which something else decides, as the question itself has it there.

    A place on a part of the curve that is no largest or smallest is passed over.
    """
    for place in places:
        if not curve.sense or curve.gap is None:
            return place
        beyond = minus(place.value, moving.value)
        names = deciding(_moved(curve, moving, plus(place.value, times(beyond, _BEYOND))), curve)
        if curve.gap.name not in names:
            named = not names or place.name in names
            return replace(
                place, name="nothing" if not names else place.name if named else names[0]
            )
        if place.arm:
            return place
    return None


def deciding(chain: Chain, curve: Curve) -> tuple[str, ...]:
    """What a largest or smallest value runs into without rounding; nothing where there is none."""
    from solvers.bounds import feasible_set
    from solvers.limits import limits_of, shown_names
    from solvers.spans import extreme

    limits = limits_of(chain)
    if isinstance(limits, Missing):
        raise NotSmooth(limits.reason)
    try:
        feasible = feasible_set(limits.conditions, VOCABULARY[curve.find])
    except Unseparated as trouble:
        raise NotSmooth(str(trouble)) from None
    best = extreme(feasible.intervals(), curve.sense, None)
    if best.value is None:
        return ("no limit",) if best.unbounded else ()
    names = feasible.failing_beyond(best.value, curve.sense == "max")
    return shown_names(names) or ("domain",)


def _moved(curve: Curve, moving: Moving, value: Number) -> Chain:
    """The chain of the question with the fact, or the limit, moved."""
    chain = replace(curve.chain, unknowns=frozenset((curve.find,)))
    scenario = chain.scenario.without(curve.find)
    moved = fraction_of(value)
    if moving.limit is None:
        given = scenario.given.get(moving.name)
        scenario = scenario.with_value(moving.name, moved, given.origin if given else "you")
        return replace(chain, scenario=scenario)
    limits = tuple(
        replace(row, value=moved) if _is_limit(row, moving.limit) else row
        for row in scenario.limits
    )
    return replace(chain, scenario=replace(scenario, limits=limits))


def _is_limit(row: Limit, gap: Gap) -> bool:
    return (row.quantity, row.relation, row.value) == (gap.name, gap.relation, gap.limit)
