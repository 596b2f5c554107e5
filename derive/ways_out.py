"""Why there is no answer, on the card: the clash, the reason, what would help and what cannot."""

from __future__ import annotations

from typing import Any

from formulas.amounts import display
from formulas.catalogue import catalogue
from solvers.answer import Infeasible, Relaxation, Statement
from solvers.replacing import away

Rows = list[tuple[str, str]]

_FEWEST = 2


def infeasible_rows(answer: Infeasible, name: str, sense: str = "") -> Rows:
    """The rows of the card below its sentence; `name` is what is asked, as it was called."""
    rows = conflict_rows(answer.conflict)
    rows.append(("because", answer.reason))
    rows += relaxation_rows(answer.relaxations, answer.find, name, sense)
    if answer.cannot_help:
        rows.append(("cannot help", ", ".join(_in_brackets(text) for text in answer.cannot_help)))
    return rows


def conflict_rows(conflict: tuple[Statement, ...]) -> Rows:
    """How many statements clash, then each with who said it."""
    if not conflict:
        return []
    many = len(conflict)
    texts = dict.fromkeys((row.text, row.origin) for row in conflict)
    width = max(len(text) for text, _ in texts)
    head = f"{many} statements, each one needed" if many >= _FEWEST else "1 statement"
    rows = [("", f"  {text:<{width}}   {origin}".rstrip()) for text, origin in texts]
    return [("conflict", head), *rows]


def relaxation_rows(
    relaxations: tuple[Relaxation, ...], find: str, name: str, sense: str = ""
) -> Rows:
    """The smallest change of each statement that alone is enough, in columns."""
    if not relaxations:
        return []
    rows = [(row.name, target(row), _remark(row, find, name, sense)) for row in relaxations]
    first = max(len(row[0]) for row in rows)
    second = max(len(row[1]) for row in rows)
    lines = [f"  {one:<{first}}   {two:<{second}}   {three}".rstrip() for one, two, three in rows]
    return [("change one of", lines[0].strip()), *(("", line.strip()) for line in lines[1:])]


def target(row: Relaxation) -> str:
    """`to >= 6.59 ms`, `to fp8`: what the statement would have to be."""
    if isinstance(row.to, str):
        return f"to {row.text if row.name == 'gpu' else row.to}".replace("to gpu ", "to ")
    quantity = catalogue().quantities.get(row.name)
    upwards = not row.relation.startswith("<")
    shown = away(row.to, upwards)
    text = str(shown) if quantity is None else display(shown, quantity.unit, quantity.label)
    return f"to {text}" if row.relation == "=" else f"to {row.relation} {text}"


def _remark(row: Relaxation, find: str, name: str, sense: str) -> str:
    """By how much a number moves; after a choice, what the answer is then."""
    if row.change is not None and row.relation != "=":
        return f"({row.change:+.2g} x)" if abs(row.change) > 10 else f"({100 * row.change:+.0f} %)"
    return then(row.then, find, name, sense)


def then(value: Any, find: str, name: str, sense: str = "") -> str:
    """`then context <= 3 488 tok`; empty where there is no one value."""
    quantity = catalogue().quantities.get(find)
    if value is None or quantity is None or isinstance(value, bool):
        return ""
    sign = {"max": "<=", "min": ">="}.get(sense, "=")
    return f"then {name} {sign} {display(value, quantity.unit, quantity.label)}"


def _in_brackets(text: str) -> str:
    """`tp (16 leaves the node)` of `tp: 16 leaves the node`."""
    name, found, reason = text.partition(": ")
    return f"{name} ({reason})" if found else name
