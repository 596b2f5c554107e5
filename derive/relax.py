"""`relax`: every way out of an infeasible answer, one change at a time, then several together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from derive.document import Block, Fields, Heading, Line
from derive.outcome import Outcome
from derive.ways_out import relaxation_rows
from formulas.errors import Problem
from solvers.answer import Infeasible, Statement

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.question import Question
    from derive.session import Reply

_EXAMPLE = "max context given tpot <= 5 ms, model llama-3.1-70b, gpu 8 x h100-sxm, batch 32"


def answer_relax(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """All minimal ways out of the last answer, of the statements named where some are."""
    last = conversation.last
    if last is None:
        raise Problem("syntax", "nothing has been asked yet that relax could speak of", (_EXAMPLE,))
    if not isinstance(last.answer, Infeasible):
        message = f"{last.asked.find} has an answer, or lacks facts: there is nothing to relax"
        return conversation, Outcome("ok", (Line(message),), {"status": "ok", "ways": []}, last)
    return conversation, ways_of(last, last.answer, question.names)


def ways_of(reply: Reply, answer: Infeasible, names: tuple[str, ...] = ()) -> Outcome:
    """The single changes, then the sets of statements to be given up together."""
    from solvers.explain import corrections_of

    wanted = frozenset(names)
    single = tuple(row for row in answer.relaxations if not wanted or row.name in wanted)
    found = corrections_of(reply.asked.request())
    sets = [
        rows
        for rows in (found.sets if found is not None else ())
        if not wanted or wanted & {row.name for row in rows}
    ]
    asked = reply.asked
    blocks: list[Block] = [Heading(f"ways out: no {answer.find} satisfies this")]
    rows = relaxation_rows(single, answer.find, answer.find, asked.sense)
    rows += [("give up" if not index else "", _listed(row)) for index, row in enumerate(sets)]
    if found is None or not found.complete:
        rows.append(("note", "there may be more ways than these: the search was bounded"))
    if not single and not sets:
        rows.insert(0, ("none", "no change of these statements alone was found to help"))
    blocks.append(Fields(tuple(rows)))
    return Outcome("infeasible", tuple(blocks), _data(reply, single, sets), reply)


def _listed(rows: tuple[Statement, ...]) -> str:
    texts = [f"{row.text} (assumed)" if row.origin == "assumed" else row.text for row in rows]
    return " and ".join(texts)


def _data(
    reply: Reply, single: tuple[Any, ...], sets: list[tuple[Statement, ...]]
) -> Mapping[str, Any]:
    """The flat object: `relaxations` as in an answer, `corrections` as lists of statements."""
    told = reply.to_dict()
    kept = {row.name for row in single}
    relaxations = [row for row in told.get("relaxations", ()) if row["name"] in kept]
    corrections = [
        [{"name": row.name, "text": row.text, "origin": row.origin} for row in rows]
        for rows in sets
    ]
    return {
        "status": "infeasible",
        "find": reply.answer.find,
        "relaxations": relaxations,
        "corrections": corrections,
    }
