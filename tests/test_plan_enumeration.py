"""The search against plain enumeration: the same best value, and a point that meets everything."""

from __future__ import annotations

import random

import pytest

from solvers.search.plan import planned
from tests.deployments import near
from tests.plans import Instance, instance

PER_SEED = 15


def key(point: dict[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in point.items()))


@pytest.mark.parametrize("seed", range(20))
def test_the_optimum_is_that_of_enumeration(seed: int) -> None:
    choose = random.Random(seed)
    for number in range(PER_SEED):
        check(instance(choose), (seed, number))


def check(found: Instance, label: object) -> None:
    plan = planned(found.task())
    feasible = found.feasible()
    assert plan.refused is None, (label, plan.refused)
    assert plan.proved
    if not feasible:
        assert not plan.rows, (label, plan.rows)
        assert plan.clashes is not None
        return
    assert plan.rows, (label, found)
    best = (max if found.goal.sense == "max" else min)(
        float(model[found.goal.name]) for _, model in feasible
    )
    row = plan.rows[0]
    assert near(row.values[found.goal.name], best), (label, row, best)
    points = {key(point): model for point, model in feasible}
    assert key(dict(row.point)) in points, (label, row.point)
    model = points[key(dict(row.point))]
    assert near(model[found.goal.name], best), (label, row.point)
    lines = {key({n: v for n, v in p.items() if n != "batch"}) for p, _ in feasible}
    assert plan.feasible == len(lines), (label, plan.feasible, len(lines))
