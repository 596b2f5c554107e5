"""A formula that is too wide for its line, on several lines.

It is broken where it holds together least: at a relation, then at a sum, then at a product; inside
brackets only where nothing outside of them will do. What is too wide inside a fraction, a root or
tall brackets is broken there, one line below the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from derive.tex_marks import Kind
from derive.tex_tree import (
    Environment,
    Fenced,
    Fraction,
    Mark,
    Node,
    Radical,
    Row,
    Script,
    latex_of,
    parse,
)
from derive.tex_width import width

_DEEPER = 3
_RANKS = {Kind.RELATION: 0, Kind.BINARY: 1}
_PRODUCTS = ("⋅", "×", "/")
_ENDS = (Kind.LETTER, Kind.DIGIT, Kind.WORD, Kind.CLOSE, Kind.PLAIN)
_LEAST, _MOST_TRIES = 8.0, 6


def lines_of(latex: str, room: float) -> tuple[str, ...]:
    """The formula on as many lines as it needs, each at most `room` em wide where it can be."""
    tree = parse(latex)
    if width(tree) <= room:
        return (latex,)
    return tuple(latex_of(line) for line in _broken(tree, room))


def fits(latex: str, room: float) -> bool:
    """True where the formula needs no breaking."""
    return width(parse(latex)) <= room


def _broken(row: Row, room: float) -> tuple[Row, ...]:
    if width(row) <= room:
        return (row,)
    places = list(_places(row))
    for most in sorted({rank for _, rank in places}):
        lines = _filled(row, [place for place, rank in places if rank <= most], room)
        if all(width(line) <= room for line in lines):
            return lines
    lines = _filled(row, [place for place, _ in places], room)
    return tuple(_narrowed(line, room) for line in lines)


def _places(row: Row) -> Iterator[tuple[int, int]]:
    """Where a line may end, before the node of that place, with how unwelcome it is there."""
    depth = 0
    for place, node in enumerate(row.nodes):
        before = row.nodes[place - 1] if place else None
        if not isinstance(node, Mark):
            continue
        depth -= node.kind is Kind.CLOSE
        unwelcome = depth * _DEEPER
        rank = _RANKS.get(node.kind)
        if rank is not None and _ends_a_side(before):
            yield place, unwelcome + rank + (node.text in _PRODUCTS)
        if node.kind is Kind.SPACE and place + 1 < len(row.nodes) and before is not None:
            after = row.nodes[place + 1]
            if isinstance(before, Mark) and before.kind is Kind.COMMA:
                yield place + 1, unwelcome + 1
            elif node.text == "1":
                yield place + 1, unwelcome
            elif not (_is_digit(before) and _belongs_to_a_number(after)):
                yield place + 1, unwelcome + 2
        depth += node.kind is Kind.OPEN


def _ends_a_side(node: Node | None) -> bool:
    """False before a sign that belongs to what follows it."""
    if node is None:
        return False
    return not isinstance(node, Mark) or node.kind in _ENDS


def _is_digit(node: Node) -> bool:
    return isinstance(node, Mark) and node.kind is Kind.DIGIT


def _belongs_to_a_number(node: Node) -> bool:
    return _is_digit(node) or (
        isinstance(node, Mark) and node.latex.startswith((r"\mathrm", r"\mu"))
    )


def _filled(row: Row, places: list[int], room: float) -> tuple[Row, ...]:
    """As much on every line as goes there."""
    ends = sorted({place for place in places if 0 < place < len(row.nodes)})
    edges = [0, *ends, len(row.nodes)]
    lines: list[tuple[Node, ...]] = []
    for start, end in pairwise(edges):
        piece = row.nodes[start:end]
        if lines and width(Row((*lines[-1], *piece))) <= room - (2.0 if len(lines) > 1 else 0.0):
            lines[-1] = (*lines[-1], *piece)
        else:
            lines.append(piece)
    return tuple(Row(_trimmed(line)) for line in lines)


def _trimmed(line: tuple[Node, ...]) -> tuple[Node, ...]:
    """Without the spaces at its ends."""
    while line and _is_space(line[-1]):
        line = line[:-1]
    while line and _is_space(line[0]):
        line = line[1:]
    return line


def _is_space(node: Node) -> bool:
    return isinstance(node, Mark) and node.kind is Kind.SPACE


def _narrowed(line: Row, room: float) -> Row:
    """The line with its widest parts broken inside, as far as that helps."""
    for _ in range(_MOST_TRIES):
        if width(line) <= room:
            break
        widest = max(line.nodes, key=width)
        inner = max(_LEAST, room - (width(line) - width(widest)))
        changed = _inside(widest, inner)
        if changed == widest:
            break
        line = Row(tuple(changed if node is widest else node for node in line.nodes))
    return line


def _inside(node: Node, room: float) -> Node:
    match node:
        case Fraction(_, top, bottom):
            return Fraction(r"\dfrac", _stacked(top, room), _stacked(bottom, room))
        case Radical(degree, inside):
            return Radical(degree, _stacked(inside, room - 1))
        case Fenced(left, inside, right):
            return Fenced(left, _stacked(inside, room - 1.5), right)
        case Script(base, below, above):
            return Script(_inside(base, room), below, above)
        case Row():
            return _stacked(node, room)
        case Environment("cases", rows):
            return replace(node, rows=tuple(_case(row, room) for row in rows))
        case _:
            return node


def _case(row: tuple[Row, ...], room: float) -> tuple[Row, ...]:
    rest = sum(width(cell) for cell in row[1:]) + 2.5
    return (_stacked(row[0], max(_LEAST, room - rest)), *row[1:])


def _stacked(row: Row, room: float) -> Row:
    lines = _broken(row, room)
    if len(lines) == 1:
        return lines[0]
    return Row((Environment("gathered", tuple((line,) for line in lines)),))
