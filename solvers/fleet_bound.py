"""A cost that no solution of a fleet's program goes below, in exact fractions, and what follows.

The dual of the linear relaxation, solved by z3's exact simplex: every dual solution is a bound, and
what a column's cost exceeds its dual value by is what taking the column adds to the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from solvers.fleet_program import Program


@dataclass(frozen=True, slots=True)
class Bound:
    """Every solution costs at least `cost`, and one that takes a column that many `added` more."""

    cost: Fraction
    added: tuple[Fraction, ...]

    @property
    def least(self) -> int:
        """The least whole cost."""
        return ceil(self.cost)

    def upper(self, program: Program, most: int) -> tuple[int, ...]:
        """How often each column can be taken at most by solutions that cost no more than `most`."""
        room = most - self.cost
        return tuple(
            min(upper, int(room // added)) if added > 0 else upper
            for upper, added in zip(program.upper, self.added, strict=True)
        )


def bound_of(program: Program, seconds: float) -> Bound | None:
    """The bound of the linear relaxation; None where not even that has a solution.

    Where the time is over it is the bound that costs alone prove.
    """
    import z3

    solver = z3.Optimize()
    solver.set("timeout", max(1, int(min(seconds, 1e6) * 1000)))
    prices = [z3.Real(f"r{number}") for number in range(len(program.rows))]
    sums: list[list[Any]] = [[] for _ in program.columns]
    for price, row in zip(prices, program.rows, strict=True):
        if not row.exactly:
            solver.add(price >= 0)
        for place, factor in row.terms:
            sums[place].append(factor * price)
    for parts, cost in zip(sums, program.cost, strict=True):
        if parts:
            solver.add(z3.Sum(parts) <= cost)
    goal = solver.maximize(
        z3.Sum([row.least * price for price, row in zip(prices, program.rows, strict=True)])
    )
    none = [Fraction(0)] * len(prices)
    try:
        if solver.check() != z3.sat:
            return dual_bound(program, none)
    except z3.Z3Exception:
        return dual_bound(program, none)
    highest = solver.upper(goal)
    if not (z3.is_rational_value(highest) or z3.is_int_value(highest)):
        # A dual without end: the rows contradict each other.
        return None
    model = solver.model()
    found = [_fraction(model.evaluate(price, model_completion=True)) for price in prices]
    return dual_bound(program, found)


def dual_bound(program: Program, prices: list[Fraction]) -> Bound:
    """The bound that these prices of rows prove; of prices that prove none, that of no prices."""
    added = [Fraction(cost) for cost in program.cost]
    total = Fraction(0)
    for price, row in zip(prices, program.rows, strict=True):
        if price < 0 and not row.exactly:
            return Bound(Fraction(0), tuple(map(Fraction, program.cost)))
        total += price * row.least
        for place, factor in row.terms:
            added[place] -= price * factor
    if any(more < 0 for more in added):
        return Bound(Fraction(0), tuple(map(Fraction, program.cost)))
    return Bound(total, tuple(added))


def _fraction(value: Any) -> Fraction:
    return Fraction(value.numerator_as_long(), value.denominator_as_long())
