"""What a line comes to that asks a quantity, or that only states facts."""

from __future__ import annotations

from dataclasses import replace

from derive.asked import Asked, asked_of, refuse_outside
from derive.conversation import Conversation
from derive.deadline import answer
from derive.document import Fields, Line
from derive.outcome import Outcome
from derive.question import Question
from derive.session import Reply
from derive.spelling import spelt_statement


def outcome_of(asked: Asked, seconds: float) -> Outcome:
    """The outcome of one question."""
    return Reply(asked, answer(asked, seconds)).outcome()


def answer_question(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The answer to a value, a largest or a smallest; `why` speaks of it from now on."""
    asked = asked_of(question, conversation.statements, conversation.prefer)
    outcome = outcome_of(asked, conversation.seconds)
    return replace(conversation, last=outcome.reply), outcome


def answer_state(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The facts hold from now on, in place of what was said of the same things before."""
    from derive.accepting import refuse_contradictions
    from derive.replace import replaced

    for statement in question.statements:
        refuse_outside(statement, question.text)
    statements = replaced(conversation.statements, question.statements)
    refuse_contradictions(statements, question)
    rows = tuple(("", spelt_statement(statement)) for statement in question.statements)
    notes = tuple(("" if index else "read as", note) for index, note in enumerate(question.read_as))
    document = (Fields((*rows, *notes)),) if rows else (Line(""),)
    data = {"status": "ok", "stated": [text for _, text in rows]}
    return replace(conversation, statements=statements), Outcome("ok", document, data)
