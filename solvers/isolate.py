"""One relation, one unknown: the branches on which it stands alone, or the reason why it does not.

The ladder: invert one occurrence after another down the tree; then `together` and a polynomial of
degree one or two; min, max, ceiling, floor and round give ranges; numeric equations go on to
`solvers.roots`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sympy

from solvers.branches import Branch, Refused, Root, Span, Stuck
from solvers.inverses import CASES, INVERSES, arms_of


def isolate(expr: Any, target: Any, unknown: Any) -> tuple[Branch, ...] | Refused:
    """The branches of `expr = target` solved for the unknown; none where no value can satisfy it.

    A branch that the signs of the symbols rule out is dropped.
    """
    return isolate_within(expr, Root(target), unknown)


def isolate_within(expr: Any, goal: Branch, unknown: Any) -> tuple[Branch, ...] | Refused:
    """The same for an expression that has to equal a value or lie in a span."""
    if unknown not in expr.free_symbols:
        return Refused(f"{unknown} does not stand in it")
    try:
        branches = _descend(expr, goal, unknown)
    except Stuck as stuck:
        return Refused(str(stuck))
    kept = [b for b in branches if b.condition is not sympy.false and not _impossible(b, unknown)]
    return tuple(dict.fromkeys(kept))


def bound_branch(relation: str, value: Any) -> Span:
    """What `>= value`, `> value`, `<= value` or `< value` leaves."""
    if relation.startswith(">"):
        return Span(low=value, low_open=relation == ">")
    return Span(high=value, high_open=relation == "<")


def _impossible(branch: Branch, unknown: Any) -> bool:
    if isinstance(branch, Span):
        return False
    value = branch.value
    if unknown.is_positive:
        return bool(value.is_nonpositive)
    return bool(unknown.is_nonnegative and value.is_negative)


def _descend(node: Any, goal: Branch, unknown: Any) -> list[Branch]:
    if node == unknown:
        return [goal]
    holders = [a for a in node.args if unknown in a.free_symbols]
    rule = INVERSES.get(type(node))
    if rule is None:
        raise Stuck(f"{type(node).__name__} has no inverse")
    if len(holders) == 1 or type(node) in CASES:
        found: list[Branch] = []
        for child, next_goal in rule(node, goal, unknown):
            if next_goal.condition is sympy.false:
                continue
            if unknown in child.free_symbols:
                found += _descend(child, next_goal, unknown)
            elif next_goal.condition is not sympy.false:
                found.append(Span(condition=next_goal.condition))
        return found
    return _several(node, goal, unknown)


def _several(node: Any, goal: Branch, unknown: Any) -> list[Branch]:
    """The unknown stands in several places: one arm at a time, then a polynomial."""
    cases = next((a for a in _walk(node) if type(a) in CASES and unknown in a.free_symbols), None)
    if cases is not None:
        found: list[Branch] = []
        for arm, condition in arms_of(cases):
            for branch in _descend(node.xreplace({cases: arm}), goal, unknown):
                if isinstance(branch, Span):
                    raise Stuck(f"{unknown} stands in several places around {type(cases).__name__}")
                holds = condition.subs(unknown, branch.value)
                found.append(replace(branch, condition=sympy.And(branch.condition, holds)))
        return found
    if isinstance(goal, Span):
        raise Stuck(f"{unknown} stands in several places under a rounding or a bound")
    return _polynomial(node, goal, unknown)


def _walk(node: Any) -> Iterable[Any]:
    yield from sympy.postorder_traversal(node)


def _polynomial(node: Any, goal: Root, unknown: Any) -> list[Branch]:
    numerator, denominator = sympy.fraction(sympy.together(node - goal.value))
    numerator = sympy.expand(numerator)
    if not numerator.is_polynomial(unknown):
        raise Stuck(f"{unknown} stands in several places, and not as a polynomial")
    poly = sympy.Poly(numerator, unknown)
    nonzero = sympy.true if denominator.is_nonzero else None
    coefficients = poly.all_coeffs()
    if poly.degree() == 1:
        roots = [-coefficients[1] / coefficients[0]]
    elif poly.degree() == 2:
        roots = _quadratic(*coefficients)
    elif poly.degree() <= 0:
        return []
    else:
        raise Stuck(f"{unknown} stands in a polynomial of degree {poly.degree()}")
    found: list[Branch] = []
    for root in roots:
        value = sympy.factor_terms(sympy.together(root)) if root.is_Rational is not True else root
        condition = goal.condition
        if nonzero is None:
            remaining = (
                sympy.simplify(denominator.subs(unknown, value)) if value.is_number else None
            )
            if remaining == 0:
                continue
        found.append(Root(value, condition))
    return found


def _quadratic(a: Any, b: Any, c: Any) -> list[Any]:
    if c == 0:
        return [-b / a, sympy.Integer(0)]
    discriminant = sympy.factor_terms(b**2 - 4 * a * c)
    if discriminant.is_negative:
        return []
    root = sympy.sqrt(discriminant)
    return list(dict.fromkeys([(-b + root) / (2 * a), (-b - root) / (2 * a)]))
