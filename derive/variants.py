"""`variants tpot` and `use decode_step_kv for step_time`: relations that give one quantity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from derive.as_json import plain
from derive.as_plain import relation_plain
from derive.asked import Asked
from derive.conversation import Conversation
from derive.deadline import TimedOut, within
from derive.document import Block, Heading, Line, Table
from derive.outcome import Outcome
from derive.question import Question
from derive.replace import replaced
from derive.stopped import stopped_outcome
from derive.tree import amount
from derive.under_table import fields
from formulas.catalogue import catalogue
from formulas.errors import Problem
from solvers.answer import Answer, Exact
from solvers.variants import Variant, notably_different, relative, variants

_VALID = {True: "yes", False: "no", None: "open"}


def answer_variants(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """Every relation that may give the quantity: its value and validity here, and which answers."""
    name = question.find or question.names[0]
    stated = replaced(conversation.statements, question.statements)
    asked = Asked(name, "", stated, read_as=question.read_as, prefer=conversation.prefer)
    try:
        with within(conversation.seconds):
            rows = variants(asked.request())
    except TimedOut:
        return conversation, stopped_outcome(f"variants {name}", name, conversation.seconds)
    return conversation, Outcome("ok", _document(asked, rows), _data(asked, rows))


def notable(answer: Answer) -> tuple[str, ...]:
    """A line for each valid relation that gives the asked quantity another value by a tenth."""
    if not isinstance(answer, Exact):
        return ()
    return tuple(
        f"{key} gives {amount(answer.find, value)} ({_percent(answer.value, value)})"
        for key, value in answer.evidence.variants.items()
        if notably_different(answer.value, value)
    )


def _percent(value: Any, other: Any) -> str:
    change = relative(value, other)
    if change is None:
        return ""
    return f"{100 * float(change):+.3g} %" if change else "the same"


def _document(asked: Asked, rows: tuple[Variant, ...]) -> tuple[Block, ...]:
    name = asked.find
    if not rows:
        return (Heading(f"{name}: no relation gives it; it is stated, or solved for"),)
    best = next((row for row in rows if row.active), None)
    count = f"{len(rows)} relation{'s give' if len(rows) > 1 else ' gives'} it"
    body = tuple(
        ("->" if row.active else "", row.relation.key, _shown(name, row), _difference(best, row),
         str(row.relation.rank), _VALID[row.valid], row.why)
        for row in rows
    )  # fmt: skip
    columns = ("", "relation", "value", "differs", "rank", "valid", "")
    blocks: list[Block] = [Heading(f"{name}: {count}"), Table(columns, body, _NUMERIC)]
    blocks += [Line(f"  {text}") for text in _notable(name, best, rows)]
    formulas = [(row.relation.key, (relation_plain(row.relation, letters=False),)) for row in rows]
    given = asked.request().scenario.given.get(name)
    stated = [("stated", (f"{given.text}    {given.origin}",))] if given else []
    return (*blocks, *fields([*formulas, *stated]))


_NUMERIC = ("value", "differs", "rank")


def _shown(name: str, row: Variant) -> str:
    return "-" if row.value is None else amount(name, row.value)


def _difference(best: Variant | None, row: Variant) -> str:
    if best is None or row is best:
        return ""
    return _percent(best.value, row.value)


def _notable(name: str, best: Variant | None, rows: tuple[Variant, ...]) -> list[str]:
    """Valid relations that differ by more than a tenth from the one that answers."""
    if best is None:
        return []
    return [
        f"{row.relation.key} is valid as well, and differs by {_percent(best.value, row.value)}"
        for row in rows
        if row is not best
        and row.valid
        and not (row.relation.is_bound or row.relation.is_array)
        and notably_different(best.value, row.value)
    ]


def _data(asked: Asked, rows: tuple[Variant, ...]) -> dict[str, Any]:
    quantity = catalogue().quantities[asked.find]
    best = next((row for row in rows if row.active), None)
    return {
        "status": "ok",
        "find": asked.find,
        "value": plain(best.value) if best else None,
        "unit": quantity.unit.text,
        "display": _shown(asked.find, best) if best else "-",
        "active": best.relation.key if best else None,
        "rows": [
            {
                "relation": row.relation.key,
                "statement": relation_plain(row.relation, letters=False),
                "value": plain(row.value),
                "rank": row.relation.rank,
                "valid": row.valid,
                "active": row.active,
                "why": row.why,
                "difference": plain(relative(best.value, row.value)) if best else None,
            }
            for row in rows
        ],
    }


def answer_use(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """From now on the relation answers for the quantity; Problem where it does not give it."""
    (word,), name = question.names, question.solve_for
    rows = catalogue().named(word)
    if name is None:
        name = rows[0].gives if len({row.gives for row in rows}) == 1 else ""
    if not name:
        gives = ", ".join(row.gives for row in rows)
        raise Problem("syntax", f"{word} gives several quantities", (f"for one of {gives}",), word)
    fitting = [row for row in rows if row.gives == name]
    if not fitting:
        raise _does_not_give(word, name, rows[0].gives)
    relation = fitting[0]
    if relation.is_array or (relation.is_bound and not relation.is_truth):
        kind = "is computed from arrays" if relation.is_array else "is a bound"
        message = f"{relation.key} {kind}: it gives no value of {name}"
        raise Problem("name", message, (f"variants {name}  lists what does",), word)
    after = replace(conversation, prefer={**conversation.prefer, name: relation.key})
    text = relation_plain(relation, letters=False)
    document = (Heading(f"{name} is given by {relation.key}"), *fields([("by", (text,))]))
    data = {"status": "ok", "find": name, "value": None, "relation": relation.key}
    return after, Outcome("ok", document, {**data, "statement": text})


def _does_not_give(word: str, name: str, gives: str) -> Problem:
    keys = tuple(row.key for row in catalogue().by_output.get(name, ()))
    advice = f"{name} is given by {', '.join(keys)}" if keys else f"no relation gives {name}"
    return Problem("name", f"{word} gives {gives}, not {name}", (advice,), word, keys)
