"""The value of a calculation with quantities, each of which is a question of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from solvers.answer import Answer, Evidence, Exact, Infeasible, Range, Unproved
from solvers.exact import evaluate
from solvers.number import Undefined
from solvers.solve import Request, solve


def solve_calculation(expression: Any, request: Request) -> Answer:
    """The value of the expression where each of its quantities has one, else what one lacks.

    The answer's `find` is the text of the calculation.
    """
    values: dict[str, Any] = {}
    proofs: list[Evidence] = []
    for name in sorted(symbol.name for symbol in expression.free_symbols):
        answer = solve(replace(request, find=name))
        if not isinstance(answer, Exact) or answer.branches:
            return _without_value(answer, name, request.find)
        values[name] = answer.value
        proofs.append(answer.evidence)
    if torn := _assumed_twice(values, proofs):
        return Unproved(request.find, f"its parts rest on two values of {torn}: state it")
    try:
        value = evaluate(expression, values.__getitem__)
    except Undefined as trouble:
        return Infeasible(request.find, f"it has no value here: {trouble}")
    numeric = not isinstance(value, Fraction)
    return Exact(request.find, value, numeric=numeric, evidence=joined(proofs))


def _assumed_twice(values: Mapping[str, Any], proofs: Iterable[Evidence]) -> str:
    """What one part assumes to be something else than another part, or than it is itself."""
    known = dict(values)
    for proof in proofs:
        for name, value in proof.assumed.items():
            if known.setdefault(name, value) != value:
                return name
    return ""


def _without_value(answer: Answer, name: str, find: str) -> Answer:
    if isinstance(answer, Exact | Range):
        return Unproved(find, f"{name} has more than one value", evidence=answer.evidence)
    return replace(answer, find=find)


def joined(proofs: Iterable[Evidence]) -> Evidence:
    """What several answers from the same facts rest on together."""
    rows = tuple(proofs)
    if not rows:
        return Evidence()
    unused = set(rows[0].unused).intersection(*(row.unused for row in rows))
    return Evidence(
        steps=tuple({(s.relation, s.solved_for): s for row in rows for s in row.steps}.values()),
        checks=tuple({c.name: c for row in rows for c in row.checks}.values()),
        assumed={name: value for row in rows for name, value in row.assumed.items()},
        outcomes={name: value for row in rows for name, value in row.outcomes.items()},
        unused=tuple(sorted(unused)),
        unchecked=tuple(dict.fromkeys(name for row in rows for name in row.unchecked)),
        notes=tuple(dict.fromkeys(note for row in rows for note in row.notes)),
    )
