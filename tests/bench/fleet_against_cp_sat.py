"""Fleets by HiGHS and by z3, timed against CP-SAT on the same program in the same run.

Run by hand:  python tests/bench/fleet_against_cp_sat.py [SEEDS]
CP-SAT gets the program with counts of patterns, its strongest form, and two workers. Each time is
the median over the seeds; the back ends' own pruning and checking is in theirs.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from solvers.fleet import Best, NoneFits, solve_fleet
from solvers.fleet_model import Fleet
from solvers.fleet_program import program_of
from tests.fleets import random_fleet

LIMIT = 60.0


def cp_sat(fleet: Fleet) -> Fraction | None:
    """The least cost of the program by CP-SAT."""
    from ortools.sat.python import cp_model

    program = program_of(fleet)
    model = cp_model.CpModel()
    columns = [model.new_int_var(0, upper, "") for upper in program.upper]
    for row in program.rows:
        total = sum(factor * columns[place] for place, factor in row.terms)
        model.add(total == row.least if row.exactly else total >= row.least)
    model.minimize(sum(c * column for c, column in zip(program.cost, columns, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = LIMIT
    if solver.solve(model) != cp_model.OPTIMAL:
        return None
    return program.price(round(solver.objective_value))


def timed(engine: str, fleet: Fleet) -> tuple[float, Fraction | None, bool]:
    """Seconds, the cost, and whether it is proved."""
    started = time.perf_counter()
    if engine == "cp-sat":
        cost = cp_sat(fleet)
        return time.perf_counter() - started, cost, cost is not None
    answer = solve_fleet(fleet, LIMIT, engine)
    cost = answer.placed.cost if isinstance(answer, Best) else None
    proved = isinstance(answer, NoneFits) or (isinstance(answer, Best) and answer.proved)
    return time.perf_counter() - started, cost, proved


def main(seeds: int) -> None:
    """Print a row for each size."""
    for engine in ("cp-sat", "highs", "z3"):
        timed(engine, random_fleet(0, 2, tight=3.0))
    print("workloads  cp-sat       highs (ratio)        z3 (ratio)  proved by z3  same cost")
    for workloads in (2, 5, 10, 20, 50):
        engines = ("cp-sat", "highs", "z3") if workloads <= 20 else ("cp-sat", "highs")
        rows: dict[str, list[tuple[float, Fraction | None, bool]]] = {}
        for seed in range(seeds):
            fleet = random_fleet(seed, workloads, tight=1.6)
            for engine in engines:
                rows.setdefault(engine, []).append(timed(engine, fleet))
        times = {engine: median(row[0] for row in found) for engine, found in rows.items()}
        proved = sum(row[2] for row in rows.get("z3", ()))
        told = f"{proved}/{seeds}" if "z3" in rows else "not run"
        same = all(
            len({row[1] for row in found if row[2]} | {found[0][1]}) == 1
            for found in zip(*rows.values(), strict=True)
        )
        parts = [f"{times[e]:7.3f} s ({times[e] / times['cp-sat']:6.2f})" for e in engines[1:]]
        print(f"{workloads:9}  {times['cp-sat']:.3f} s  {'  '.join(parts)}  {told}  {same}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
