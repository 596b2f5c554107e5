"""The graph of quantities and relations, and what can be asked of it.

A quantity leads to every relation that uses it, a relation to the quantity that it gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from formulas.catalogue import Catalogue, catalogue
from formulas.formula import Relation

Node = tuple[str, str]
QUANTITY, RELATION = "quantity", "relation"


@dataclass(frozen=True, slots=True)
class Around:
    """The relations that give one quantity, the highest in rank first, and those that use it."""

    given_by: tuple[str, ...]
    used_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Downstream:
    """What one quantity has a part in: keys of relations, and names of quantities."""

    relations: frozenset[str]
    quantities: frozenset[str]


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the relations that give a quantity, its rank, and when it is the one."""

    relation: str
    rank: int
    reason: str


@dataclass(frozen=True)
class Graph:
    """The catalogue as a directed graph. A name may be an alias; an unknown one is a Problem."""

    catalogue: Catalogue
    directed: Any

    def needs(self, name: str) -> frozenset[str]:
        """Every quantity that some chain of relations computes this one from."""
        import networkx

        return _names(QUANTITY, networkx.ancestors(self.directed, self._node(name)))

    def used_by(self, name: str) -> Downstream:
        """Every relation and quantity that this one has a part in, at any distance."""
        import networkx

        reached = networkx.descendants(self.directed, self._node(name))
        return Downstream(_names(RELATION, reached), _names(QUANTITY, reached))

    def direct(self, name: str) -> Around:
        """The relations that give the quantity, and those that use it."""
        node = self._node(name)
        used_in = tuple(key for _, key in self.directed.successors(node))
        return Around(tuple(variant.relation for variant in self.variants(name)), used_in)

    def variants(self, name: str) -> tuple[Variant, ...]:
        """The relations that give the quantity, highest in rank first, and when each answers."""
        rows = self.catalogue.by_output.get(self._node(name)[1], ())
        return tuple(Variant(row.key, row.rank, when(row)) for row in rows)

    def same_equation(self, key: str) -> tuple[str, ...]:
        """The relations that are one equation, this one among them, in the catalogue's order."""
        relations = self.catalogue.relations
        linked = {key, relations[key].same_as} | {
            k for k, row in relations.items() if row.same_as == key
        }
        return tuple(other for other in relations if other in linked)

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """A shortest chain from one quantity to another: quantity, relation, quantity and so on.

        Empty where the one has no part in the other.
        """
        import networkx

        source, target = self._node(start), self._node(end)
        if not networkx.has_path(self.directed, source, target):
            return ()
        return tuple(name for _, name in networkx.shortest_path(self.directed, source, target))

    def _node(self, name: str) -> Node:
        return QUANTITY, self.catalogue.quantity(name).name


@cache
def graph() -> Graph:
    """The graph of the catalogue, built once."""
    return build(catalogue())


def build(known: Catalogue) -> Graph:
    """The graph of that catalogue; nothing can be added to it."""
    import networkx

    directed = networkx.DiGraph()
    directed.add_nodes_from((QUANTITY, name) for name in known.quantities)
    for key, row in known.relations.items():
        directed.add_edges_from(((QUANTITY, name), (RELATION, key)) for name in row.inputs)
        directed.add_edge((RELATION, key), (QUANTITY, row.gives))
    return Graph(known, networkx.freeze(directed))


def _names(kind: str, nodes: Iterable[Node]) -> frozenset[str]:
    return frozenset(name for node_kind, name in nodes if node_kind == kind)


def when(relation: Relation) -> str:
    """When the relation answers, in words: empty where it does wherever its inputs are known."""
    parts = []
    if relation.is_bound:
        parts.append("a bound, which gives a value only under 'using'")
    elif relation.is_array:
        parts.append("computed from arrays, under 'using'")
    if relation.valid:
        parts.append("valid where " + " and ".join(_as_clause(c.meaning) for c in relation.valid))
    if relation.only_with:
        parts.append(f"where {' and '.join(relation.only_with)} {_are(relation.only_with)} known")
    if relation.any_with:
        parts.append(f"where {' or '.join(relation.any_with)} is known or asked")
    if relation.unless:
        parts.append(f"unless {' or '.join(relation.unless)} is known")
    return "; ".join(parts)


def _are(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"


def _as_clause(sentence: str) -> str:
    """A sentence of a condition as part of a longer one."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")
