"""What to give so that a quantity can be had: alternatives, the smallest first."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

from solvers.chain import Chain
from solvers.found import Lacking
from solvers.number import Undefined, is_number, less
from solvers.remaining import CIRCULAR, equal_sides, speaks_of_circle

_MOST_SETS = 12
_SHOWN = 6
_LARGEST = 6
_DEEPEST = 12


def alternatives(chain: Chain, name: str) -> tuple[tuple[str, ...], ...]:
    """Sets of quantities each of which makes `name` computable; `name` itself is none of them."""
    found = [*_by_relations(chain, name, (name,), {}), *_backwards(chain, name)]
    found += _round_about(chain, name, found)
    ranked = sorted(
        _minimal(found), key=lambda names: (len(names), _derived(chain, names), sorted(names))
    )
    return tuple(tuple(sorted(names)) for names in ranked[:_SHOWN])


def _round_about(chain: Chain, name: str, found: list[frozenset[str]]) -> list[frozenset[str]]:
    """What a circular default lacks, where that is all that it takes to solve the circle."""
    from solvers.blocks import joined

    sets: list[frozenset[str]] = []
    if not speaks_of_circle(chain):
        return sets
    for circular in sorted(CIRCULAR & chain.allowed):
        if frozenset((circular,)) not in found:
            continue
        for other in chain.catalogue.defaults[circular].inputs:
            if other == name or _known(chain, other):
                continue
            facts = chain.scenario.with_value(other, Fraction(1))
            if joined(replace(chain, scenario=facts, unknowns=frozenset()), (name,)) is not None:
                sets.append(frozenset((other,)))
    return sets


# What a token costs has no value where layers differ.
_OF_A_TOKEN = frozenset(
    ("kv_elements_per_token", "kv_bytes_per_token", "kv_bytes_per_token_per_gpu")
)


def differing_layers(chain: Chain, name: str) -> tuple[str, ...]:
    """Why a token has no bytes of its own here, and what can be asked instead."""
    if name not in _OF_A_TOKEN or not _known(chain, "windowed_layers"):
        return ()
    if not less(Fraction(0), chain.value("windowed_layers").value):
        return ()
    instead = "ask request_cache_bytes, kv_cache_tokens or growing_bytes_per_token"
    return (f"not every layer caches every token in full, so no token has bytes: {instead}",)


def _backwards(chain: Chain, name: str) -> list[frozenset[str]]:
    """What a stated result, or one side of a stated equation, lacks to say what `name` is."""
    found: list[frozenset[str]] = []
    facts = replace(chain.scenario.with_value(name, Fraction(1)), equations=(), relates=())
    # The quantity counts as known here, so that what lacks is what stands beside it.
    known = replace(chain, scenario=facts, unknowns=frozenset(), speaks_of=frozenset((name,)))
    for target in chain.equated():
        if target != name and name in chain.catalogue.upstream(target):
            without = replace(known, scenario=facts.without(target))
            found += _towards(without, name, target, _by_relations(without, target, (target,), {}))
    for _, left, right, _ in equal_sides(chain):
        names = {s.name for s in left.free_symbols | right.free_symbols}
        if any(name == n or name in chain.catalogue.upstream(n) for n in names):
            lacking = [n for n in sorted(names) if not _known(known, n)]
            parts = [_sets(known, n, (), {}) for n in lacking]
            sets = [frozenset[str]().union(*choice) for choice in product(*(p[:4] for p in parts))]
            found += [names for names in sets if names]
    return found


def _towards(
    chain: Chain, name: str, target: str, sets: list[frozenset[str]]
) -> list[frozenset[str]]:
    """The sets that leave the target a function of the quantity, and not of what is given."""
    kept = []
    for names in sets:
        given = chain.scenario
        for other in names:
            given = given.with_value(other, Fraction(1))
        try:
            found = replace(chain, scenario=given.without(name), unknowns=frozenset((name,))).value(
                target
            )
        except (Lacking, Undefined):
            continue
        if not is_number(found.value):
            kept.append(names)
    return kept


def _derived(chain: Chain, names: frozenset[str]) -> int:
    """How much stands behind the names: people know facts, not results."""
    return sum(len(chain.catalogue.upstream(n)) for n in names)


def _known(chain: Chain, name: str) -> bool:
    try:
        chain.value(name)
    except Lacking:
        return False
    return True


def _sets(
    chain: Chain, name: str, path: tuple[str, ...], memo: dict[str, list[frozenset[str]]]
) -> list[frozenset[str]]:
    if name in memo:
        return memo[name]
    found = [frozenset((name,))]
    if len(path) < _DEEPEST and name not in path:
        found += _by_relations(chain, name, (*path, name), memo)
    memo[name] = _minimal(found)
    return memo[name]


def _by_relations(
    chain: Chain, name: str, path: tuple[str, ...], memo: dict[str, list[frozenset[str]]]
) -> list[frozenset[str]]:
    found: list[frozenset[str]] = []
    fallback = chain.catalogue.defaults.get(name)
    allowed = name in chain.allowed or name == chain.asked
    assumable = (fallback,) if fallback is not None and allowed else ()
    for relation in (*chain.relations(name), *assumable):
        if not (chain.takes_part(relation) or relation.any_with):
            continue
        needed = [n for n in relation.inputs if not _known(chain, n)]
        if not needed or any(n in path for n in needed):
            continue
        parts = [_sets(chain, n, path, memo) for n in needed]
        found += [frozenset().union(*choice) for choice in product(*(p[:4] for p in parts))]
    return _minimal(found)


def _minimal(found: list[frozenset[str]]) -> list[frozenset[str]]:
    kept: list[frozenset[str]] = []
    for names in sorted(set(found), key=lambda s: (len(s), sorted(s))):
        if len(names) <= _LARGEST and not any(other <= names for other in kept):
            kept.append(names)
    return kept[:_MOST_SETS]
