"""An answer as one flat JSON object: the contract that scripts read."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, assert_never

from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.storage import BYTES_PER_ELEMENT
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
    Unbounded,
    Unproved,
)

# Assumed bytes of an element are shown as the format that they come from.
ASSUMED_FORMATS = {"bytes_per_weight": "weight_dtype", "kv_bytes_per_element": "kv_dtype"}


def answer_object(answer: Answer, unit: Unit | None = None) -> dict[str, Any]:
    """The flat object of an answer; values in own units, `display` in the unit asked."""
    quantity = catalogue().quantities[answer.find]
    head: dict[str, Any] = {"status": status(answer), "find": quantity.short_name}
    body = _body(answer, unit)
    value = body.get("value")
    head["value"] = value
    head["unit"] = quantity.unit.text
    head["display"] = shown(answer, unit)
    head.update({key: part for key, part in body.items() if key != "value"})
    head.update(_evidence(answer.evidence))
    head["notes"] = list(remarks(answer)) or None
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


def status(answer: Answer) -> str:
    """The one word for what kind of answer it is."""
    match answer:
        case Exact() | Range() | Choice():
            return "ok"
        case Infeasible():
            return "infeasible"
        case Missing():
            return "missing"
        case Contradiction():
            return "contradiction"
        case Unbounded():
            return "unbounded"
        case Unproved():
            return "unproved"
        case _:
            assert_never(answer)


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


def shown(answer: Answer, unit: Unit | None = None) -> str:
    """The answer's value for people."""
    quantity = catalogue().quantities[answer.find]

    def text(value: Any) -> str:
        return display(value, quantity.unit, quantity.label, unit)

    match answer:
        case Exact(_, value) | Choice(_, value):
            return text(value)
        case Range(_, intervals, one_sided, value):
            if one_sided and value is not None:
                return f"{_sign(intervals[0])} {text(_end(intervals[0]))}"
            return ", ".join(between(piece, text) for piece in intervals)
        case _:
            return status(answer)


def _end(span: Interval) -> Any:
    return span.low if span.low is not None else span.high


def _sign(span: Interval) -> str:
    if span.low is not None:
        return ">" if span.low_open else ">="
    return "<" if span.high_open else "<="


def between(span: Interval, text: Any) -> str:
    """An interval in words that read as inequalities."""
    if span.low is not None and span.low == span.high:
        return str(text(span.low))
    if span.low is None and span.high is None:
        return "any value"
    if span.low is None or span.high is None:
        return f"{_sign(span)} {text(_end(span))}"
    left, right = "(" if span.low_open else "[", ")" if span.high_open else "]"
    return f"{left}{text(span.low)} .. {text(span.high)}{right}"


def _body(answer: Answer, unit: Unit | None) -> dict[str, Any]:
    match answer:
        case Exact():
            return {
                "value": plain(answer.value),
                "kind": "exact",
                "numeric": True if answer.numeric else None,
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
            chosen = {name: plain(value) for name, value in answer.choice.items()}
            return {"value": plain(answer.value), "kind": "choice", "choice": chosen}
        case Infeasible():
            return {"message": answer.reason, "conflict": _statements(answer)}
        case Missing():
            return {
                "missing": [list(names) for names in answer.alternatives],
                "message": answer.reason or f"{answer.find} needs more facts",
            }
        case Contradiction():
            return {"message": contradiction_text(answer), "conflict": _statements(answer)}
        case Unbounded():
            return {"message": f"nothing given limits {answer.find}"}
        case Unproved():
            return {"value": plain(answer.value), "message": answer.reason}
        case _:
            assert_never(answer)


def contradiction_text(answer: Contradiction) -> str:
    """Both values of the quantity, and where the other one comes from."""
    quantity = catalogue().quantities[answer.quantity]
    stated, derived = (
        display(value, quantity.unit, quantity.label) for value in (answer.stated, answer.derived)
    )
    if stated == derived:
        stated, derived = (f"{float(v):.12g}" for v in (answer.stated, answer.derived))
    if answer.relation not in catalogue().relations:
        texts = " and ".join(s.text for s in answer.conflict)
        return f"{texts} contradict each other: {answer.quantity} is {stated} or {derived}"
    return f"{answer.quantity} = {stated} contradicts {derived} ({answer.relation})"


def _statements(answer: Infeasible | Contradiction) -> list[dict[str, str]] | None:
    return [{"name": s.name, "text": s.text, "origin": s.origin} for s in answer.conflict] or None


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


def remarks(answer: Answer) -> tuple[str, ...]:
    """The notes of an answer; an exact inverse of a count may be no whole number, and says so."""
    from solvers.spans import extreme

    notes = answer.evidence.notes
    domain = catalogue().quantities[answer.find].domain
    if isinstance(answer, Range) and domain.whole:
        best = extreme(list(answer.intervals), "max", Fraction(1))
        if best.value is None and not best.unbounded:
            return (*notes, f"{answer.find} is counted, and no whole number lies in this range")
    if not isinstance(answer, Exact) or answer.sense or isinstance(answer.value, bool):
        return notes
    values = [branch.value for branch in answer.branches] or [answer.value]
    if not domain.whole or all(_is_whole(value) for value in values):
        return notes
    return (*notes, f"{answer.find} is counted, and this is not a whole number")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1


def _evidence(evidence: Evidence) -> dict[str, Any]:
    found = {
        "outcomes": {
            name: shown
            for name, value in evidence.outcomes.items()
            if (shown := plain(value)) is not None
        },
        "constraints": [_constraint(check) for check in evidence.checks],
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


def _constraint(check: Check) -> dict[str, Any]:
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
