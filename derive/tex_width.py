"""How wide a formula prints, in em: an estimate from the widths of Computer Modern, on the wide
side.
"""

from __future__ import annotations

from derive.tex_marks import Kind
from derive.tex_tree import (
    Accent,
    Environment,
    Fenced,
    Fraction,
    Mark,
    Node,
    Radical,
    Row,
    Script,
)

# Of the roman letters, in em.
_ROMAN = {
    **dict.fromkeys("il|'.,:;!", 0.29),
    **dict.fromkeys("fjrst()[]-/ ", 0.4),
    **dict.fromkeys("acegkoqvxyz0123456789", 0.53),
    **dict.fromkeys("bdhnpu", 0.56),
    **dict.fromkeys("mwM@%", 0.9),
    "W": 1.05,
}
_UPPER, _OTHER, _LETTER, _LARGE_LETTER = 0.77, 0.6, 0.6, 0.83
_SCRIPT, _SMALL = 0.72, 0.1
_AROUND = {Kind.BINARY: 0.45, Kind.RELATION: 0.56, Kind.COMMA: 0.17, Kind.NAME: 0.17}
_FENCE, _FRACTION, _ROOT = 0.75, 0.3, 1.0
_COLUMNS = {"cases": 1.0, "aligned": 0.0, "gathered": 0.0}


def width(node: Node, size: float = 1.0) -> float:
    """The width of the node in em of the text around it."""
    match node:
        case Mark():
            return _mark(node) * size
        case Row(nodes):
            return sum(width(part, size) for part in nodes)
        case Fraction(command, top, bottom):
            inner = size if command == r"\dfrac" or size >= 1 else size * _SCRIPT
            return max(width(top, inner), width(bottom, inner)) + _FRACTION
        case Radical(_, inside):
            return width(inside, size) + _ROOT * size
        case Script(base, below, above):
            return width(base, size) + _scripts(base, below, above, size)
        case Fenced(_, inside, _):
            return width(inside, size) + 2 * _FENCE
        case Accent(_, base):
            return width(base, size)
        case Environment(name, rows):
            columns = max(len(row) for row in rows)
            widths = [
                max(width(row[i], size) for row in rows if i < len(row)) for i in range(columns)
            ]
            brace = 1.2 if name == "cases" else 0.4
            return sum(widths) + _COLUMNS[name] * (columns - 1) + brace


def _scripts(base: Node, below: Row | None, above: Row | None, size: float) -> float:
    parts = [width(part, size * _SCRIPT) for part in (below, above) if part is not None]
    widest = max(parts, default=0.0) + _SMALL
    under = isinstance(base, Mark) and base.kind is Kind.BIG
    return max(0.0, widest - width(base, size)) if under else widest


def _mark(mark: Mark) -> float:
    if mark.kind is Kind.SPACE:
        return float(mark.text)
    if mark.kind in (Kind.WORD, Kind.NAME):
        return sum(map(_roman, mark.text)) + _AROUND.get(mark.kind, 0.0)
    if mark.kind is Kind.LETTER:
        return _LARGE_LETTER if mark.text.isupper() else _LETTER
    if mark.kind is Kind.DIGIT:
        return 0.51
    if mark.kind in (Kind.BINARY, Kind.RELATION):
        narrow = mark.text in ("⋅", "/")
        return (0.35 if narrow else 0.8 * max(1, len(mark.text) / 1.6)) + _AROUND[mark.kind]
    if mark.kind is Kind.BIG:
        return 1.5
    return 0.5 + _AROUND.get(mark.kind, 0.0)


def _roman(character: str) -> float:
    return _ROMAN.get(character, _UPPER if character.isupper() else _OTHER)
