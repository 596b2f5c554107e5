"""The deployment model as a program of products for CP-SAT, over the choices and the batch.

Each choice is an index, what a combination of choices is worth is looked up in tables by its
number, and all that the batch moves are products. Times are whole nanoseconds, memory whole
kilobytes, prices whole cents: a coefficient is rounded by at most half of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from tests.bench.by_hand import UTILIZATION, Space, Work, divides, line_of

TIME, MEMORY, PRICE = 1e9, 1e-3, 100
MOST_REPLICAS = 4096


def product_model(w: Work, space: Space) -> tuple[Any, list[Any]]:
    """The model, and its variables: the place of each choice in its list, and the batch."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    places = [model.new_int_var(0, len(values) - 1, "") for values in space.lists]
    number: Any = 0
    for place, values in zip(places, space.lists, strict=True):
        number = number * len(values) + place
    choices = list(product(*space.lists))
    lines = [line_of(w, *choice) for choice in choices]

    def table(values: Sequence[float], scale: float = 1) -> tuple[Any, int]:
        whole = [round(float(value) * scale) for value in values]
        found = model.new_int_var(min(whole), max(whole), "")
        model.add_element(number, whole, found)
        return found, max(whole)

    def times(one: tuple[Any, int], other: tuple[Any, int]) -> tuple[Any, int]:
        most = one[1] * other[1]
        found = model.new_int_var(0, most, "")
        model.add_multiplication_equality(found, [one[0], other[0]])
        return found, most

    batch = (model.new_int_var(1, space.batch, ""), space.batch)
    stages = table([choice[2] for choice in choices])
    most = (model.new_int_var(1, space.batch, ""), space.batch)
    model.add_max_equality(most[0], [batch[0], stages[0]])
    # The grid: beyond one sequence for each stage only multiples of the stages.
    left = model.new_int_var(0, max(space.pp) - 1, "")
    model.add_modulo_equality(left, batch[0], stages[0])
    below = model.new_bool_var("")
    model.add(batch[0] <= stages[0]).only_enforce_if(below)
    model.add(left == 0).only_enforce_if(below.negated())
    allowed = table([divides(w, choice[1]) and line.ttft <= w.ttft
                     for choice, line in zip(choices, lines, strict=True)])  # fmt: skip
    model.add(allowed[0] == 1)
    room = table([line.room for line in lines], MEMORY)
    model.add(times(table([line.cache for line in lines], MEMORY), batch)[0] <= room[0])
    read = times(table([line.read_each for line in lines], TIME), most)
    compute = times(table([line.compute for line in lines], TIME), most)
    each = times(table([line.each for line in lines], TIME), most)
    stage = model.new_int_var(0, int(w.tpot * TIME), "")
    model.add(stage >= read[0] + table([line.read for line in lines], TIME)[0])
    model.add(stage >= compute[0])
    token = stage + each[0] + table([line.fixed for line in lines], TIME)[0]
    model.add(token <= int(w.tpot * TIME))
    replicas = (model.new_int_var(1, MOST_REPLICAS, ""), MOST_REPLICAS)
    # What the replicas hold is at least what arrives while a request is served.
    tokens = Fraction(w.rate * w.output / UTILIZATION).limit_denominator(10**6)
    held = times(replicas, batch)[0] * int(TIME) * tokens.denominator
    model.add(held >= token * tokens.numerator)
    price = table([line.price for line in lines], PRICE)
    model.minimize(times(replicas, price)[0])
    return model, [*places, batch[0]]
