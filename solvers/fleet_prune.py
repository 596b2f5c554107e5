"""Dominance: an option is set aside where another one of its workload fits wherever it fits."""

from __future__ import annotations

from dataclasses import replace

from solvers.fleet_model import Fleet, Option, Pool, Profile, Workload
from solvers.fleet_patterns import alone


def pruned(fleet: Fleet) -> Fleet:
    """The same fleet without options that can never be better, so that its optimum is the same."""
    rows = tuple(_kept(fleet, workload) for workload in fleet.workloads)
    return replace(fleet, workloads=rows)


def _kept(fleet: Fleet, workload: Workload) -> Workload:
    kept: list[Option] = []
    for option in sorted(workload.options, key=_order):
        pool = fleet.pool(option.pool)
        rivals = (other for other in kept if other.pool == option.pool)
        if _could_stand(pool, option) and not any(_replaces(pool, r, option) for r in rivals):
            kept = [other for other in kept if not _covers(pool, option, other)]
            kept.append(option)
    return replace(workload, options=tuple(kept))


def _order(option: Option) -> tuple[int, int, int]:
    return option.whole_gpus, option.replicas, option.gpus


def _could_stand(pool: Pool, option: Option) -> bool:
    """Whether the option fits at all in the whole pool."""
    if option.profile:
        return option.replicas <= pool.gpus * alone(pool, option.profile)
    return option.replicas <= pool.nodes * (pool.node_gpus // option.gpus)


def _covers(pool: Pool, one: Option, other: Option) -> bool:
    return other.pool == one.pool and _replaces(pool, one, other)


def _replaces(pool: Pool, one: Option, other: Option) -> bool:
    """Whether all of `one` fits into the room of `other`, wherever that stands, for no more."""
    if one.gpus and other.gpus:
        inside = other.gpus // one.gpus
        return one.whole_gpus <= other.whole_gpus and one.replicas <= other.replicas * inside
    if one.gpus:
        return False
    profile = pool.profile(one.profile)
    if other.gpus:
        return one.replicas <= other.whole_gpus * alone(pool, profile.name)
    if one.profile == other.profile:
        return one.replicas <= other.replicas
    return one.replicas <= other.replicas and _inside(profile, pool.profile(other.profile))


def _inside(small: Profile, large: Profile) -> bool:
    """Whether an instance of the one fits in the place of the other, wherever that begins."""
    # Only geometry may limit the smaller one, or the one set of media engines that both take.
    free = large.media if small.media else small.most >= _side_by_side(small)
    if small.slices > large.slices or not free:
        return False
    return all(
        any(start <= s and s + small.size <= start + large.size for s in small.starts)
        for start in large.starts
    )


def _side_by_side(profile: Profile) -> int:
    """How many places of the profile do not overlap."""
    count, free_from = 0, 0
    for start in sorted(profile.starts):
        if start >= free_from:
            count, free_from = count + 1, start + profile.size
    return count
