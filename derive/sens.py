"""The verb `sens`: what one per cent of each fact does to an answer, and for how far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from derive.asked import Asked
from derive.deadline import TimedOut, answer, within
from derive.document import Document, Fields, Table
from derive.outcome import Outcome
from derive.replace import replaced
from derive.session import Reply
from derive.wording import status
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.statements import Choose, Fact, Statement, UseGpu
from solvers.answer import Choice, Exact, Range
from solvers.number import is_number

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.question import Question
    from solvers.sensitivity import Sensitivity

_EXAMPLE = "example: sens context by memory_bandwidth, batch"
# Below this many per cent for one per cent a fact is said to do nothing.
NOTHING = 5e-5
_WIDEST = 40


def answer_sens(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The table of the last answer, or of the quantity named; the card where it has no value."""
    reply = _subject(conversation, question)
    try:
        with within(conversation.seconds):
            found = outcome_of(reply, question.by)
    except TimedOut:
        text = f"stopped after {conversation.seconds:g} s; fewer facts behind 'by' take less"
        raise Problem("sens", text) from None
    return replace(conversation, last=reply), found


def outcome_of(reply: Reply, by: Collection[str] = ()) -> Outcome:
    """The table of one answer, or its card where it has no value."""
    if not isinstance(reply.answer, Exact | Choice):
        return reply.outcome()
    rows = sensitivities(reply, by)
    return Outcome("ok", document(reply, rows, bool(by)), data(reply, rows), reply)


def sensitivities(reply: Reply, by: Iterable[str] = ()) -> tuple[Sensitivity, ...]:
    """How the answer moves with each fact, assumption and limit, or with the quantities `by`.

    Problem, with the reason, where it moves with none.
    """
    from solvers.sensitivity import sensitivities as found
    from solvers.slopes import NotSmooth

    held = _held(reply)
    if held.asked.expression is not None:
        raise Problem("sens", "a calculation is not differentiated; ask one of its quantities")
    try:
        return found(held.asked.request(), held.answer, tuple(by))
    except NotSmooth as reason:
        raise Problem("sens", f"{reply.asked.find}: {reason}") from None


def _subject(conversation: Conversation, question: Question) -> Reply:
    """The answer that is spoken of: the last one, or that of a quantity."""
    last = conversation.last
    if question.find is None:
        if last is None:
            raise Problem(
                "syntax", "nothing has been asked yet that sens could speak of", (_EXAMPLE,)
            )
        return last if not question.statements else _again(last, question, conversation.seconds)
    if last is not None and last.asked.find == question.find and last.asked.expression is None:
        return last if not question.statements else _again(last, question, conversation.seconds)
    statements = replaced(conversation.statements, question.statements)
    asked = Asked(question.find, "", statements, (), question.unit, question.read_as,
                  prefer=conversation.prefer)  # fmt: skip
    found = Reply(asked, answer(asked, conversation.seconds))
    if not isinstance(found.answer, Range):
        return found
    # Where the facts leave a range, its largest value is what they are worth.
    largest = replace(asked, sense="max")
    return Reply(largest, answer(largest, conversation.seconds))


def _again(last: Reply, question: Question, seconds: float) -> Reply:
    statements = replaced(last.asked.statements, question.statements)
    asked = replace(last.asked, statements=statements)
    return Reply(asked, answer(asked, seconds))


def _held(reply: Reply) -> Reply:
    """Of a search, its choice held: the value follows from it."""
    found = reply.answer
    if not isinstance(found, Choice):
        return reply
    rows = tuple(_chosen(name, value) for name, value in found.choice.items())
    statements = replaced(reply.asked.statements, rows, same_count=True)
    asked = replace(reply.asked, statements=statements, over=(), sense="")
    return Reply(asked, answer(asked, 60.0))


def _chosen(name: str, value: Any) -> Statement:
    if is_number(value):
        return Fact(name, value, text=f"{name} = {value}")
    if name == "gpu":
        return UseGpu(value, text=f"gpu {value}")
    return Choose(name, value, text=f"{name} = {value}")


# -- what people see


