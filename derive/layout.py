"""From an expression to shapes: nesting flattened, signs gathered, quotients found, order decided.

A formula as its author wrote it keeps its order. An expression that algebra made has none worth
keeping: it gets numbers first, positive terms before negative ones, then the vocabulary's order.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from sympy.core import numbers
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from derive.arrange import (
    AS_WRITTEN,
    BY_VOCABULARY,
    Order,
    add,
    by_place,
    multiply,
    names_in,
    raise_to,
)
from derive.figures import number, rounded
from derive.shapes import (
    ONE,
    Call,
    Cases,
    Compare,
    Fence,
    Item,
    Logic,
    Name,
    Negative,
    Over,
    Power,
    Quotient,
    Remainder,
    Shape,
    Transposed,
    Word,
)
from formulas.expressions import Round, WrittenMax, WrittenMin
from formulas.fold import Leaf, Rules, fold
from formulas.formula import VOCABULARY, Relation
from formulas.tensors import BlockHash, Entries, MatrixFunction, MaxOver, Softmax

Walk = Callable[[Any], Shape]


def lay_out(expr: Any, *, as_written: bool = False) -> Shape:
    """The shapes of the expression; NoRule where one of its classes has none."""
    return fold(expr, WRITTEN if as_written else ORDERED)  # type: ignore[no-any-return]


def relation_sides(relation: Relation) -> tuple[Shape | None, Shape]:
    """Both sides as the author wrote them; no left side where the right one is a comparison.

    A vector that is given entry by entry reads as an equation between entries.
    """
    right = lay_out(relation.written, as_written=True)
    left = Name(VOCABULARY[relation.gives].symbol)
    match right:
        case Compare():
            return None, right
        case Over("entries", term, index, None):
            return Item(left, (index,)), term
        case _:
            return left, right


def _symbol(node: Any) -> Shape:
    """A named constant whose letter is a bare number is that number; all else keeps its name."""
    quantity = VOCABULARY.get(node.name)
    if quantity is None or quantity.value is None or not quantity.letter.replace("^", "").isdigit():
        return Name(node)
    return number(quantity.value)


def _exact(node: Any) -> Fraction:
    ratio = sympy.Rational(node)
    return Fraction(int(ratio.p), int(ratio.q))


def _power(node: Any, base: Shape, exponent: Shape) -> Shape:
    """A negative number as exponent makes a quotient."""
    if isinstance(exponent, Negative) and node.exp.is_Rational:
        return Quotient(ONE, raise_to(base, exponent.inside))
    return raise_to(base, exponent)


def _cases(node: Any, walk: Walk) -> Shape:
    return Cases(tuple((walk(value), _condition(test, walk)) for value, test in node.args))


def _condition(test: Any, walk: Walk) -> Shape | None:
    return None if test == sympy.true else walk(test)


def _compare(sign: str, mirrored: str) -> Callable[..., Shape]:
    """A lone number stands on the right."""

    def rule(_: Any, left: Shape, right: Shape) -> Shape:
        if names_in(right) and not names_in(left):
            return Compare(mirrored, right, left)
        return Compare(sign, left, right)

    return rule


def _fence(kind: str) -> Callable[..., Shape]:
    return lambda _, inside: Fence(kind, inside)


def _call(word: str) -> Callable[..., Shape]:
    return lambda _, *arguments: Call(word, arguments)


def _unordered(make: Callable[[str, tuple[Shape, ...]], Shape], word: str) -> Callable[..., Shape]:
    """For nodes that sympy keeps as a set, whose parts arrive in an arbitrary order."""
    return lambda _, *parts: make(word, tuple(sorted(parts, key=by_place)))


def _item(node: Any, walk: Walk) -> Shape:
    return Item(walk(node.base), tuple(walk(place) for place in node.indices))


def _sum(node: Any, walk: Walk) -> Shape:
    shape = walk(node.function)
    for limits in node.limits:
        shape = _over("sum", shape, limits, walk)
    return shape


def _over(kind: str, term: Shape, limits: Any, walk: Walk) -> Shape:
    """An index from 0 to one less than a dimension runs over a whole array: no need to say so."""
    index, low, high = limits
    whole = low == 0 and isinstance(sympy.Add(high, 1), sympy.Symbol)
    return Over(kind, term, walk(index), None if whole else (walk(low), walk(high)))


def _over_index(kind: str) -> Leaf:
    def rule(node: Any, walk: Walk) -> Shape:
        return _over(kind, walk(node.term), (node.index, node.low, node.high), walk)

    return Leaf(rule)


def _rules(order: Order) -> Rules:
    return {
        int: Leaf(lambda node, _: number(Fraction(node))),
        Fraction: Leaf(lambda node, _: number(node)),
        sympy.Symbol: _symbol,
        sympy.Rational: lambda node: number(_exact(node)),
        sympy.Float: lambda node: rounded(_exact(node)),
        numbers.Infinity: lambda _: Word("infinity"),
        numbers.NegativeInfinity: lambda _: Negative(Word("infinity")),
        numbers.Exp1: lambda _: Word("e"),
        numbers.Pi: lambda _: Word("pi"),
        sympy.Add: lambda _, *parts: add(parts, order),
        sympy.Mul: lambda _, *parts: multiply(parts, order),
        sympy.Pow: _power,
        sympy.exp: lambda _, exponent: Power(Word("e"), exponent),
        sympy.log: _call("ln"),
        Round: _call("round"),
        WrittenMin: _call("min"),
        WrittenMax: _call("max"),
        sympy.Min: _unordered(Call, "min"),
        sympy.Max: _unordered(Call, "max"),
        sympy.ceiling: _fence("ceiling"),
        sympy.floor: _fence("floor"),
        sympy.Abs: _fence("absolute"),
        sympy.Mod: lambda _, dividend, divisor: Remainder(dividend, divisor),
        sympy.Piecewise: Leaf(_cases),
        sympy.Eq: _compare("=", "="),
        sympy.Ne: _compare("!=", "!="),
        sympy.StrictLessThan: _compare("<", ">"),
        sympy.LessThan: _compare("<=", ">="),
        sympy.StrictGreaterThan: _compare(">", "<"),
        sympy.GreaterThan: _compare(">=", "<="),
        sympy.And: _unordered(Logic, "and"),
        sympy.Or: _unordered(Logic, "or"),
        sympy.Not: _unordered(Logic, "not"),
        BooleanTrue: lambda _: Word("true"),
        BooleanFalse: lambda _: Word("false"),
        **_array_rules(order),
    }


def _array_rules(order: Order) -> Rules:
    """Factors of a matrix product stay where they are, whoever made it."""
    return {
        sympy.MatrixSymbol: Leaf(lambda node, _: Name(node)),
        sympy.IndexedBase: Leaf(lambda node, _: Name(node)),
        sympy.Indexed: Leaf(_item),
        sympy.MatAdd: lambda _, *parts: add(parts, order),
        sympy.MatMul: lambda _, *parts: multiply(parts, AS_WRITTEN),
        sympy.Transpose: lambda _, matrix: Transposed(matrix),
        sympy.Sum: Leaf(_sum),
        MaxOver: _over_index("max"),
        Entries: _over_index("entries"),
        Softmax: _call("softmax"),
        MatrixFunction: Leaf(lambda node, walk: Call(node.name, (walk(node.argument),))),
        BlockHash: _call("hash"),
    }


WRITTEN = _rules(AS_WRITTEN)
ORDERED = _rules(BY_VOCABULARY)
