"""The search against plain enumeration: the same best value, and a point that meets everything."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from derive.question import parse
from formulas.hardware import find_gpu, mig_profiles
from formulas.scenario import scenario
from formulas.statements import EVERY, Axis
from solvers.answer import Exact
from solvers.axes import at_point
from solvers.search.plan import planned
from solvers.search.proved import answered
from solvers.search.task import Goal, Task
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


NAMED = "model llama-3.1-8b, prompt = 3000, output = 500, arrival_rate = 20, tpot <= 60 ms"
PRICES = {"h100-sxm": 3, "a100-80gb-sxm": 2, "l40s": 1}


def test_formats_gpus_and_profiles_together_are_what_plain_questions_answer() -> None:
    """Formats that only store, GPUs without links and MIG instances share a search: each row, and
    each combination that is left out, is what a question of its own says.
    """
    own = {find_gpu(name).name: Fraction(price) for name, price in PRICES.items()}
    over = (
        Axis("gpu", tuple(own)), Axis("mig_profile", ("none", "2g.20gb", "3g.40gb")),
        Axis("weight_dtype", ("bf16", "fp8", "int4", "nvfp4")),
        Axis("tp", (Fraction(1), Fraction(2))), Axis("batch", (Fraction(8), Fraction(64))),
    )  # fmt: skip
    known = scenario(parse(NAMED).statements)
    goal = (Goal("replica_request_rate", "max"),)
    plan = planned(Task(known, goal, over, (), own, top=1000))
    told = {key({n: v for n, v in r.point.items() if n != "batch"}): r for r in plan.rows}
    seen = 0
    for values in product(*(axis.values or () for axis in over)):
        point = dict(zip((axis.name for axis in over), values, strict=True))
        if point["mig_profile"] not in ("none", *mig_profiles(find_gpu(point["gpu"]))):
            continue
        there = at_point(known, point).with_value("price_per_gpu_hour", own[point["gpu"]])
        answer = answered("cost_per_hour", there)
        assert isinstance(answer, Exact)
        fits = all(check.holds for check in answer.evidence.checks)
        row = told.get(key({n: v for n, v in point.items() if n != "batch"}))
        if row is None:
            assert not fits, point
        elif row.point["batch"] == point["batch"]:
            assert fits, point
            seen += 1
            for name in ("cost_per_hour", "tpot", "ttft", "memory_used_per_gpu", "n_gpus"):
                found = answered(name, there)
                assert isinstance(found, Exact)
                assert near(row.values[name], found.value), (point, name)
    assert seen == len(plan.rows) > 20
