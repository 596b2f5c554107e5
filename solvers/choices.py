"""A discrete quantity under limits: every choice of its domain is tried."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from formulas.quantity import Quantity
from solvers.answer import Answer, Exact, Infeasible, Interval, Missing, Range
from solvers.chain import Chain
from solvers.evidence import checks_of, constrained, evidence, replayed
from solvers.found import Lacking
from solvers.limits import lacking_limit, shown_names, statement_of


def allowed_choices(chain: Chain, quantity: Quantity) -> Answer:
    """Every choice that breaks nothing."""
    failing = _failing(chain, quantity)
    if isinstance(failing, Missing):
        return failing
    good = [choice for choice, names in failing.items() if not names]
    if not good:
        return _no_choice(chain, failing)
    replay = replayed(chain, chain.asked, good[0])
    proof = replace(evidence(replay, constrained(replay), checked=False), steps=(), outcomes={})
    return Range(chain.asked, tuple(Interval(c, c) for c in good), evidence=proof)


def best_choice(chain: Chain, quantity: Quantity, sense: str) -> Answer:
    """A discrete quantity is enumerated over its domain, and never rounded or relaxed."""
    failing = _failing(chain, quantity)
    if isinstance(failing, Missing):
        return failing
    good = [choice for choice, names in failing.items() if not names]
    if not good:
        return _no_choice(chain, failing)
    value = max(good) if sense == "max" else min(good)
    beyond = [c for c in failing if (c > value if sense == "max" else c < value)]
    nearest = min(beyond, key=lambda c: abs(c - value)) if beyond else None
    binding = failing[nearest] if nearest is not None else ("domain",)
    replay = replayed(chain, chain.asked, value)
    proof = evidence(replay, constrained(replay))
    return Exact(chain.asked, value, binding=shown_names(binding), sense=sense, evidence=proof)


def _failing(chain: Chain, quantity: Quantity) -> dict[Fraction, tuple[str, ...]] | Missing:
    """What each choice of a discrete quantity breaks."""
    failing: dict[Fraction, tuple[str, ...]] = {}
    for choice in quantity.domain.choices:
        try:
            checks, _ = checks_of(replayed(chain, chain.asked, choice))
        except Lacking as lacking:
            return lacking_limit(chain, next(iter(lacking.names)))
        failing[choice] = tuple(c.name for c in checks if not c.holds)
    return failing


def _no_choice(chain: Chain, failing: dict[Fraction, tuple[str, ...]]) -> Infeasible:
    names = _smallest_hitting(list(failing.values()))
    said = tuple(statement_of(chain, name) for name in names)
    return Infeasible(chain.asked, f"every choice breaks {' or '.join(names)}", said)


def _smallest_hitting(groups: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The fewest names that stand in every group of failures."""
    from itertools import combinations

    names = list(dict.fromkeys(name for group in groups for name in group))
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            if all(set(chosen) & set(group) for group in groups):
                return chosen
    return tuple(names)
