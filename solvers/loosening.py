"""Limits over a box of uncertain facts: which way each fact moves them, at best and at worst."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy

from formulas.quantity import Quantity
from solvers.enclosure import enclosure, slopes
from solvers.exact import evaluate
from solvers.number import to_sympy
from solvers.uncertain import Box, corners

Stretch = tuple[Any, Any]
Pair = tuple[Any, Any]

_BELOW, _ABOVE = (sympy.Le, sympy.Lt), (sympy.Ge, sympy.Gt)
_GROWING = (sympy.Max, sympy.Min, sympy.ceiling, sympy.floor, sympy.log, sympy.exp)


def together(
    conditions: Iterable[Any], box: Box, asked: Quantity, stretch: Stretch
) -> dict[str, int] | None:
    """The direction in which each fact loosens every limit; None where there is none for one.

    Along it every set of values that meets the limits lies inside the next.
    """
    found = dict.fromkeys(box, 0)
    for condition in conditions:
        for name, sign in loosening(condition, box, asked, stretch).items():
            if sign is None or sign * found[name] < 0:
                return None
            found[name] = found[name] or sign
    return found


def loosening(condition: Any, box: Box, asked: Quantity, stretch: Stretch) -> dict[str, int | None]:
    """For each fact whether more of it loosens the limit (1), tightens it (-1), or neither (0).

    None where that is not proved for every value of what is asked and everywhere in the box.
    """
    free = [name for name in box if any(s.name == name for s in symbols_of(condition))]
    found: dict[str, int | None] = dict.fromkeys(box, 0)
    if not free:
        return found
    atoms = [a for a in condition.atoms(sympy.core.relational.Relational) if symbols_of(a)]
    if condition.has(sympy.Not) or not all(isinstance(a, _BELOW + _ABOVE) for a in atoms):
        return {**found, **dict.fromkeys(free)}
    for atom in atoms:
        moved = slopes(atom.lhs - atom.rhs, {**box, asked.name: stretch})
        for name in free:
            low, high = moved.get(name, (0.0, 0.0))
            way = -1 if isinstance(atom, _BELOW) else 1
            found[name] = _joined(found[name], _sign(low, high), way)
    return found


def _sign(low: float, high: float) -> int | None:
    if low == high == 0:
        return 0
    return 1 if low >= 0 else -1 if high <= 0 else None


def _joined(before: int | None, sign: int | None, way: int) -> int | None:
    """The direction of several parts of one limit, where they have one."""
    if before is None or sign is None or before * sign * way < 0:
        return None
    return before or sign * way


def loosest_and_tightest(condition: Any, box: Box, asked: Quantity, stretch: Stretch) -> Pair:
    """Two conditions in what is asked: one that holds wherever the limit does anywhere in the box,
    and one where it holds everywhere in the box. None for one that is not known.
    """
    if isinstance(condition, bool) or not {s.name for s in condition.free_symbols} & box.keys():
        return condition, condition
    signs = loosening(condition, box, asked, stretch)
    if None not in signs.values():
        ends = corners(box, {name: sign or 0 for name, sign in signs.items()})
        own = {asked.name: asked.symbol}
        loose = evaluate(condition, {**own, **ends.greatest}.__getitem__)
        return loose, evaluate(condition, {**own, **ends.least}.__getitem__)
    if not isinstance(condition, _BELOW + _ABOVE):
        return None, None
    bounds = _Bounds({**box, asked.name: stretch}, box).of(condition.lhs - condition.rhs)
    if bounds is None:
        return None, None
    least, greatest = bounds if isinstance(condition, _BELOW) else bounds[::-1]
    return _condition(condition, least), _condition(condition, greatest)


def _condition(condition: Any, left: Any) -> Any:
    """The condition with another left side, against 0."""
    names = {symbol.name: symbol for symbol in left.free_symbols}
    zero = sympy.Integer(0)
    return evaluate(condition.func(left, zero, evaluate=False), names.__getitem__)


class _Bounds:
    """Below and above what an expression lies, as expressions in what is asked alone.

    Every place where an uncertain fact stands is put at its own best end, whatever the other
    places say: what comes out is wider than the truth, and is the truth for a box of one point.
    """

    def __init__(self, sides: Mapping[str, Any], box: Box) -> None:
        self.sides, self.box = sides, box

    def of(self, node: Any) -> Pair | None:
        """The two bounds; None where the sign of a part is not known."""
        if not {s.name for s in node.free_symbols} & self.box.keys():
            return node, node
        if node.is_Symbol:
            low, high = self.box[node.name]
            return to_sympy(low), to_sympy(high)
        parts = [self.of(part) for part in node.args] if not node.is_Piecewise else []
        if any(part is None for part in parts):
            return None
        return self._joined(node, [part for part in parts if part is not None])

    def _joined(self, node: Any, parts: list[Pair]) -> Pair | None:
        lows, highs = [low for low, _ in parts], [high for _, high in parts]
        if isinstance(node, (sympy.Add, *_GROWING)):
            return node.func(*lows), node.func(*highs)
        if isinstance(node, sympy.Mul):
            return self._product(node, parts)
        if isinstance(node, sympy.Pow):
            return self._power(node, parts[0])
        return self._cases(node) if node.is_Piecewise else None

    def _product(self, node: Any, parts: list[Pair]) -> Pair | None:
        low, high = parts[0]
        before = node.args[0]
        for factor, (least, greatest) in zip(node.args[1:], parts[1:], strict=True):
            one, other = self._sign(before), self._sign(factor)
            if one is None or other is None:
                return None
            # Of two that are not negative both least ones give the least; a sign turns its partner.
            below, above = (low, high) if other > 0 else (high, low)
            under, over = (least, greatest) if one > 0 else (greatest, least)
            low, high = below * under, above * over
            before = before * factor
        return low, high

    def _power(self, node: Any, base: Pair) -> Pair | None:
        if not node.exp.is_number or self._sign(node.base) != 1:
            return None
        low, high = base[0] ** node.exp, base[1] ** node.exp
        return (low, high) if node.exp > 0 else (high, low)

    def _cases(self, node: Any) -> Pair | None:
        if any({s.name for s in c.free_symbols} & self.box.keys() for _, c in node.args):
            return None
        terms = [(self.of(term), condition) for term, condition in node.args]
        if any(pair is None for pair, _ in terms):
            return None
        sides = [[(pair[i], c) for pair, c in terms if pair is not None] for i in (0, 1)]
        return sympy.Piecewise(*sides[0]), sympy.Piecewise(*sides[1])

    def _sign(self, expr: Any) -> int | None:
        low, high = enclosure(expr, self.sides)
        return 1 if low >= 0 else -1 if high <= 0 else None


def symbols_of(condition: Any) -> set[Any]:
    """The symbols of a condition; none of a truth value."""
    return set(getattr(condition, "free_symbols", ()))
