"""`why`, `why tpot`: where the last answer, or a quantity, comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derive.as_json import plain
from derive.asked import Asked
from derive.conversation import Conversation
from derive.deadline import answer
from derive.document import Block, Heading, Line
from derive.outcome import Outcome
from derive.question import Question
from derive.replace import replaced
from derive.session import Reply
from derive.tree import Node, Sources, amount, sources, tree_blocks, tree_data
from derive.under_table import fields, groups
from derive.wording import status
from formulas.catalogue import catalogue
from formulas.deployment.constraints import OF_STRUCTURE
from formulas.errors import Problem
from formulas.statements import Fact
from solvers.answer import Answer, Check, Choice, Evidence, Exact, Infeasible, Range

# What the card says beside the reason.
_OF_THE_CARD = ("broken", "read as", "assumed", "unused", "steps", "slack", "note")
_SENSES = {"max": "largest", "min": "smallest"}


def answer_why(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The tree of the last answer, of one quantity in it, or of a question that is asked now."""
    name = question.find
    last = conversation.last
    if name is None and not question.statements and question.expression is None:
        if last is None:
            advice = ("ask something first, or:  why tpot given ...",)
            raise Problem("syntax", "there is no answer yet to speak of", advice)
        return conversation, why(last)
    fresh = question.inner or question
    if not question.statements and last is not None and question.inner is None and name:
        known = _sources(last)
        if name in known.steps or name in known.scenario.given:
            return conversation, _of_part(last, known, name)
    reply = _asked_now(conversation, fresh)
    return replace(conversation, last=reply), why(reply)


def why(reply: Reply) -> Outcome:
    """Where the answer comes from: its tree, that of what binds, or of what cannot hold."""
    found = reply.answer
    match found:
        case Exact(sense=sense) if sense:
            return _of_extreme(reply, found)
        case Exact() | Range() | Choice():
            return _of_value(reply)
        case Infeasible():
            return _of_infeasible(reply, found)
        case _:
            return Outcome(status(found), reply.document(), reply.to_dict(), reply)


def _asked_now(conversation: Conversation, question: Question) -> Reply:
    from derive.asked import asked_of

    alone = asked_of(question, (), conversation.prefer)
    stated = replaced(conversation.statements, question.statements)
    asked = replace(alone, statements=stated)
    return Reply(asked, answer(asked, conversation.seconds))


def _sources(reply: Reply) -> Sources:
    found = reply.answer
    values = {found.find: found.value} if isinstance(found, Exact | Choice) else {}
    return sources(found.evidence, reply.asked.request().scenario, values)


# -- a value


def _of_part(reply: Reply, known: Sources, name: str) -> Outcome:
    node = known.node(name)
    data = {"find": name, **_value_data(name, node.value), "tree": tree_data(node)}
    return Outcome("ok", tuple(tree_blocks([node])), {"status": "ok", **data}, reply)


def _value_data(name: str, value: Any) -> dict[str, Any]:
    unit = catalogue().quantities[name].unit.text
    return {"value": plain(value), "unit": unit, "display": amount(name, value)}


def _of_value(reply: Reply) -> Outcome:
    known, found = _sources(reply), reply.answer
    if reply.asked.expression is None and not isinstance(found, Range):
        nodes = [known.node(found.find)]
        blocks: list[Block] = []
    else:
        blocks = [block for block in reply.document() if isinstance(block, Heading)]
        nodes = [known.node(name) for name in _behind(reply, known)]
    blocks += tree_blocks(nodes)
    blocks += numbers("broken", (c for c in found.evidence.checks if not c.holds))
    return Outcome("ok", tuple(blocks), _data(reply, nodes), reply)


def _behind(reply: Reply, known: Sources) -> list[str]:
    """What a calculation is made of, or what the limits of a range are about."""
    if reply.asked.expression is not None:
        return sorted(symbol.name for symbol in reply.asked.expression.free_symbols)
    limits = [row.quantity for row in known.scenario.limits]
    if reply.answer.find in known.steps:
        return [reply.answer.find]
    last = [step.because for step in reversed(list(known.steps.values())) if step.because]
    return list(dict.fromkeys([*limits, *last[:1]]))


def _data(reply: Reply, nodes: Iterable[Node]) -> dict[str, Any]:
    told = reply.to_dict()
    keys = ("status", "find", "value", "unit", "display", "kind", "binding", "message", "conflict")
    trees = [tree_data(node) for node in nodes]
    head = {key: told[key] for key in keys if key in told}
    return {**head, "tree": trees[0] if len(trees) == 1 else trees}


# -- a largest or smallest


