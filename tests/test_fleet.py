"""Fleets: every optimum against CP-SAT and plain enumeration, MIG against every placement."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from formulas.hardware import Gpu, gpus, mig_profiles
from solvers.fleet import Best, NoneFits, Open, solve_fleet
from solvers.fleet_bound import bound_of
from solvers.fleet_clash import BUDGET, POOL, WORKLOAD, clash_of, with_nodes
from solvers.fleet_model import Fleet, Node, Option, Placed, Pool, Workload
from solvers.fleet_patterns import cuts_of
from solvers.fleet_place import Wrong, verify
from solvers.fleet_pools import plain_profiles, pool_of
from solvers.fleet_program import program_of
from solvers.fleet_prune import pruned
from tests.fleet_oracle import by_cp_sat, cost_of, enumerated, multisets
from tests.fleets import ODD_SIZES, SIZES, random_fleet, small_fleet

ENGINES = ("z3", "highs")


def cost(answer: Best | NoneFits | Open) -> Fraction | None:
    """The cost of an optimum, None where nothing fits; anything unproved fails."""
    if isinstance(answer, NoneFits):
        return None
    assert isinstance(answer, Best)
    assert answer.proved
    assert answer.bound == answer.placed.cost
    return answer.placed.cost


@pytest.mark.parametrize("workloads", [2, 5, 10])
@pytest.mark.parametrize("seed", range(20))
def test_both_engines_agree_with_cp_sat(seed: int, workloads: int) -> None:
    sizes = ODD_SIZES if seed % 4 == 3 else SIZES
    fleet = random_fleet(seed, workloads, sizes, (1.0, 1.3, 2.0)[seed % 3])
    wanted = by_cp_sat(fleet)
    assert {engine: cost(solve_fleet(fleet, 60, engine)) for engine in ENGINES} == dict.fromkeys(
        ENGINES, wanted
    )


@pytest.mark.parametrize("block", range(6))
def test_small_fleets_agree_with_every_choice(block: int) -> None:
    found = {True: 0, False: 0}
    for seed in range(20 * block, 20 * block + 20):
        fleet = small_fleet(seed)
        wanted = enumerated(fleet)
        found[wanted is None] += 1
        for engine in ENGINES:
            assert cost(solve_fleet(fleet, 60, engine)) == wanted, seed
        if wanted is None:
            continue
        # A budget exactly at the optimum is met, and one below it is not.
        exactly = replace(fleet, budget=wanted)
        below = replace(fleet, budget=wanted - Fraction(1, 1000))
        for engine in ENGINES:
            assert cost(solve_fleet(exactly, 60, engine)) == wanted
            assert cost(solve_fleet(below, 60, engine)) is None
    assert all(found.values())


def test_between_equal_costs_fewer_gpus_decide() -> None:
    """Against every choice, at prices of which one is twice the other."""
    ties = 0
    for seed in range(80):
        pools = zip(small_fleet(seed).pools, (2, 1), strict=True)
        priced = [replace(pool, price=Fraction(price)) for pool, price in pools]
        fleet = replace(small_fleet(seed), pools=tuple(priced))
        single = replace(fleet, pools=tuple(replace(p, price=Fraction(1)) for p in priced))
        rows = product(*(workload.options for workload in fleet.workloads))
        found = [(cost_of(fleet, c), cost_of(single, c)) for c in rows]
        known = sorted(row for row in found if row[0] is not None)
        if not known:
            continue
        ties += len({gpus for cost, gpus in known if cost == known[0][0]}) > 1
        for engine in ENGINES:
            answer = solve_fleet(fleet, 60, engine)
            assert cost(answer) == known[0][0]
            assert sum(node.gpus for node in answer.placed.nodes) == known[0][1], (seed, engine)
    assert ties > 3


@pytest.mark.parametrize("seed", range(40))
def test_what_dominance_leaves_has_the_same_optimum(seed: int) -> None:
    fleet = small_fleet(seed)
    small = pruned(fleet)
    if not all(workload.options for workload in small.workloads):
        assert enumerated(fleet) is None
    else:
        assert enumerated(small) == enumerated(fleet)


CUT = [gpu for gpu in gpus().values() if mig_profiles(gpu)]


@pytest.mark.parametrize("gpu", CUT, ids=lambda gpu: gpu.name)
def test_the_ways_to_cut_a_gpu_are_all_the_maximal_ones(gpu: Gpu) -> None:
    names = plain_profiles(gpu)
    pool = pool_of("p", gpu, 1, 8, Fraction(1), names)
    found = {
        tuple(sorted(n for n, c in zip(names, cut.counts, strict=True) for _ in range(c)))
        for cut in cuts_of(pool, names)
    }
    everything = {tuple(sorted(row)) for row in multisets(pool, tuple(sorted(names)))}
    assert found == {row for row in everything if not any(_above(o, row) for o in everything)}


def _above(larger: tuple[str, ...], smaller: tuple[str, ...]) -> bool:
    more = all(larger.count(name) >= smaller.count(name) for name in smaller)
    return more and len(larger) > len(smaller)


# From the placements that nvidia-smi mig -lgipp prints, by hand.
def test_known_ways_to_cut_an_h100() -> None:
    gpu = gpus()["h100-sxm-80gb"]
    pool = pool_of("p", gpu, 1, 8, Fraction(1), ("1g.10gb", "3g.40gb", "4g.40gb"))
    found = {cut.counts for cut in cuts_of(pool, ("1g.10gb", "3g.40gb", "4g.40gb"))}
    assert found == {(7, 0, 0), (0, 2, 0), (0, 1, 1), (4, 1, 0), (3, 0, 1)}


@pytest.mark.parametrize("seed", range(10))
def test_a_placement_that_is_tampered_with_is_no_placement(seed: int) -> None:
    fleet = random_fleet(seed, 5, tight=3.0)
    answer = solve_fleet(fleet, 60)
    assert isinstance(answer, Best)
    good = answer.placed
    verify(fleet, good)
    choose = random.Random(seed)
    place = choose.randrange(len(good.nodes))
    gone = (*good.nodes[:place], *good.nodes[place + 1 :])
    crowded = replace(good.nodes[place], whole=(*good.nodes[place].whole, ("w0", 16)))
    for bad in (
        replace(good, nodes=gone),
        replace(good, cost=good.cost + 1),
        replace(good, nodes=(*gone, crowded)),
        replace(good, choice={**good.choice, "w0": Option("big", 10**6, gpus=1)}),
    ):
        with pytest.raises(Wrong):
            verify(fleet, bad)


def test_instances_that_overlap_are_no_placement() -> None:
    gpu = gpus()["h100-sxm-80gb"]
    pool = pool_of("p", gpu, 1, 8, Fraction(2), ("3g.40gb",))
    option = Option("p", 2, profile="3g.40gb")
    fleet = Fleet((pool,), (Workload("w", (option,)),))
    answer = solve_fleet(fleet)
    assert isinstance(answer, Best)
    (node,) = answer.placed.nodes
    assert answer.placed.cost == 2
    first, second = node.cut[0]
    assert {first.start, second.start} == {0, 4}
    for start in (first.start, 2):
        cut = (first, replace(second, start=start))
        bad = Placed(answer.placed.choice, (Node("p", (), (cut,)),), Fraction(2))
        with pytest.raises(Wrong):
            verify(fleet, bad)


@pytest.mark.parametrize("seed", range(30))
def test_the_bound_is_below_the_optimum_also_when_the_time_is_over(seed: int) -> None:
    fleet = small_fleet(seed)
    best = enumerated(fleet)
    program = program_of(pruned(fleet))
    bound = bound_of(program, 10)
    if best is None or bound is None:
        assert best is None
        return
    assert program.price(bound.least) <= best
    for engine in ENGINES:
        stopped = solve_fleet(fleet, 0.0, engine)
        assert not isinstance(stopped, NoneFits)
        assert stopped.bound <= best
        if isinstance(stopped, Best):
            assert stopped.placed.cost >= best
            assert stopped.proved == (stopped.placed.cost == stopped.bound)


def _fleet_under(fleet: Fleet, parts: frozenset[tuple[str, str]]) -> Fleet:
    """The fleet in which only these parts hold; more nodes than 60 nobody wants here."""
    pools = tuple(p if (POOL, p.name) in parts else replace(p, nodes=60) for p in fleet.pools)
    kept = tuple(w for w in fleet.workloads if (WORKLOAD, w.name) in parts)
    return Fleet(pools, kept, fleet.budget if (BUDGET, "") in parts else None)


@pytest.mark.parametrize("block", range(5))
def test_every_clash_is_smallest_and_every_way_out_tight(block: int) -> None:
    from itertools import combinations

    tried = 0
    seed = 1000 * block
    while tried < 10:
        seed += 1
        fleet = small_fleet(seed)
        best = enumerated(fleet)
        if best is not None and seed % 2:
            continue
        # Half of them lack room, the others money.
        fleet = fleet if best is None else replace(fleet, budget=best * Fraction(2, 3))
        tried += 1
        clash = clash_of(fleet, 60)
        assert clash is not None
        assert clash.smallest
        everything = [(WORKLOAD, w.name) for w in fleet.workloads]
        everything += [(POOL, p.name) for p in fleet.pools]
        everything += [] if fleet.budget is None else [(BUDGET, "")]
        assert enumerated(_fleet_under(fleet, frozenset(clash.parts))) is None
        for rows in combinations(everything, len(clash.parts) - 1):
            assert enumerated(_fleet_under(fleet, frozenset(rows))) is not None
        assert {way.part for way in clash.ways} | set(clash.cannot_help) == set(clash.parts)
        for way in clash.ways:
            kind, name = way.part
            if kind == BUDGET:
                assert way.to == enumerated(replace(fleet, budget=None))
            elif kind == POOL:
                nodes = int(way.to or 0)
                assert enumerated(with_nodes(fleet, name, nodes)) == way.then
                assert enumerated(with_nodes(fleet, name, nodes - 1)) is None
        for kind, name in clash.cannot_help:
            if kind == POOL:
                assert enumerated(with_nodes(fleet, name, 60)) is None
            elif kind == BUDGET:
                assert enumerated(replace(fleet, budget=None)) is None


def test_the_order_of_what_is_stated_changes_no_cost() -> None:
    fleet = random_fleet(4, 8, tight=2.0)
    turned = Fleet(fleet.pools[::-1], fleet.workloads[::-1])
    assert cost(solve_fleet(turned)) == cost(solve_fleet(fleet)) == by_cp_sat(fleet)


def test_nodes_of_an_odd_size_are_filled_as_they_can_be() -> None:
    # Two replicas of 3 GPUs leave 2 of 8: a third does not fit, though 9 of 16 are less than all.
    pool = Pool("p", 1, 8, Fraction(1))
    fleet = Fleet((pool,), (Workload("w", (Option("p", 3, gpus=3),)),))
    assert isinstance(solve_fleet(fleet), NoneFits)
    wide = replace(fleet, pools=(replace(pool, nodes=2),))
    assert cost(solve_fleet(wide)) == 9
