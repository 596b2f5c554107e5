"""A search that is stopped: what it proves of the goal is never better than the true optimum."""

from __future__ import annotations

import random
import time

import pytest

from solvers.search.bound import bound_of, rest_of
from solvers.search.enclosure import enclosed
from solvers.search.plan import COUNTED, _take
from solvers.search.space import space_of
from solvers.search.walk import Search, searched
from tests.plans import Instance, instance


def stopped(found: Instance, blocks: int) -> Search:
    """The search of an instance after so many blocks of five configurations."""
    task = found.task()
    space = space_of(task.scenario, task.over, task.prices)
    search = Search(task, space, space.size <= COUNTED, 5)
    for block, tests, pieces in searched(search):
        if search.searched >= 5 * blocks:
            break
        _take(search, block, tests, pieces)
    return search


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_never_better_than_enumeration(seed: int) -> None:
    choose = random.Random(4000 + seed)
    checked = told = 0
    while checked < 12:
        found = instance(choose)
        feasible = found.feasible()
        if not feasible:
            continue
        search = stopped(found, choose.choice((0, 1, 2)))
        if search.searched >= search.space.size:
            continue
        values = [float(model[found.goal.name]) for _, model in feasible]
        checked += 1
        # With no time at all, and with some.
        for seconds in (0.0, 0.3):
            bound = bound_of(search, time.monotonic() + seconds)
            if bound is None:
                continue
            told += 1
            room = 1e-9 * abs(bound)
            if found.goal.sense == "min":
                assert bound <= min(values) + room, (seed, checked, found)
            else:
                assert bound >= max(values) - room, (seed, checked, found)
    assert told > checked


def test_the_rest_is_what_was_not_walked() -> None:
    """Every combination lies in the walked part or in exactly one box of the rest."""
    choose = random.Random(11)
    for _ in range(40):
        task = instance(choose).task()
        space = space_of(task.scenario, task.over, task.prices)
        lengths = [len(values) for values in space.numbers.values()]
        for walked in range(0, space.size, 3):
            found = []
            for _, boxes in rest_of(space, walked):
                for box in boxes:
                    own = [
                        range(low, high + 1) for low, high in zip(box.low, box.high, strict=True)
                    ][: len(lengths)]
                    found += [(box.kind, *place) for place in product_of(own)]
            every = [
                (kind, *place)
                for group in space.groups()
                for kind in group
                for place in product_of([range(length) for length in lengths])
            ]
            assert sorted(found) == sorted(every[walked:])


def product_of(rows: list[range]) -> list[tuple[int, ...]]:
    from itertools import product

    return list(product(*rows))


def test_no_value_lies_outside_its_ends() -> None:
    """Random expressions at random points of random boxes, the value from sympy."""
    import sympy

    choose = random.Random(5)
    x, y = sympy.symbols("x y", real=True)
    one, two = sympy.Integer(1), sympy.Integer(2)
    kinds = [
        lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a / (b**2 + 1),
        sympy.Max, sympy.Min, lambda a, b: sympy.ceiling(a),
        lambda a, b: sympy.floor(b), lambda a, b: a - b, lambda a, b: a**2, lambda a, b: b**3,
        lambda a, b: sympy.Abs(a), lambda a, b: two ** sympy.Min(b, 5),
        lambda a, b: 1 / (abs(a) + 1),
        lambda a, b: sympy.Piecewise((a, a < b), (b * 2, True)),
        lambda a, b: sympy.Mod(sympy.floor(a), 3),
    ]  # fmt: skip
    for _ in range(400):
        made = [x, y, one / 3]
        for _ in range(choose.randint(1, 5)):
            made.append(choose.choice(kinds)(choose.choice(made), choose.choice(made)))
        ends = {
            n: sorted(choose.randint(-6, 12) / choose.choice((1, 4)) for _ in "ab") for n in "xy"
        }
        low, high = enclosed(made[-1], {n: (float(a), float(b)) for n, (a, b) in ends.items()})
        for _ in range(6):
            at = {s: sympy.Rational(choose.choice((*ends[s.name], sum(ends[s.name]) / 2)))
                  for s in (x, y)}  # fmt: skip
            value = made[-1].subs(at)
            if value.is_finite and value.is_real:
                assert float(low) <= value <= float(high), (made[-1], at, low, high)