def _of_extreme(reply: Reply, found: Exact) -> Outcome:
    known = _sources(reply)
    sign = "<=" if found.sense == "max" else ">="
    shown = amount(found.find, found.value) if reply.asked.expression is None else reply.value
    bound = [c for c in found.evidence.checks if c.name in found.binding]
    unknown = [n for n in found.binding if n not in {c.name for c in bound}]
    blocks: list[Block] = [
        Heading(f"{found.find} {sign} {shown}    {_SENSES[found.sense]}"),
        *numbers("binds", bound, unknown),
    ]
    names = [name for check in bound for name in _compared(check)]
    nodes = [known.node(name) for name in dict.fromkeys(names)]
    nodes = nodes or [known.node(limit.quantity) for limit in known.scenario.limits]
    blocks += tree_blocks(nodes)
    return Outcome("ok", tuple(blocks), _data(reply, nodes), reply)


def _compared(check: Check) -> tuple[str, ...]:
    """The quantities on both sides of a constraint."""
    for constraint in catalogue().constraints:
        if constraint.name == check.name:
            return constraint.inputs
    return (check.quantity,) if check.quantity else ()


def numbers(label: str, checks: Iterable[Check], names: Iterable[str] = ()) -> list[Block]:
    """A row for each constraint with both its values."""
    return fields([(label, (*map(both_sides, checks), *names))])


def both_sides(check: Check) -> str:
    """A constraint with the values of both its sides, or what it says where it has none."""
    if check.left is None or check.right is None:
        meanings = {row.name: row.meaning for row in catalogue().constraints}
        return f"{check.name}: {meanings.get(check.name, 'stated')}"
    left, right = (_side(check, value) for value in (check.left, check.right))
    sign = check.relation if check.holds else _NOT[check.relation]
    subject = check.quantity or check.name
    named = f"{check.name}: " if subject != check.name else ""
    wanted = "" if check.holds else f", which has to be {check.relation}"
    return f"{named}{subject} {left} {sign} {right}{wanted}"


_NOT = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "=": "!="}


def _side(check: Check, value: Any) -> str:
    return amount(check.quantity, value) if check.quantity else f"{float(value):.4g}"


# -- what cannot hold


def _of_infeasible(reply: Reply, found: Infeasible) -> Outcome:
    """The clash, and the numbers of every constraint where it comes nearest to hold."""
    rows = groups(reply.document(), leaving_out=_OF_THE_CARD)
    nearest = nearest_of(reply)
    blocks: list[Block] = [Heading(f"no {found.find} satisfies this"), *fields(rows)]
    nodes: list[Node] = []
    checks: list[dict[str, Any]] = []
    if nearest is not None:
        tried, evidence = nearest
        blocks.append(Line(f"at {found.find} = {amount(found.find, tried)}"))
        told = [check for check in evidence.checks if check.left is not None]
        blocks += numbers("broken", (c for c in evidence.checks if not c.holds))
        blocks += numbers("holds", (c for c in told if c.holds and c.name not in OF_STRUCTURE))
        known = sources(evidence, reply.asked.request().scenario, {found.find: tried})
        broken = [name for c in told if not c.holds for name in _compared(c)[:1]]
        nodes = [known.node(name) for name in dict.fromkeys(broken)]
        blocks += tree_blocks(nodes)
        checks = [_check_data(check) for check in told]
    data = {**_data(reply, nodes), "at": plain(nearest[0]) if nearest else None}
    return Outcome("infeasible", tuple(blocks), {**data, "constraints": checks}, reply)


def _check_data(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "relation": check.relation,
        "value": plain(check.left),
        "limit": plain(check.right),
        "holds": check.holds,
    }


def nearest_of(reply: Reply) -> tuple[Any, Evidence] | None:
    """Of the ends of what is asked the one that breaks least, with what is the case there."""
    asked = reply.asked
    if asked.expression is not None:
        return None
    found: list[tuple[int, int, Any, Evidence]] = []
    for place, value in enumerate(_ends(asked)):
        checks = at_value(asked, value).evidence
        if checks.checks:
            broken = sum(not check.holds for check in checks.checks)
            found.append((broken, place, value, checks))
    if not found:
        return None
    _, _, value, evidence = min(found, key=lambda row: row[:2])
    return value, evidence


def _ends(asked: Asked) -> tuple[Fraction, ...]:
    """Values at which the question can be looked at: its choices, or the ends of its domain."""
    domain = asked.quantity.domain
    if domain.choices:
        return domain.choices[:4]
    low = domain.low
    if low is not None and domain.low_open:
        low = low + 1 if domain.whole else None
    return tuple(end for end in (low, domain.high) if end is not None)


def at_value(asked: Asked, value: Fraction) -> Answer:
    """The answer with this value in place of what is asked."""
    from solvers.solve import solve

    fact = Fact(asked.find, value, text=f"{asked.find} = {value}")
    tried = replace(asked, sense="", statements=replaced(asked.statements, (fact,)), over=())
    return solve(tried.request())
