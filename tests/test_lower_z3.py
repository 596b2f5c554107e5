"""The z3 lowering against sympy: exact values of random expressions, and what is refused."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
import sympy
import z3

from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.fold import NoRule, rule_for
from solvers.lower_z3 import Lowering
from tests.test_architecture import INSIDE_OTHERS, node_classes

SYMBOLS = [sympy.Symbol(f"x{i}", real=True) for i in range(2)] + [
    sympy.Symbol(f"p{i}", positive=True) for i in range(2)
]
WHOLE = sympy.Symbol("n", integer=True, positive=True)


def expression(choose: random.Random, depth: int) -> Any:
    if depth == 0:
        number = sympy.Rational(choose.randint(-9, 9), choose.randint(1, 7))
        return choose.choice((*SYMBOLS, WHOLE, number))
    one, two, three = (expression(choose, depth - 1) for _ in range(3))
    positive = choose.choice((*SYMBOLS[2:], WHOLE)) + choose.randint(0, 3)
    return choose.choice(
        (
            lambda: one + two,
            lambda: one - two,
            lambda: one * two,
            lambda: one / positive,
            lambda: one ** choose.randint(1, 3),
            lambda: sympy.Min(one, two),
            lambda: sympy.Max(one, two, three),
            lambda: sympy.ceiling(one),
            lambda: sympy.floor(one),
            lambda: sympy.Mod(one, positive),
            lambda: sympy.Abs(one),
            lambda: sympy.Piecewise((one, two > three), (two, sympy.Eq(one, 1)), (three, True)),
            lambda: sympy.Piecewise((one, sympy.And(one <= two, three >= 0)), (two, True)),
            lambda: sympy.Piecewise((two, sympy.Or(one < 1, sympy.Ne(three, 2))), (one, True)),
        )
    )()


def point(choose: random.Random) -> dict[Any, Any]:
    found = {s: sympy.Rational(choose.randint(-30, 30), choose.randint(1, 6)) for s in SYMBOLS[:2]}
    found |= {s: sympy.Rational(choose.randint(1, 30), choose.randint(1, 6)) for s in SYMBOLS[2:]}
    return {**found, WHOLE: sympy.Integer(choose.randint(1, 12))}


def z3_value(lowering: Lowering, term: Any, at: dict[Any, Any]) -> Fraction:
    pairs = []
    for symbol, value in at.items():
        name = lowering.names.get(symbol.name)
        if name is not None:
            number = z3.IntVal(int(value)) if z3.is_int(name) else z3.Q(int(value.p), int(value.q))
            pairs.append((name, number))
    for fact in lowering.always:
        assert z3.is_true(z3.simplify(z3.substitute(fact, *pairs)))
    found = z3.simplify(z3.substitute(term, *pairs))
    if z3.is_int_value(found):
        return Fraction(found.as_long())
    return Fraction(found.numerator_as_long(), found.denominator_as_long())


@pytest.mark.parametrize("seed", range(10))
def test_values_are_those_of_sympy(seed: int) -> None:
    choose = random.Random(seed)
    checked = 0
    while checked < 100:
        expr = expression(choose, choose.randint(1, 3))
        if not isinstance(expr, sympy.Expr):
            continue
        at = point(choose)
        expected = sympy.sympify(expr.xreplace(at))
        if not expected.is_Rational:
            continue
        lowering = Lowering()
        term = lowering.term(expr)
        assert z3_value(lowering, term, at) == Fraction(int(expected.p), int(expected.q)), expr
        checked += 1


def test_division_of_whole_numbers_is_not_rounded() -> None:
    n, m = (sympy.Symbol(name, integer=True, positive=True) for name in "nm")
    lowering = Lowering()
    term = lowering.term(n / m)
    at = {n: sympy.Integer(7), m: sympy.Integer(2)}
    assert z3_value(lowering, term, at) == Fraction(7, 2)


def test_a_denominator_is_positive() -> None:
    x = sympy.Symbol("x", real=True)
    lowering = Lowering()
    solver = z3.Solver()
    solver.add(lowering.term(sympy.Eq(1 / x, 5, evaluate=False)), *lowering.always)
    solver.add(lowering.names["x"] == 0)
    assert solver.check() == z3.unsat


NOT_EXACT = (
    sympy.Float(0.1) * SYMBOLS[0],
    sympy.sqrt(SYMBOLS[2]),
    SYMBOLS[2] ** WHOLE,
    SYMBOLS[0] ** 40,
    sympy.pi * SYMBOLS[0],
)


@pytest.mark.parametrize("expr", NOT_EXACT)
def test_what_is_not_exact_is_refused(expr: Any) -> None:
    with pytest.raises(Problem):
        Lowering().term(expr)


def test_every_node_of_the_deployment_has_a_rule() -> None:
    rules = Lowering()._rules()
    lacking = {c.__name__ for c in node_classes(arrays_too=False) if rule_for(c, rules) is None}
    assert lacking <= INSIDE_OTHERS | {"WrittenMin", "WrittenMax", "log", "exp", "Tuple"}


def test_the_deployment_model_is_lowered() -> None:
    lowered = 0
    for relation in catalogue().relations.values():
        if relation.is_array or not relation.id.startswith("deployment."):
            continue
        if relation.gives == "experts_touched_fraction":
            continue
        if relation.value.has(sympy.log):
            with pytest.raises(NoRule):
                Lowering().term(relation.value)
            continue
        Lowering().term(relation.value)
        lowered += 1
    assert lowered > 60
