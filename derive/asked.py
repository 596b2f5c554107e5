"""A question that has been read: what is asked, what is stated, and how it is to be answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from derive.complain import Span, located
from derive.lexer import NAME
from derive.names import canonical_name
from derive.question import Question
from derive.replace import replaced
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.quantity import REAL, Quantity
from formulas.statements import Axis, Between, Fact, Statement
from formulas.units import Unit
from solvers.solve import Request

SENSES = ("max", "min")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request read from text, with the unit asked and how the text was read.

    Of a calculation with quantities `find` is the text, and `expression` the calculation. `span`
    is the place of what is asked in the `line`.
    """

    find: str
    sense: str
    statements: tuple[Statement, ...]
    using: tuple[str, ...] = ()
    unit: Unit | None = None
    read_as: tuple[str, ...] = ()
    over: tuple[Axis, ...] = ()
    prefer: Mapping[str, str] = field(default_factory=dict)
    expression: Any = None
    expression_unit: Unit | None = None
    line: str = ""
    span: Span | None = None

    @property
    def called(self) -> str:
        """What is asked, as the person calls it."""
        return self.line[slice(*self.span)] if self.span else self.find

    @property
    def quantity(self) -> Quantity:
        """What is asked: a word of the vocabulary, or a nameless amount for a calculation."""
        if self.expression is None:
            return catalogue().quantities[self.find]
        # What numbers with units bring into a calculation, its quantities do not show.
        unit = self.expression_unit or _unit_of(self.expression)
        return Quantity(self.find, "", unit, REAL, "a calculation")

    def request(self) -> Request:
        """What the solver answers; Problem for a model or GPU that is not known."""
        from formulas.scenario import scenario

        for statement in self.statements:
            refuse_outside(statement, self.line)
        return Request(
            self.find, scenario(self.statements), self.sense, self.using, self.over, self.prefer
        )


def asked_of(
    question: Question,
    statements: tuple[Statement, ...] = (),
    prefer: Mapping[str, str] | None = None,
) -> Asked:
    """The request of a line, beside what was stated before it; a line of facts asks nothing."""
    name = question.find
    if question.expression is not None:
        typed = _typed(question.text)
        name = typed or _spelt(question.expression, question.expression_unit)
    if name is None:
        raise Problem("syntax", "nothing asked", ("ask a quantity:  tpot given ...",))
    return Asked(
        name,
        question.verb if question.verb in SENSES else "",
        replaced(statements, question.statements),
        unit=question.unit,
        read_as=question.read_as,
        over=question.over,
        prefer=prefer or {},
        expression=question.expression,
        expression_unit=question.expression_unit,
        line=question.text,
        span=_place(question.text, name),
    )


def _typed(line: str) -> str:
    """The calculation as it was typed, where it begins the line and nothing else stands before."""
    typed = _TAIL.split(line, maxsplit=1)[0].strip()
    return "" if any(mark in typed for mark in ",=<>:#") else typed


_TAIL = re.compile(r"\b(?:given|where|st|with|in)\b|->|\u2192|\?", re.IGNORECASE)


def _spelt(expression: Any, unit: Unit | None) -> str:
    """The calculation as it can be asked again."""
    from derive.as_plain import plain
    from derive.spelt_calculation import spelt

    return plain(expression) if unit is None else spelt(expression, unit)


def _place(line: str, name: str) -> Span | None:
    """Where the line asks the quantity, by whatever name it does."""
    for match in NAME.finditer(line):
        try:
            if canonical_name(match.group()) == name:
                return match.span()
        except Problem:
            continue
    return None


def _unit_of(expression: Any) -> Unit:
    from formulas.dimension import unit_of

    units = {name: quantity.unit for name, quantity in catalogue().quantities.items()}
    found = unit_of(expression, units)
    return found if isinstance(found, Unit) else Unit(text="1")


def refuse_outside(statement: Statement, line: str = "") -> None:
    """A Problem for a fact that its quantity can never be: nothing computed from it is true."""
    if isinstance(statement, Between):
        # A range of what comes in wholes may end between two of them.
        own = replace(catalogue().quantities[statement.quantity].domain, whole=False, choices=())
        for end in (statement.low, statement.high):
            if not own.holds(end):
                refuse_outside(Fact(statement.quantity, end, text=statement.text), line)
        return
    if not isinstance(statement, Fact) or not isinstance(statement.value, Fraction):
        return
    quantity, value = catalogue().quantities[statement.quantity], statement.value
    domain = quantity.domain
    # The size of a parallel group is counted in GPUs, whether it is on its list or not.
    counted = bool(domain.choices) and all(c.denominator == 1 for c in domain.choices)
    if domain.holds(value) and (value.denominator == 1 or not counted):
        return
    shown = display(value, quantity.unit, quantity.label)
    message = f"{quantity.name} = {shown} is not allowed"
    problem = Problem("domain", message, _advice(quantity, value), statement.text)
    place = place_of_value(line, statement.text)
    raise located(problem, line, place) if place else problem


def _advice(quantity: Quantity, value: Fraction) -> tuple[str, ...]:
    """What the quantity may be; a number that looks like a percentage is told how it is written."""
    domain = quantity.domain
    above = (
        "" if domain.low is None else f"{'above' if domain.low_open else 'at least'} {domain.low}"
    )
    below = "" if domain.high is None else f"at most {domain.high}"
    parts = ["a whole number" if domain.choices else "", above, below]
    advice = [f"{quantity.name} is {' and '.join(part for part in parts if part)}"]
    if domain.high == 1 and 2 <= value <= 100:
        advice.append(f"a percentage is written with its sign: {float(value):g}%")
    return tuple(advice)


def place_of_value(line: str, text: str) -> Span | None:
    """Where in the line the value of a statement stands; None where the line has no such text."""
    start = line.find(text) if text else -1
    words = text.split()
    if start < 0 or not words:
        return None
    end = start + len(text)
    # A value of two words, such as 30 ms, follows a sign.
    before = max(text.rfind(sign) for sign in "=<>") + 1
    value = text[before:].strip() if before else words[-1]
    return end - len(value), end
