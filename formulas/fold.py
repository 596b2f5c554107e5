"""The one tree walk: apply a table of rules, class to function, to an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class NoRule(Exception):
    """A node whose class has no rule in the table; nothing is ever passed through unread."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A rule that gets the node unfolded, and the fold itself for the parts it wants."""

    rule: Callable[[Any, Callable[[Any], Any]], Any]


Rules = Mapping[type, Any]


def rule_for(node_class: type, rules: Rules) -> Any:
    """The rule of the class or of its nearest ancestor, None where there is none."""
    return next((rules[c] for c in node_class.__mro__ if c in rules), None)


class Table(dict[type, Any]):
    """Rules that are used again and again: what serves a class is looked for once."""

    def __missing__(self, node_class: type) -> Any:
        rule = rule_for(node_class, self)
        if rule is not None:
            self[node_class] = rule
        return rule


def fold(expr: Any, rules: Rules, value: Callable[[str], Any] | None = None) -> Any:
    """The value of `expr` when each node's rule is applied to its already folded children.

    A rule is called with the node and the folded arguments; equal subexpressions are folded once.
    With `value`, a symbol is what it gives for the symbol's name.
    """
    seen: dict[Any, Any] = {}
    table = rules if isinstance(rules, Table) else Table(rules)

    def walk(node: Any) -> Any:
        if value is not None and node.is_Symbol:
            return value(node.name)
        if node in seen:
            return seen[node]
        rule = table[type(node)]
        if rule is None:
            raise NoRule(f"no rule for {type(node).__name__} in {node}")
        if isinstance(rule, Leaf):
            result = rule.rule(node, walk)
        else:
            result = rule(node, *map(walk, node.args))
        seen[node] = result
        return result

    return walk(expr)
