"""What Python states: lines of the language, or names with values of Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from derive.question import parse, read_statement
from formulas.errors import Problem
from formulas.statements import Statement

Facts = str | Iterable[str] | Mapping[str, Any]


def stated(facts: Facts) -> tuple[Statement, ...]:
    """The statements of a line, of several, or of names and values; Problem for a question."""
    return tuple(_read(facts))


def _read(facts: Facts) -> list[Statement]:
    if isinstance(facts, str):
        question = parse(facts)
        if question.find is not None:
            raise Problem("syntax", f"'{facts}' asks {question.find}; facts are expected here")
        return list(question.statements)
    if isinstance(facts, Mapping):
        return [
            row
            for name, value in facts.items()
            for part in (value if isinstance(value, list | tuple) else (value,))
            for row in read_statement(name, _spelt(name, part))
        ]
    return [row for text in facts for row in _read(text)]


def _spelt(name: str, value: Any) -> str:
    """The value as the grammar reads it; the types of number libraries are numbers too."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Problem("number", f"{name} = {value} is no number that can be computed with")
        return repr(float(value))
    if value is None:
        raise Problem("syntax", f"{name} has no value", ("leave it out where it is not known",))
    return str(value)
