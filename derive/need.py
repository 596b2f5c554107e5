"""`need tpot`: what to give so that it is known, or where it is known from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from derive.as_plain import relation_plain
from derive.asked import Asked
from derive.conversation import Conversation
from derive.deadline import answer
from derive.document import Block, Heading
from derive.outcome import Outcome
from derive.question import Question
from derive.replace import replaced
from derive.session import Reply
from derive.spelling import spelt_statement
from derive.tree import Node, amount, sources
from derive.under_table import fields
from formulas.catalogue import catalogue
from solvers.answer import Exact, Missing
from solvers.gifts import GPU, MODEL, Gift, gifts

# The names that people write.
_SHORT = {
    "context_tokens": "context",
    "prompt_tokens": "prompt",
    "output_tokens": "output",
    "price_per_gpu_hour": "price",
}
_NAMED = {MODEL: "model NAME", GPU: "gpu N x NAME"}
_NUMBERS = ("no", "1", "2", "3", "4", "5", "6", "7", "8", "9")


def answer_need(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """What to give for the quantity, the least first, with what is known; or its origin."""
    name = question.find or question.names[0]
    stated = replaced(conversation.statements, question.statements)
    asked = Asked(name, "", stated, read_as=question.read_as, prefer=conversation.prefer)
    reply = Reply(asked, answer(asked, conversation.seconds))
    if isinstance(reply.answer, Missing):
        return conversation, _needed(reply, reply.answer)
    if isinstance(reply.answer, Exact):
        return conversation, _known(reply, reply.answer)
    return conversation, reply.outcome()


# -- what lacks


def missing_headline(asked: Asked, answer: Missing, found: tuple[Gift, ...]) -> str:
    """`tpot needs 2 more facts`: how many at the least."""
    count = len(found) or min((len(names) for names in answer.alternatives), default=0)
    if count == 0:
        return f"{asked.find} needs more facts"
    number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
    return f"{asked.find} needs {number} more fact{'' if count == 1 else 's'}"


def missing_rows(
    asked: Asked, answer: Missing, found: tuple[Gift, ...]
) -> tuple[tuple[str, str], ...]:
    """The labelled lines of what to give, one thing a line, with what would do in its place.

    Where nothing simple would do, each line is a whole alternative.
    """
    rows: list[tuple[str, str]] = []
    if found:
        firsts = [_stated(gift.name) for gift in found]
        width = max(_COLUMN, *map(len, firsts))
        for place, (first, gift) in enumerate(zip(firsts, found, strict=True)):
            other = ", ".join(map(_stated, gift.instead))
            # Spaces that fit columns are kept where a line is wrapped.
            text = f"{first}{_SPACE * (width - len(first))}  or  {other}" if other else first
            rows.append(("and" if place else "give", text))
    else:
        texts = (", ".join(map(_stated, names)) for names in answer.alternatives)
        rows += [("or" if place else "give", text) for place, text in enumerate(texts)]
    known = ", ".join(row.text or spelt_statement(row) for row in asked.statements)
    return (*rows, ("known", known)) if known else tuple(rows)


_SPACE = "\u00a0"
# So wide at least is what is proposed first; what would do in its place stands beside it.
_COLUMN = 23


def gifts_of(asked: Asked) -> tuple[Gift, ...]:
    """What a person could state so that the question has an answer."""
    request = asked.request()
    stated = request.scenario
    equated = stated.equations or any(row.relation == "=" for row in stated.relates)
    # What an equation lacks is more than what its quantities lack.
    if asked.using or asked.over or asked.expression is not None or equated:
        return ()
    return gifts(request)


def _stated(name: str) -> str:
    return (_NAMED.get(name) or f"{_SHORT.get(name, name)} = ...").replace(" ", _SPACE)


def _needed(reply: Reply, found: Missing) -> Outcome:
    given = gifts_of(reply.asked)
    headline = missing_headline(reply.asked, found, given)
    because = [("because", (found.reason,))] if found.reason else []
    rows = [(label, (text,)) for label, text in missing_rows(reply.asked, found, given)]
    blocks: list[Block] = [Heading(headline), *fields([*because, *rows])]
    least = [{"name": gift.name, "instead": list(gift.instead)} for gift in given]
    data = {**reply.to_dict(), "give": least, "known": False}
    # What is asked for is what lacks, and that is the answer.
    return Outcome("ok", tuple(blocks), {**data, "status": "ok"}, reply)


# -- what is known


def _known(reply: Reply, found: Exact) -> Outcome:
    scenario = reply.asked.request().scenario
    name = found.find
    known = sources(found.evidence, scenario, {name: found.value})
    blocks: list[Block] = [Heading(f"{name} is known: {amount(name, found.value)}")]
    rests: dict[str, dict[str, Any]] = {}
    given = scenario.given.get(name)
    if given is not None:
        origin = {"origin": given.origin, "text": given.text}
        blocks += fields([("stated", (f"{given.text}    {given.origin}",))])
    elif name in found.evidence.assumed:
        origin = {"origin": "assumed", "text": catalogue().defaults[name].meaning}
        blocks += fields([("assumed", (str(origin["text"]),))])
    else:
        node = known.node(name)
        origin = {"origin": node.relation, "text": node.formula}
        rests = _leaves(node)
        blocks += fields([("by", (_by(node),)), *_lines(rests)])
    data = {**reply.to_dict(), "known": True, **origin}
    if rests:
        data["rests_on"] = {origin: list(names) for origin, names in rests.items()}
    return Outcome("ok", tuple(blocks), data, reply)


def _by(node: Node) -> str:
    relation = catalogue().relations.get(node.relation)
    text = node.formula if relation is None else relation_plain(relation, letters=False)
    return f"{text}    [{node.relation}]"


def _leaves(node: Node) -> dict[str, dict[str, Any]]:
    """What the value rests on at the end, by who said it."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.is_result:
            waiting += part.parts
        elif part.origin:
            found.setdefault(part.origin, {})[part.name] = part.value
    return dict(sorted(found.items(), key=lambda row: (row[0] != "you", row[0] == "assumed")))


def _lines(rests: dict[str, dict[str, Any]]) -> Iterable[tuple[str, tuple[str, ...]]]:
    for origin, values in rests.items():
        parts = (f"{n} {amount(n, v)}".replace(" ", _SPACE) for n, v in sorted(values.items()))
        yield origin, (", ".join(parts),)
