"""The cheapest way to place a fleet, verified, with the proof or the gap that is left.

z3 for few workloads, HiGHS from `MANY` on where it is installed; both solve the same program.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

from solvers.fleet_milp import branch_and_bound, installed
from solvers.fleet_model import Fleet, Placed
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
    found = _found(program, name, ends - monotonic())
    if found.values is None:
        return NoneFits(name) if found.proved else Open(program.price(found.bound or 0), name)
    try:
        best = placed(small, program, found.values)
    except Wrong:
        if name == Z3:
            raise
        # Floats can be wrong by a rounding; exact arithmetic then answers.
        return solve_fleet(fleet, ends - monotonic(), Z3)
    bound = min(program.price(found.bound or 0), best.cost)
    counts = [sum(len(w.options) for w in rows.workloads) for rows in (fleet, small)]
    return Best(best, bound, bound == best.cost, name, *counts)


def fits(fleet: Fleet, seconds: float) -> bool | None:
    """Whether there is any placement; None where that was not found out in the time."""
    if not fleet.workloads:
        return True
    name = engine_for(len(fleet.workloads))
    small = pruned(fleet)
    if not all(workload.options for workload in small.workloads):
        return False
    found = _found(program_of(small), name, seconds, optimise=False)
    if found.values is not None:
        return True
    return False if found.proved else None


def _found(program: Program, engine: str, seconds: float, optimise: bool = True) -> Found:
    run = branch_and_bound if engine == HIGHS else descend
    return run(program, seconds, optimise)
