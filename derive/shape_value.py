"""What a printed formula comes to when the numbers that stand in it are put in.

It knows the shapes and nothing of the engine, so that it also checks what the engine prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from derive.shapes import (
    Call,
    Cases,
    Compare,
    Decimal,
    Fence,
    Integer,
    Item,
    Logic,
    Name,
    Negative,
    Over,
    Power,
    Product,
    Quotient,
    Remainder,
    Root,
    Shape,
    Sum,
    Transposed,
    Word,
)
from formulas.formula import VOCABULARY

Values = Mapping[str, Any]
_NEAR = 1e-9
_WORDS = {"infinity": math.inf, "e": math.e, "pi": math.pi, "true": True, "false": False}
_FENCES: Mapping[str, Any] = {"ceiling": math.ceil, "floor": math.floor, "absolute": abs}
_CALLS: Mapping[str, Any] = {"min": min, "max": max, "ln": math.log, "round": round}


class Unreadable(Exception):
    """The shape has no number here: an array stands in it, or a value that is not known."""


def value_of(shape: Shape, values: Values) -> Any:
    """The number, or the truth, of the shape; Unreadable where it has none."""
    return _RULES[type(shape)](shape, values)


def arm_of(cases: Cases, values: Values) -> Shape:
    """The value of the first case that holds."""
    for value, test in cases.rows:
        if test is None or value_of(test, values):
            return value
    raise Unreadable("no case holds")


def taken(shape: Any, values: Values) -> Any:
    """The shape with the case that holds in place of all of them."""
    if isinstance(shape, Cases):
        return taken(arm_of(shape, values), values)
    if isinstance(shape, tuple):
        return tuple(taken(part, values) for part in shape)
    if not is_dataclass(shape) or isinstance(shape, type | Name):
        return shape
    parts = {field.name: taken(getattr(shape, field.name), values) for field in fields(shape)}
    return replace(shape, **parts)


def tests_in(shape: Any, values: Values) -> list[tuple[Shape, bool]]:
    """Every condition that was looked at to choose a case, and whether it holds."""
    if isinstance(shape, Cases):
        found: list[tuple[Shape, bool]] = []
        for value, test in shape.rows:
            if test is None:
                return [*found, *tests_in(value, values)]
            holds = bool(value_of(test, values))
            found.append((test, holds))
            if holds:
                return [*found, *tests_in(value, values)]
        return found
    if isinstance(shape, tuple):
        return [row for part in shape for row in tests_in(part, values)]
    if not is_dataclass(shape) or isinstance(shape, type | Name):
        return []
    return [row for f in fields(shape) for row in tests_in(getattr(shape, f.name), values)]


def _named(name: str, values: Values) -> Any:
    if name in values:
        found = values[name]
        if found is None or isinstance(found, str | tuple | list):
            raise Unreadable(name)
        return found
    constant = VOCABULARY.get(name)
    if constant is None or constant.value is None:
        raise Unreadable(name)
    return constant.value


def _same(one: Any, other: Any) -> bool:
    return one == other or math.isclose(one, other, rel_tol=_NEAR)


def _over(top: Any, bottom: Any) -> Any:
    if bottom == 0:
        raise Unreadable("a division by zero")
    return top / bottom


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(exponent, Fraction) and exponent.denominator == 1
    if whole and abs(exponent) <= 64:
        return _over(1, base ** abs(int(exponent))) if exponent < 0 else base ** int(exponent)
    try:
        return float(base) ** float(exponent)
    except (ArithmeticError, TypeError) as trouble:
        raise Unreadable(str(trouble)) from None


def _call(word: str, arguments: list[Any]) -> Any:
    if word not in _CALLS:
        raise Unreadable(word)
    return _CALLS[word](*arguments)


def _fenced(kind: str, inside: Any) -> Any:
    if kind == "absolute":
        return abs(inside)
    nearest = round(inside)
    # A figure within rounding of a whole number is that number.
    return Fraction(nearest if _same(inside, nearest) else _FENCES[kind](inside))


def _sum(node: Sum, values: Values) -> Any:
    parts = [(-1 if t.negative else 1) * value_of(t.shape, values) for t in node.terms]
    return sum(parts[1:], parts[0])


def _logic(node: Logic, values: Values) -> bool:
    truths = (bool(value_of(part, values)) for part in node.parts)
    if node.word == "not":
        return not next(truths)
    return all(truths) if node.word == "and" else any(truths)


def _array(node: Shape, _: Values) -> Any:
    raise Unreadable("an array")


_SIGNS: Mapping[str, Any] = {
    "=": _same,
    "!=": lambda a, b: not _same(a, b),
    "<=": lambda a, b: a <= b or _same(a, b),
    ">=": lambda a, b: a >= b or _same(a, b),
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
_RULES: Mapping[type, Callable[[Any, Values], Any]] = {
    Name: lambda node, values: _named(node.symbol.name, values),
    Integer: lambda node, _: Fraction(node.value),
    Decimal: lambda node, _: Fraction(node.digits) * Fraction(10) ** node.exponent,
    Word: lambda node, _: _WORDS[node.word],
    Negative: lambda node, values: -value_of(node.inside, values),
    Sum: _sum,
    Product: lambda node, values: math.prod(value_of(part, values) for part in node.factors),
    Quotient: lambda node, values: _over(*(value_of(p, values) for p in (node.top, node.bottom))),
    Power: lambda node, values: _power(*(value_of(p, values) for p in (node.base, node.exponent))),
    Root: lambda node, values: _power(value_of(node.inside, values), Fraction(1, node.degree)),
    Call: lambda node, values: _call(node.word, [value_of(p, values) for p in node.arguments]),
    Fence: lambda node, values: _fenced(node.kind, value_of(node.inside, values)),
    Remainder: lambda node, values: (
        value_of(node.dividend, values) % value_of(node.divisor, values)
    ),
    Cases: lambda node, values: value_of(arm_of(node, values), values),
    Compare: lambda node, values: _SIGNS[node.sign](
        value_of(node.left, values), value_of(node.right, values)
    ),
    Logic: _logic,
    Item: _array,
    Over: _array,
    Transposed: _array,
}
