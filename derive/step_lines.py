"""One step of a derivation as lines: the formula, the numbers put in, the result.

The numbers have as many digits as it takes for a reader who computes with them to arrive at the
printed result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from derive.as_latex import SIGNS, shape_latex
from derive.layout import lay_out
from derive.paper import Aligned, Block, Math, Note, Paragraph, Typed
from derive.printed import DIGITS, MOST_DIGITS, Printed, fraction, printed
from derive.setting import Link, Setting, right_side
from derive.shape_value import Unreadable, taken, tests_in, value_of
from derive.shapes import Integer, Name, Shape, Word
from formulas.formula import VOCABULARY
from formulas.quantity import Quantity

_SAME = "="
_DIGITS_OF_COUNTS = 8


def step_blocks(setting: Setting, link: Link) -> list[Block]:
    """The formula of a quantity, its numbers, its value; what decided between its cases."""
    shape = right_side(link, setting.values)
    head = _head(link)
    letter, result = setting.letter(link.name), setting.printed(link.name)
    if shape is None:
        text = " The formula has no inverse that is written out; the value was found in numbers."
        return [Paragraph((*head, text)), Aligned(((letter, f"= {result.latex}"),))]
    sign = link.relation.relation if link.relation.relation in ("=", "≈") else _SAME
    rows = [(letter, f"{SIGNS[sign]} {shape_latex(shape, setting.letters)}")]
    rows += put_in(setting, link.name, shape)
    return [Paragraph(head), Aligned(tuple(rows)), *case_notes(setting, shape)]


def _head(link: Link) -> tuple[Any, ...]:
    meaning = VOCABULARY[link.name].meaning
    solved = f", solved from {link.solved_from}" if link.solved_from else ""
    return (Typed(link.name), f", {meaning}{solved} (", Typed(link.relation.key), "):")


def put_in(
    setting: Setting, name: str, shape: Shape, values: Mapping[str, Any] | None = None,
    result: Any = None, sign: str = "=",
) -> list[tuple[str, str]]:  # fmt: skip
    """The line with the numbers put in, where that says more than the result, and the result."""
    values = setting.values if values is None else values
    result = values.get(name) if result is None else result
    quantity = setting.quantity if name == setting.find else VOCABULARY[name]
    mark = SIGNS[sign]
    try:
        held = taken(shape, values)
    except (Unreadable, TypeError):
        return [("", f"{mark} {printed(quantity, result).latex}")]
    if isinstance(held, Name | Integer | Word):
        return [("", f"{mark} {printed(quantity, result, _digits_of(quantity, result)).latex}")]
    numbers, shown = digits_for(quantity, held, values, result)
    return [
        ("", f"{mark} {shape_latex(held, {**setting.letters, **numbers})}"),
        ("", f"{mark} {shown.latex}"),
    ]


def digits_for(
    quantity: Quantity, shape: Shape, values: Mapping[str, Any], result: Any
) -> tuple[dict[str, str], Printed]:
    """The numbers to print by name, in as many digits as the result needs, and the result."""
    shown = printed(quantity, result, _digits_of(quantity, result))
    names = [name for name in names_of(shape) if name in values]
    found: dict[str, Printed] = {}
    for digits in range(DIGITS, MOST_DIGITS + 1):
        found = {name: printed(VOCABULARY[name], values[name], digits) for name in names}
        if recomputes(quantity, shape, {n: row.value for n, row in found.items()}, shown):
            break
    return {name: row.latex for name, row in found.items()}, shown


def recomputes(quantity: Quantity, shape: Shape, values: Mapping[str, Any], shown: Printed) -> bool:
    """Whether the printed numbers come to the printed result."""
    try:
        # A quantity that has no value here is one that cancels.
        cancelling = dict.fromkeys(names_of(shape), Fraction(1))
        again = value_of(shape, {**cancelling, **values})
    except (Unreadable, TypeError, ArithmeticError):
        return False
    number = fraction(again)
    if number is None:
        return isinstance(again, bool)
    return printed(quantity, number, _digits_of(quantity, number)).latex == shown.latex


def _digits_of(quantity: Quantity, value: Any) -> int:
    """A count that is not whole is printed so that its whole part is seen."""
    number = fraction(value)
    if number is None or not quantity.domain.whole or number.denominator == 1:
        return DIGITS
    return _DIGITS_OF_COUNTS if abs(number) < 10**6 else DIGITS


def names_of(shape: Any) -> list[str]:
    """The quantities in the shape, each once."""
    return list(dict.fromkeys(_names(shape)))


def _names(shape: Any) -> Iterator[str]:
    from dataclasses import fields, is_dataclass

    if isinstance(shape, Name):
        if shape.symbol.name in VOCABULARY and VOCABULARY[shape.symbol.name].value is None:
            yield shape.symbol.name
    elif isinstance(shape, tuple):
        for part in shape:
            yield from _names(part)
    elif is_dataclass(shape):
        for field in fields(shape):
            yield from _names(getattr(shape, field.name))


def case_notes(setting: Setting, shape: Shape) -> list[Block]:
    """Which conditions hold, where the formula has cases."""
    try:
        tests = tests_in(shape, setting.values)
    except (Unreadable, TypeError):
        return []
    if not tests:
        return []
    parts: list[Any] = []
    for test, holds in tests:
        parts += ["; " if parts else "", Math(shape_latex(test, setting.letters))]
        parts += [" holds" if holds else " does not hold"]
    return [Note((*(part for part in parts if part), "."))]


def expression_latex(setting: Setting, expr: Any) -> str:
    """An expression that algebra made, in the letters of the document."""
    return shape_latex(lay_out(expr), setting.letters)
