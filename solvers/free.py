"""What nobody states and everything depends on: searched where that answers, else traded off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from formulas.catalogue import catalogue
from formulas.scenario import Scenario
from formulas.statements import Axis
from solvers.answer import Answer, Exact, Missing, Unproved
from solvers.axes import shown_value
from solvers.chain import Chain
from solvers.found import Lacking
from solvers.solve import Request, chain_of, solve

# What an engine is free to choose where nobody states it.
_FREE = ("batch",)
# The first of these that would answer is tabulated, from its value in doubling steps.
_TRADED: Mapping[str, int] = {"batch": 1, "context_tokens": 1024, "prompt_tokens": 1024}
_ROWS = 8


def with_lists(request: Request) -> Request:
    """The request with the lists of what is neither stated, asked nor derived as its axes."""
    scenario = request.scenario
    if request.using or not (scenario.among or scenario.options):
        return request
    named = {axis.name for axis in request.over}
    free = [name for name in scenario.among if name not in named and _is_free(request, name)]
    options = [name for name in scenario.options if name not in named]
    extra = tuple(Axis(name) for name in (*free, *options) if name != request.find)
    extra = tuple(
        replace(axis, values=scenario.among.get(axis.name, scenario.options.get(axis.name)))
        for axis in extra
    )
    return replace(request, over=(*request.over, *extra))


def _is_free(request: Request, name: str) -> bool:
    if name in request.scenario.given or name == request.find:
        return False
    chain = chain_of(replace(request, sense="", over=()))
    try:
        return chain.by_relation(name) is None
    except Lacking:
        return True


def searched_freely(request: Request, chain: Chain) -> Answer | None:
    """The best over what an engine is free to choose, where nobody states it and what is asked
    follows from it; None where that says nothing.
    """
    from solvers.over import searched

    if request.using or request.over:
        return None
    known = replace(chain, unknowns=frozenset())
    for name in _FREE:
        if name == request.find or not _follows(request.find, name) or _is_known(known, name):
            continue
        found = searched(replace(request, over=(Axis(name),)))
        if not isinstance(found, Missing | Unproved):
            return found
    return None


def traded_off(request: Request, answer: Missing) -> Missing:
    """The same, with the answer along a quantity that would be enough."""
    singles = {names[0] for names in answer.alternatives if len(names) == 1}
    traded = next((n for n in _TRADED if n in singles and n != request.find), "")
    rows = _rows(request, traded) if traded and not request.using and not request.over else ()
    if not rows:
        return answer
    word = "largest" if request.sense == "max" else "smallest"
    reason = f"the {word} {request.find} depends on {traded}, which is not given: a trade-off"
    return replace(answer, reason=reason, tradeoff=rows)


def _is_known(chain: Chain, name: str) -> bool:
    try:
        chain.value(name)
    except Lacking:
        return False
    return True


def _follows(find: str, name: str) -> bool:
    """Whether relations lead from one to the other, over what is assumed as well."""
    known = catalogue()
    reach = known.downstream(name)
    assumed = (row.gives for row in known.defaults.values() if reach & set(row.inputs))
    return find in reach or any(find in known.downstream(n) | {n} for n in assumed)


def _rows(request: Request, name: str) -> tuple[Mapping[str, Any], ...]:
    """The answer at doubling values of the quantity, as long as there is one."""
    found: list[Mapping[str, Any]] = []
    value = Fraction(_TRADED[name])
    for _ in range(_ROWS):
        answer = solve(replace(request, scenario=_stating(request.scenario, name, value)))
        if not isinstance(answer, Exact):
            break
        found.append({name: shown_value(value), request.find: answer.value})
        value *= 2
    return tuple(found)


def _stating(scenario: Scenario, name: str, value: Fraction) -> Scenario:
    return scenario.with_value(name, value)
