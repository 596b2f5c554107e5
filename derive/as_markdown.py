"""A document as Markdown, its mathematics as KaTeX reads it.

`github` marks it as GitHub and GitLab do, where nothing of it is taken for Markdown; `jupyter` with
dollar signs, as notebooks and pandoc do.
"""

from __future__ import annotations

import re
from typing import assert_never

from derive.as_tex import aligned_latex, display_latex
from derive.paper import (
    Aligned,
    Block,
    Code,
    Display,
    Grid,
    Inline,
    Link,
    Math,
    Note,
    Paper,
    Paragraph,
    Section,
    Strong,
    Text,
    Title,
    Typed,
)

FLAVOURS = ("github", "jupyter")
_ROOM, _ROOM_OF_TAG = 48.0, 14.0
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|$~])")


def as_markdown(paper: Paper, flavour: str = "github") -> str:
    """The whole document; a ValueError for a flavour that is not known."""
    if flavour not in FLAVOURS:
        raise ValueError(f"Markdown for {' or '.join(FLAVOURS)}, not for '{flavour}'")
    return "\n\n".join(_block(block, flavour) for block in paper) + "\n"


def _block(block: Block, flavour: str) -> str:
    match block:
        case Title(text):
            return f"# {_plain(text)}"
        case Section(text, level, anchor):
            target = f'<a id="{anchor}"></a>\n\n' if anchor else ""
            return f"{target}{'#' * (level + 1)} {_plain(text)}"
        case Paragraph(text):
            return _text(text, flavour)
        case Note(text):
            return f"> {_text(text, flavour)}"
        case Display(latex, tag):
            return _displayed(tagged(display_latex(latex, _room(tag)), tag), flavour)
        case Aligned(rows):
            return _displayed(aligned_latex(rows, _ROOM), flavour)
        case Grid(columns, rows, right):
            return _grid(columns, rows, right, flavour)
        case Code(lines):
            return "\n".join(["```text", *lines, "```"])
        case _:
            assert_never(block)


def _room(tag: str) -> float:
    return _ROOM - _ROOM_OF_TAG if tag else _ROOM


def tagged(latex: str, tag: str) -> str:
    """The formula with its name beside it."""
    name = tag.replace("_", r"\_")
    return f"{latex} \\tag{{{name}}}" if tag else latex


def _displayed(latex: str, flavour: str) -> str:
    if flavour == "github":
        return f"```math\n{latex}\n```"
    return f"$$\n{latex}\n$$"


def _grid(
    columns: tuple[str, ...],
    rows: tuple[tuple[Text, ...], ...],
    right: tuple[int, ...],
    flavour: str,
) -> str:
    head = " | ".join(_plain(name) for name in columns)
    line = " | ".join("---:" if place in right else "---" for place in range(len(columns)))
    body = [" | ".join(_cell(cell, flavour) for cell in row) for row in rows]
    return "\n".join(f"| {row} |" for row in (head, line, *body))


def _cell(text: Text, flavour: str) -> str:
    """A bar would end the cell."""
    parts = [Math(p.latex.replace("|", r"\vert ")) if isinstance(p, Math) else p for p in text]
    return _text(tuple(parts), flavour)


def _text(text: Text, flavour: str) -> str:
    return "".join(_inline(part, flavour) for part in text)


def _inline(part: Inline, flavour: str) -> str:
    match part:
        case str():
            return _plain(part)
        case Math(latex):
            return f"$`{latex}`$" if flavour == "github" else f"${latex}$"
        case Typed(text):
            return f"`` {text} ``" if "`" in text else f"`{text}`"
        case Strong(text):
            return f"**{_plain(text)}**"
        case Link(text, anchor):
            return f"[`{text}`](#{anchor})"
        case _:
            assert_never(part)


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split("\n")))
