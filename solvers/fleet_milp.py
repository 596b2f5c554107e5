"""Fleets by HiGHS, through scipy: the same program, in floats, with the bound that it proves."""

from __future__ import annotations

from importlib.util import find_spec
from math import ceil
from typing import Any

from solvers.fleet_program import Program
from solvers.fleet_z3 import Found

# A solver in floats sees a value this far from a whole number as whole, relative to its size.
_TOLERANCE = 1e-6
_INFEASIBLE = 2


def installed() -> bool:
    """Whether scipy is there, which is the extra `fleet`."""
    return find_spec("scipy") is not None


def branch_and_bound(program: Program, seconds: float, optimise: bool = True) -> Found:
    """The cheapest solution that HiGHS finds in the time, and the cost that it proves is least.

    The bound holds within the tolerance of its floats. Proved is what it leaves no room below.
    Without `optimise` any solution does.
    """
    import numpy
    from scipy.optimize import Bounds, LinearConstraint, milp

    # Costs around a thousand: the absolute gap at which HiGHS stops is then of no account.
    scale = max(1, *program.cost) / 1000
    objective = numpy.array([cost / scale if optimise else 0.0 for cost in program.cost])
    found = milp(
        objective,
        integrality=numpy.ones(len(objective)),
        bounds=Bounds(0, numpy.array(program.upper, float)),
        constraints=LinearConstraint(*_matrix(program)),
        options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
    )
    if found.status == _INFEASIBLE:
        return Found(None, None, True)
    floor = getattr(found, "mip_dual_bound", None)
    proved = 0 if floor is None or not optimise else max(0, _rounded_up(floor * scale))
    if found.x is None:
        return Found(None, proved, False)
    values = tuple(int(value) for value in numpy.rint(found.x))
    cost = Found(values, proved, False).cost(program)
    return Found(values, min(proved, cost), proved >= cost)


def _rounded_up(floor: float) -> int:
    """The least whole cost that is not below the bound, within its tolerance."""
    return ceil(floor - _TOLERANCE * max(1.0, abs(floor)))


def _matrix(program: Program) -> tuple[Any, Any, Any]:
    """The rows as a sparse matrix with both ends."""
    import numpy
    from scipy.sparse import csr_array

    entries = [(r, place, f) for r, row in enumerate(program.rows) for place, f in row.terms]
    shape = (len(program.rows), len(program.columns))
    where = ([r for r, _, _ in entries], [place for _, place, _ in entries])
    matrix = csr_array(([float(f) for _, _, f in entries], where), shape=shape)
    low = numpy.array([float(row.least) for row in program.rows])
    high = numpy.array([float(r.least) if r.exactly else numpy.inf for r in program.rows])
    return matrix, low, high
