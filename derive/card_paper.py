"""A card or a table as a document, so that every format that renders documents renders it."""

from __future__ import annotations

from itertools import groupby

from derive import document as card
from derive.as_text import TOGETHER
from derive.paper import Block, Code, Display, Grid, Paper, Paragraph, Section


def paper_of(blocks: card.Document) -> Paper:
    """The same blocks; neighbouring lines, which may be a tree, keep their indents."""
    found: list[Block] = []
    for kind, group in groupby(blocks, type):
        rows = list(group)
        if kind is card.Line:
            lines = tuple(row.text for row in rows if isinstance(row, card.Line))
            found += [Code(lines)] if any(line.strip() for line in lines) else []
            continue
        found += [_block(row) for row in rows]
    return tuple(found)


def _block(block: card.Block) -> Block:
    match block:
        case card.Heading(text):
            return Section(text, 2)
        case card.Line(text):
            return Paragraph((text,))
        case card.Fields(rows):
            shown = tuple(((label,), (text.replace(TOGETHER, " "),)) for label, text in rows)
            return Grid(("", ""), shown)
        case card.Table(columns, rows, numeric):
            right = tuple(i for i, name in enumerate(columns) if name in numeric)
            cells = tuple(tuple((cell.replace(TOGETHER, " "),) for cell in row) for row in rows)
            return Grid(columns, cells, right)
        case card.Equation(_, latex, tag):
            return Display(latex, tag)
