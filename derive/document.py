"""The neutral result: what is to be shown, before anybody decides how it looks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """The first line of what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of its own."""

    text: str


@dataclass(frozen=True, slots=True)
class Fields:
    """Rows of a label and its text; rows under one label repeat it as an empty string."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column headings; the columns named in `numeric` are aligned to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Equation:
    """A formula: a line of plain text and the same in LaTeX."""

    plain: str
    latex: str
    tag: str = ""


Block = Heading | Line | Fields | Table | Equation
Document = tuple[Block, ...]
