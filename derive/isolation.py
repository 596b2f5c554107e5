"""A limit, taken apart relation by relation until what is asked stands alone.

At every relation the cases, minima and maxima that decide at the answer stand for all of them; that
the others do not decide is part of the check that ends the derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy

from derive.setting import Link, Setting
from formulas.formula import VOCABULARY, Relation
from solvers.branches import Root
from solvers.exact import evaluate
from solvers.inversions import inversion
from solvers.number import Undefined, is_number, same, to_sympy

_FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "="}
_MOST_PEELS = 30


@dataclass(frozen=True, slots=True)
class Peel:
    """One relation solved for one of its inputs: `sign goal` of it became `then` of `name`.

    `slope` is the derivative of the relation in the input, `rises` its sign at the answer;
    `decides` are the arms of a maximum or minimum that were left out, each with its rival.
    """

    link: Link
    name: str
    expr: Any
    slope: Any
    rises: bool
    goal: Any
    sign: str
    value: Any
    then: Any
    turned: str
    decides: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Collected:
    """Where what is asked comes in by several ways: the quantity as `start + slope * asked`."""

    name: str
    start: Any
    slope: Any
    goal: Any
    sign: str
    value: Any
    turned: str


@dataclass(frozen=True, slots=True)
class Isolated:
    """The steps from a limit to a bound on what is asked."""

    name: str
    sign: str
    goal: Any
    peels: tuple[Peel | Collected, ...]
    bound: Any
    turned: str


def isolated(setting: Setting, name: str, sign: str, goal: Any) -> Isolated | None:
    """The steps, or None where they cannot be written out; the bound is verified forwards."""
    try:
        found = _steps(setting, name, sign, goal)
        if found is None or not same(_forwards(setting, name, found.bound), goal):
            return None
    except (Undefined, KeyError, TypeError, ZeroDivisionError, NotImplementedError):
        return None
    return found


def _steps(setting: Setting, name: str, sign: str, goal: Any) -> Isolated | None:
    peels: list[Peel | Collected] = []
    current, now, left = name, sign, goal
    while current != setting.find:
        link = setting.links.get(current)
        if link is None or link.solved_from or len(peels) > _MOST_PEELS:
            return None
        step = _peel(setting, link, now, left) or _collected(setting, current, now, left)
        if step is None:
            return None
        peels.append(step)
        now = step.turned
        if isinstance(step, Collected):
            return Isolated(name, sign, goal, tuple(peels), step.value, now)
        current, left = step.name, step.then
    return Isolated(name, sign, goal, tuple(peels), left, now)


def _peel(setting: Setting, link: Link, sign: str, goal: Any) -> Peel | None:
    expr, decides = _deciding(link.relation.value, setting.values)
    moving = []
    for symbol in sorted(expr.free_symbols, key=lambda s: s.name):
        if _moves(setting, symbol.name):
            slope = sympy.diff(expr, symbol)
            size = evaluate(slope, setting.values.__getitem__)
            if not (is_number(size) and size == 0):
                moving.append((symbol.name, slope, size))
    if len(moving) != 1 or not is_number(moving[0][2]):
        return None
    name, slope, size = moving[0]
    root = root_of(replace(link.relation, expr=expr), name, setting.values)
    if root is None:
        return None
    at = {**setting.values, link.relation.gives: goal}
    then = evaluate(root, at.__getitem__)
    rises = bool(size > 0)
    turned = sign if rises else _FLIPPED[sign]
    return Peel(link, name, expr, slope, rises, goal, sign, root, then, turned, decides)


def _moves(setting: Setting, name: str) -> bool:
    """Whether the quantity changes with what is asked: of a dense model the share of experts that
    is read stays 1, whatever the batch.
    """
    if not setting.depends(name):
        return False
    return VOCABULARY[setting.find].symbol in _composed(setting, name, {}).free_symbols


def root_of(relation: Relation, name: str, values: Mapping[str, Any]) -> Any:
    """The inverse that has the value of the quantity here; None where none is written out."""
    for branch in inversion(relation, name).branches:
        if not isinstance(branch, Root):
            continue
        try:
            if same(evaluate(branch.value, values.__getitem__), values[name]):
                return branch.value
        except (Undefined, KeyError, TypeError):
            continue
    return None


def _deciding(expr: Any, values: Mapping[str, Any]) -> tuple[Any, tuple[tuple[Any, Any], ...]]:
    """The expression with the case, the largest or the smallest that decides in place of all."""
    left_out: list[tuple[Any, Any]] = []

    def lookup(name: str) -> Any:
        return values[name]

    def settle(node: Any) -> Any:
        if isinstance(node, sympy.Piecewise):
            for term, test in node.args:
                if evaluate(test, lookup) is True:
                    return settle(term)
        if isinstance(node, sympy.Max | sympy.Min):
            ranked = sorted(node.args, key=lambda arm: evaluate(arm, lookup))
            best = ranked[-1 if isinstance(node, sympy.Max) else 0]
            left_out.extend((best, arm) for arm in ranked if arm is not best)
            return settle(best)
        if not node.args:
            return node
        return node.func(*map(settle, node.args))

    return settle(expr), tuple(left_out)


def _collected(setting: Setting, name: str, sign: str, goal: Any) -> Collected | None:
    """All that leads from what is asked to the quantity, put into one line."""
    asked = VOCABULARY[setting.find].symbol
    whole = _composed(setting, name, {})
    if not is_line(whole, asked):
        return None
    slope = whole.diff(asked)
    start = sympy.expand(whole - slope * asked)
    numbers = [evaluate(part, setting.values.__getitem__) for part in (start, slope)]
    if numbers[1] == 0:
        return None
    value = (goal - numbers[0]) / numbers[1]
    turned = sign if numbers[1] > 0 else _FLIPPED[sign]
    return Collected(name, numbers[0], numbers[1], goal, sign, value, turned)


def is_line(whole: Any, asked: Any) -> bool:
    """Whether the expression is a straight line in what is asked."""
    try:
        return bool(sympy.Poly(whole, asked).degree() == 1)
    except sympy.PolynomialError:
        return False


def _composed(setting: Setting, name: str, known: dict[str, Any]) -> Any:
    """The quantity as an expression in what is asked, everything else a number."""
    if name == setting.find:
        return VOCABULARY[name].symbol
    if not setting.depends(name):
        return to_sympy(setting.values[name])
    if name not in known:
        expr, _ = _deciding(setting.links[name].relation.value, setting.values)
        parts = {s: _composed(setting, s.name, known) for s in expr.free_symbols}
        known[name] = sympy.expand(expr.xreplace(parts))
    return known[name]


def _forwards(setting: Setting, name: str, value: Any) -> Any:
    """The quantity where what is asked has this value, by the whole relations."""
    known: dict[str, Any] = {setting.find: value}

    def lookup(other: str) -> Any:
        if other not in known:
            link = setting.links.get(other)
            if link is None or not setting.depends(other):
                known[other] = setting.values[other]
            else:
                known[other] = evaluate(link.relation.value, lookup)
        return known[other]

    return lookup(name)
