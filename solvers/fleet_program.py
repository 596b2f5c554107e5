"""A fleet as an integer program: options chosen once, GPUs cut by patterns, nodes with room.

Neither GPUs nor nodes are numbered, so no two solutions differ by a name only. Replicas whose sizes
divide each other fill nodes without gaps, and counting is enough; others fill nodes by patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from solvers.fleet_model import Fleet, Option, Pool
from solvers.fleet_patterns import Cut, cuts_of, fillings_of, is_chain

Column = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """The sum of whole multiples of columns is at least `least`, or exactly that."""

    terms: tuple[tuple[int, int], ...]
    least: int
    exactly: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Columns with their upper ends, rows, and the cost of each column in whole numbers.

    Between equal prices fewer GPUs decide: a cost is its price in `unit` USD/h times `weight`, and
    the GPUs, of which there are fewer than `weight`.

    A column is ("option", workload, index), ("cut", pool, index) or ("fill", pool, index), the
    indices being those of the workload's options, of `cuts` and of `fillings`.
    """

    columns: tuple[Column, ...]
    upper: tuple[int, ...]
    cost: tuple[int, ...]
    rows: tuple[Row, ...]
    unit: Fraction
    weight: int
    cuts: Mapping[str, tuple[tuple[str, ...], tuple[Cut, ...]]]
    fillings: Mapping[str, tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]

    def price(self, cost: int) -> Fraction:
        """The least price, in USD/h, of a solution that costs at least so much."""
        return cost // self.weight * self.unit


class _Builder:
    """Columns and rows while they are collected."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.places: dict[Column, int] = {}
        self.upper: list[int] = []
        self.price: list[Fraction] = []
        self.gpus: list[int] = []
        self.rows: list[Row] = []
        self.cuts: dict[str, tuple[tuple[str, ...], tuple[Cut, ...]]] = {}
        self.fillings: dict[str, tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]] = {}

    def column(self, name: Column, upper: int, price: Fraction, gpus: int = 0) -> None:
        """A column that runs from 0 to `upper`, each at the price of so many GPUs."""
        self.places[name] = len(self.upper)
        self.upper.append(max(upper, 0))
        self.price.append(price * gpus)
        self.gpus.append(gpus)

    def row(self, terms: Mapping[Column, int], least: int, exactly: bool = False) -> None:
        """A row over columns that are known."""
        kept = tuple((self.places[name], factor) for name, factor in terms.items() if factor)
        self.rows.append(Row(kept, least, exactly))

    def options(self, pool: str) -> Iterator[tuple[Column, Option]]:
        """Every option in the pool, with its column."""
        for workload in self.fleet.workloads:
            for index, option in enumerate(workload.options):
                if option.pool == pool:
                    yield ("option", workload.name, str(index)), option


def program_of(fleet: Fleet) -> Program:
    """The program whose solutions are the ways to place the fleet."""
    build = _Builder(fleet)
    for workload in fleet.workloads:
        names: list[Column] = []
        for index, option in enumerate(workload.options):
            names.append(("option", workload.name, str(index)))
            build.column(names[-1], 1, fleet.pool(option.pool).price, option.whole_gpus)
        build.row(dict.fromkeys(names, 1), 1, exactly=True)
    for pool in fleet.pools:
        _cut(build, pool)
        _fill(build, pool)
    unit = _unit([*build.price, *([] if fleet.budget is None else [fleet.budget])])
    prices = [int(price / unit) for price in build.price]
    if fleet.budget is not None:
        terms = tuple((place, -factor) for place, factor in enumerate(prices) if factor)
        build.rows.append(Row(terms, -int(fleet.budget / unit)))
    # Twice as many, so that no rounding of a float makes GPUs of a price.
    weight = 1 + 2 * sum(pool.gpus for pool in fleet.pools)
    cost = tuple(price * weight + gpus for price, gpus in zip(prices, build.gpus, strict=True))
    rows = tuple(build.rows)
    upper = tuple(build.upper)
    places = tuple(build.places)
    return Program(places, upper, cost, rows, unit, weight, build.cuts, build.fillings)


def _unit(prices: list[Fraction]) -> Fraction:
    """The largest amount of which every price is a whole multiple; 1 where all are 0."""
    below = lcm(*(price.denominator for price in prices))
    above = gcd(*(int(price * below) for price in prices))
    return Fraction(above, below) if above else Fraction(1)


def _cut(build: _Builder, pool: Pool) -> None:
    """GPUs cut by patterns hold the instances that the options ask for."""
    demand: dict[str, dict[Column, int]] = {}
    most: dict[str, dict[str, int]] = {}
    for name, option in build.options(pool.name):
        if option.profile:
            demand.setdefault(option.profile, {})[name] = option.replicas
            mine = most.setdefault(option.profile, {})
            mine[name[1]] = max(mine.get(name[1], 0), option.replicas)
    names = tuple(sorted(demand))
    cuts = cuts_of(pool, names) if names else ()
    build.cuts[pool.name] = (names, cuts)
    for index, cut in enumerate(cuts):
        # More than every workload could ask for is never needed.
        asked = (
            -(-sum(most[name].values()) // count)
            for name, count in zip(names, cut.counts, strict=True)
            if count
        )
        build.column(("cut", pool.name, str(index)), min(pool.gpus, max(asked)), pool.price, 1)
    for place, profile in enumerate(names):
        supply: dict[Column, int] = {
            ("cut", pool.name, str(i)): cut.counts[place] for i, cut in enumerate(cuts)
        }
        build.row({**supply, **{n: -count for n, count in demand[profile].items()}}, 0)


def _fill(build: _Builder, pool: Pool) -> None:
    """The nodes have room for whole replicas and for the GPUs that are cut."""
    cut: dict[Column, int] = {
        ("cut", pool.name, str(i)): 1 for i, _ in enumerate(build.cuts[pool.name][1])
    }
    whole = {name: option for name, option in build.options(pool.name) if option.gpus}
    sizes = tuple(sorted({option.gpus for option in whole.values()} | ({1} if cut else set())))
    if not sizes:
        return
    if not is_chain(sizes):
        _fill_by_patterns(build, pool, sizes, whole, cut)
        return
    for size in sizes:
        room = pool.nodes * (pool.node_gpus // size) * size
        if size > sizes[0] and room == pool.gpus:
            # What holds for all sizes together holds for the larger ones.
            continue
        terms = {n: -option.whole_gpus for n, option in whole.items() if option.gpus >= size}
        build.row({**terms, **({n: -1 for n in cut} if size == 1 else {})}, -room)


def _fill_by_patterns(
    build: _Builder,
    pool: Pool,
    sizes: tuple[int, ...],
    whole: Mapping[Column, Option],
    cut: Mapping[Column, int],
) -> None:
    fillings = fillings_of(pool, sizes)
    build.fillings[pool.name] = (sizes, fillings)
    names: list[Column] = [("fill", pool.name, str(index)) for index, _ in enumerate(fillings)]
    for name in names:
        build.column(name, pool.nodes, Fraction(0))
    for place, size in enumerate(sizes):
        supply = {n: f[place] for n, f in zip(names, fillings, strict=True)}
        terms = {n: -option.replicas for n, option in whole.items() if option.gpus == size}
        build.row({**supply, **terms, **({n: -1 for n in cut} if size == 1 else {})}, 0)
    build.row(dict.fromkeys(names, -1), -pool.nodes)
