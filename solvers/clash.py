"""The smallest set of statements that cannot hold together, among equals with fewest assumptions.

Every set that can hold together says that a clash has a member outside it; the cheapest set with a
member outside each of them is a clash itself, or one more such set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from solvers.number import Number
from solvers.system import System
from solvers.witness import decide

# What the search for the smallest clash leaves for the ways out, of what may be looked at.
_LEFT_FOR_WAYS = 300.0

Places = frozenset[int]


@dataclass(frozen=True, slots=True)
class Clash:
    """The places of statements that are proved to clash.

    `needed` are those without which the others are proved to hold together, `smallest` is true
    where it is proved that no smaller clash, or equal one with fewer assumptions, exists.
    """

    members: tuple[int, ...]
    needed: frozenset[int]
    smallest: bool


@dataclass
class Oracle:
    """Whether sets of statements can hold together, each asked once; bounded in what it looks at.

    `can` are sets that can hold together, `cannot` sets that cannot, `only_one` what the first
    look at each statement gave.
    """

    system: System
    can: list[Places] = field(default_factory=list)
    cannot: list[Places] = field(default_factory=list)
    points: dict[Places, Mapping[str, Number]] = field(default_factory=dict)
    undecided: set[Places] = field(default_factory=set)

    def feasible(self, kept: Places, prefer: Mapping[str, Number] | None = None) -> bool | None:
        """Whether these can hold together; None where it was not decided."""
        if any(kept <= known for known in self.can):
            return True
        if any(known <= kept for known in self.cannot):
            return False
        if kept in self.undecided or self.system.left <= 0:
            return None
        near = {name: float(value) for name, value in (prefer or {}).items()}
        verdict = decide(self.system, sorted(kept), prefer=near)
        if verdict.feasible is None:
            self.undecided.add(kept)
        elif verdict.feasible and verdict.point is not None:
            met = self.system.also_met(kept, verdict.point)
            self.can.append(met)
            self.points[met] = verdict.point
        else:
            self.cannot.append(kept)
        return verdict.feasible

    def known(self, kept: Places) -> tuple[Places, Mapping[str, Number]]:
        """A set that is known to hold together and has these in it, with a point where it does."""
        best = max((known for known in self.can if kept <= known), key=len)
        return best, self.points[best]


def smallest_clash(oracle: Oracle, places: Places | None = None) -> Clash | None:
    """The smallest clash of all statements, or of those at these places.

    None where it is not proved that they clash.
    """
    everything = frozenset(range(len(oracle.system.said))) if places is None else places
    if oracle.feasible(everything) is not False:
        return None
    members = _irreducible(oracle, everything)
    smallest = True
    while oracle.system.left > _LEFT_FOR_WAYS:
        trial = _cheapest(oracle, [everything - known for known in oracle.can])
        if _cost(oracle, trial) >= _cost(oracle, members):
            break
        decided = oracle.feasible(trial)
        if decided is False:
            members = trial
        elif decided:
            _grow(oracle, trial, everything)
        else:
            smallest = False
            break
    smallest = smallest and oracle.system.left > _LEFT_FOR_WAYS
    needed = frozenset(i for i in members if oracle.feasible(members - {i}))
    return Clash(tuple(sorted(members)), needed, smallest)


def _cost(oracle: Oracle, places: Iterable[int]) -> tuple[int, int]:
    rows = list(places)
    return len(rows), sum(oracle.system.said[index].assumed for index in rows)


def _irreducible(oracle: Oracle, everything: Places) -> Places:
    """A clash from which nothing can be left out, assumptions left out before facts."""
    kept = everything
    for index in sorted(everything, key=lambda i: (not oracle.system.said[i].assumed, i)):
        if oracle.feasible(kept - {index}) is False:
            kept = kept - {index}
    return kept


def _grow(oracle: Oracle, start: Places, everything: Places) -> None:
    """Find a set that can hold together, has these in it, and to which nothing can be added."""
    kept, point = oracle.known(start)
    for index in sorted(everything - kept):
        if index not in kept and oracle.feasible(kept | {index}, point):
            kept, point = oracle.known(kept | {index})


def _cheapest(oracle: Oracle, sets: list[Places]) -> Places:
    """The cheapest places of which each of the sets has one."""
    best: Places | None = None
    order = sorted(sets, key=len)

    def search(chosen: Places) -> None:
        nonlocal best
        if best is not None and _cost(oracle, chosen) >= _cost(oracle, best):
            return
        open_set = next((s for s in order if not s & chosen), None)
        if open_set is None:
            best = chosen
            return
        for index in sorted(open_set, key=lambda i: (oracle.system.said[i].assumed, i)):
            search(chosen | {index})

    search(frozenset())
    return best if best is not None else frozenset()
