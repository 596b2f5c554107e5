"""Which statements would have to be given up together, the fewest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from solvers.answer import Statement
from solvers.clash import Oracle

_LARGEST = 3
MOST = 12


@dataclass(frozen=True, slots=True)
class Corrections:
    """Sets of statements to give up, each the smallest of its kind; none is part of another.

    `complete` is false where more may exist than were found.
    """

    sets: tuple[tuple[Statement, ...], ...]
    complete: bool


def corrections(oracle: Oracle) -> Corrections:
    """The minimal sets without which everything else can hold together, the cheapest first.

    One is cheaper than another with more members, or with more that people said.
    """
    said = oracle.system.said
    everything = frozenset(range(len(said)))
    found: list[frozenset[int]] = []
    complete = True
    for dropped in _candidates(len(said)):
        if any(known <= dropped for known in found):
            continue
        if oracle.system.left <= 0 or len(found) >= MOST:
            complete = False
            break
        decided = oracle.feasible(everything - dropped)
        complete = complete and decided is not None
        if decided:
            found.append(dropped)
    ordered = sorted(found, key=lambda s: (len(s), sum(not said[i].assumed for i in s), sorted(s)))
    sets = tuple(tuple(said[index].statement for index in sorted(row)) for row in ordered)
    return Corrections(sets, complete)


def _candidates(count: int) -> Iterator[frozenset[int]]:
    for size in range(1, _LARGEST + 1):
        yield from map(frozenset, combinations(range(count), size))
