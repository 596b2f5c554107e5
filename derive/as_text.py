"""A document as plain text for a terminal or a file."""

from __future__ import annotations

import textwrap
from typing import assert_never

from derive.document import Block, Document, Equation, Fields, Heading, Line, Table

WIDTH = 100
# A space at which no line ends.
TOGETHER = "\u00a0"


def as_text(document: Document, width: int = WIDTH) -> str:
    """The document, one block below the other, no line longer than `width` where words allow."""
    return "\n".join(line for block in document for line in _lines(block, width))


def _lines(block: Block, width: int) -> list[str]:
    match block:
        case Heading(text):
            return [text]
        case Line(text):
            return [text]
        case Fields(rows):
            return _fields(rows, width)
        case Table():
            return _table(block)
        case Equation(plain, _, tag):
            return [f"  {plain}" + (f"    [{tag}]" if tag else "")]
        case _:
            assert_never(block)


def _fields(rows: tuple[tuple[str, str], ...], width: int) -> list[str]:
    margin = max((len(label) for label, _ in rows), default=0) + 2
    lines = []
    for label, text in rows:
        room = max(width - margin - 2, 20)
        parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
        lines.append(f"  {label:<{margin}}{parts[0]}")
        lines += [" " * (margin + 2) + part for part in parts[1:]]
    return [line.replace(TOGETHER, " ") for line in lines]


def _table(table: Table) -> list[str]:
    rows = [table.columns, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.columns))]
    right = {i for i, name in enumerate(table.columns) if name in table.numeric}
    return [
        "  "
        + "  ".join(
            f"{cell:>{widths[i]}}" if i in right else f"{cell:<{widths[i]}}"
            for i, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]
