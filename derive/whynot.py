"""`why not tp = 2`: what fails if it were so, or what it would come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derive.as_json import plain
from derive.asked import Asked, asked_of
from derive.conversation import Conversation
from derive.deadline import answer
from derive.document import Block, Heading, Line, Table
from derive.outcome import Outcome
from derive.question import Question
from derive.replace import replaced
from derive.session import Reply
from derive.spelling import spelt_statement
from derive.tree import amount
from derive.under_table import fields, groups, unchecked
from derive.why import nearest_of, numbers
from derive.wording import shown
from formulas.statements import Among, Fact, Limit, Statement
from solvers.answer import Check, Choice, Exact, Infeasible, Range
from solvers.demands import compare
from solvers.number import divide, is_number, minus

_MEMORY = "memory_used_per_gpu"
_OF_THE_CARD = ("broken", "read as", "assumed", "unused", "unchecked", "steps", "slack", "note")


def answer_whynot(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """What fails in the alternative, with both values; where nothing does, what it comes to.

    It is compared with the question behind the facts, or with the last one. The conversation goes
    on as it was.
    """
    now = _now(conversation, question)
    stated = conversation.statements if now is None else now.asked.statements
    there = _alternative(now, stated, question.statements, conversation)
    excluded = _excluded(stated, question.statements)
    what = ", ".join(spelt_statement(row) for row in question.statements)
    return conversation, _outcome(what, now, there, excluded)


def _now(conversation: Conversation, question: Question) -> Reply | None:
    """The answer that the alternative is held against."""
    if question.inner is None:
        return conversation.last
    alone = asked_of(question.inner, (), conversation.prefer)
    stated = replaced(conversation.statements, alone.statements)
    asked = replace(alone, statements=stated)
    return Reply(asked, answer(asked, conversation.seconds))


def _alternative(
    now: Reply | None,
    stated: tuple[Statement, ...],
    new: tuple[Statement, ...],
    conversation: Conversation,
) -> Reply:
    """The same question with the new facts; of what is asked itself, whether it can be so."""
    statements = replaced(stated, new, same_count=True)
    fixed = [row.quantity for row in new if isinstance(row, Fact)]
    if now is None:
        find = next(iter([*fixed, *(r.quantity for r in statements if isinstance(r, Limit))]), "")
        asked = Asked(find or _MEMORY, "", statements, prefer=conversation.prefer)
    else:
        over = tuple(axis for axis in now.asked.over if axis.name not in _named(new))
        sense = "" if now.asked.find in fixed else now.asked.sense
        asked = replace(now.asked, statements=statements, over=over, sense=sense)
    return Reply(asked, answer(asked, conversation.seconds))


def _named(new: Iterable[Statement]) -> set[str]:
    from formulas.statements import Choose, UseGpu

    named = {row.quantity for row in new if isinstance(row, Fact)}
    named |= {row.choice for row in new if isinstance(row, Choose)}
    return named | {"gpu" for row in new if isinstance(row, UseGpu)}


def _excluded(stated: tuple[Statement, ...], new: tuple[Statement, ...]) -> list[str]:
    """What a person allows that the new facts are not."""
    found = []
    for fact in (row for row in new if isinstance(row, Fact) and isinstance(row.value, Fraction)):
        for row in stated:
            match row:
                case Among(name, values) if name == fact.quantity and fact.value not in values:
                    found.append(row.text)
                case Limit(name, sign, limit) if name == fact.quantity:
                    if not compare(fact.value, sign, limit):
                        found.append(row.text)
    return found


# -- what is told


def _outcome(what: str, now: Reply | None, there: Reply, excluded: list[str]) -> Outcome:
    found = there.answer
    broken = [check for check in found.evidence.checks if not check.holds]
    nearest = nearest_of(there) if isinstance(found, Infeasible) else None
    at: list[Block] = []
    if nearest is not None:
        value, evidence = nearest
        broken = [check for check in evidence.checks if not check.holds]
        at = [Line(f"  at {found.find} = {amount(found.find, value)}, where least is broken:")]
    fails = bool(broken or excluded or isinstance(found, Infeasible))
    answered = isinstance(found, Exact | Range | Choice)
    blocks: list[Block] = [Heading(f"{what}: {_verdict(there, broken, fails, answered)}")]
    blocks += fields([("you allow", excluded)])
    if isinstance(found, Infeasible):
        blocks += fields(groups(there.document(), leaving_out=_OF_THE_CARD))
    elif not answered:
        blocks += there.document()
    blocks += [*at, *numbers("broken", broken)]
    if not fails and answered:
        blocks += fields([("unchecked", unchecked((found.evidence,)))])
    if answered and now is not None and now.asked.find == there.asked.find:
        blocks += _compared(what, now, there)
    return Outcome(*_told(what, now, there, broken, excluded, fails, tuple(blocks)))


def _verdict(there: Reply, broken: list[Check], fails: bool, answered: bool) -> str:
    if isinstance(there.answer, Infeasible):
        return f"no {there.answer.find} satisfies this"
    if not answered:
        return "it cannot be said"
    if not fails:
        unsure = there.answer.evidence.unchecked
        return "nothing fails of what can be checked" if unsure else "nothing fails"
    names = list(dict.fromkeys(check.name for check in broken))
    return f"fails on {', '.join(names)}" if names else "you do not allow it"


def _told(
    what: str,
    now: Reply | None,
    there: Reply,
    broken: list[Check],
    excluded: list[str],
    fails: bool,
    document: tuple[Block, ...],
) -> tuple[str, tuple[Block, ...], dict[str, Any], Reply]:
    status = "ok" if fails or there.status == "ok" else there.status
    data: dict[str, Any] = {
        "status": status,
        "find": there.asked.find,
        "facts": what,
        "fails": fails,
        "broken": list(dict.fromkeys(check.name for check in broken)),
        "constraints": [_check_data(check) for check in broken],
        "excluded": excluded,
        "now": None if now is None else now.to_dict(),
        "alternative": there.to_dict(),
        "change": None if now is None else plain(_change(now, there)),
    }
    return status, document, data, there


def _check_data(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "relation": check.relation,
        "value": plain(check.left),
        "limit": plain(check.right),
        "holds": check.holds,
    }


def _compared(what: str, now: Reply, there: Reply) -> list[Block]:
    """What is asked now and in the alternative; what was fixed is not compared."""
    if there.asked.sense != now.asked.sense or not isinstance(now.answer, Exact | Range | Choice):
        return []
    quantity, unit = now.asked.quantity, now.asked.unit
    change = _change(now, there)
    text = "" if change is None else f"{100 * float(change):+.3g} %"
    values = (shown(reply.answer, quantity, unit) for reply in (now, there))
    row = (now.asked.find, *values, text)
    return [Table(("", "now", what, ""), (row,), ("now", what))]


def _change(now: Reply, there: Reply) -> Any:
    """The relative change of what is asked, where both are numbers."""
    if there.asked.sense != now.asked.sense or there.asked.find != now.asked.find:
        return None
    before, after = (getattr(reply.answer, "value", None) for reply in (now, there))
    if before is None or not is_number(before) or not is_number(after) or before == 0:
        return None
    return divide(minus(after, before), abs(before))
