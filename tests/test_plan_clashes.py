"""Why a plan is infeasible, against enumeration: minimal clashes and tight ways out."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from solvers.search.plan import planned
from tests.deployments import near
from tests.plans import CONDITIONS, Instance, instance, met

WANTED = 10


def infeasible(choose: random.Random) -> Instance:
    """A plan that enumeration finds impossible, while some point meets what always holds."""
    while True:
        found = instance(choose)
        tighter = tuple(
            (name, sign, limit * (Fraction(1, 2) if sign == "<=" else 3))
            for name, sign, limit in found.limits
        )
        found = replace(found, limits=tighter)
        if len(tighter) + bool(found.condition) >= 2 and not found.feasible():
            return found


def broken_sets(found: Instance) -> list[tuple[frozenset[str], dict[str, float]]]:
    """Of each point that meets the standing constraints, the limits it breaks, and its values."""
    rows = []
    for point in found.points():
        model = found.model(point)
        if model is None or model.broken():
            continue
        values = {name: model[name] for name, _, _ in found.limits}
        fails = {n for n, sign, limit in found.limits if not met(values[n], sign, limit)}
        if found.condition and not CONDITIONS[found.condition][1]({**found.facts, **point}, model):
            fails.add(found.condition)
        rows.append((frozenset(fails), {n: float(v) for n, v in values.items()}))
    return rows


def minimal(groups: set[frozenset[str]]) -> set[frozenset[str]]:
    return {g for g in groups if not any(other < g for other in groups)}


@pytest.mark.parametrize("seed", range(10))
def test_the_reasons_are_those_of_enumeration(seed: int) -> None:
    choose = random.Random(1000 + seed)
    for number in range(WANTED):
        check(infeasible(choose), (seed, number))


def check(found: Instance, label: object) -> None:
    plan = planned(found.task())
    assert not plan.rows
    assert plan.clashes is not None
    rows = broken_sets(found)
    if not rows:
        names = {name for group in plan.clashes.corrections for name in group}
        limited = {name for name, _, _ in found.limits}
        assert names, label
        assert not names & limited, label
        return
    corrections = minimal({fails for fails, _ in rows})
    assert {frozenset(group) for group in plan.clashes.corrections} == corrections, label
    for group in plan.clashes.clashes:
        check_clash(frozenset(group), rows, label)
    check_reliefs(found, plan.clashes.reliefs, rows, label)


def check_clash(group: frozenset[str], rows: object, label: object) -> None:
    """No point meets all of them, and some point meets them all but one, whichever it is."""
    sets = [fails for fails, _ in rows]  # type: ignore[attr-defined]
    assert all(fails & group for fails in sets), label
    for name in group:
        assert any(not fails & (group - {name}) for fails in sets), (label, group, name)


def check_reliefs(found: Instance, reliefs: object, rows: object, label: object) -> None:
    told = {row.name: row for row in reliefs}  # type: ignore[attr-defined]
    for name, sign, limit in found.limits:
        alone = [v[name] for fails, v in rows if fails == {name}]  # type: ignore[attr-defined]
        relief = told[name]
        if not alone:
            assert relief.to is None, (label, name)
            continue
        best = min(alone) if sign == "<=" else max(alone)
        assert near(relief.to, best), (label, name, relief, best)
        eased = replace(found, limits=tuple(
            (n, s, Fraction(best) if n == name else v) for n, s, v in found.limits))  # fmt: skip
        assert planned(eased.task()).rows, (label, name)
        between = (Fraction(best) + limit) / 2
        short = replace(found, limits=tuple(
            (n, s, between if n == name else v) for n, s, v in found.limits))  # fmt: skip
        if not met(best, sign, between):
            assert not planned(short.task()).rows, (label, name)


def test_hitting_sets_are_minimal() -> None:
    from solvers.search.clashes import _hitting

    choose = random.Random(7)
    for _ in range(60):
        groups = [frozenset(choose.sample(range(6), choose.randint(1, 3))) for _ in range(4)]
        found = _hitting(groups)
        every = [frozenset(c) for size in range(7) for c in combinations(range(6), size)]
        hitting = [c for c in every if all(c & g for g in groups)]
        expected = {c for c in hitting if not any(o < c for o in hitting)}
        assert set(found) <= expected
        assert set(found) == expected or len(found) == 8
