"""The neutral document: what it says, before anybody decides whether it is TeX, Markdown or HTML.

Text is a run of plain strings and of pieces that look different: mathematics, a name as it is
typed, a link. Mathematics is LaTeX of the subset that `tex_tree` reads; every renderer takes it
from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Math:
    """Mathematics in a line of text."""

    latex: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A name or a line as it is typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A name that leads to the block with this anchor; none of another document."""

    text: str
    anchor: str


Inline = str | Math | Typed | Strong | Link
Text = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Title:
    """The first block of a document."""

    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading; level 1 is a section, 2 what lies within one."""

    text: str
    level: int = 1
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: Text


@dataclass(frozen=True, slots=True)
class Note:
    """A remark that may be passed over."""

    text: Text


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; the columns at the places in `right` hold numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    right: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Display:
    """One formula on a line of its own, with the name by which the text speaks of it."""

    latex: str
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Aligned:
    """Lines of a derivation, each a left side, which may be empty, and a sign with what follows."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines as they are typed."""

    lines: tuple[str, ...]


Block = Title | Section | Paragraph | Note | Grid | Display | Aligned | Code
Paper = tuple[Block, ...]


def said(*parts: Inline) -> Paragraph:
    """A paragraph of these parts."""
    return Paragraph(parts)


def cells(*parts: Inline) -> tuple[Text, ...]:
    """A row of a table whose cells have one part each."""
    return tuple((part,) for part in parts)


def joined(parts: Iterable[Inline], between: str = ", ") -> Text:
    """The parts with the same words between each two."""
    found: list[Inline] = []
    for part in parts:
        found += [between, part] if found else [part]
    return tuple(found)


def math_in(paper: Paper) -> list[tuple[str, bool]]:
    """Every piece of mathematics in the document, and whether it stands on lines of its own."""
    found: list[tuple[str, bool]] = []
    for block in paper:
        match block:
            case Display(latex):
                found.append((latex, True))
            case Aligned(rows):
                found += [(side, True) for row in rows for side in row if side]
            case Paragraph(text) | Note(text):
                found += _inline(text)
            case Grid(rows=rows):
                found += [piece for row in rows for cell in row for piece in _inline(cell)]
    return found


def _inline(text: Text) -> list[tuple[str, bool]]:
    return [(part.latex, False) for part in text if isinstance(part, Math)]
