"""The cards of questions without a value: what lacks, what clashes, what would limit it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from derive.asked import Asked
from derive.complain import picture
from derive.document import Block, Heading, Line
from derive.stopped import BEST_FOUND
from derive.wording import contradiction_values
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.statements import UseModel
from solvers.answer import (
    Answer,
    Contradiction,
    Infeasible,
    Missing,
    Statement,
    Unbounded,
    Unproved,
)

Rows = list[tuple[str, str]]

_OFTEN_LIMITED = ("tpot", "ttft", "cost_per_million_tokens", "n_gpus")
_MEMORY = "memory_used_per_gpu"
_FEW = 2


def labelled(label: str, texts: Iterable[str]) -> Rows:
    """Rows under one label, which stands once."""
    return [(label if index == 0 else "", text) for index, text in enumerate(texts)]


def refusal(answer: Answer, asked: Asked) -> tuple[list[Block], Rows]:
    """The sentence, with carets below what has no value, and rows: why, and what to do."""
    kind, sentence, rows = _TOLD[type(answer)](answer, asked)
    blocks: list[Block] = [Heading(f"error[{kind}]: {sentence}")]
    if isinstance(answer, Missing | Unbounded) and asked.line and asked.span:
        blocks += [Line(f"  {row}") for row in picture(asked.line, asked.span)]
    return blocks, rows


# -- each kind

Told = tuple[str, str, Rows]


def _missing(answer: Missing, asked: Asked) -> Told:
    from derive.need import gifts_of, missing_headline, missing_rows

    given = gifts_of(asked)
    rows = labelled("because", [answer.reason] if answer.reason else [])
    rows += missing_rows(asked, answer, given)
    if not answer.alternatives:
        rows.append(("ask", f"max {answer.find} or min {answer.find}"))
    rows += labelled("trade-off", _tradeoff(answer))
    return "missing", missing_headline(asked, answer, given), rows


def _tradeoff(answer: Missing) -> list[str]:
    """One line for each point: `batch 8: context_tokens 24 000 tok`."""
    return [
        ", ".join(f"{name} {_amount(name, value)}" for name, value in row.items())
        for row in answer.tradeoff
    ]


def _amount(name: str, value: Any) -> str:
    quantity = catalogue().quantities.get(name)
    if quantity is None or isinstance(value, str):
        return str(value)
    return display(value, quantity.unit, quantity.label)


def _infeasible(answer: Infeasible, asked: Asked) -> Told:
    from derive.ways_out import infeasible_rows

    rows = infeasible_rows(answer, asked.called, asked.sense)
    return "infeasible", f"no {asked.called} satisfies this", rows


def _contradiction(answer: Contradiction, asked: Asked) -> Told:
    from derive.accepting import substituted

    relation = catalogue().relations.get(answer.relation)
    rows = labelled("conflict", [said(row) for row in answer.conflict])
    if relation is None:
        rows.append(("instead", "state one of them"))
    else:
        by = substituted(relation, asked.request().scenario.without(answer.quantity))
        instead = f"'{answer.quantity} := ...' overrides {relation.id}"
        rows = [("by", by), *rows, ("instead", instead)]
    return "conflict", contradiction_values(answer), rows


def said(statement: Statement) -> str:
    """What was stated and who said it, once where both are the same words."""
    if statement.origin == statement.text:
        return statement.text
    return f"{statement.text}    {statement.origin}"


def _unbounded(answer: Unbounded, asked: Asked) -> Told:
    """What people limit, and what depends on the quantity."""
    names = catalogue()
    # What is assumed to equal the quantity carries it further.
    like = [row.gives for row in names.defaults.values() if answer.find in row.inputs]
    reach = {answer.find}.union(*(names.downstream(name) for name in (answer.find, *like)))
    limited = [other for other in _OFTEN_LIMITED if other in reach][:_FEW] or [answer.find]
    known = any(isinstance(row, UseModel) for row in asked.statements)
    memory = "gpu ... (memory)" if known else "model ... and gpu ... (memory)"
    found = [memory] if _MEMORY in reach else []
    sign = ">=" if answer.sense == "min" else "<="
    one_of = ", ".join([*found, *(f"{name} {sign} ..." for name in limited)])
    return "unbounded", f"nothing given limits {asked.called}", [("add one of", one_of)]


def _unproved(answer: Unproved, asked: Asked) -> Told:
    sentence = answer.reason if answer.seconds is not None else f"{asked.called}: {answer.reason}"
    rows = []
    if answer.value is not None:
        rows.append((BEST_FOUND, _amount(answer.find, answer.value)))
    return "unproved", sentence, rows


_TOLD: dict[type, Callable[[Any, Asked], Told]] = {
    Missing: _missing,
    Infeasible: _infeasible,
    Contradiction: _contradiction,
    Unbounded: _unbounded,
    Unproved: _unproved,
}
