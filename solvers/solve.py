"""One question: a quantity's value, or its largest or smallest, from a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from formulas.catalogue import catalogue
from formulas.scenario import Scenario
from formulas.statements import Axis
from solvers.answer import Answer, Contradiction, Missing
from solvers.chain import Chain

if TYPE_CHECKING:
    from solvers.settle import Settled


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `sense` is "", "max" or "min"; `using` names the only relations that may
    answer, `over` what is searched, `prefer` the relation that answers for a quantity."""

    find: str
    scenario: Scenario
    sense: str = ""
    using: tuple[str, ...] = ()
    over: tuple[Axis, ...] = ()
    prefer: Mapping[str, str] = field(default_factory=dict)


def chain_of(request: Request) -> Chain:
    """What is known, and what is asked as the unknown unless it is stated."""
    from solvers.assume import assumed
    from solvers.prepare import freed, preferred, refuse_invalid, restricted, with_result_free

    find = request.find
    names = restricted(catalogue(), request.scenario, find)
    relations = tuple(r for word in request.using for r in names.named(word))
    scenario = freed(request.scenario, find) if request.sense else request.scenario
    # Under `using` the sheet's own line answers, and nothing is assumed.
    allowed = frozenset[str]() if relations else frozenset(names.defaults) - {find}
    known = Chain(
        names,
        scenario,
        allowed=allowed,
        using=relations,
        asked=find,
        assume=assumed,
        prefer=preferred(names, request.prefer),
    )
    refuse_invalid(known)
    free = replace(known, unknowns=frozenset((find,)))
    return with_result_free(known) if find in scenario.given else free


def settled_of(chain: Chain) -> Settled | Contradiction:
    """The same chain without the defaults that contradict what is stated."""
    settled = known_of(chain)
    if isinstance(settled, Contradiction):
        return settled
    return replace(settled, chain=replace(settled.chain, unknowns=chain.unknowns))


def known_of(chain: Chain) -> Settled | Contradiction:
    """The settled chain in which nothing is unknown; what was computed on the way is in it."""
    from solvers.settle import settle

    known = replace(chain, unknowns=frozenset())
    # What relations give is no unknown when it is asked whether all that is stated holds together.
    settled = settle(chain if known.by_relation(chain.asked) is None else known)
    if isinstance(settled, Contradiction) or not settled.chain.unknowns:
        return settled
    return replace(settled, chain=replace(settled.chain, unknowns=frozenset()))


def solve(request: Request) -> Answer:
    """The answer to a request; Problem where `using` names no formula."""
    from solvers.extreme import extreme_of
    from solvers.free import searched_freely, traded_off, with_lists
    from solvers.sheet_line import special_answer
    from solvers.value import value_of

    if request.scenario.ranges or request.scenario.spreads:
        from solvers.uncertain import uncertain_answer

        return uncertain_answer(request)
    listed = with_lists(request)
    if listed.over:
        from solvers.over import searched
        from solvers.over_values import values_over

        return searched(listed) if request.over or request.sense else values_over(listed)
    chain = chain_of(request)
    special = special_answer(chain)
    if special is not None:
        return special
    settled = settled_of(chain)
    if isinstance(settled, Contradiction):
        return settled
    if not request.sense:
        return value_of(settled)
    answer = searched_freely(request, settled.chain) or extreme_of(settled, request.sense)
    return traded_off(request, answer) if isinstance(answer, Missing) else answer
