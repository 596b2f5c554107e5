"""Fleets by z3: descent on the cost until no cheaper solution is left, which is the proof.

The exact bound of the linear relaxation says which columns can stand in a solution up to a cost;
a search up to a little above what is proved is small, and its simplex sees how little is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from solvers.fleet_bound import bound_of
from solvers.fleet_program import Program

# The first round looks up to so much above the bound, each further one twice as far.
_ROUNDS = 32


@dataclass(frozen=True, slots=True)
class Found:
    """What a back end found: the best solution's values, and the cost that no solution goes below.

    Both are None where nothing is known. `proved` is true where the solution is optimal, or where
    there is provably none. The cost is in the program's unit.
    """

    values: tuple[int, ...] | None
    bound: int | None
    proved: bool

    def cost(self, program: Program) -> int:
        """The cost of the solution, in the program's unit."""
        values = self.values or ()
        return sum(cost * value for cost, value in zip(program.cost, values, strict=True))


def descend(program: Program, seconds: float, optimise: bool = True) -> Found:
    """The cheapest solution, with the proof; after so many seconds the best one so far.

    Without `optimise` the first solution does.
    """
    ends = monotonic() + seconds
    floor = bound_of(program, seconds)
    if floor is None:
        return Found(None, None, True)
    if not optimise:
        model = _Model(program, program.upper)
        verdict = model.check(ends)
        return Found(model.values() if verdict else None, floor.least, verdict is False)
    bound = floor.least
    step = max(1, bound // _ROUNDS)
    dearest = sum(cost * upper for cost, upper in zip(program.cost, program.upper, strict=True))
    while bound <= dearest:
        most = bound + step
        found = _improved(program, floor.upper(program, most), most, ends)
        if found.values is not None:
            least = found.cost(program) if found.proved else bound
            return Found(found.values, least, found.proved)
        if not found.proved:
            return Found(None, bound, False)
        bound = most + 1
        step *= 2
    return Found(None, None, True)


def _improved(program: Program, upper: Sequence[int], most: int, ends: float) -> Found:
    """The cheapest solution of at most that cost; proved where it is, or where there is none."""
    model = _Model(program, upper)
    best = Found(None, None, False)
    while True:
        model.cost_at_most(most)
        verdict = model.check(ends)
        if verdict is None:
            return best
        if not verdict:
            return Found(best.values, None, True)
        best = Found(model.values(), None, False)
        most = best.cost(program) - 1


class _Model:
    """A program over whole numbers, each from 0 to its upper end."""

    def __init__(self, program: Program, upper: Sequence[int]) -> None:
        import z3

        self.z3 = z3
        self.program = program
        self.solver = z3.SolverFor("QF_LIA")
        self.columns = [z3.Int(f"c{place}") if most else None for place, most in enumerate(upper)]
        for column, most in zip(self.columns, upper, strict=True):
            if column is not None:
                self.solver.add(column >= 0, column <= most)
        for row in program.rows:
            total = self._sum(row.terms)
            self.solver.add(total == row.least if row.exactly else total >= row.least)

    def _sum(self, terms: Sequence[tuple[int, int]]) -> Any:
        columns = ((self.columns[place], factor) for place, factor in terms)
        parts = [factor * column for column, factor in columns if column is not None]
        return self.z3.Sum(parts) if parts else self.z3.IntVal(0)

    def cost_at_most(self, most: int) -> None:
        """Demand that the solution costs no more than that."""
        self.solver.add(self._sum(list(enumerate(self.program.cost))) <= most)

    def check(self, ends: float) -> bool | None:
        """Whether there is a solution; None where the time is over."""
        z3 = self.z3
        seconds = ends - monotonic()
        if seconds <= 0:
            return None
        self.solver.set("timeout", max(1, int(min(seconds, 1e6) * 1000)))
        try:
            verdict = self.solver.check()
        except z3.Z3Exception:
            return None
        if verdict == z3.unknown and "interrupt" in self.solver.reason_unknown():
            raise KeyboardInterrupt
        return None if verdict == z3.unknown else bool(verdict == z3.sat)

    def values(self) -> tuple[int, ...]:
        """The value of each column in the solution that was found."""
        model = self.solver.model()
        return tuple(
            0 if column is None else model.evaluate(column, model_completion=True).as_long()
            for column in self.columns
        )
