"""z3 chooses among the rows that are left, under the side conditions, and proves it.

One Boolean for each row, one for each atom of the conditions; the objective goes down until
nothing better is left, which is the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from solvers.search.logic import Condition, truth_of


@dataclass(frozen=True, slots=True)
class Option:
    """A row that z3 may choose: its place in the order of the objective, and its true atoms."""

    rank: int
    truths: int


def chosen(
    options: Sequence[Option], conditions: Sequence[Condition], atoms: Sequence[Any]
) -> int | None:
    """The number of the best option under the conditions, proved; None where there is none."""
    import z3

    solver = z3.SimpleSolver()
    rows = [z3.Bool(f"row{i}") for i in range(len(options))]
    solver.add(z3.Or(rows) if rows else z3.BoolVal(False))
    solver.add(z3.AtMost(*rows, 1) if len(rows) > 1 else z3.BoolVal(True))
    flags = {atom: z3.Bool(f"atom{i}") for i, atom in enumerate(atoms)}
    for row, option in zip(rows, options, strict=True):
        for bit, flag in enumerate(flags.values()):
            solver.add(z3.Implies(row, flag if option.truths >> bit & 1 else z3.Not(flag)))
    words = (z3.And, z3.Or, z3.Not)
    for condition in conditions:
        solver.add(truth_of(condition.logic, flags.__getitem__, words))
    best: int | None = None
    while solver.check() == z3.sat:
        model = solver.model()
        best = next(i for i, row in enumerate(rows) if z3.is_true(model[row]))
        better = [z3.Not(r) for r, o in zip(rows, options, strict=True)
                  if o.rank >= options[best].rank]  # fmt: skip
        solver.add(*better)
    return best
