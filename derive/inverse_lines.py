"""One branch of an inverse as a line: `x = value`, `low < x <= high` or `any x`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from derive.as_latex import latex, line_latex
from derive.as_plain import plain
from formulas.formula import VOCABULARY, Relation
from solvers.branches import Branch, Root, Span


@dataclass(frozen=True, slots=True)
class Written:
    """The same line twice: in names of quantities, and in LaTeX in the relation's own letters."""

    plain: str
    latex: str


def branch_line(relation: Relation, name: str, branch: Branch) -> Written:
    """The branch on one line, with its condition behind it."""
    symbol = VOCABULARY[name].symbol

    def written(expr: Any) -> Written:
        return Written(plain(expr), latex(expr, relation.letters))

    if isinstance(branch, Root):
        line = _joined(written(symbol), "=", written(branch.value))
    else:
        line = _span_line(branch, written(symbol), written)
    if branch.condition is sympy.true:
        return line
    condition = written(branch.condition)
    return Written(
        f"{line.plain}    where {condition.plain}",
        rf"{line.latex} \quad \text{{where }} {condition.latex}",
    )


def branch_data(relation: Relation, name: str, branch: Branch) -> dict[str, Any]:
    """The branch as values for JSON; a value, or the ends of a range, in names of quantities."""
    line = branch_line(relation, name, branch)
    always = branch.condition is sympy.true
    shared = {
        "text": line.plain,
        "latex": line.latex,
        "condition": None if always else plain(branch.condition),
    }
    if isinstance(branch, Root):
        return {"value": plain(branch.value), **shared}
    low, high = (None if end is None else plain(end) for end in (branch.low, branch.high))
    ends = {"low": low, "high": high}
    return {**ends, "low_open": branch.low_open, "high_open": branch.high_open, **shared}


def _joined(left: Written, sign: str, right: Written) -> Written:
    return Written(f"{left.plain} {sign} {right.plain}", line_latex(left.latex, sign, right.latex))


def _span_line(span: Span, name: Written, written: Any) -> Written:
    """A range with both ends has the name between them; one end stands behind the name."""
    if span.low is None and span.high is None:
        return Written(f"any {name.plain}", rf"\text{{any }} {name.latex}")
    below, above = ("<" if is_open else "<=" for is_open in (span.low_open, span.high_open))
    if span.low is None:
        return _joined(name, above, written(span.high))
    if span.high is None:
        return _joined(name, below.replace("<", ">"), written(span.low))
    return _joined(_joined(written(span.low), below, name), above, written(span.high))
