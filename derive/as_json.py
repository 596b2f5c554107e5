"""An answer as one flat JSON object: the contract that scripts read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, assert_never

from derive.wording import contradiction_text, remarks, shown, status
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.storage import BYTES_OF, BYTES_PER_ELEMENT
from formulas.units import Unit
from solvers.answer import (
    Answer,
    Check,
    Choice,
    Contradiction,
    Evidence,
    Exact,
    Infeasible,
    Interval,
    Missing,
    Range,
    Relaxation,
    Unbounded,
    Unproved,
)

# Assumed bytes of an element are shown as the format that they come from.
ASSUMED_FORMATS = {quantity: choice for choice, quantity in BYTES_OF.items()}


def answer_object(
    answer: Answer, unit: Unit | None = None, quantity: Quantity | None = None
) -> dict[str, Any]:
    """The flat object of an answer; values in own units, `display` in the unit asked.

    `quantity` is what was asked, where that is no word of the vocabulary.
    """
    asked = quantity or catalogue().quantities[answer.find]
    head: dict[str, Any] = {"status": status(answer), "find": asked.short_name}
    body = _body(answer)
    value = body.get("value")
    head["value"] = value
    head["unit"] = asked.unit.text or str(asked.unit)
    head["display"] = shown(answer, asked, unit)
    head.update({key: part for key, part in body.items() if key != "value"})
    head.update(_evidence(answer.evidence))
    head["notes"] = list(remarks(answer, asked.domain)) or None
    return {key: part for key, part in head.items() if part is not None or key == "value"}


def json_text(found: Any, encoding: str | None, indent: int | None = None) -> str:
    """The JSON for a stream: with every character where the encoding has them all, else escaped."""
    wide = (encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(found, ensure_ascii=not wide, indent=indent)


def problem_object(problem: Problem, find: str | None = None) -> dict[str, Any]:
    """The object of a question that could not be read; `find` where at least that is known."""
    found = error_object(problem.kind, str(problem), find)
    if problem.help:
        found["help"] = list(problem.help)
    if problem.candidates:
        found["candidates"] = list(problem.candidates)
    return found


def error_object(kind: str, message: str, find: str | None = None) -> dict[str, Any]:
    """The object of a question without an answer, with every key that each object has."""
    unit = catalogue().quantities[find].unit.text if find else None
    head = {"status": "error", "find": find, "value": None, "unit": unit, "display": "error"}
    return {**head, "message": message, "error": kind}


def plain(value: Any) -> Any:
    """The value as JSON has it: an int where it is whole, else the nearest float; arrays as lists.

    None for what still depends on the asked quantity, as the steps of a range do.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if getattr(value, "free_symbols", None):
        return None
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    try:
        number = float(value)
    except OverflowError:
        return str(value)
    return number if math.isfinite(number) else str(number)


def _body(answer: Answer) -> dict[str, Any]:
    match answer:
        case Exact():
            return {
                "value": plain(answer.value),
                "kind": "exact",
                "numeric": True if answer.numeric else None,
                "spread": plain(answer.spread),
                "sense": answer.sense or None,
                "branches": [
                    {"value": plain(b.value), "condition": b.condition} for b in answer.branches
                ]
                or None,
                "binding": list(answer.binding) or None,
                **_intervals(answer.intervals),
            }
        case Range():
            kind = "bound" if answer.one_sided else "range"
            return {"value": plain(answer.value), "kind": kind, **_intervals(answer.intervals)}
        case Choice():
            return {
                "value": plain(answer.value),
                "kind": "choice",
                "choice": plain_values(answer.choice),
                "binding": list(answer.binding) or None,
            }
        case Infeasible():
            return {
                "message": answer.reason,
                "conflict": _statements(answer),
                "relaxations": [_relaxation(row) for row in answer.relaxations] or None,
                "cannot_help": list(answer.cannot_help) or None,
            }
        case Missing():
            return {
                "missing": [list(names) for names in answer.alternatives],
                "message": answer.reason or f"{answer.find} needs more facts",
                "tradeoff": [plain_values(row) for row in answer.tradeoff] or None,
            }
        case Contradiction():
            return {"message": contradiction_text(answer), "conflict": _statements(answer)}
        case Unbounded():
            return {"message": f"nothing given limits {answer.find}"}
        case Unproved():
            return {"value": plain(answer.value), "message": answer.reason}
        case _:
            assert_never(answer)


def _statements(answer: Infeasible | Contradiction) -> list[dict[str, str]] | None:
    return [{"name": s.name, "text": s.text, "origin": s.origin} for s in answer.conflict] or None


def plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name as JSON has them."""
    return {name: plain(value) for name, value in values.items()}


def _relaxation(row: Relaxation) -> dict[str, Any]:
    quantity = catalogue().quantities.get(row.name)
    found = {
        "name": row.name,
        "relation": row.relation,
        "to": plain(row.to),
        "unit": quantity.unit.text if quantity else None,
        "change": row.change,
        "then": plain(row.then),
        "text": row.text or None,
    }
    return {key: part for key, part in found.items() if part is not None}


def _intervals(spans: tuple[Interval, ...]) -> dict[str, Any]:
    """The ends that are there, each with whether it belongs; several pieces below their hull."""
    if not spans:
        return {}
    found: dict[str, Any] = {}
    low, high = spans[0], spans[-1]
    if low.low is not None:
        found |= {"low": plain(low.low), "low_open": low.low_open}
    if high.high is not None:
        found |= {"high": plain(high.high), "high_open": high.high_open}
    if len(spans) > 1:
        found["intervals"] = [_intervals((span,)) for span in spans]
    return found


def _evidence(evidence: Evidence) -> dict[str, Any]:
    found = {
        "outcomes": {
            name: value
            for name, value in plain_values(evidence.outcomes).items()
            if value is not None
        },
        "constraints": [constraint_object(check) for check in evidence.checks],
        "steps": [
            {
                "relation": step.relation,
                "solved_for": catalogue().quantities[step.solved_for].short_name,
                "value": plain(step.value),
                "unit": catalogue().quantities[step.solved_for].unit.text,
            }
            for step in evidence.steps
        ],
        "variants": {key: plain(value) for key, value in evidence.variants.items()},
        "assumed": assumed_values(evidence),
        "unused": list(evidence.unused),
        "unchecked": list(evidence.unchecked),
    }
    return {key: part for key, part in found.items() if part}


def assumed_values(evidence: Evidence) -> dict[str, Any]:
    """What was assumed, by name; storage formats by the name of the format."""
    found: dict[str, Any] = {}
    for name, value in evidence.assumed.items():
        if name in ASSUMED_FORMATS:
            found[ASSUMED_FORMATS[name]] = next(
                f for f, b in BYTES_PER_ELEMENT.items() if b == value
            )
        else:
            found[name] = plain(value)
    return found


def constraint_object(check: Check) -> dict[str, Any]:
    """One constraint at a point: both sides in their own unit, and the room that is left."""
    quantity = catalogue().quantities.get(check.quantity)
    found = {
        "name": check.name,
        "relation": check.relation or None,
        "value": plain(check.left),
        "limit": plain(check.right),
        "unit": quantity.unit.text if quantity else None,
        "slack": check.slack,
        "holds": check.holds,
    }
    return {key: part for key, part in found.items() if part is not None}
