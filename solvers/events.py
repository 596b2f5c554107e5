"""What may begin to decide when a fact is moved: other limits, the domain, other arms."""

from __future__ import annotations

from typing import Any

import sympy

from formulas.formula import VOCABULARY
from solvers.chain import Chain
from solvers.curve import Curve, Gap, gaps_of
from solvers.evidence import steps_of
from solvers.exact import evaluate
from solvers.number import to_sympy
from solvers.slopes import active_arm

_COMPARED = (sympy.Le, sympy.Ge, sympy.Lt, sympy.Gt)
ARM = "arm"


def events_of(curve: Curve) -> tuple[Gap, ...]:
    """Everything that may begin to decide: the other limits, the domain, the other arms."""
    own = VOCABULARY[curve.find]
    rows = [gap for gap in gaps_of(curve.chain) if gap != curve.gap]
    names = {own.name}
    if curve.gap is not None:
        names = {s.name for side in (curve.gap.left, curve.gap.right) for s in side.free_symbols}
        ends = ((">=", own.domain.low), ("<=", own.domain.high))
        rows += [
            Gap("domain", own.symbol, sign, to_sympy(end))
            for sign, end in ends
            if end is not None and curve.gap.name != "domain"
        ]
    for row in steps_of(curve.chain, sorted(names)):
        if row.relation is not None and not row.solved_from:
            rows += _turns(row.relation.value, row.quantity, _values(curve.chain))
    return tuple(dict.fromkeys(rows))


def _turns(node: Any, gives: str, lookup: Any) -> list[Gap]:
    """Where one arm takes over from another, on the way that the values take through a relation."""
    if node.is_Atom:
        return []
    if isinstance(node, sympy.Max | sympy.Min):
        best = active_arm(node, lookup)
        rows = [
            Gap(arm.name if arm.is_Symbol else gives, best, ARM, arm)
            for arm in node.args
            if arm != best
        ]
        return [*rows, *_turns(best, gives, lookup)]
    if isinstance(node, sympy.Piecewise):
        rows = []
        for term, condition in node.args:
            rows += [Gap(gives, part.lhs, ARM, part.rhs) for part in condition.atoms(*_COMPARED)]
            if evaluate(condition, lookup) is True:
                return [*rows, *_turns(term, gives, lookup)]
        return rows
    return [row for part in node.args for row in _turns(part, gives, lookup)]


def _values(chain: Chain) -> Any:
    return lambda name: chain.value(name).value
