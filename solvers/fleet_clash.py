"""Why a fleet cannot be placed: a smallest set of workloads and limits that clash, and ways out.

Left out, a workload needs no place, a pool has as many nodes as anybody wants, and a budget is
none. A set is infeasible if the rest left out does not help; the smallest one is found by asking,
for ever larger sets that meet every way out known so far, whether they fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from time import monotonic

from solvers.fleet import Best, fits, solve_fleet
from solvers.fleet_model import Fleet

WORKLOAD, POOL, BUDGET = "workload", "pool", "budget"
# So many sets are tried for the smallest; beyond that one is shown in which each part is needed.
_MOST_SETS = 20_000
# More GPUs than this are not placed one by one, only to tell what they would cost.
MOST_PLACED = 20_000

Part = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Way:
    """One change that alone makes the fleet fit: so many nodes, that budget, or no such workload.

    `then` is what the cheapest placement costs afterwards, where that was found out.
    """

    part: Part
    to: Fraction | None
    then: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Clash:
    """Parts that do not fit together, each needed; `smallest` where no fewer parts clash."""

    parts: tuple[Part, ...]
    smallest: bool
    ways: tuple[Way, ...]
    cannot_help: tuple[Part, ...] = ()


def clash_of(fleet: Fleet, seconds: float) -> Clash | None:
    """A smallest set of parts that clash with its ways out; None where the time was not enough."""
    ends = monotonic() + seconds
    check = _Checks(fleet, ends)
    everything = _parts(fleet)
    try:
        parts = _smallest(everything, check.clashes)
        smallest = parts is not None
        shown = parts or _each_needed(everything, check.clashes)
    except TimeoutError:
        return None
    ways, cannot = [], []
    for part in shown:
        try:
            way = _way(fleet, part, check, ends)
        except TimeoutError:
            continue
        if way is None:
            cannot.append(part)
        else:
            ways.append(way)
    return Clash(shown, smallest, tuple(ways), tuple(cannot))


def _parts(fleet: Fleet) -> tuple[Part, ...]:
    rows = [(WORKLOAD, workload.name) for workload in fleet.workloads]
    used = {option.pool for workload in fleet.workloads for option in workload.options}
    rows += [(POOL, pool.name) for pool in fleet.pools if pool.name in used]
    return (*rows, *([] if fleet.budget is None else [(BUDGET, "")]))


class _Checks:
    """Whether parts clash, remembered: more parts clash where fewer do."""

    def __init__(self, fleet: Fleet, ends: float) -> None:
        self.fleet, self.ends = fleet, ends
        self.known: dict[frozenset[Part], bool] = {}

    def clashes(self, parts: frozenset[Part]) -> bool:
        """Whether there is no placement under these parts alone."""
        if parts not in self.known:
            self.known[parts] = self._ask(parts)
        return self.known[parts]

    def _ask(self, parts: frozenset[Part]) -> bool:
        for known, clash in self.known.items():
            if (clash and known <= parts) or (not clash and parts <= known):
                return clash
        return not self.fit(_under(self.fleet, parts))

    def fit(self, fleet: Fleet) -> bool:
        """Whether the fleet fits; TimeoutError where there is no time to find out."""
        left = self.ends - monotonic()
        found = fits(fleet, left) if left > 0 else None
        if found is None:
            raise TimeoutError
        return found


def _under(fleet: Fleet, parts: frozenset[Part]) -> Fleet:
    """The fleet in which only these parts hold."""
    kept = tuple(w for w in fleet.workloads if (WORKLOAD, w.name) in parts)
    budget = fleet.budget if (BUDGET, "") in parts else None
    free = frozenset(pool.name for pool in fleet.pools if (POOL, pool.name) not in parts)
    if budget is None:
        # What may stand in a pool without an end is served.
        kept = tuple(w for w in kept if not any(option.pool in free for option in w.options))
    pools = tuple(
        replace(pool, nodes=enough(fleet, pool.name)) if pool.name in free else pool
        for pool in fleet.pools
    )
    return Fleet(pools, kept, budget)


def enough(fleet: Fleet, pool: str) -> int:
    """So many nodes of the pool that nobody ever wants more."""
    rows = (
        max((option.replicas for option in w.options if option.pool == pool), default=0)
        for w in fleet.workloads
    )
    return max(1, sum(rows))


def _smallest(
    everything: tuple[Part, ...], clashes: Callable[[frozenset[Part]], bool]
) -> tuple[Part, ...] | None:
    """The first smallest set that clashes; None where too many sets would have to be tried.

    Every set that clashes has a part of each correction, which is what is left out of a largest
    set that fits.
    """
    corrections: list[frozenset[Part]] = []
    tried = 0
    for size in range(1, len(everything) + 1):
        for rows in combinations(everything, size):
            tried += 1
            if tried > _MOST_SETS:
                return None
            candidate = frozenset(rows)
            if any(not candidate & correction for correction in corrections):
                continue
            if clashes(candidate):
                return rows
            corrections.append(frozenset(everything) - _grown(candidate, everything, clashes))
    return None


def _grown(
    parts: frozenset[Part],
    everything: Iterable[Part],
    clashes: Callable[[frozenset[Part]], bool],
) -> frozenset[Part]:
    """As many parts as fit beside those that do."""
    for part in everything:
        if part not in parts and not clashes(parts | {part}):
            parts |= {part}
    return parts


def _each_needed(
    everything: tuple[Part, ...], clashes: Callable[[frozenset[Part]], bool]
) -> tuple[Part, ...]:
    """Parts that clash, none of which can be left out."""
    kept = list(everything)
    for part in everything:
        without = [other for other in kept if other != part]
        if clashes(frozenset(without)):
            kept = without
    return tuple(kept)


def _way(fleet: Fleet, part: Part, check: _Checks, ends: float) -> Way | None:
    """The smallest change of one part that makes the whole fleet fit; None where there is none."""
    kind, name = part
    if kind == WORKLOAD:
        rest = replace(fleet, workloads=tuple(w for w in fleet.workloads if w.name != name))
        return Way(part, None) if not rest.workloads or check.fit(rest) else None
    if kind == BUDGET:
        found = solve_fleet(replace(fleet, budget=None), ends - monotonic())
        if isinstance(found, Best) and found.proved:
            return Way(part, found.placed.cost, found.placed.cost)
        return None
    nodes = _nodes(fleet, name, check)
    if nodes is None:
        return None
    if nodes * fleet.pool(name).node_gpus > MOST_PLACED:
        return Way(part, Fraction(nodes))
    found = solve_fleet(with_nodes(fleet, name, nodes), ends - monotonic())
    then = found.placed.cost if isinstance(found, Best) and found.proved else None
    return Way(part, Fraction(nodes), then)


def _nodes(fleet: Fleet, name: str, check: _Checks) -> int | None:
    """The fewest nodes of the pool with which the fleet fits."""
    low, high = fleet.pool(name).nodes, enough(fleet, name)
    if high <= low or not check.fit(with_nodes(fleet, name, high)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if check.fit(with_nodes(fleet, name, middle)) else (middle, high)
    return high


def with_nodes(fleet: Fleet, name: str, nodes: int) -> Fleet:
    """The fleet in which that pool has so many nodes."""
    rows = (replace(pool, nodes=nodes) if pool.name == name else pool for pool in fleet.pools)
    return replace(fleet, pools=tuple(rows))
