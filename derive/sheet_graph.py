"""The graph of the sheet's quantities as an SVG: what is computed from what, from left to right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from formulas.catalogue import catalogue
from formulas.formula import VOCABULARY

_ROW, _HEIGHT, _COLUMN_GAP, _LETTER, _MARGIN = 22, 17, 70, 6.1, 8
_SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Node:
    """A quantity of the picture, at its place."""

    name: str
    left: float
    top: float
    width: float


def needs() -> Mapping[str, tuple[str, ...]]:
    """By quantity, those that a formula of the sheet computes it from; none for a fact."""
    found: dict[str, dict[str, None]] = {}
    for rows in catalogue().formulas.values():
        for relation in rows:
            if relation.is_array:
                continue
            own = found.setdefault(relation.gives, {})
            own.update(dict.fromkeys(relation.inputs))
            for name in relation.inputs:
                found.setdefault(name, {})
    return {name: tuple(inputs) for name, inputs in found.items()}


def formulas_of(name: str) -> tuple[str, ...]:
    """The formulas of the sheet that give the quantity, or else those that use it."""
    known = catalogue()
    rows = [r.id for r in known.by_output.get(name, ()) if r.id in known.formulas]
    rows = rows or [r.id for r in known.by_input.get(name, ()) if r.id in known.formulas]
    return tuple(dict.fromkeys(rows))


def layers(edges: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """The quantities in columns, each behind all that it needs; a circle is cut where it closes."""
    depth: dict[str, int] = {}

    def visit(name: str, above: frozenset[str]) -> int:
        if name not in depth:
            below = [n for n in edges[name] if n not in above and n != name]
            depth[name] = 1 + max((visit(n, above | {name}) for n in below), default=-1)
        return depth[name]

    for name in edges:
        visit(name, frozenset())
    columns: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    users: dict[str, list[str]] = {}
    for name, inputs in edges.items():
        for other in inputs:
            users.setdefault(other, []).append(name)
    for name, own in depth.items():
        place = own
        # A fact stands just before the first result that needs it.
        if place == 0 and users.get(name):
            place = max(0, min(depth[user] for user in users[name]) - 1)
        columns[place].append(name)
    for _ in range(_SWEEPS):
        _order(columns, edges, users)
    return columns


def _order(
    columns: list[list[str]],
    edges: Mapping[str, tuple[str, ...]],
    users: Mapping[str, list[str]],
) -> None:
    """Every column by the middle of its neighbours."""
    place = {n: i / max(1, len(column)) for column in columns for i, n in enumerate(column)}
    for column in columns:
        near = {n: [place[m] for m in (*edges[n], *users.get(n, ()))] for n in column}
        middle = {n: sum(rows) / len(rows) if rows else place[n] for n, rows in near.items()}
        column.sort(key=middle.__getitem__)
        place.update({n: i / max(1, len(column)) for i, n in enumerate(column)})


def placed(columns: list[list[str]]) -> dict[str, Node]:
    """Every quantity with its place."""
    tallest = max(map(len, columns))
    left = float(_MARGIN)
    found: dict[str, Node] = {}
    for column in columns:
        widest = max((len(VOCABULARY[n].short_name) for n in column), default=0) * _LETTER + 12
        step = tallest * _ROW / max(1, len(column))
        for index, name in enumerate(column):
            own = len(VOCABULARY[name].short_name) * _LETTER + 12
            found[name] = Node(name, left, _MARGIN + step * (index + 0.5) - _HEIGHT / 2, own)
        left += widest + _COLUMN_GAP
    return found


def graph_svg() -> str:
    """The picture; every quantity is a button with its name in `data-name`."""
    edges = needs()
    nodes = placed(layers(edges))
    width = max(n.left + n.width for n in nodes.values()) + _MARGIN
    height = max(n.top for n in nodes.values()) + _HEIGHT + _MARGIN
    lines = "".join(_edges(edges, nodes))
    boxes = "".join(map(_box, nodes.values()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="graph" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="group" '
        f'aria-label="What each quantity is computed from">{lines}{boxes}</svg>'
    )


def _edges(edges: Mapping[str, tuple[str, ...]], nodes: Mapping[str, Node]) -> Iterable[str]:
    for name, inputs in edges.items():
        end = nodes[name]
        for other in inputs:
            start = nodes[other]
            x, y = start.left + start.width, start.top + _HEIGHT / 2
            u, v = end.left, end.top + _HEIGHT / 2
            bend = max(20.0, abs(u - x) / 2)
            yield (
                f'<path data-from="{escape(other)}" data-to="{escape(name)}" d="M{x:.0f} {y:.0f} '
                f'C{x + bend:.0f} {y:.0f} {u - bend:.0f} {v:.0f} {u:.0f} {v:.0f}"/>'
            )


def _box(node: Node) -> str:
    text = escape(VOCABULARY[node.name].short_name)
    return (
        f'<g class="node" tabindex="0" role="button" data-name="{escape(node.name)}">'
        f'<rect x="{node.left:.0f}" y="{node.top:.0f}" width="{node.width:.0f}" '
        f'height="{_HEIGHT}" rx="3"/>'
        f'<text x="{node.left + 6:.0f}" y="{node.top + 12.5:.1f}">{text}</text></g>'
    )
