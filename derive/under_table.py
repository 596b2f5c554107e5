"""What stands below a table: how the line was read, what was assumed, what could not be checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from derive.as_json import assumed_values
from derive.as_text import TOGETHER
from derive.document import Block, Document, Fields
from formulas.amounts import display
from formulas.catalogue import catalogue
from solvers.answer import Answer, Evidence, Missing


def fields(rows: Iterable[tuple[str, Iterable[str]]]) -> list[Block]:
    """Rows of a label and its texts, the label once; nothing where there are no texts."""
    found = [
        (label if place == 0 else "", text)
        for label, texts in rows
        for place, text in enumerate(texts)
    ]
    return [Fields(tuple(found))] if found else []


def assumed(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """One line of everything that any of the answers assumed, each with its value."""
    found: dict[str, str] = {}
    for row in evidence:
        for name, value in assumed_values(row).items():
            text = _assumption(name, value)
            # What differs from point to point is in the table, or follows from it.
            found[name] = text if found.get(name, text) == text else name
    line = ", ".join(text.replace(" ", TOGETHER) for text in found.values())
    return (line,) if line else ()


def _assumption(name: str, value: Any) -> str:
    """What is assumed: by a formula where the default is one, else by its value."""
    from derive.as_plain import relation_plain

    default, quantity = catalogue().defaults.get(name), catalogue().quantities.get(name)
    if default is not None and (default.expr.is_Symbol or default.expr.is_Mul):
        return relation_plain(default, letters=False)
    shown = display(value, quantity.unit, quantity.label) if quantity else str(value)
    return f"{name} {shown}"


def groups(
    document: Document, leaving_out: tuple[str, ...] = ()
) -> list[tuple[str, tuple[str, ...]]]:
    """The labelled rows of a document, the texts of one label together."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for block in document:
        for label, text in block.rows if isinstance(block, Fields) else ():
            if label or not found:
                found.append((label, (text,)))
            else:
                found[-1] = (found[-1][0], (*found[-1][1], text))
    return [row for row in found if row[0] not in leaving_out]


def assumed_data(evidence: Iterable[Evidence]) -> dict[str, Any]:
    """The same as values for JSON, where all answers assume the same."""
    found: dict[str, Any] = {}
    for row in evidence:
        for name, value in assumed_values(row).items():
            found[name] = value if found.get(name, value) == value else None
    return found


def unchecked(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The names of the constraints that could not be evaluated, in one line."""
    names = dict.fromkeys(name for row in evidence for name in row.unchecked)
    return (", ".join(names),) if names else ()


def why_not(answer: Answer) -> str:
    """Why a point has no value, in a few words."""
    from derive.wording import contradiction_text, status
    from solvers.answer import Choice, Contradiction, Exact, Infeasible, Range, Unproved

    match answer:
        case Missing(alternatives=sets, reason=reason) if sets:
            # To give what is limited would leave nothing to be limited.
            fitting = [names for names in sets if f"limit on {names[0]} " not in reason]
            return f"needs {', '.join((fitting or sets)[0])}"
        case Contradiction():
            return contradiction_text(answer)
        case Infeasible(reason=reason) | Unproved(reason=reason):
            return reason
        case Exact(branches=branches) if branches:
            return "has several values"
        case Exact() | Range() | Choice():
            return "is not known here"
        case _:
            return status(answer)
