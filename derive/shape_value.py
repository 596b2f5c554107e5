"""What a printed formula comes to when the numbers that stand in it are put in.

It knows the shapes and nothing of the engine, so that it also checks what the engine prints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, assert_never

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
_FENCES = {"ceiling": math.ceil, "floor": math.floor, "absolute": abs}
_CALLS: Mapping[str, Any] = {"min": min, "max": max, "ln": lambda a: math.log(a), "round": round}
_SIGNS = {
    "=": lambda a, b: _same(a, b),
    "!=": lambda a, b: not _same(a, b),
    "<=": lambda a, b: a <= b or _same(a, b),
    ">=": lambda a, b: a >= b or _same(a, b),
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}


class Unreadable(Exception):
    """The shape has no number here: an array stands in it, or a value that is not known."""


def value_of(shape: Shape, values: Values) -> Any:
    """The number, or the truth, of the shape; Unreadable where it has none."""
    match shape:
        case Name(symbol):
            return _named(symbol.name, values)
        case Integer(value):
            return Fraction(value)
        case Decimal(digits, exponent):
            return Fraction(digits) * Fraction(10) ** exponent
        case Word(word):
            return _WORDS[word]
        case Negative(inside):
            return -value_of(inside, values)
        case Sum(terms):
            parts = [(-1 if t.negative else 1) * value_of(t.shape, values) for t in terms]
            return sum(parts[1:], parts[0])
        case Product(factors):
            found = value_of(factors[0], values)
            for factor in factors[1:]:
                found = found * value_of(factor, values)
            return found
        case Quotient(top, bottom):
            return _over(value_of(top, values), value_of(bottom, values))
        case Power(base, exponent):
            return _power(value_of(base, values), value_of(exponent, values))
        case Root(degree, inside):
            return _power(value_of(inside, values), Fraction(1, degree))
        case Call(word, arguments):
            return _call(word, [value_of(part, values) for part in arguments])
        case Fence(kind, inside):
            return _fenced(kind, value_of(inside, values))
        case Remainder(dividend, divisor):
            return value_of(dividend, values) % value_of(divisor, values)
        case Cases():
            return value_of(arm_of(shape, values), values)
        case Compare(sign, left, right):
            return _SIGNS[sign](value_of(left, values), value_of(right, values))
        case Logic(word, parts):
            truths = (value_of(part, values) for part in parts)
            return not next(truths) if word == "not" else (all if word == "and" else any)(truths)
        case Item() | Over() | Transposed():
            raise Unreadable("an array")
        case _:
            assert_never(shape)


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
