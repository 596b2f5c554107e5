"""Which defaults may be assumed beside what is stated, and whether what is stated can hold
together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from formulas.deployment.defaults import DEFAULTS, OF_CONTEXT_ALONE, SPEAKS_OF_CONTEXT
from solvers.answer import Contradiction, Statement
from solvers.chain import Chain
from solvers.found import Found, Lacking
from solvers.number import is_number, same

TRUST = [row.gives for row in DEFAULTS]
_CONTEXT_ALONE = frozenset(row.gives for row in OF_CONTEXT_ALONE)
# Assumed where nothing is said of it, and firmer than what only the absence of a word suggests.
_ABSENT = frozenset(("tp", "pp", "dp", "ep"))


@dataclass(frozen=True, slots=True)
class Settled:
    """A chain whose defaults contradict nothing stated; `withdrawn` says which did, and what."""

    chain: Chain
    withdrawn: dict[str, str]


def settle(chain: Chain) -> Settled | Contradiction:
    """Withdraw the least trusted default of each clash with a stated fact, until none is left.

    Two stated facts that a relation does not allow together are a Contradiction.
    """
    scenario, asked = chain.scenario, chain.asked
    if scenario.clashes:
        first, second = scenario.clashes[0]
        said = tuple(Statement(g.quantity, g.text, g.origin) for g in (first, second))
        return Contradiction(asked, first.quantity, first.value, second.value, second.origin, said)
    withdrawn: dict[str, str] = {}
    while True:
        clash = _first_clash(chain, frozenset(withdrawn.values()))
        if clash is None:
            return Settled(chain, withdrawn)
        name, found = clash
        if found.assumed & _CONTEXT_ALONE and found.guessed <= _ABSENT:
            # What is stated says more of prompt and output than that only a context was meant.
            chain = replace(chain, speaks_of=chain.speaks_of | SPEAKS_OF_CONTEXT)
            continue
        if not found.guessed:
            return _contradiction(chain, name, found)
        default = max(found.guessed, key=TRUST.index)
        withdrawn[default] = name
        chain = replace(
            chain,
            allowed=chain.allowed - {default},
            withdrawn=chain.withdrawn | {default},
        )


def _first_clash(chain: Chain, settled: frozenset[str]) -> tuple[str, Found] | None:
    """The clash with a stated quantity that is computed most directly."""
    clashes: list[tuple[int, str, Found]] = []
    for name in chain.equated():
        without = replace(
            chain,
            scenario=chain.scenario.without(name),
            allowed=chain.allowed - {name},
            # One step backwards is followed; what lies further is looked at where it is needed.
            solving=chain.solving | {name},
        )
        try:
            found = without.value(name)
        except Lacking:
            continue
        # What another stated quantity implies backwards is found at that quantity.
        if found.solved_from or (found.guessed and name in settled):
            continue
        if _differs(found.value, chain.scenario.given[name].value):
            clashes.append((len(found.inferred), name, found))
    if not clashes:
        return None
    _, name, found = min(clashes, key=lambda row: row[:2])
    return name, found


def _differs(found: Any, stated: Any) -> bool:
    if is_number(found) and is_number(stated):
        return not same(found, stated)
    return isinstance(found, bool) and isinstance(stated, bool) and found != stated


def _contradiction(chain: Chain, name: str, found: Found) -> Contradiction:
    """The stated facts that the relation joins, as statements."""
    given = chain.scenario.given
    rows = [given[n] for n in (name, *sorted(found.stated)) if n in given]
    said = dict.fromkeys(
        Statement(row.quantity if row.origin == "you" else row.origin, row.text, row.origin)
        for row in rows
    )
    key = found.relation.key if found.relation else ""
    return Contradiction(chain.asked, name, given[name].value, found.value, key, tuple(said))
