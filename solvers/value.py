"""The value of a quantity: forwards, backwards from what is stated, or the range of the limits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from formulas.amounts import display
from solvers.answer import (
    Answer,
    Exact,
    Infeasible,
    Missing,
    Range,
    Unproved,
)
from solvers.answer_together import together
from solvers.backward import backward
from solvers.chain import Chain
from solvers.demands import first_lacking
from solvers.evidence import evidence, wanted
from solvers.found import Found, Lacking
from solvers.limits import lacking_limit
from solvers.missing import alternatives, differing_layers
from solvers.number import Undefined, inside, is_number, same
from solvers.settle import Settled


def value_of(settled: Settled) -> Answer:
    """The answer to what `chain.asked` is, in the order stated, derived, assumed."""
    chain = settled.chain
    lacking = _lacking_limit(chain)
    if lacking is not None:
        return lacking
    name = chain.asked
    known = replace(chain, unknowns=frozenset())
    if name in chain.scenario.given:
        return _exact(known, chain.scenario.given[name].value)
    best = known.by_relation(name)
    if best is not None and not best.guessed:
        return _forward(known, best)
    answer = together(known, least=2)
    if isinstance(answer, Exact | Unproved):
        return answer
    answer = backward(chain, assuming=False)
    if answer is not None:
        return _narrowed(settled, answer)
    if best is not None:
        return _forward(known, best)
    answer = backward(chain, assuming=True)
    if answer is not None:
        return _narrowed(settled, answer)
    return together(known) or _last_resorts(settled, known)


def _narrowed(settled: Settled, answer: Answer) -> Answer:
    """A range that a stated result leaves, within the limits."""
    from solvers.extreme import range_of

    return (range_of(settled, answer) or answer) if isinstance(answer, Range) else answer


def _last_resorts(settled: Settled, known: Chain) -> Answer:
    """The limits' range, then the default of the quantity itself, then what is missing."""
    from solvers.extreme import range_of

    name = known.asked
    beside = _beside_what_is_stated(settled, known)
    if beside is not None:
        return beside
    ranged = range_of(settled)
    if ranged is not None:
        return ranged
    if name in known.catalogue.defaults:
        fallback = replace(known, allowed=known.allowed | {name})
        try:
            return _exact(fallback, fallback.value(name).value)
        except Lacking:
            pass
    return missing(settled, known, name)


def _beside_what_is_stated(settled: Settled, known: Chain) -> Answer | None:
    """An answer that rests on the stated fact itself may assume what that fact does not go with."""
    if not settled.withdrawn:
        return None
    everything = known.allowed | settled.withdrawn.keys()
    widened = replace(known, allowed=everything, withdrawn=frozenset())
    best = widened.by_relation(known.asked)
    if best is None or not best.stated >= set(settled.withdrawn.values()):
        return None
    notes = [
        f"{stated} as stated does not go with the assumed {default}, which is used beside it"
        for default, stated in settled.withdrawn.items()
    ]
    noted = replace(known.scenario, notes=(*known.scenario.notes, *notes))
    return _forward(replace(widened, scenario=noted), best)


def _lacking_limit(chain: Chain) -> Missing | None:
    """A limit that a person states must be evaluated."""
    lacking = first_lacking(chain)
    return None if lacking is None else lacking_limit(chain, lacking[1])


def missing(settled: Settled, known: Chain, name: str) -> Missing:
    """What to give for the quantity, with the reason where an assumption was withdrawn."""
    reasons = [
        f"{stated} as stated does not go with the assumed {default}: state {default}"
        for default, stated in settled.withdrawn.items()
    ]
    reasons += [text for text in known.troubles.values()]
    reasons += differing_layers(known, name)
    sets = alternatives(known, name)
    withdrawn = [(default,) for default in settled.withdrawn if (default,) not in sets]
    return Missing(name, (*sets, *withdrawn), "; ".join(reasons))


def _forward(known: Chain, best: Found) -> Answer:
    quantity = known.catalogue.quantities[known.asked]
    if is_number(best.value) and not inside(quantity.domain, best.value):
        value = display(best.value, quantity.unit, quantity.label)
        return Infeasible(
            known.asked,
            f"{known.asked} comes out as {value}, outside its domain ({quantity.domain})",
            evidence=evidence(known, best.inputs),
        )
    return _exact(known, best.value)


def _exact(known: Chain, value: Any) -> Answer:
    proof = evidence(known, wanted(known))
    numeric = not isinstance(value, Fraction | bool)
    variants = _variants(known, value)
    return Exact(known.asked, value, numeric=numeric, evidence=replace(proof, variants=variants))


def _variants(known: Chain, value: Any) -> dict[str, Any]:
    """What the other relations of the quantity give where they may answer too."""
    found: dict[str, Any] = {}
    for relation in known.relations(known.asked):
        if relation.is_bound or not known.takes_part(relation):
            continue
        try:
            other = replace(known).apply(relation).value
        except (Lacking, Undefined):
            continue
        if is_number(other) and is_number(value) and not same(other, value):
            found[relation.key] = other
    return found
