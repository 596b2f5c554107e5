"""A whole question in the one spelling that the grammar reads as the same question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from derive.spelling import quoted, spelt_statement, spelt_values
from formulas.statements import EVERY, AmongNames, Axis

if TYPE_CHECKING:
    from derive.question import Question


def canonical_line(question: Question) -> str:
    """Verb and what it speaks of first, then `given` and the statements, then the other tails."""
    stated = ", ".join(spelt_statement(statement) for statement in question.statements)
    head = _HEADS.get(question.verb, _asked)(question, stated)
    tails = "" if question.verb in _WITHOUT_TAILS else "".join(_tails(question, stated))
    return head + tails


def _asked(question: Question, _: str) -> str:
    find = question.find or ""
    if question.expression is not None and question.expression_unit is not None:
        from derive.spelt_calculation import spelt

        find = spelt(question.expression, question.expression_unit)
    return find if question.verb == "value" else f"{question.verb} {find}"


def _supposed(verb: str) -> Callable[[Question, str], str]:
    def head(question: Question, stated: str) -> str:
        inner = "" if question.inner is None else f": {canonical_line(question.inner)}"
        return f"{verb} {stated}{inner}"

    return head


def _explained(question: Question, _: str) -> str:
    sense = "" if question.inner is None else f" {question.inner.verb}"
    return f"{question.verb}{sense}{f' {question.find}' if question.find else ''}"


def _named(question: Question, _: str) -> str:
    names = ", ".join(question.names)
    return f"{question.verb} {names}" if names else question.verb


def _searched(question: Question, _: str) -> str:
    return " ".join((question.verb, *question.words))


def _planned(question: Question, _: str) -> str:
    front = " ".join((question.verb, *question.words))
    return f"{front} {', '.join(' '.join(goal) for goal in question.goals)}"


def _drawn(question: Question, _: str) -> str:
    if question.inner is not None:
        return f"{question.verb} {canonical_line(question.inner)}"
    return " ".join((_searched(question, ""), ", ".join(question.names))).rstrip()


_HEADS: dict[str, Callable[[Question, str], str]] = {
    "state": lambda _, stated: stated,
    "whatif": _supposed("whatif"),
    "whynot": _supposed("why not"),
    "why": _explained,
    "sens": _explained,
    "formulas": _searched,
    **dict.fromkeys(("which", "sweep", "relax", "variants", "need", "use", "show"), _named),
    "check": _named,
    "plan": _planned,
    **dict.fromkeys(("plot", "derive"), _drawn),
}
_WITHOUT_TAILS = ("state", "whatif", "whynot", "formulas")


def _tails(question: Question, stated: str) -> tuple[str, ...]:
    return (
        f" for {question.solve_for}" if question.solve_for else "",
        f" given {stated}" if stated else "",
        f" over {', '.join(map(_axis, question.over))}" if question.over else "",
        f" require {', '.join(row.text for row in question.conditions)}"
        if question.conditions
        else "",
        f" at {', '.join(map(_price, question.prices))}" if question.prices else "",
        f" by {', '.join(question.by)}" if question.by else "",
        f" top {'all' if question.top == EVERY else question.top}" if question.top else "",
        f" as {question.form}" if question.form else "",
        f" to {quoted(question.to)}" if question.to else "",
        f" -> {question.unit}" if question.unit is not None else "",
        f" --time {question.seconds:.10g}" if question.seconds else "",
    )


def _axis(axis: Axis) -> str:
    if axis.values is None:
        return axis.name
    if all(isinstance(value, str) for value in axis.values):
        return spelt_statement(AmongNames(axis.name, axis.values))
    return spelt_values(axis.name, axis.values)


def _price(price: tuple[str, Any]) -> str:
    from fractions import Fraction

    from derive.literals import plain

    number = plain(price[1])
    if Fraction(number) != price[1]:
        return f"{price[0]} {price[1]}"
    return f"{price[0]} ${number}/h"
