"""The cards of questions without a value: what lacks, what clashes, what would limit it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from derive.asked import Asked
from derive.complain import picture
from derive.document import Block, Heading, Line
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


def refusal_head(answer: Answer, asked: Asked) -> list[Block]:
    """The sentence, and the line that was asked with carets below what has no value."""
    kind, sentence = _SENTENCES[type(answer)](answer, asked)
    blocks: list[Block] = [Heading(f"error[{kind}]: {sentence}")]
    if isinstance(answer, Missing | Unbounded) and asked.line and asked.span:
        blocks += [Line(f"  {row}") for row in picture(asked.line, asked.span)]
    return blocks


def refusal_rows(answer: Answer, asked: Asked) -> Rows:
    """Why there is no value, and what to do."""
    return _ROWS[type(answer)](answer, asked)


# -- the sentence


def _missing_sentence(answer: Any, asked: Asked) -> tuple[str, str]:
    from derive.need import gifts_of, missing_headline

    return "missing", missing_headline(asked, answer, gifts_of(asked))


def _unproved_sentence(answer: Any, asked: Asked) -> tuple[str, str]:
    reason = answer.reason
    return "unproved", reason if reason.startswith("stopped") else f"{asked.called}: {reason}"


_SENTENCES: dict[type, Callable[[Any, Asked], tuple[str, str]]] = {
    Missing: _missing_sentence,
    Infeasible: lambda _, asked: ("infeasible", f"no {asked.called} satisfies this"),
    Contradiction: lambda answer, _: ("conflict", contradiction_values(answer)),
    Unbounded: lambda _, asked: ("unbounded", f"nothing given limits {asked.called}"),
    Unproved: _unproved_sentence,
}


# -- what stands below it


def _missing_rows(answer: Missing, asked: Asked) -> Rows:
    from derive.need import gifts_of, missing_rows

    rows = labelled("because", [answer.reason] if answer.reason else [])
    rows += missing_rows(asked, answer, gifts_of(asked))
    if not answer.alternatives:
        rows.append(("ask", f"max {answer.find} or min {answer.find}"))
    return [*rows, *labelled("trade-off", _tradeoff(answer))]


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


def _infeasible_rows(answer: Infeasible, asked: Asked) -> Rows:
    from derive.ways_out import infeasible_rows

    return infeasible_rows(answer, asked.called, asked.sense)


def _contradiction_rows(answer: Contradiction, asked: Asked) -> Rows:
    from derive.accepting import substituted

    relation = catalogue().relations.get(answer.relation)
    rows = labelled("conflict", [said(row) for row in answer.conflict])
    if relation is None:
        return [*rows, ("instead", "state one of them")]
    by = substituted(relation, asked.request().scenario.without(answer.quantity))
    rows = [("by", by), *rows]
    return [*rows, ("instead", f"'{answer.quantity} := ...' overrides {relation.id}")]


def said(statement: Statement) -> str:
    """What was stated and who said it, once where both are the same words."""
    if statement.origin == statement.text:
        return statement.text
    return f"{statement.text}    {statement.origin}"


def _unbounded_rows(answer: Unbounded, asked: Asked) -> Rows:
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
    return [("add one of", ", ".join([*found, *(f"{name} {sign} ..." for name in limited)]))]


def _unproved_rows(answer: Unproved, asked: Asked) -> Rows:
    if answer.value is None:
        return [("more", "--time 600 gives it longer")] if _was_stopped(answer) else []
    return [("best found", _amount(answer.find, answer.value))]


def _was_stopped(answer: Unproved) -> bool:
    return answer.reason.startswith("stopped")


_ROWS: dict[type, Callable[[Any, Asked], Rows]] = {
    Missing: _missing_rows,
    Infeasible: _infeasible_rows,
    Contradiction: _contradiction_rows,
    Unbounded: _unbounded_rows,
    Unproved: _unproved_rows,
}
