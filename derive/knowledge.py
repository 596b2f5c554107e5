"""`formulas kv cache` and `show kv_bytes_per_token for n_kv_heads` in a conversation."""

from __future__ import annotations

from derive.conversation import Conversation
from derive.listing import list_data, list_document
from derive.outcome import Outcome
from derive.question import Question
from derive.show import show_data, show_document


def answer_formulas(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """Formulas, definitions and quantities that have every word; without words the formulas."""
    document = list_document(question.words)
    rows = list_data(question.words)
    data = {"status": "ok", "find": None, "value": None, "display": f"{len(rows)} found"}
    return conversation, Outcome("ok", document, {**data, "rows": rows})


def answer_show(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The page of a formula or quantity, or how it is solved for one of its quantities."""
    (name,) = question.names
    document = show_document(name, question.solve_for)
    found = show_data(name, question.solve_for)
    data = {"status": "ok", "find": found["id"], "value": None, "display": found["id"]}
    return conversation, Outcome("ok", document, {**data, **found})
