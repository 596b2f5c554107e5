"""The search against plain enumeration: the same best value, and a point that meets everything."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from formulas.statements import EVERY
from solvers.search.plan import planned
from solvers.search.task import Goal
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


@pytest.mark.parametrize("seed", range(8))
def test_all_that_are_equal_are_those_of_enumeration(seed: int) -> None:
    """Of one goal and of two: each combination once, at a batch at which it is as good."""
    choose = random.Random(f"equal {seed}")
    for number in range(PER_SEED):
        found = instance(choose)
        goals = (found.goal, Goal("gpus_per_replica"))[: 1 + number % 2]
        plan = planned(replace(found.task(top=EVERY), goals=goals))
        equal = found.feasible()
        for goal in goals:
            if equal:
                pick = max if goal.sense == "max" else min
                best = pick(float(model[goal.name]) for _, model in equal)
                equal = [(p, m) for p, m in equal if near(m[goal.name], best)]
        points = [key(dict(row.point)) for row in plan.rows]
        assert set(points) <= {key(point) for point, _ in equal}, (seed, number)
        told = [key({n: v for n, v in r.point.items() if n != "batch"}) for r in plan.rows]
        lines = {key({n: v for n, v in p.items() if n != "batch"}) for p, _ in equal}
        assert len(told) == len(set(told))
        assert set(told) == lines, (seed, number)
        assert plan.equal == len(lines)
