"""Which equations must be solved together, and in which order: matching and strong components.

Only names are looked at here: an equation is the set of the unknowns that stand in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

E = TypeVar("E", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Block:
    """Equations that determine as many unknowns, none of which can be had without the others."""

    equations: tuple[Hashable, ...]
    unknowns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """The square blocks, each after those it rests on; what is not determined; what is too much.

    `over` are equations for which no unknown is left: they can only agree or contradict.
    """

    blocks: tuple[Block, ...]
    under: frozenset[str]
    over: frozenset[Hashable]


def structure_of(incidence: Mapping[E, frozenset[str]]) -> Structure:
    """The block triangular form of a system.

    A largest matching gives each equation an unknown. Unknowns that an alternating path reaches
    from one without an equation are not determined, equations that one reaches from an equation
    without an unknown determine too much; both parts of the second kind still have blocks.
    """
    import networkx

    graph = networkx.Graph()
    equations = {("e", equation): names for equation, names in incidence.items()}
    graph.add_nodes_from(equations)
    for node, names in equations.items():
        graph.add_edges_from((node, ("u", name)) for name in sorted(names))
    partner = networkx.bipartite.hopcroft_karp_matching(graph, top_nodes=list(equations))
    under = _loose(graph, partner)
    follows = networkx.DiGraph()
    for node in equations:
        mine = partner.get(node)
        if mine is None or mine in under:
            continue
        follows.add_node(node)
        for unknown in graph[node]:
            if unknown != mine and partner.get(unknown) in equations:
                follows.add_edge(partner[unknown], node)
    condensed = networkx.condensation(follows)
    order = networkx.lexicographical_topological_sort(
        condensed, key=lambda c: min(map(str, condensed.nodes[c]["members"]))
    )
    blocks = []
    for component in order:
        members = sorted(condensed.nodes[component]["members"], key=str)
        unknowns = tuple(partner[node][1] for node in members)
        blocks.append(Block(tuple(node[1] for node in members), unknowns))
    unmatched = frozenset(node[1] for node in equations if node not in partner)
    return Structure(tuple(blocks), frozenset(name for _, name in under), unmatched)


def _loose(graph: Any, partner: Mapping[Any, Any]) -> set[tuple[str, str]]:
    """The unknowns that an alternating path joins to one that no equation is left for."""
    todo = [node for node in graph if node[0] == "u" and node not in partner]
    reached = set(todo)
    while todo:
        for equation in graph[todo.pop()]:
            other = partner.get(equation)
            if other is not None and other not in reached:
                reached.add(other)
                todo.append(other)
    return reached
