"""Fleets solved without the product's program: physical placing, enumeration, and CP-SAT."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import lcm

from solvers.fleet_model import Fleet, Option, Pool, Profile

Counts = tuple[int, ...]


@cache
def packs(pool: Pool, names: tuple[str, ...]) -> bool:
    """Whether these instances stand on one GPU together: each is tried at each of its places."""
    profiles = [pool.profile(name) for name in names]
    if sum(p.slices for p in profiles) > pool.slices or sum(p.media for p in profiles) > 1:
        return False
    if any(names.count(p.name) > p.most for p in profiles):
        return False
    return _stands(profiles, 0, pool.units)


def _stands(profiles: list[Profile], taken: int, units: int) -> bool:
    if not profiles:
        return True
    first, *rest = profiles
    block = (1 << first.size) - 1
    return any(
        _stands(rest, taken | block << start, units)
        for start in first.starts
        if start + first.size <= units and not taken & block << start
    )


@cache
def multisets(pool: Pool, names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Every set of instances that stands on one GPU, by size from none on."""
    found = {()}
    for size in range(1, pool.units + 1):
        rows = {r for r in combinations_with_replacement(names, size) if packs(pool, r)}
        if not rows:
            break
        found |= rows
    return frozenset(found)


@cache
def gpus_for(pool: Pool, instances: tuple[str, ...]) -> int:
    """The fewest GPUs that hold these instances."""
    if not instances:
        return 0
    first, rest = instances[0], instances[1:]
    best = len(instances)
    for count in range(len(rest) + 1):
        for chosen in {tuple(sorted(c)) for c in _subsets(rest, count)}:
            if packs(pool, tuple(sorted((first, *chosen)))):
                left = list(rest)
                for name in chosen:
                    left.remove(name)
                best = min(best, 1 + gpus_for(pool, tuple(left)))
    return best


def _subsets(rows: tuple[str, ...], count: int) -> list[tuple[str, ...]]:
    from itertools import combinations

    return list(combinations(rows, count)) if count <= 7 else []


def fills(rooms: tuple[int, ...], pieces: tuple[int, ...]) -> bool:
    """Whether whole pieces fit into nodes with so much room; each is tried on each node."""
    if not pieces:
        return True
    first, *rest = sorted(pieces, reverse=True)
    tried = set()
    for place, room in enumerate(rooms):
        if room >= first and room not in tried:
            tried.add(room)
            left = sorted((*rooms[:place], room - first, *rooms[place + 1 :]))
            if fills(tuple(left), tuple(rest)):
                return True
    return False


def cost_of(fleet: Fleet, chosen: tuple[Option, ...]) -> Fraction | None:
    """What these options cost; None where they do not fit."""
    total = Fraction(0)
    for pool in fleet.pools:
        here = [option for option in chosen if option.pool == pool.name]
        whole = [option.gpus for option in here if option.gpus for _ in range(option.replicas)]
        small = [o.profile for o in here if o.profile for _ in range(o.replicas)]
        if sum(whole) > pool.gpus or len(small) > pool.gpus * 7:
            return None
        cut = gpus_for(pool, tuple(sorted(small)))
        pieces = (*whole, *([1] * cut))
        if sum(pieces) > pool.gpus or not fills((pool.node_gpus,) * pool.nodes, pieces):
            return None
        total += pool.price * sum(pieces)
    return None if fleet.budget is not None and total > fleet.budget else total


def enumerated(fleet: Fleet) -> Fraction | None:
    """The least cost over every choice of options; None where nothing fits."""
    rows = product(*(workload.options for workload in fleet.workloads))
    costs = [cost for cost in (cost_of(fleet, chosen) for chosen in rows) if cost is not None]
    return min(costs, default=None)


def by_cp_sat(fleet: Fleet, seconds: float = 60, workers: int = 2) -> Fraction | None:
    """The least cost by CP-SAT, with a count of pieces on every single node; None for none."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    scale = lcm(*(pool.price.denominator for pool in fleet.pools))
    taken = {
        (w.name, i): model.new_bool_var(f"{w.name} {i}")
        for w in fleet.workloads
        for i, _ in enumerate(w.options)
    }
    for w in fleet.workloads:
        model.add_exactly_one(taken[w.name, i] for i, _ in enumerate(w.options))
    costs = []
    for pool in fleet.pools:
        here = [
            (taken[w.name, i], option)
            for w in fleet.workloads
            for i, option in enumerate(w.options)
            if option.pool == pool.name
        ]
        names = tuple(sorted({option.profile for _, option in here if option.profile}))
        patterns = sorted(multisets(pool, names)) if names else []
        used = [model.new_int_var(0, pool.gpus, "cut") for _ in patterns]
        for name in names:
            asked = sum(var * o.replicas for var, o in here if o.profile == name)
            model.add(sum(p.count(name) * v for p, v in zip(patterns, used, strict=True)) >= asked)
        sizes = sorted({option.gpus for _, option in here if option.gpus})
        room = {
            (node, size): model.new_int_var(0, pool.node_gpus // size, "whole")
            for node in range(pool.nodes)
            for size in sizes
        }
        cut = [model.new_int_var(0, pool.node_gpus, "cut GPUs") for _ in range(pool.nodes)]
        for node in range(pool.nodes):
            whole = sum(size * room[node, size] for size in sizes)
            model.add(whole + cut[node] <= pool.node_gpus)
        for size in sizes:
            asked = sum(var * o.replicas for var, o in here if o.gpus == size)
            model.add(sum(room[node, size] for node in range(pool.nodes)) == asked)
        model.add(sum(cut) == sum(v for p, v in zip(patterns, used, strict=True) if p))
        gpus = sum(var * o.whole_gpus for var, o in here) + sum(cut)
        costs.append(int(pool.price * scale) * gpus)
    if fleet.budget is not None:
        model.add(sum(costs) <= int(fleet.budget * scale // 1))
    model.minimize(sum(costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.max_time_in_seconds = seconds
    verdict = solver.solve(model)
    if verdict == cp_model.INFEASIBLE:
        return None
    assert verdict == cp_model.OPTIMAL
    return Fraction(round(solver.objective_value), scale)
