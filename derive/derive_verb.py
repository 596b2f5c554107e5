"""`derive max context given ... to report.tex`: the derivation of an answer as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from derive.document import Line
from derive.outcome import Outcome
from formulas.errors import Problem

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.question import Question


def answer_derive(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The answer whose derivation is written to the file that is named, else shown as Markdown.

    Without a question, or with the name of what was asked last alone, it is the last answer.
    """
    inner = question.inner
    if inner is None or _is_last(conversation, inner):
        if conversation.last is None:
            advice = ("ask something first, or:  derive tpot given ... to report.tex",)
            raise Problem("syntax", "there is no answer yet to speak of", advice)
        after, outcome = conversation, conversation.last.outcome()
    else:
        after, outcome = conversation.answer(replace(inner, to=None))
    if question.to or (inner and inner.to):
        return after, outcome
    text = outcome.written_as("md")
    shown = tuple(Line(row) for row in text.rstrip("\n").split("\n"))
    return after, replace(outcome, document=shown, data={**outcome.data, "derivation": text})


def _is_last(conversation: Conversation, inner: Question) -> bool:
    last = conversation.last
    alone = inner.verb == "value" and not (inner.statements or inner.over or inner.expression)
    return alone and last is not None and inner.find == last.answer.find
