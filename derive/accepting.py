"""Facts that cannot hold are not added to a conversation: the reason, and what to write instead."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from derive.asked import place_of_value
from derive.complain import located
from derive.question import Question
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.deployment.constraints import OF_TP
from formulas.errors import Problem
from formulas.formula import Condition, Relation
from formulas.scenario import Scenario, scenario
from formulas.statements import Fact, Statement
from solvers.answer import Contradiction
from solvers.chain import Chain
from solvers.found import Lacking
from solvers.number import Undefined
from solvers.solve import Request, solve

_MOST_SHOWN = 12
_LARGEST_TRIED = 1024


def refuse_contradictions(statements: tuple[Statement, ...], question: Question) -> None:
    """A Problem where a fact of the line contradicts what is stated, or fits no deployment."""
    known = scenario(statements)
    for fact in (row for row in question.statements if isinstance(row, Fact)):
        _refuse_parallelism(known, fact, question)
        if fact.override:
            continue
        answer = solve(Request(fact.quantity, known))
        if isinstance(answer, Contradiction):
            raise located(_contradiction(answer, fact, known), question.text)


def _contradiction(answer: Contradiction, fact: Fact, known: Scenario) -> Problem:
    names = catalogue()
    quantity = names.quantities[answer.quantity]
    stated, derived = (
        display(value, quantity.unit, quantity.label) for value in (answer.stated, answer.derived)
    )
    relation = names.relations.get(answer.relation)
    lines = [] if relation is None else [substituted(relation, known)]
    where = fact.text.partition("=")
    override = f"{where[0].strip()} := {where[2].strip()}"
    by = "" if relation is None else f" overrides {relation.id}"
    lines.append(f"not added. '{override}'{by}" if by else "not added")
    message = f"{answer.quantity} = {stated} contradicts {derived}"
    return Problem("conflict", message, tuple(lines), fact.text)


def substituted(relation: Relation, known: Scenario) -> str:
    """The relation's id, its formula in names, and the same with the values put in."""
    from derive.as_plain import plain, short_name
    from derive.plain_styles import TYPED, TYPED_NUMBERS

    chain = Chain(catalogue(), known)

    def value(symbol: Any) -> str:
        try:
            found = chain.value(symbol.name).value
        except Lacking:
            return str(symbol.name)
        whole = isinstance(found, Fraction) and found.denominator == 1
        return str(found) if whole else f"{float(found):.6g}"

    formula = plain(relation.written, short_name, style=TYPED, as_written=True)
    numbers = plain(relation.written, value, style=TYPED_NUMBERS, as_written=True)
    return f"{relation.id}   {formula} = {numbers}"


def _refuse_parallelism(known: Scenario, fact: Fact, question: Question) -> None:
    """A TP that divides nothing is refused where the model or the node is known."""
    if fact.quantity != "tp" or fact.override or not isinstance(fact.value, Fraction):
        return
    chain = Chain(catalogue(), known)
    broken = [row for row in OF_TP if _fails(chain, row)]
    if not broken:
        return
    allowed = [n for n in range(1, _LARGEST_TRIED + 1) if not _any_fails(chain, n)]
    reason = _reason(chain, broken[0])
    shown = ", ".join(map(str, allowed[:_MOST_SHOWN]))
    problem = Problem("domain", f"tp = {fact.value} is not allowed", (f"{reason}: {shown}",))
    problem.span = place_of_value(question.text, fact.text)
    raise located(problem, question.text)


def _reason(chain: Chain, constraint: Condition) -> str:
    if constraint.name == "heads_divide":
        return f"tp must divide n_heads = {chain.value('n_heads').value}"
    values = [f"{n} = {chain.value(n).value}" for n in constraint.inputs if n != "tp"]
    return f"{constraint.meaning.rstrip('.')} ({', '.join(values)})"


def _any_fails(chain: Chain, number: int) -> bool:
    tried = replace(chain, scenario=chain.scenario.with_value("tp", Fraction(number)))
    return any(_fails(tried, row) for row in OF_TP)


def _fails(chain: Chain, constraint: Condition) -> bool:
    try:
        return chain.holds(constraint) is False
    except (Lacking, Undefined):
        return False