def document(reply: Reply, rows: tuple[Sensitivity, ...], every: bool = False) -> Document:
    """The table: facts that do the same in one row, those that do most first, then those that do
    nothing as yet; facts of the model that do nothing only with `every`.
    """
    own, binding = _limits(reply, rows)
    groups: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows, key=lambda row: -abs(float(row.elasticity))):
        idle = _idle(row)
        ends = row.low is not None or row.high is not None
        if idle and not every and (not ends or row.origin.startswith("model")):
            continue
        holds = _holds(row, own, binding)
        name = f"{row.name} limit" if row.origin == "limit" else row.name
        groups.setdefault(("0" if idle else _effect(row), holds), []).append(name)
    table = tuple(
        (names, text if first else "", holds if first else "")
        for (text, holds), group in groups.items()
        for first, names in _lines(group)
    )
    find = reply.asked.find
    notes = [("note", "before rounding to whole steps")] if binding else []
    shown = {name for names in groups.values() for name in names}
    assumed = [row.name for row in rows if row.origin == "assumed" and row.name in shown]
    notes += [("assumed", ", ".join(assumed))] if assumed else []
    columns = ("+1 % of", find, "holds while")
    return (Table(columns, table, numeric=(find,)), *([Fields(tuple(notes))] if notes else []))


def _limits(reply: Reply, rows: tuple[Sensitivity, ...]) -> tuple[Mapping[str, Sensitivity], str]:
    """The limits that were stated, by name, and what binds."""
    own = {row.name: row for row in rows if row.origin == "limit"}
    return own, ", ".join(reply.answer.binding) if isinstance(reply.answer, Exact) else ""


def _idle(row: Sensitivity) -> bool:
    return abs(float(row.elasticity)) < NOTHING


def _lines(names: list[str]) -> list[tuple[bool, str]]:
    """The names of one row, on as many lines as they take; the first is marked."""
    lines = [names[0]]
    for name in names[1:]:
        if len(lines[-1]) + len(name) > _WIDEST:
            lines[-1] += ","
            lines.append(name)
        else:
            lines[-1] += f", {name}"
    return [(index == 0, line) for index, line in enumerate(lines)]


def _effect(row: Sensitivity) -> str:
    return f"{float(row.elasticity):+.2f} %"


def _holds(row: Sensitivity, own: Mapping[str, Sensitivity], binding: str) -> str:
    """Until where the effect lasts, and what decides from there on."""
    idle = _idle(row)
    if not row.found:
        return "as far as is known here"
    ends = [(row.low, row.below), (row.high, row.above)]
    there = [(end, name) for end, name in ends if end is not None]
    limit = own.get(there[0][1]) if idle and len(there) == 1 else None
    if (limit is not None and limit is not row) or (limit is row and idle):
        text = _while(limit, own)
        if text:
            return text
    if not there:
        return f"{binding} binds" if binding else ""
    parts = [f"{_move(end, row.value)} ({_then(name, own)})" for end, name in there]
    return f"until {', '.join(parts)}"


def _while(limit: Sensitivity, own: Collection[str]) -> str:
    """`tpot limit >= 27.46 ms, else tpot binds`: a limit that has room, and how much."""
    quantity = catalogue().quantities[limit.name]
    ends = [(">=", limit.low, limit.below), ("<=", limit.high, limit.above)]
    shown = [
        f"{limit.name} limit {sign} {display(end, quantity.unit, quantity.label)}, "
        f"else {_then(name, own)}"
        for sign, end, name in ends
        if end is not None and name == limit.name
    ]
    return shown[0] if shown else ""


def _then(name: str, limited: Collection[str]) -> str:
    if name == "nothing":
        return "nothing satisfies it"
    limits = {*(row.name for row in catalogue().constraints), "domain"}
    return f"{name} binds" if name in limits or name in limited else f"{name} decides"


def _move(end: Any, value: Any) -> str:
    share = 100 * (float(end) - float(value)) / abs(float(value))
    return f"{float(f'{share:.3g}'):+g} %"


def data(reply: Reply, rows: tuple[Sensitivity, ...]) -> dict[str, Any]:
    """The object for scripts: every fact, in its own unit."""
    from derive.as_json import plain

    quantities = catalogue().quantities
    own, binding = _limits(reply, rows)
    return {
        **{key: value for key, value in reply.to_dict().items() if key in _HEAD},
        "status": status(reply.answer),
        "sensitivities": [
            {
                key: value
                for key, value in {
                    "name": row.name,
                    "elasticity": float(row.elasticity),
                    "value": plain(row.value),
                    "unit": quantities[row.name].unit.text,
                    "origin": row.origin,
                    "low": plain(row.low),
                    "high": plain(row.high),
                    "below": row.below or None,
                    "above": row.above or None,
                    "holds": _holds(row, own, binding) or None,
                    "found": None if row.found else False,
                }.items()
                if value is not None
            }
            for row in rows
        ],
    }


_HEAD = ("find", "value", "unit", "display", "kind", "sense", "binding")
