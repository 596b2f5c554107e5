"""An answer as a card: value, what binds, slack, how it was read, what was assumed, its steps."""

from __future__ import annotations

from typing import Any

from derive.as_json import ASSUMED_FORMATS, assumed_values, plain
from derive.as_text import TOGETHER
from derive.asked import Asked
from derive.card_refused import labelled, refusal
from derive.document import Block, Document, Fields, Heading, Line, Table
from derive.stopped import continues
from derive.variants import notable
from derive.wording import remarks, shown
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.deployment.constraints import OF_STRUCTURE
from formulas.quantity import Domain
from formulas.units import Unit
from solvers.answer import (
    Answer,
    Check,
    Choice,
    Evidence,
    Exact,
    Missing,
    Range,
    Unbounded,
)

_FEW_STEPS = 8
SLACK_OF_NONE = 1e-9
# How the two sides of a limit are joined, and what the one that breaks it is.
_SIDES = {"<": ("of", "too much"), ">": ("of at least", "too little")}
_SENSES = {"max": "largest", "min": "smallest"}


def card(answer: Answer, asked: Asked, steps: bool = False) -> Document:
    """The card of an answer; `steps` shows every step where there are many."""
    evidence = answer.evidence
    head, why = (
        ([Heading(_headline(answer, asked))], [])
        if isinstance(answer, Exact | Range | Choice)
        else refusal(answer, asked)
    )
    rows = [*_broken(evidence), *why]
    rows += _slack(answer)
    # Where nothing was answered nothing rests on how the line was read.
    if not isinstance(answer, Missing | Unbounded):
        rows += labelled("read as", asked.read_as)
    rows += labelled("assumed", [_assumptions(evidence)] if evidence.assumed else [])
    rows += labelled("unused", [", ".join(evidence.unused)] if evidence.unused else [])
    rows += labelled("unchecked", [", ".join(evidence.unchecked)] if evidence.unchecked else [])
    rows += labelled("variants", notable(answer))
    rows += labelled("note", remarks(answer, asked.quantity.domain))
    fields = [Fields(tuple(rows))] if rows else []
    more = continues(f"{asked.sense} {asked.called}".strip(), answer)
    return (*head, *fields, *more, *_steps(evidence, steps))


def _headline(answer: Answer, asked: Asked) -> str:
    name, unit = answer.find, asked.unit
    text = shown(answer, asked.quantity, unit)
    match answer:
        case Exact(sense=sense):
            sign = {"max": "<=", "min": ">="}.get(sense, "=")
            tail = f"    {_SENSES[sense]}{_grid(asked.quantity.domain)}" if sense else ""
            digits = "    numeric, 40 digits" if answer.numeric and not sense else ""
            if answer.branches:
                values = " or ".join(_amount(name, b.value, unit) for b in answer.branches)
                return f"{name} = {values}"
            if name in answer.evidence.assumed:
                tail = "    assumed: nothing that is given determines it"
            return f"{name} {sign} {text}{tail}{digits}"
        case Range(intervals=spans) if all(s.low is not None and s.low == s.high for s in spans):
            points = [_amount(name, span.low, unit) for span in spans]
            return f"{name} {'=' if len(points) == 1 else 'is one of'} {', '.join(points)}"
        case Range():
            return f"{name} {text}" if text[0] in "<>" else f"{name} in {text}"
        case Choice(choice=choice):
            chosen = ", ".join(f"{key} = {_chosen(key, value)}" for key, value in choice.items())
            return f"{name} = {text}    at {chosen}"
        case _:
            return f"{name}: {text}"


def _chosen(name: str, value: Any) -> str:
    return value if isinstance(value, str) else _amount(name, value)


def _grid(domain: Domain) -> str:
    if domain.choices:
        return " of its choices"
    return ", a whole number" if domain.whole else ""


