"""Random fleets for the oracle tests: heterogeneous pools, MIG, and room that is just enough."""

from __future__ import annotations

import random
from fractions import Fraction

from solvers.fleet_model import Fleet, Option, Pool, Profile, Workload

# As nvidia-smi mig -lgipp prints them for an 80 GB GPU.
EIGHTHS = (
    Profile("1g.10gb", (0, 1, 2, 3, 4, 5, 6), 1, 1, 7),
    Profile("1g.20gb", (0, 2, 4, 6), 2, 1, 4),
    Profile("2g.20gb", (0, 2, 4), 2, 2, 3),
    Profile("3g.40gb", (0, 4), 4, 3, 2),
    Profile("4g.40gb", (0,), 4, 4, 1),
    Profile("7g.80gb", (0,), 8, 7, 1),
)
SIZES = (1, 2, 4, 8)
ODD_SIZES = (1, 2, 3, 4, 6, 8)


def random_fleet(
    seed: int, workloads: int, sizes: tuple[int, ...] = SIZES, tight: float = 1.0
) -> Fleet:
    """A fleet of so many workloads; the smaller `tight`, the less room its pools have."""
    choose = random.Random(seed)
    pools = tuple(_pool(choose, name, workloads, tight) for name in ("big", "mid", "small"))
    rows = tuple(_workload(choose, f"w{n}", pools, sizes) for n in range(workloads))
    return Fleet(pools, rows)


def _pool(choose: random.Random, name: str, workloads: int, tight: float) -> Pool:
    cut = name != "small"
    nodes = max(1, round(tight * workloads * choose.uniform(0.15, 0.5)))
    node_gpus = choose.choice((4, 8, 8))
    price = Fraction(choose.randint(80, 600), 100)
    profiles = EIGHTHS if cut else ()
    return Pool(name, nodes, node_gpus, price, name, profiles, 8 if cut else 0, 7 if cut else 0)


def _workload(
    choose: random.Random, name: str, pools: tuple[Pool, ...], sizes: tuple[int, ...]
) -> Workload:
    """Options that get slower and cheaper the smaller they are, some of them not offered."""
    load = 2 ** choose.uniform(0, 4.5)
    options = []
    for pool in pools:
        speed = choose.uniform(0.4, 2.0)
        for size in sizes:
            if size <= pool.node_gpus and choose.random() < 0.7:
                rate = speed * size ** choose.uniform(0.75, 1.1)
                options.append(Option(pool.name, max(1, round(load / rate)), gpus=size))
        for profile in pool.profiles:
            if choose.random() < 0.4:
                rate = speed * profile.slices / 8
                options.append(Option(pool.name, max(1, round(load / rate)), profile=profile.name))
    if not options:
        options.append(Option(pools[0].name, max(1, round(load)), gpus=1))
    return Workload(name, tuple(options))


def small_fleet(seed: int) -> Fleet:
    """Two or three workloads on two small pools, so that every choice can be looked at."""
    choose = random.Random(seed)
    pools = tuple(
        Pool(
            name,
            choose.choice((1, 1, 2)),
            choose.choice((1, 2, 4, 6, 8)),
            Fraction(choose.randint(50, 500), 100),
            name,
            EIGHTHS if choose.random() < 0.7 else (),
            8,
            7,
        )
        for name in ("one", "two")
    )
    return Fleet(pools, tuple(_few(choose, f"w{n}", pools) for n in range(choose.choice((2, 3)))))


def _few(choose: random.Random, name: str, pools: tuple[Pool, ...]) -> Workload:
    options = []
    crowd = choose.choice((0, 0, 1, 3))
    for pool in pools:
        sizes = [size for size in (1, 2, 3, 4, 6, 8) if size <= pool.node_gpus]
        for size in choose.sample(sizes, min(2, len(sizes))):
            options.append(Option(pool.name, choose.choice((1, 1, 2, 3)) + crowd, gpus=size))
        for profile in choose.sample(pool.profiles, 2 if pool.profiles else 0):
            replicas = choose.choice((1, 2, 3, 4)) + crowd
            options.append(Option(pool.name, replicas, profile=profile.name))
    return Workload(name, tuple(choose.sample(options, min(5, len(options)))))
