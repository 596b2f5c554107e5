"""What stated facts leave of every quantity: between which values it lies, and what says so.

Nothing is guessed: a quantity that nobody states lies anywhere in its domain, and estimates count
only as the bounds that they are with every efficiency at its limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from formulas.catalogue import catalogue
from formulas.deployment.estimates import ESTIMATES
from formulas.formula import Relation
from solvers.branches import Refused, Root
from solvers.enclosure import Tape
from solvers.ground import Ground
from solvers.isolate import isolate
from solvers.known_sides import Side, Sides, domain_of, domain_side, side_of

_ROUNDS = 8
# What moves a side by less is no news; without it two relations could narrow each other for ever.
_NEWS = 1e-6


def reach(ground: Ground, hidden: str = "", estimates: bool = True) -> dict[str, Side]:
    """The side of every quantity that something stated speaks of, forwards and backwards.

    Without `estimates` those are followed backwards only. Where two conclusions exclude each other
    the first is kept: the stated fact behind the other is where that is found.
    """
    walk = _Walk(ground, ground.start(hidden), hidden, estimates)
    news = set(ground.stated) if ground.background else set(walk.sides)
    for _ in range(_ROUNDS):
        news |= walk.forwards(news)
        news = walk.backwards(news)
        if not news:
            break
    return walk.sides


def prepared(ground: Ground) -> Ground:
    """The same ground, with what follows from its readings concluded once."""
    bare = replace(ground, stated={})
    walk = _Walk(bare, bare.start(""), "", False)
    walk.forwards(set(walk.sides))
    return replace(ground, background=walk.sides)


def given_by(relation: Relation, sides: Sides) -> Side:
    """What the relation says of the quantity that it gives; an estimate gives its least."""
    found = _through(relation.key, "", sides)
    assert found is not None
    if relation.relation[0] == "<":
        return replace(found, low=-math.inf)
    if relation.relation[0] == ">" or relation.key in ESTIMATES:
        return replace(found, high=math.inf)
    return found


# -- concluding


@dataclass(frozen=True)
class _Walk:
    """Conclusions in both directions, each drawn again only where something in it is news."""

    ground: Ground
    sides: dict[str, Side]
    hidden: str
    estimates: bool

    def forwards(self, todo: set[str]) -> set[str]:
        """Everything from inputs to results, before anything is concluded the other way."""
        found: set[str] = set()
        for _ in range(_ROUNDS):
            news: set[str] = set()
            for relation in self.ground.forwards:
                fresh = not (todo.isdisjoint(relation.inputs) and news.isdisjoint(relation.inputs))
                if not fresh or relation.gives == self.hidden or not self._counts(relation):
                    continue
                if self._narrow(relation.gives, given_by(relation, self.sides)):
                    news.add(relation.gives)
            found |= news
            todo = news
            if not news:
                break
        return found

    def backwards(self, todo: set[str]) -> set[str]:
        """One step from each result that is known to its inputs."""
        news: set[str] = set()
        for relation in self.ground.backwards:
            if relation.gives == self.hidden or not _speaks(self.sides.get(relation.gives)):
                continue
            if relation.gives not in todo and todo.isdisjoint(relation.inputs):
                continue
            for name in relation.inputs:
                if name not in self.ground.fixed and name != self.hidden:
                    found = _backwards(relation, name, self.sides)
                    if found is not None and self._narrow(name, found):
                        news.add(name)
        return news

    def _counts(self, relation: Relation) -> bool:
        return self.estimates or relation.key not in ESTIMATES

    def _narrow(self, name: str, found: Side) -> bool:
        """Take up what a relation says where it is news; True where it is."""
        before = side_of(self.sides, name)
        low, high = max(before.low, found.low), min(before.high, found.high)
        if low > high or not (_higher(low, before.low) or _higher(before.high, high)):
            return False
        via = tuple(dict.fromkeys((*before.via, *found.via)))
        self.sides[name] = Side(low, high, before.facts | found.facts, via)
        return True


def _higher(one: float, other: float) -> bool:
    """Whether one is above the other by enough to be news."""
    if math.isinf(one) or math.isinf(other):
        return one > other
    return one - other > _NEWS * max(abs(one), abs(other))


def _speaks(side: Side | None) -> bool:
    return side is not None and bool(side.facts)


def _backwards(relation: Relation, name: str, sides: Sides) -> Side | None:
    """What the relation says of one of its inputs; None where the input does not stand alone."""
    gives = sides[relation.gives]
    if relation.key in ESTIMATES:
        # Measured is at least what was estimated: of the estimate only the upper end is known.
        gives = replace(gives, low=domain_side(catalogue().quantities[relation.gives].domain)[0])
    return _through(relation.key, name, {**sides, relation.gives: gives})


def _through(key: str, unknown: str, sides: Sides) -> Side | None:
    """The enclosure of a relation, or of its inverse for `unknown`, with what it rests on.

    None where the inverse divides by what is 0: then any value of the unknown does.
    """
    lowered = _inverse(key, unknown) if unknown else _tape(key)
    if lowered is None:
        return None
    used = [sides.get(name) or domain_of(name) for name in lowered.tape.names]
    ends = _enclosed(key, unknown, tuple([(side.low, side.high) for side in used]))
    if ends is None:
        return None
    facts = frozenset[str]().union(*[side.facts for side in used])
    via = dict.fromkeys(v for side in used for v in side.via)
    return Side(*ends, facts, (*via, key))


# One audit asks the same of a relation for many of its questions.
@lru_cache(maxsize=1 << 15)
def _enclosed(
    key: str, unknown: str, pairs: tuple[tuple[float, float], ...]
) -> tuple[float, float] | None:
    lowered = _inverse(key, unknown) if unknown else _tape(key)
    assert lowered is not None
    found = list(lowered.blank)
    for node, ends in zip(lowered.tape.names.values(), pairs, strict=True):
        found[node] = ends
    lowered.tape.run(found, lowered.nodes)
    if any(found[node] == (0.0, 0.0) for node in lowered.divisors):
        return None
    low, high = found[lowered.root]
    return low, high


@dataclass(frozen=True, slots=True)
class _Lowered:
    """An expression ready to be enclosed: its node, what it divides by, and the nodes in order."""

    tape: Tape
    root: int
    divisors: tuple[int, ...]
    nodes: tuple[int, ...]
    blank: tuple[Any, ...]


def _lowered(expr: Any, divided_by: Iterable[Any] = ()) -> _Lowered:
    tape = Tape()
    root = tape.add(expr)
    divisors = tuple(tape.add(base) for base in divided_by)
    nodes = tuple(tape.below([root, *divisors]))
    blank = tuple(tape.fixed.get(node) for node in range(len(tape.rules)))
    return _Lowered(tape, root, divisors, nodes, blank)


@cache
def _tape(key: str) -> _Lowered:
    return _lowered(catalogue().equation(key).value)


@cache
def _inverse(key: str, unknown: str) -> _Lowered | None:
    """The relation solved for one input, where that has one branch without a condition."""
    import sympy

    names = catalogue()
    relation = names.equation(key)
    gives, symbol = (names.quantities[n].symbol for n in (relation.gives, unknown))
    branches = isolate(relation.value, gives, symbol)
    if isinstance(branches, Refused) or len(branches) != 1:
        return None
    (branch,) = branches
    if not isinstance(branch, Root) or branch.condition is not sympy.true:
        return None
    powers = branch.value.atoms(sympy.Pow)
    below = (p.base for p in powers if p.exp.is_negative and p.base.free_symbols)
    return _lowered(branch.value, below)
