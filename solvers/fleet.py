"""The cheapest way to place a fleet, verified, with the proof or the gap that is left.

z3 for few workloads, HiGHS from `MANY` on where it is installed; both solve the same program.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

from solvers.fleet_milp import branch_and_bound, installed
from solvers.fleet_model import Fleet, Option, Placed, Pool, Workload
from solvers.fleet_place import Wrong, placed
from solvers.fleet_program import Program, program_of
from solvers.fleet_prune import pruned
from solvers.fleet_z3 import Found, descend

MANY = 8
Z3, HIGHS = "z3", "highs"


@dataclass(frozen=True, slots=True)
class Best:
    """The cheapest placement that was found; nothing costs less than `bound` USD/h.

    `kept` of `options` options were left by dominance.
    """

    placed: Placed
    bound: Fraction
    proved: bool
    engine: str
    options: int
    kept: int

    @property
    def gap(self) -> float:
        """How much cheaper another placement might be, relative to this one's cost."""
        cost = self.placed.cost
        return float((cost - self.bound) / cost) if cost else 0.0


@dataclass(frozen=True, slots=True)
class NoneFits:
    """There is provably no placement."""

    engine: str


@dataclass(frozen=True, slots=True)
class Open:
    """The time was over before there was a placement or a proof that there is none."""

    bound: Fraction
    engine: str


def engine_for(workloads: int) -> str:
    """The back end that is chosen for so many workloads."""
    return HIGHS if workloads >= MANY and installed() else Z3


def solve_fleet(fleet: Fleet, seconds: float = 60.0, engine: str = "") -> Best | NoneFits | Open:
    """The cheapest placement of every workload, or that there is none."""
    ends = monotonic() + seconds
    name = engine or engine_for(len(fleet.workloads))
    small = pruned(fleet)
    if not all(workload.options for workload in small.workloads):
        return NoneFits(name)
    program = program_of(small)
    floor = lower_bound(small)
    found = _found(program, name, ends - monotonic(), -int(-floor // program.unit))
    if found.values is None:
        return NoneFits(name) if found.proved else Open(floor, name)
    try:
        best = placed(small, program, found.values)
    except Wrong:
        if name == Z3:
            raise
        # Floats can be wrong by a rounding; exact arithmetic then answers.
        return solve_fleet(fleet, ends - monotonic(), Z3)
    bound = max(floor, (found.bound or 0) * program.unit)
    counts = [sum(len(w.options) for w in rows.workloads) for rows in (fleet, small)]
    return Best(best, min(bound, best.cost), found.proved or bound >= best.cost, name, *counts)


def fits(fleet: Fleet, seconds: float) -> bool | None:
    """Whether there is any placement; None where that was not found out in the time."""
    name = engine_for(len(fleet.workloads))
    small = pruned(fleet)
    if not all(workload.options for workload in small.workloads):
        return False
    found = _found(program_of(small), name, seconds, 0, optimise=False)
    if found.values is not None:
        return True
    return False if found.proved else None


def _found(
    program: Program, engine: str, seconds: float, bound: int, optimise: bool = True
) -> Found:
    if engine == HIGHS:
        return branch_and_bound(program, seconds, bound, optimise)
    return descend(program, seconds, bound, optimise)


def lower_bound(fleet: Fleet) -> Fraction:
    """What every placement costs at least: each workload's cheapest share of GPUs, exactly."""
    return sum((_least(fleet, workload) for workload in fleet.workloads), Fraction(0))


def _least(fleet: Fleet, workload: Workload) -> Fraction:
    return min(_share(fleet.pool(option.pool), option) for option in workload.options)


def _share(pool: Pool, option: Option) -> Fraction:
    """The price of the whole GPUs, or of the part of a GPU that an instance takes at least."""
    if option.gpus:
        return pool.price * option.whole_gpus
    profile = pool.profile(option.profile)
    part = max(Fraction(profile.size, pool.units), Fraction(profile.slices, pool.slices))
    return pool.price * part * option.replicas

