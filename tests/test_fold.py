"""One walk, one table: each node's rule, nothing passed through unread."""

from __future__ import annotations

import pytest
import sympy

from formulas.expressions import Round, largest, smallest, where
from formulas.fold import Leaf, NoRule, fold
from formulas.formula import VOCABULARY

X, Y = VOCABULARY["batch"].symbol, VOCABULARY["n_layers"].symbol
COUNT = {sympy.Symbol: lambda node: 1, sympy.Basic: lambda node, *parts: sum(parts)}


def test_children_first_and_by_class() -> None:
    rules = {
        sympy.Symbol: lambda node: {"batch": 3, "n_layers": 5}[node.name],
        sympy.Integer: int,
        sympy.Add: lambda node, *parts: sum(parts),
        sympy.Mul: lambda node, left, right: left * right,
    }
    assert fold(X * Y + 2, rules) == 17


def test_an_ancestor_s_rule_serves_its_descendants() -> None:
    assert fold(X + X * Y, COUNT) == 3


def test_a_missing_rule_names_the_node() -> None:
    with pytest.raises(NoRule, match=r"no rule for log in log\(batch\)"):
        fold(sympy.log(X), {sympy.Symbol: lambda node: node})


def test_a_leaf_gets_the_node_and_the_walk() -> None:
    """The branch that is not taken is not looked at."""
    seen = []
    rules = {
        sympy.Symbol: lambda node: seen.append(node.name) or 1,
        sympy.Piecewise: Leaf(lambda node, walk: walk(node.args[0][0])),
    }
    assert fold(where(X > 2, Y, X), rules) == 1
    assert seen == ["n_layers"]


def test_equal_parts_are_folded_once() -> None:
    calls = []
    rules = {
        sympy.Symbol: lambda node: calls.append(node) or 2,
        sympy.Basic: lambda node, *parts: sum(parts),
    }
    fold((X + Y) * sympy.log(X + Y), rules)
    assert len(calls) == 2


def test_functions_compute_when_evaluation_is_on_and_keep_their_order_when_it_is_off() -> None:
    assert smallest(3, 2) == 2
    assert largest(X, X) == X
    with sympy.evaluate(False):
        written = smallest(Y, X, 3)
    assert written.args == (Y, X, 3)
    assert written.doit() == sympy.Min(X, Y, 3)


@pytest.mark.parametrize(("value", "whole"), [(2.4, 2), (2.5, 2), (3.5, 4), (-2.5, -2), (-0.6, -1)])
def test_rounding_is_to_even(value: float, whole: int) -> None:
    assert Round(sympy.Rational(str(value))) == whole
