"""Matching and blocks against linear algebra, systems against the point they were made from."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import sympy
from hypothesis import given
from hypothesis import strategies as st

from formulas.formula import VOCABULARY
from solvers.structure import structure_of
from solvers.together import solve_together

NAMES = ("a", "b", "c", "d", "e", "f")
rows = st.lists(st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=4), max_size=7)


def rank(matrix: list[list[int]]) -> int:
    return sympy.Matrix(matrix).rank() if matrix else 0


@given(rows, st.integers(0, 2**32))
def test_what_is_determined_is_what_generic_equations_determine(
    incidence: list[frozenset[str]], seed: int
) -> None:
    choose = random.Random(seed)
    names = sorted(frozenset[str]().union(*incidence))
    matrix = [[choose.randint(1, 10**6) if n in row else 0 for n in names] for row in incidence]
    structure = structure_of({f"e{i}": row for i, row in enumerate(incidence)})
    for place, name in enumerate(names):
        unit = [int(k == place) for k in range(len(names))]
        determined = rank(matrix) == rank([*matrix, unit])
        assert determined == (name not in structure.under), (name, structure)
    solved = [name for block in structure.blocks for name in block.unknowns]
    assert sorted([*solved, *structure.under]) == names
    assert len(structure.over) == len(incidence) - rank(matrix)


@given(rows)
def test_every_block_rests_on_those_before_it(incidence: list[frozenset[str]]) -> None:
    by_name = {f"e{i}": row for i, row in enumerate(incidence)}
    known: set[str] = set()
    for block in structure_of(by_name).blocks:
        assert len(block.equations) == len(block.unknowns)
        known |= set(block.unknowns)
        for equation in block.equations:
            assert by_name[str(equation)] <= known


QUANTITIES = [VOCABULARY[n] for n in ("batch", "prompt_tokens", "output_tokens")]
B, P, N = (q.symbol for q in QUANTITIES)
SHAPES = (
    B * (P + N), P + N / 2, sympy.Max(B, 16) * P, P**2 + B * N, B / (N * (P + B)), N * (P + 3),
    sympy.Min(P, 4 * B) + N, 1 / (1 / B + N / P), sympy.Max(P * B, 1000 * N), P * N * B,
)  # fmt: skip


@given(
    st.lists(st.sampled_from(SHAPES), min_size=2, max_size=3, unique=True),
    st.tuples(st.integers(1, 500), st.integers(1, 9000), st.integers(2, 900)),
)
def test_a_system_is_solved_by_the_point_it_was_made_from(
    shapes: list[Any], values: tuple[int, int, int]
) -> None:
    at = dict(zip((B, P, N), map(sympy.Integer, values), strict=True))
    fixed = {} if len(shapes) == 3 else {N: at[N]}
    unknowns = [q for q in QUANTITIES if q.symbol not in fixed]
    free = {symbol for shape in shapes for symbol in shape.free_symbols} - set(fixed)
    if free != {q.symbol for q in unknowns}:
        return
    sides = [
        (shape.xreplace(fixed), Fraction(int(v.p), int(v.q)))
        for shape in shapes
        for v in (shape.xreplace(at),)
    ]
    if any(not getattr(left, "free_symbols", ()) for left, _ in sides):
        return
    found = solve_together(sides, unknowns)
    for point in found.points:
        exact = {q.symbol: sympy.Float(float(point[q.name]), 30) for q in unknowns}
        for left, right in sides:
            assert abs(float(left.xreplace(exact)) / float(right) - 1) < 1e-6, (point, left)
    jacobian = sympy.Matrix([left for left, _ in sides]).jacobian([q.symbol for q in unknowns])
    here = {q.symbol: at[q.symbol] for q in unknowns}
    heads = [n for left, _ in sides for n in left.atoms(sympy.Max, sympy.Min)]
    if any(len({a.xreplace(here) for a in n.args}) < len(n.args) for n in heads):
        return  # at the edge of two arms
    slopes = jacobian.xreplace(here).subs({sympy.Heaviside(0): 0}).doit()
    if slopes.det() == 0 or found.refused:
        return  # the point is not alone there
    wanted = {q.name: float(at[q.symbol]) for q in unknowns}
    assert any(
        all(abs(float(point[n]) / v - 1) < 1e-9 for n, v in wanted.items())
        for point in found.points
    ), (sides, found)
