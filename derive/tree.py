"""Where a value comes from, as a tree: its formula, what goes in, and who said it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from derive.as_json import plain
from derive.as_plain import relation_plain
from derive.document import Block, Line
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.formula import Relation
from formulas.scenario import ASKED, YOU, Scenario
from solvers.answer import Evidence, Step

WIDTH = 100
ASSUMED = "assumed"
# The default of TP is the largest that fits, which is no formula.
_NO_FORMULA = frozenset(("tp",))


@dataclass(frozen=True, slots=True)
class Node:
    """One quantity: its value and where that is from. `formula` gives it from `parts`.

    `solved_from` is the quantity whose formula was solved for this one. A result that stands in
    the tree already has `above` and no parts.
    """

    name: str
    value: Any
    origin: str = ""
    relation: str = ""
    formula: str = ""
    solved_from: str = ""
    parts: tuple[Node, ...] = ()
    above: bool = False

    @property
    def is_result(self) -> bool:
        """True where a formula stands behind the value."""
        return bool(self.formula)


@dataclass
class Sources:
    """What is known of every quantity behind one answer; `seen` grows while trees are made."""

    steps: Mapping[str, Step]
    values: Mapping[str, Any]
    scenario: Scenario
    asked: frozenset[str] = frozenset()
    seen: set[str] = field(default_factory=set)

    def node(self, name: str, within: tuple[str, ...] = ()) -> Node:
        """The tree of the quantity; nothing twice, and nothing inside itself."""
        value = self.values.get(name)
        step = self.steps.get(name)
        relation = self._relation(name, step)
        if relation is None or name in within:
            return Node(name, value, self._origin(name))
        key, formula = relation.key, _right_side(relation)
        assumed = relation.kind == "assumption" or name in self.scenario.given
        origin = self._origin(name) if assumed else ""
        if name in self.seen:
            return Node(name, value, origin, key, formula, above=True)
        self.seen.add(name)
        solved_from = step.because if step else ""
        inputs = [n for n in relation.inputs if step is None or n in step.inputs]
        names = [n for n in dict.fromkeys((solved_from, *inputs)) if n and n != name]
        parts = tuple(self.node(n, (*within, name)) for n in names)
        return Node(name, value, origin, key, formula, solved_from, parts)

    def _relation(self, name: str, step: Step | None) -> Relation | None:
        if step is not None:
            return catalogue().relations.get(step.relation)
        default = catalogue().defaults.get(name)
        if default is None or name in {*self.scenario.given, *self.asked, *_NO_FORMULA}:
            return None
        return default if default.inputs and name in self.values else None

    def _origin(self, name: str) -> str:
        if name in self.asked:
            return ASKED
        given = self.scenario.given.get(name)
        if given is not None:
            return given.origin
        return ASSUMED if name in catalogue().defaults else ASKED


def sources(evidence: Evidence, scenario: Scenario, found: Mapping[str, Any]) -> Sources:
    """What the evidence says of every quantity; `found` are the values of what was asked."""
    values: dict[str, Any] = {n: given.value for n, given in scenario.given.items()}
    for step in evidence.steps:
        values |= step.inputs
    values |= {**evidence.assumed, **evidence.outcomes}
    values |= {step.solved_for: step.value for step in evidence.steps}
    steps = {step.solved_for: step for step in evidence.steps}
    return Sources(steps, {**values, **found}, scenario, frozenset(found))


def _right_side(relation: Relation) -> str:
    """The formula behind its sign, as it is written: `= a + b`; a truth is the whole comparison."""
    text = relation_plain(relation, letters=False)
    short = relation.gives.rpartition(".")[2]
    return text[len(short) + 1 :] if text.startswith(f"{short} ") else f"= {text}"


# -- how it is shown


def amount(name: str, value: Any) -> str:
    """The value of a quantity for people."""
    quantity = catalogue().quantities.get(name)
    if quantity is None or value is None or plain(value) is None:
        return "?" if plain(value) is None else str(value)
    return display(value, quantity.unit, quantity.label)


def tree_blocks(nodes: Iterable[Node], depth: int = 0) -> list[Block]:
    """The trees as indented lines: a value, its formula, what is stated in it, its parts."""
    return [Line(text) for node in nodes for text in _lines(node, depth)]


def _lines(node: Node, depth: int) -> Iterator[str]:
    indent = "  " * depth
    tail = "    (above)" if node.above else f"    {node.origin}" if node.origin else ""
    yield f"{indent}{node.name} = {amount(node.name, node.value)}{tail}"
    if node.above or not node.is_result:
        return
    how = f"from {node.solved_from} {node.formula}" if node.solved_from else node.formula
    yield from _wrapped(f"{how}    [{node.relation}]", f"{indent}  ", f"{indent}    ")
    for origin, texts in _leaves(node).items():
        yield from _wrapped(", ".join(texts), f"{indent}  {origin}: ", f"{indent}    ")
    for part in node.parts:
        if part.is_result:
            yield from _lines(part, depth + 1)


def _leaves(node: Node) -> dict[str, list[str]]:
    """The parts without a formula, by who said them."""
    found: dict[str, list[str]] = {}
    for part in node.parts:
        if not part.is_result:
            shown = f"{part.name} {amount(part.name, part.value)}"
            found.setdefault(part.origin, []).append(shown.replace(" ", "\u00a0"))
    order = {YOU: 0, ASKED: 1, ASSUMED: 3}
    return dict(sorted(found.items(), key=lambda row: (order.get(row[0], 2), row[0])))


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]


def tree_data(node: Node) -> dict[str, Any]:
    """The tree as nested objects for JSON, values in own units."""
    quantity = catalogue().quantities.get(node.name)
    found = {
        "name": node.name,
        "value": plain(node.value),
        "unit": quantity.unit.text if quantity else None,
        "origin": node.origin or None,
        "relation": node.relation or None,
        "formula": node.formula or None,
        "solved_from": node.solved_from or None,
        "above": node.above or None,
        "parts": [tree_data(part) for part in node.parts] or None,
    }
    return {key: part for key, part in found.items() if part is not None or key == "value"}
