"""Answers in words: the value, an interval, what contradicts what, what is to be noted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.quantity import Domain, Quantity
from formulas.units import Unit
from solvers.answer import (
    Answer,
    Choice,
    Contradiction,
    Exact,
    Infeasible,
    Interval,
    Missing,
    Range,
    Unbounded,
    Unproved,
)


def status(answer: Answer) -> str:
    """The one word for what kind of answer it is."""
    return _STATUS[type(answer)]


_STATUS: dict[type, str] = {
    Exact: "ok",
    Range: "ok",
    Choice: "ok",
    Infeasible: "infeasible",
    Missing: "missing",
    Contradiction: "contradiction",
    Unbounded: "unbounded",
    Unproved: "unproved",
}


def shown(answer: Answer, quantity: Quantity, unit: Unit | None = None) -> str:
    """The answer's value for people."""

    def text(value: Any) -> str:
        return display(value, quantity.unit, quantity.label, unit)

    match answer:
        case Exact(_, value, spread=spread) if spread is not None:
            return _with_spread(text(value), text(spread))
        case Exact(_, value) | Choice(_, value):
            return text(value)
        case Range(_, intervals, one_sided, value):
            if one_sided and value is not None:
                return f"{_sign(intervals[0])} {text(_end(intervals[0]))}"
            return ", ".join(between(piece, text) for piece in intervals)
        case _:
            return status(answer)


def _with_spread(value: str, spread: str) -> str:
    """`27.5 ± 1.7 ms`: the unit once, where it is the same."""
    number, _, unit = value.rpartition(" ")
    same = unit and spread.endswith(f" {unit}")
    return f"{number if same else value} ± {spread}"


def _end(span: Interval) -> Any:
    return span.low if span.low is not None else span.high


def _sign(span: Interval) -> str:
    if span.low is not None:
        return ">" if span.low_open else ">="
    return "<" if span.high_open else "<="


def between(span: Interval, text: Any) -> str:
    """An interval in words that read as inequalities."""
    if span.low is not None and span.low == span.high:
        return str(text(span.low))
    if span.low is None and span.high is None:
        return "any value"
    if span.low is None or span.high is None:
        return f"{_sign(span)} {text(_end(span))}"
    left, right = "(" if span.low_open else "[", ")" if span.high_open else "]"
    return f"{left}{text(span.low)} .. {text(span.high)}{right}"


def contradiction_text(answer: Contradiction) -> str:
    """Both values of the quantity, and where the other one comes from."""
    by = f" ({answer.relation})" if answer.relation in catalogue().relations else ""
    return contradiction_values(answer) + by


def contradiction_values(answer: Contradiction) -> str:
    """Both values of the quantity."""
    quantity = catalogue().quantities[answer.quantity]
    stated, derived = (
        display(value, quantity.unit, quantity.label) for value in (answer.stated, answer.derived)
    )
    if stated == derived:
        stated, derived = (f"{float(v):.12g}" for v in (answer.stated, answer.derived))
    if answer.relation not in catalogue().relations:
        texts = " and ".join(s.text for s in answer.conflict)
        return f"{texts} contradict each other: {answer.quantity} is {stated} or {derived}"
    return f"{answer.quantity} = {stated} contradicts {derived}"


def remarks(answer: Answer, domain: Domain) -> tuple[str, ...]:
    """The notes of an answer; an exact inverse of a count may be no whole number, and says so."""
    from solvers.spans import extreme

    notes = answer.evidence.notes
    if isinstance(answer, Range) and domain.whole:
        best = extreme(list(answer.intervals), "max", Fraction(1))
        if best.value is None and not best.unbounded:
            return (*notes, f"{answer.find} is counted, and no whole number lies in this range")
    if not isinstance(answer, Exact) or answer.sense or isinstance(answer.value, bool):
        return notes
    values = [branch.value for branch in answer.branches] or [answer.value]
    if not domain.whole or all(_is_whole(value) for value in values):
        return notes
    return (*notes, f"{answer.find} is counted, and this is not a whole number")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1
