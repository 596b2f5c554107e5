"""What fits together on one GPU that is cut, and on one node: the maximal patterns, found once.

A pattern counts the pieces of each kind. Only maximal ones are kept, since whatever fits beside
fewer pieces is part of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from formulas.errors import Problem
from solvers.fleet_model import Pool, Profile

MOST_PATTERNS = 5_000

Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """One way to cut a GPU: how many instances of each profile, and where each one begins."""

    counts: Counts
    places: tuple[tuple[str, int], ...]


def cuts_of(pool: Pool, names: Sequence[str]) -> tuple[Cut, ...]:
    """The maximal ways to cut a GPU of the pool into instances of these profiles, in that order."""
    profiles = [pool.profile(name) for name in names]
    found: dict[Counts, tuple[tuple[str, int], ...]] = {}
    seen: set[tuple[int, Counts]] = set()
    waiting: list[tuple[int, Counts, tuple[tuple[str, int], ...]]] = [(0, (0,) * len(names), ())]
    while waiting:
        unit, counts, places = waiting.pop()
        if (unit, counts) in seen:
            continue
        seen.add((unit, counts))
        if len(seen) > MOST_PATTERNS * 20:
            raise _too_many(pool, "ways to cut a GPU")
        found.setdefault(counts, places)
        if unit >= pool.units:
            continue
        waiting.append((unit + 1, counts, places))
        for index, profile in enumerate(profiles):
            if unit in profile.starts and _fits(pool, profiles, counts, index, unit):
                more = tuple(n + (i == index) for i, n in enumerate(counts))
                waiting.append((unit + profile.size, more, (*places, (profile.name, unit))))
    return tuple(Cut(counts, found[counts]) for counts in maximal(found))


def alone(pool: Pool, name: str) -> int:
    """How many instances of one profile fit on a GPU that holds nothing else."""
    return max((cut.counts[0] for cut in cuts_of(pool, (name,))), default=0)


def _fits(pool: Pool, profiles: Sequence[Profile], counts: Counts, index: int, unit: int) -> bool:
    """Whether one more instance fits that begins at this unit, behind those that are placed."""
    profile = profiles[index]
    taken = sum(n * row.slices for n, row in zip(counts, profiles, strict=True))
    media = sum(n for n, row in zip(counts, profiles, strict=True) if row.media)
    return (
        unit + profile.size <= pool.units
        and taken + profile.slices <= pool.slices
        and counts[index] < profile.most
        and not (profile.media and media)
    )


def fillings_of(pool: Pool, sizes: Sequence[int]) -> tuple[Counts, ...]:
    """The maximal ways to fill a node with replicas of these sizes, in that order."""
    found: set[Counts] = set()
    waiting: list[tuple[int, Counts]] = [(pool.node_gpus, ())]
    while waiting:
        room, counts = waiting.pop()
        if len(counts) == len(sizes):
            found.add(counts)
            if len(found) > MOST_PATTERNS:
                raise _too_many(pool, "ways to fill a node")
            continue
        size = sizes[len(counts)]
        waiting += [(room - n * size, (*counts, n)) for n in range(room // size + 1)]
    return maximal(found)


def is_chain(sizes: Iterable[int]) -> bool:
    """Whether each size divides the next, so that blocks of any kind pack without gaps."""
    rows = sorted(set(sizes))
    return all(larger % smaller == 0 for smaller, larger in pairwise(rows))


def maximal(counts: Iterable[Counts]) -> tuple[Counts, ...]:
    """Those that no other one contains, the largest first."""
    kept: list[Counts] = []
    for row in sorted(set(counts), key=lambda c: (-sum(c), c)):
        if not any(all(a >= b for a, b in zip(other, row, strict=True)) for other in kept):
            kept.append(row)
    return tuple(row for row in kept if any(row))


def _too_many(pool: Pool, what: str) -> Problem:
    advice = "list fewer MIG profiles, or fewer values of tp"
    return Problem("fleet", f"node '{pool.name}' has more than {MOST_PATTERNS} {what}", (advice,))
