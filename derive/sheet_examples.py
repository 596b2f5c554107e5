"""The worked example of a relation of the sheet, computed by the engine when it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from derive.as_latex import shape_latex
from derive.asked import Asked
from derive.layout import relation_sides
from derive.paper import Aligned, Block, Inline, Math, Paragraph, joined
from derive.printed import printed
from derive.shape_value import Unreadable, taken
from derive.shapes import Integer, Name
from derive.step_lines import digits_for
from formulas.amounts import display
from formulas.formula import VOCABULARY, Relation
from formulas.statements import Fact
from formulas.tables import load
from solvers.answer import Answer, Exact, Range


def example_blocks(relation: Relation) -> list[Block]:
    """What goes in, the numbers put in, and what comes out; nothing for an abstract relation."""
    row = load("examples.toml").get(relation.key)
    if row is None:
        return []
    values = {_full(relation, name): value_of_row(value) for name, value in row.items()}
    found = answered(relation, values)
    result = result_of(found)
    if result is None:
        return []
    stated = joined(_stated(relation, name, value) for name, value in values.items())
    rows = _numbers(relation, values, result)
    return [Paragraph(("Example: ", *_flat(stated), ".")), Aligned(rows)]


def _flat(parts: tuple[Any, ...]) -> tuple[Inline, ...]:
    return tuple(p for part in parts for p in (part if isinstance(part, tuple) else (part,)))


def _stated(relation: Relation, name: str, value: Any) -> Any:
    quantity = VOCABULARY[name]
    letter = relation.letters.get(name, quantity.letter)
    shown = printed(quantity, value).text if not quantity.shape else display(value, quantity.unit)
    return (Math(letter), f" = {shown}")


def value_of_row(value: Any) -> Any:
    """The value of the table, exact; minus infinity is written as JSON has it."""
    if isinstance(value, tuple):
        return tuple(value_of_row(item) for item in value)
    if value == "-inf":
        return float("-inf")
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


def answered(relation: Relation, values: Mapping[str, Any]) -> Answer:
    """What the engine answers where this relation alone may."""
    from derive.deadline import solve_asked

    statements = tuple(Fact(name, value) for name, value in values.items())
    return solve_asked(Asked(relation.gives, "", statements, (relation.key,)))


def result_of(answer: Answer) -> Any:
    """The value of the answer; that of a bound is the bound."""
    return answer.value if isinstance(answer, Exact | Range) else None


def _full(relation: Relation, name: str) -> str:
    return f"{relation.id}.{name}" if f"{relation.id}.{name}" in VOCABULARY else name


def _numbers(
    relation: Relation, values: Mapping[str, Any], result: Any
) -> tuple[tuple[str, str], ...]:
    quantity = VOCABULARY[relation.gives]
    letter = relation.letters.get(relation.gives, quantity.letter)
    sign = {">=": r"\ge", "<=": r"\le", "≈": r"\approx"}.get(relation.relation, "=")
    shown = printed(quantity, result)
    if quantity.shape:
        text = display(result, quantity.unit, quantity.label).replace("\u202f", " ")
        return ((letter, rf"= \text{{{text}}}"),)
    left, shape = relation_sides(relation)
    try:
        held = taken(shape, values)
        if relation.is_array or isinstance(held, Name | Integer) or left is None:
            raise Unreadable("no numbers to put in")
    except (Unreadable, TypeError):
        return ((letter, f"{sign if left is not None else '='} {shown.latex}"),)
    numbers, shown = digits_for(quantity, held, values, result)
    return (
        (letter, f"{sign} {shape_latex(held, {**relation.letters, **numbers})}"),
        ("", f"= {shown.latex}"),
    )
