"""How much a value moves with each quantity behind it: exact derivatives, relation by relation.

Each relation is differentiated symbolically on the arm on which it stands, and the slopes are
multiplied along the way that the chain took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy

from formulas.expressions import Round
from formulas.formula import VOCABULARY
from solvers.chain import Chain
from solvers.evidence import steps_of
from solvers.exact import evaluate
from solvers.found import Found, Lacking
from solvers.number import (
    Number,
    Undefined,
    alike,
    divide,
    is_number,
    less,
    minus,
    same,
    short,
    to_sympy,
)

Lookup = Callable[[str], Any]
_STEPS = (sympy.ceiling, sympy.floor, Round)
_ZERO, _ONE = Fraction(0), Fraction(1)


class NotSmooth(Exception):
    """The value has no slope here; the text says why."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """The derivatives of one value: in every quantity behind it, each moved by itself.

    What is computed from that quantity follows; what it was computed from stays. `of` has 0 for a
    quantity that is not behind the value. For those of `turning` the value has a corner here, and
    the slope is that on one side.
    """

    table: Mapping[str, Number] = field(default_factory=dict)
    turning: frozenset[str] = frozenset()

    def of(self, name: str) -> Number:
        """The derivative in this quantity."""
        return self.table.get(name, _ZERO)


def slopes_of(chain: Chain, expr: Any) -> Slopes:
    """The derivatives of an expression in quantities at what the chain says of them.

    NotSmooth where one of its parts has no derivative.
    """
    corners: list[Any] = []
    table = _table(chain, expr, corners)
    tables = [_table(chain, corner, []) for corner in dict.fromkeys(corners)]
    return Slopes(table, frozenset(n for rows in tables for n, slope in rows.items() if slope != 0))


def _table(chain: Chain, expr: Any, corners: list[Any]) -> dict[str, Number]:
    lookup = _lookup(chain)
    total: dict[str, Number] = {}
    flow: dict[str, Number] = {}

    def add(name: str, slope: Number, onwards: bool = True) -> None:
        total[name] = plus(total.get(name, _ZERO), slope)
        if onwards:
            flow[name] = plus(flow.get(name, _ZERO), slope)

    for name, slope in partials(expr, lookup, corners).items():
        add(name, slope)
    for row in reversed(steps_of(chain, sorted(s.name for s in expr.free_symbols))):
        outer = flow.get(row.quantity, _ZERO)
        if outer == 0 or row.quantity in chain.unknowns:
            continue
        if row.solved_from:
            for name, slope in _backward_slopes(chain, row).table.items():
                add(name, times(outer, slope), onwards=False)
            continue
        for name, slope in partials(_source(chain, row), lookup, corners).items():
            add(name, times(outer, slope))
    return total


def partials(expr: Any, lookup: Lookup, corners: list[Any]) -> dict[str, Number]:
    """The derivative of the expression in each of its quantities, the others unmoved.

    What is 0 at a corner on which the values stand is added to `corners`.
    """
    if expr is None:
        return {}
    try:
        smooth = active(expr, lookup, corners)
        found = {s.name: evaluate(_slope(smooth, s), lookup) for s in smooth.free_symbols}
    except Undefined as trouble:
        raise NotSmooth(f"no slope: {trouble}") from None
    if not all(is_number(value) for value in found.values()):
        raise NotSmooth("no slope: a part is not known")
    return found


@cache
def _slope(expr: Any, symbol: Any) -> Any:
    return sympy.diff(expr, symbol)


def active(node: Any, lookup: Lookup, corners: list[Any]) -> Any:
    """The expression on the arm on which its values stand.

    Between two of its jumps a ceiling or floor stands still; at a jump, which is where a limit on
    it binds, it moves with what is rounded.
    """
    if node.is_Atom:
        return node
    if isinstance(node, sympy.Max | sympy.Min):
        best = active_arm(node, lookup)
        value = evaluate(best, lookup)
        others = (arm for arm in node.args if arm != best)
        corners += [best - arm for arm in others if same(evaluate(arm, lookup), value)]
        return active(best, lookup, corners)
    if isinstance(node, sympy.Piecewise):
        term = next((t for t, c in node.args if evaluate(c, lookup) is True), None)
        if term is None:
            raise NotSmooth("no case holds")
        return active(term, lookup, corners)
    if isinstance(node, _STEPS):
        inner = evaluate(node.args[0], lookup)
        value = evaluate(node, lookup)
        if not same(inner, value):
            return to_sympy(value)
        if not all(VOCABULARY[s.name].domain.whole for s in node.free_symbols):
            corners.append(node.args[0])
        return active(node.args[0], lookup, corners)
    if isinstance(node, sympy.Abs):
        sign = -1 if less(evaluate(node.args[0], lookup), _ZERO) else 1
        return sign * active(node.args[0], lookup, corners)
    if isinstance(node, sympy.Mod):
        raise NotSmooth("a remainder has no slope")
    parts = [active(part, lookup, corners) for part in node.args]
    if isinstance(node, sympy.Pow) and evaluate(node.base, lookup) == 0:
        # 0 to a positive power stays 0, whatever the power.
        parts[1] = to_sympy(evaluate(node.exp, lookup))
    return node.func(*parts)


def active_arm(node: Any, lookup: Lookup) -> Any:
    """The arm of a min or max that decides; of equal ones the first."""
    upwards = isinstance(node, sympy.Max)
    best, value = None, None
    for arm in node.args:
        found = evaluate(arm, lookup)
        if value is None or (less(value, found) if upwards else less(found, value)):
            best, value = arm, found
    return best


def _source(chain: Chain, row: Found) -> Any:
    """The expression that gave the value; None for what is stated."""
    if row.quantity in chain.solved:
        raise NotSmooth(f"{row.quantity} is found together with others")
    if row.relation is not None:
        if any(_at(chain, name, point) for name, (point, _) in row.relation.removable.items()):
            raise NotSmooth(f"{row.relation.key} is at a removable point")
        return row.relation.value
    if not row.inputs:
        return None
    return _stated_equal(chain, row)


def _stated_equal(chain: Chain, row: Found) -> Any:
    """What a person states the quantity to be equal to."""
    symbol = VOCABULARY[row.quantity].symbol
    for said in chain.scenario.equations:
        if row.quantity in (said.quantity, said.other) and said.text == row.by:
            other = said.other if said.quantity == row.quantity else said.quantity
            return VOCABULARY[other].symbol
    for relate in chain.scenario.relates:
        if relate.text == row.by and symbol in (relate.left, relate.right):
            return relate.right if relate.left == symbol else relate.left
    raise NotSmooth(f"{row.quantity} is found together with others")


def _at(chain: Chain, name: str, point: Any) -> bool:
    value = chain.value(name).value
    return is_number(value) and same(value, Fraction(point))


def _backward_slopes(chain: Chain, row: Found) -> Slopes:
    """What was solved from a target moves so that the target keeps to what is stated of it."""
    name, target = row.quantity, row.solved_from
    scenario = chain.scenario.without(target).with_value(name, row.value)
    forwards = replace(chain, scenario=scenario, solving=chain.solving | {name})
    found = slopes_of(forwards, VOCABULARY[target].symbol)
    return implied(found, name, target)


def implied(found: Slopes, name: str, target: str = "") -> Slopes:
    """The derivatives of `name` where the expression of `found` stays what `target` says it is."""
    own = found.of(name)
    if own == 0:
        raise NotSmooth(f"a change of {name} moves nothing here")
    rows = {
        other: divide(times(slope, Fraction(-1)), own)
        for other, slope in found.table.items()
        if other not in (name, target)
    }
    if target:
        rows[target] = divide(_ONE, own)
    return Slopes(rows, found.turning)


def times(one: Number, other: Number) -> Number:
    """The product."""
    left, right = alike(one, other)
    return short(left * right) if isinstance(left, Fraction) else left * right


def plus(one: Number, other: Number) -> Number:
    """The sum."""
    return minus(one, minus(_ZERO, other))


def _lookup(chain: Chain) -> Lookup:
    def lookup(name: str) -> Any:
        try:
            return chain.value(name).value
        except Lacking:
            raise NotSmooth(f"{name} is not known") from None

    return lookup
