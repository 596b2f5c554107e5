"""`which tp given tpot <= 25 ms`: every choice, what it comes to, and what it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from derive.as_json import plain
from derive.asked import Asked
from derive.conversation import Conversation
from derive.deadline import TimedOut, within
from derive.document import Block, Heading, Line
from derive.lacking import lacking
from derive.outcome import Outcome
from derive.points import NAMED, Points, at_data, cell, label, points_of
from derive.question import Question
from derive.session import Reply
from derive.stopped import stopped_outcome
from derive.under_table import assumed, assumed_data, fields, groups, unchecked
from derive.which_table import GPUS, in_part, reason, row_data, which_table
from formulas.errors import Problem
from formulas.statements import Among, Axis, Between, Spread, Statement
from solvers.answer import Evidence, Exact, Infeasible, Missing
from solvers.table import Row, answered, table

# What the name of each choice states.
_STATED_BY = {
    "model": "n_layers",
    "gpu": "vram_bytes",
    "mig_profile": "vram_bytes",
    "weight_dtype": "bytes_per_weight",
    "kv_dtype": "kv_bytes_per_element",
}
_WAYS_OUT = ("conflict", "relaxations", "cannot_help")
_MEMORY = ("memory_used_per_gpu", "memory_budget")


def answer_which(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """Every value of the choices with what it breaks; the smallest that breaks nothing is marked.

    `why` and its like speak from now on of the smallest value, where one quantity is chosen.
    """
    named = {axis.name: axis for axis in question.over}
    axes = [named.pop(name, Axis(name)) for name in question.names]
    points = points_of(conversation, question, (*axes, *named.values()))
    _refuse_uncertain(points)
    try:
        with within(conversation.seconds):
            rows = table(points.grid, (_asked(points),), exact=True)
            best = _best(rows)
            around = _memory(points, best or rows[0])
            if not any(_decided(row) for row in rows):
                rows, best = (answered(points.grid, rows[0].at, _MEMORY[:1]),), None
    except TimedOut:
        names = ", ".join(map(label, points.grid.axes))
        return conversation, stopped_outcome("which", names, conversation.seconds)
    outcome = _outcome(conversation, points, rows, best, around)
    if outcome.reply is not None:
        conversation = replace(conversation, last=outcome.reply)
    return conversation, outcome


def _decided(row: Row) -> bool:
    """Whether anything at the point speaks for or against it."""
    told = (check.stated or check.name == "memory" for check in row.checks)
    return bool(row.broken or row.failed) or any(told)


def _refuse_uncertain(points: Points) -> None:
    """A Problem for a fact that is no one number: whether a limit holds may hang on it."""
    for row in points.statements:
        if isinstance(row, Between | Spread):
            ends = (row.low, row.high) if isinstance(row, Between) else (row.value,)
            values = ", ".join(cell(row.quantity, end) for end in ends)
            advice = f"try each:  over {row.quantity} in {{{values}}}"
            message = f"'which' needs one value of {row.quantity}, not {row.text}"
            raise Problem("syntax", message, (advice,), row.text)


def _asked(points: Points) -> str:
    """The question at each point: a quantity that is stated there, for the checks beside it."""
    name = min(points.grid.axes, key=lambda axis: axis in NAMED)
    return _STATED_BY.get(name, name)


def _memory(points: Points, row: Row) -> tuple[Evidence, ...]:
    """What the memory at a point rests on; nothing where it is not known."""
    if not any(check.name == "memory" for check in row.checks):
        return ()
    return tuple(a.evidence for a in answered(points.grid, row.at, _MEMORY).answers)


def _best(rows: Sequence[Row]) -> Row | None:
    """The feasible row with the fewest GPUs, and among equals the first one."""
    good = [row for row in rows if row.feasible]
    return min(good, key=_gpus, default=None)


def _gpus(row: Row) -> Any:
    count = 1
    for name in GPUS:
        count *= row.at.get(name, 1)
    return count


def _outcome(
    conversation: Conversation,
    points: Points,
    rows: Sequence[Row],
    best: Row | None,
    around: tuple[Evidence, ...],
) -> Outcome:
    names = list(points.grid.axes)
    known = [answer.evidence for row in rows for answer in row.answers]
    shown = [a.evidence for a in (best or rows[0]).answers]
    refused = [row.failed for row in rows if isinstance(row.failed, Missing)]
    if best is None and len(refused) == len(rows):
        return lacking(", ".join(map(label, names)), points, refused[0], "which ")
    data: dict[str, Any] = {
        "status": "ok" if best else "infeasible",
        "find": ", ".join(label(name) for name in names),
        **_chosen(names, best),
        "rows": [row_data(row) for row in rows],
        "assumed": assumed_data((*shown, *around)),
    }
    reply = _reply(conversation, points, best)
    below: list[tuple[str, Iterable[str]]] = []
    if best is None:
        data["message"] = reason(names, rows)
        below.append(("because", (data["message"],)))
    if reply is not None and isinstance(reply.answer, Infeasible):
        told = reply.to_dict()
        data |= {key: told[key] for key in _WAYS_OUT if key in told}
        below += groups(reply.document(), leaving_out=("because", "read as", "assumed"))
    below += [("read as", points.read_as), ("assumed", assumed((*shown, *around)))]
    blocks: list[Block] = [] if best else [Heading(f"no {data['find']} satisfies this")]
    blocks.append(which_table(names, rows, best))
    if len(in_part(rows)) < len(rows):
        left_out = len(rows) - len(in_part(rows))
        blocks.append(Line(f"  {left_out} of {len(rows)} rows are left out; --json has all"))
    blocks += fields([*below, ("unchecked", unchecked(known))])
    return Outcome(data["status"], tuple(blocks), data, reply)


def _chosen(names: Sequence[str], best: Row | None) -> dict[str, Any]:
    if best is None:
        return {"value": None, "display": "infeasible"}
    choice = at_data(best.at)
    shown = ", ".join(f"{label(name)} = {cell(name, best.at[name])}" for name in names)
    value = plain(best.at[names[0]]) if len(names) == 1 else None
    return {"value": value, "display": shown, "kind": "choice", "choice": choice}


def _reply(conversation: Conversation, points: Points, best: Row | None) -> Reply | None:
    """The question for the smallest value, where one quantity is chosen."""
    (name, values), *others = points.grid.axes.items()
    if others or name in NAMED:
        return None
    text = f"{name} in {{{', '.join(cell(name, value) for value in values)}}}"
    statements: tuple[Statement, ...] = (*points.statements, Among(name, tuple(values), text))
    prefer = conversation.prefer
    asked = Asked(name, "min", statements, read_as=points.read_as, prefer=prefer)
    if best is not None:
        evidence = best.answers[0].evidence
        return Reply(asked, Exact(name, best.at[name], sense="min", evidence=evidence))
    from derive.deadline import answer

    found = answer(asked, conversation.seconds)
    return Reply(asked, found) if isinstance(found, Infeasible) else None
