"""Fleets by z3: pseudo-Boolean descent on the cost until no cheaper one is left, which is the proof.

Options are Booleans, counts of patterns are sums of Booleans, every row is one pseudo-Boolean
constraint in finite-domain logic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from solvers.fleet_program import Program

# Up to so many a count is told by one Boolean each, above by the digits of a binary number.
_MOST_BY_ONE = 24


@dataclass(frozen=True, slots=True)
class Found:
    """What a back end found: the best solution's values, and the cost that no solution goes below.

    Both are None where nothing is known; `proved` is true where the solution is optimal, or where
    there is provably none. The cost is in the program's unit.
    """

    values: tuple[int, ...] | None
    bound: int | None
    proved: bool

    def cost(self, program: Program) -> int:
        """The cost of the solution, in the program's unit."""
        values = self.values or ()
        return sum(cost * value for cost, value in zip(program.cost, values, strict=True))


def descend(program: Program, seconds: float, bound: int = 0, optimise: bool = True) -> Found:
    """The cheapest solution, with the proof; after so many seconds the best one so far.

    `bound` is a cost that no solution goes below. Without `optimise` the first one does.
    """
    import z3

    ends = monotonic() + seconds
    model = _Model(program, z3)
    best: Found = Found(None, bound, False)
    while True:
        left = ends - monotonic()
        if left <= 0:
            return best
        verdict = model.check(left)
        if verdict == z3.unsat:
            proved = None if best.values is None else best.cost(program)
            return Found(best.values, proved, True)
        if verdict != z3.sat:
            return best
        best = Found(model.values(), bound, False)
        cost = best.cost(program)
        if cost <= bound or not optimise:
            return Found(best.values, bound, cost <= bound)
        model.add([(place, -factor) for place, factor in enumerate(program.cost)], 1 - cost)


class _Model:
    """A program as pseudo-Boolean constraints."""

    def __init__(self, program: Program, z3: Any) -> None:
        self.z3 = z3
        self.solver = z3.SolverFor("QF_FD")
        self.digits: list[list[tuple[int, Any]]] = []
        for place, upper in enumerate(program.upper):
            self.digits.append(self._digits(place, upper))
        for row in program.rows:
            self.add(row.terms, row.least)
            if row.exactly:
                self.add([(place, -factor) for place, factor in row.terms], -row.least)

    def _digits(self, place: int, upper: int) -> list[tuple[int, Any]]:
        """Booleans with their weights, whose sum runs from 0 to `upper`."""
        z3 = self.z3
        if upper <= _MOST_BY_ONE:
            found = [(1, z3.Bool(f"c{place}.{k}")) for k in range(upper)]
            for (_, lower), (_, higher) in zip(found, found[1:], strict=False):
                self.solver.add(z3.Implies(higher, lower))
            return found
        found = [(2**k, z3.Bool(f"c{place}.{k}")) for k in range(upper.bit_length())]
        self._at_least([(-weight, digit) for weight, digit in found], -upper)
        return found

    def add(self, terms: Sequence[tuple[int, int]], least: int) -> None:
        """Demand that the sum of these multiples of columns is at least that."""
        self._at_least(
            [
                (factor * weight, digit)
                for place, factor in terms
                if factor
                for weight, digit in self.digits[place]
            ],
            least,
        )

    def _at_least(self, terms: Sequence[tuple[int, Any]], least: int) -> None:
        """A negative multiple of a Boolean is a positive one of its opposite, less a constant."""
        z3 = self.z3
        least -= sum(factor for factor, _ in terms if factor < 0)
        rows = [(z3.Not(digit) if f < 0 else digit, min(abs(f), least)) for f, digit in terms]
        if least <= 0:
            return
        if sum(factor for _, factor in rows) < least:
            self.solver.add(z3.BoolVal(False))
        else:
            self.solver.add(z3.PbGe(rows, least))

    def check(self, seconds: float) -> Any:
        """The verdict, unknown where the time is over."""
        z3 = self.z3
        self.solver.set("timeout", max(1, int(min(seconds, 1e6) * 1000)))
        try:
            verdict = self.solver.check()
        except z3.Z3Exception:
            return z3.unknown
        if verdict == z3.unknown and "interrupt" in self.solver.reason_unknown():
            raise KeyboardInterrupt
        return verdict

    def values(self) -> tuple[int, ...]:
        """The value of each column in the model that was found."""
        model = self.solver.model()
        return tuple(
            sum(w for w, digit in digits if self.z3.is_true(model.eval(digit, True)))
            for digits in self.digits
        )