def _amount(name: str, value: Any, unit: Unit | None = None) -> str:
    quantity = catalogue().quantities[name]
    return display(value, quantity.unit, quantity.label, unit)


def _comparison(check: Check) -> str:
    """`27.46 of 30 ms (8.5 %)`: both sides, and the room that is left."""
    if check.left is None or check.right is None:
        return check.name
    if check.quantity:
        left, right = _amount(check.quantity, check.left), _amount(check.quantity, check.right)
    elif check.unit is not None:
        left, right = (display(side, check.unit) for side in (check.left, check.right))
    else:
        left, right = (f"{float(side):.4g}" for side in (check.left, check.right))
    left_number, _, left_unit = left.rpartition(" ")
    if left_unit and right.endswith(f" {left_unit}"):
        left = left_number
    return f"{check.name:<12} {left} {_SIDES[check.relation[:1]][0]} {right}{_room(check)}"


def _room(check: Check) -> str:
    slack = check.slack
    if slack is None:
        return ""
    if slack < 0:
        return f" ({_percent(-slack, 3)} {_SIDES[check.relation[:1]][1]})"
    # Less than the tolerance of a comparison is none.
    return f" ({_percent(slack if slack > SLACK_OF_NONE else 0, 2)} left)"


def _percent(share: float, digits: int) -> str:
    return f"{float(f'{100 * share:.{digits}g}'):g} %"


def _broken(evidence: Evidence) -> list[tuple[str, str]]:
    meanings = {c.name: c.meaning for c in catalogue().constraints}
    texts = []
    for check in evidence.checks:
        if not check.holds:
            why = meanings.get(check.name, "stated")
            texts.append(
                f"{_comparison(check)}: {why}" if check.left is None else _comparison(check)
            )
    return labelled("broken", texts)


def _slack(answer: Answer) -> list[tuple[str, str]]:
    """What binds, then the room in every other comparison that has one."""
    binding = answer.binding if isinstance(answer, Exact) else ()
    checks = [c for c in answer.evidence.checks if c.holds and c.left is not None]
    bound = [c for c in checks if c.name in binding]
    named = {c.name for c in bound}
    rows = labelled(
        "binds", [_comparison(c) for c in bound] + [n for n in binding if n not in named]
    )
    if isinstance(answer, Exact) and (answer.sense or any(c.stated for c in checks)):
        rest = [c for c in checks if c.name not in binding and c.name not in OF_STRUCTURE]
        rows += labelled("slack", [_comparison(c) for c in rest])
    return rows


def _assumptions(evidence: Evidence) -> str:
    """Each assumption by its value, or by what it is taken to equal."""
    from derive.as_plain import relation_plain

    names = catalogue()
    parts = []
    for name, value in evidence.assumed.items():
        default, quantity = names.defaults[name], names.quantities[name]
        if name in ASSUMED_FORMATS:
            parts.append(
                f"{ASSUMED_FORMATS[name]} {assumed_values(evidence)[ASSUMED_FORMATS[name]]}"
            )
        elif default.expr.is_Symbol or default.expr.is_Mul:
            parts.append(relation_plain(default, letters=False))
        else:
            parts.append(f"{name} {display(value, quantity.unit, quantity.label)}")
    # A line ends between two assumptions, not inside one.
    return ", ".join(part.replace(" ", TOGETHER) for part in parts)


def _steps(evidence: Evidence, every: bool) -> list[Block]:
    rows = evidence.steps
    if not rows:
        return []
    if len(rows) > _FEW_STEPS and not every:
        return [Fields((("steps", f"{len(rows)}; --steps shows them"),))]
    table = tuple(
        (
            str(number),
            step.solved_for,
            "" if plain(step.value) is None else _amount(step.solved_for, step.value),
            step.relation + (f", solved from {step.because}" if step.because else ""),
        )
        for number, step in enumerate(rows, start=1)
    )
    return [Line(""), Table(("", "step", "value", "by"), table, numeric=("", "value"))]
