"""Enclosures: between what an expression lies, and how it moves, over a box of its quantities.

Floats rounded outwards, with infinities; nothing that the expression takes inside the box lies
outside its enclosure. The rules for each kind of node are in `solvers.tape_rules`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from solvers.number import Number, rounded
from solvers.tape_numbers import EVERYTHING, Pair
from solvers.tape_rules import SAME, junction, node_rule

Box = Mapping[str, Any]


def enclosure(expr: Any, box: Box) -> Pair:
    """The least and the greatest that the expression can be over the box, rounded outwards.

    A side of the box is a pair of numbers (the ends may be infinite) or one number.

    Example:
        >>> from formulas.quantity import stand_in
        >>> x = stand_in(positive=True)
        >>> enclosure(x**2 + 1, {x.name: (1, 3)})
        (2.0, 10.0)
    """
    tape = Tape()
    root = tape.add(expr)
    found: Pair = tape.values(box, [root])[root]
    return found


def slopes(expr: Any, box: Box) -> dict[str, Pair]:
    """Between what the slope of the expression in each quantity of the box lies, over the box.

    A slope of at least 0 proves that the expression never falls as that quantity grows, steps
    included; where it may jump either way the slope is without bounds.
    """
    tape = Tape()
    root = tape.add(expr)
    return tape.slopes(root, tape.values(box, [root]))


def truth(condition: Any, box: Box) -> bool | None:
    """Whether the condition holds everywhere in the box, nowhere in it, or cannot be said.

    A limit met within 1e-9 is met.
    """
    tape = Tape()
    root = tape.add(condition)
    found: bool | None = tape.values(box, [root])[root]
    return found


def pair(value: Any) -> Pair:
    """Two floats that enclose the number, or both of a pair of numbers."""
    if isinstance(value, tuple):
        return _ends(value[0])[0], _ends(value[1])[1]
    return _ends(value)


def _ends(value: Number | float) -> Pair:
    if isinstance(value, float | int) and abs(value) < 2**53:
        return float(value), float(value)
    near = float(value)
    if math.isinf(near) or isinstance(value, float):
        return near, near
    same = near == value if isinstance(value, Fraction | int) else rounded(value) == near
    return (
        (near, near) if same else (math.nextafter(near, -math.inf), math.nextafter(near, math.inf))
    )


@dataclass
class Tape:
    """Expressions as a list of nodes, each after its parts; equal ones are one node.

    `names` are the nodes of the quantities that are neither constant nor defined on the tape.
    """

    rules: list[Any] = field(default_factory=list)
    parts: list[tuple[int, ...]] = field(default_factory=list)
    fixed: dict[int, Any] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    _seen: dict[Any, int] = field(default_factory=dict)
    _defined: dict[str, int] = field(default_factory=dict)

    def define(self, name: str, expr: Any) -> int:
        """The name stands for this expression from here on."""
        self._defined[name] = node = self.add(expr)
        return node

    def stand_for(self, name: str, expr: Any) -> None:
        """The name stands for this expression, or is a quantity of its own where it is not run."""
        self._defined[name] = self.names[name] = self._node(SAME, [self.add(expr)])

    def add(self, expr: Any) -> int:
        """The node of an expression or condition."""
        if isinstance(expr, bool):
            return self._constant(expr)
        if expr in self._seen:
            return self._seen[expr]
        if expr.is_Symbol:
            return self._symbol(expr.name)
        kind: type = type(expr)
        rule = node_rule(kind)
        if rule is None:
            found = self._constant(_number(expr))
        elif rule.width is None:
            found = self._node(rule, [self.add(part) for part in _flat(expr)])
        else:
            found = self._joined(rule, [self.add(part) for part in expr.args])
        self._seen[expr] = found
        return found

    def _symbol(self, name: str) -> int:
        if name in self._defined:
            return self._defined[name]
        if name not in self.names:
            self.names[name] = self._node(None, [])
        return self.names[name]

    def _constant(self, value: Any) -> int:
        node = self._node(None, [])
        self.fixed[node] = value if isinstance(value, bool) else pair(value)
        return node

    def _joined(self, rule: Any, nodes: list[int]) -> int:
        """Sums, products and the like, two parts at a time."""
        first, *others = nodes
        if rule.width == 1:
            return self._node(rule, [first])
        for other in others:
            first = self._node(rule, [first, other])
        return first

    def _node(self, rule: Any, parts: list[int]) -> int:
        self.rules.append(rule)
        self.parts.append(tuple(parts))
        return len(self.rules) - 1

    # -- values

    def below(self, roots: Iterable[int]) -> list[int]:
        """The nodes that these rest on, themselves among them, parts first."""
        found: set[int] = set()
        todo = list(roots)
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo += self.parts[node]
        return sorted(found)

    def moving(self, nodes: Sequence[int], free: Iterable[str]) -> list[int]:
        """Those of the nodes that move with a quantity of `free`."""
        moved = {self.names[name] for name in free if name in self.names}
        for node in nodes:
            if any(part in moved for part in self.parts[node]):
                moved.add(node)
        return [node for node in nodes if node in moved]

    def values(self, box: Box, roots: Iterable[int]) -> list[Any]:
        """The enclosure of every node that the roots rest on; what is not in the box is open."""
        found: list[Any] = [None] * len(self.rules)
        nodes = self.below(roots)
        sides = {node: pair(box[name]) for name, node in self.names.items() if name in box}
        for node in nodes:
            if self.rules[node] is None:
                found[node] = self.fixed.get(node, sides.get(node, EVERYTHING))
        self.run(found, nodes)
        return found

    def run(self, found: list[Any], nodes: Iterable[int]) -> None:
        """Compute these nodes, in order, from what is found already."""
        rules, all_parts = self.rules, self.parts
        for node in nodes:
            rule, parts = rules[node], all_parts[node]
            if rule is None:
                continue
            if len(parts) == 2:
                found[node] = rule.value(found[parts[0]], found[parts[1]])
            else:
                found[node] = rule.value(*[found[part] for part in parts])

    # -- slopes

    def slopes(
        self,
        root: int,
        found: list[Any],
        nodes: Sequence[int] | None = None,
        names: Iterable[str] | None = None,
    ) -> dict[str, Pair]:
        """Between what the slope of a node in each quantity lies; `nodes` are those to go through.

        Of a comparison it is the slope of its left side less its right.
        """
        grown: dict[int, Pair] = {root: (1.0, 1.0)}
        for node in reversed(self.below([root]) if nodes is None else nodes):
            outer = grown.get(node)
            rule = self.rules[node]
            if outer is None or rule is None:
                continue
            parts = self.parts[node]
            moves = rule.moves(found[node], *[found[part] for part in parts])
            for part, move in zip(parts, moves, strict=True):
                if move is not None:
                    grown[part] = junction(grown.get(part), outer, move)
        wanted = self.names if names is None else names
        return {name: grown.get(self.names[name], (0.0, 0.0)) for name in wanted}


def _flat(expr: Any) -> list[Any]:
    """The parts of a node; of cases, terms and conditions by turns."""
    if expr.is_Piecewise:
        return [part for case in expr.args for part in case]
    return list(expr.args)


def _number(expr: Any) -> Any:
    from solvers.exact import evaluate

    return evaluate(expr, _no_symbol)


def _no_symbol(name: str) -> Any:
    raise KeyError(name)
