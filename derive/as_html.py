"""A document as one HTML file that needs nothing else: MathML, its own style, no script."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import assert_never

from derive.as_mathml import mathml
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

ROOM = 52.0


def as_html(paper: Paper) -> str:
    """The whole page."""
    titles = [block.text for block in paper if isinstance(block, Title)]
    return page(titles[0] if titles else "derive", html_part(paper))


def page(title: str, body: str, more: str = "") -> str:
    """A page of that body; `more` goes into its head."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style()}</style>\n{more}</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


@cache
def style() -> str:
    """The style of every page."""
    return (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def html_part(paper: Paper) -> str:
    """The blocks without a page around them, as notebooks show them."""
    return "\n".join(html_block(block) for block in paper)


def html_block(block: Block) -> str:
    """One block."""
    match block:
        case Title(text):
            return f"<h1>{escape(text)}</h1>"
        case Section(text, level, anchor):
            name = f' id="{escape(anchor)}"' if anchor else ""
            return f"<h{level + 1}{name}>{escape(text)}</h{level + 1}>"
        case Paragraph(text):
            return f"<p>{html_text(text)}</p>"
        case Note(text):
            return f'<p class="note">{html_text(text)}</p>'
        case Display(latex, tag):
            return _formula(display_latex(latex, ROOM), tag)
        case Aligned(rows):
            return _formula(aligned_latex(rows, ROOM), "")
        case Grid():
            return _grid(block)
        case Code(lines):
            return f"<pre><code>{escape(chr(10).join(lines), quote=False)}</code></pre>"
        case _:
            assert_never(block)


def _formula(latex: str, tag: str) -> str:
    name = f'<code class="tag">{escape(tag)}</code>' if tag else ""
    shown = mathml(latex, display=True)
    return f'<div class="formula"><div class="scroll">{shown}</div>{name}</div>'


def _grid(grid: Grid) -> str:
    right = set(grid.right)

    def row(name: str, parts: list[str]) -> str:
        return "".join(
            f'<{name} class="right">{part}</{name}>' if i in right else f"<{name}>{part}</{name}>"
            for i, part in enumerate(parts)
        )

    head = row("th", [escape(column) for column in grid.columns])
    body = "\n".join(f"<tr>{row('td', [html_text(cell) for cell in r])}</tr>" for r in grid.rows)
    top = f"<thead><tr>{head}</tr></thead>\n" if any(grid.columns) else ""
    return f'<div class="table"><table>{top}<tbody>\n{body}\n</tbody></table></div>'


def html_text(text: Text) -> str:
    """The run of text."""
    return "".join(_inline(part) for part in text)


def _inline(part: Inline) -> str:
    match part:
        case str():
            return escape(part, quote=False)
        case Math(latex):
            return mathml(latex)
        case Typed(text):
            return f"<code>{escape(text, quote=False)}</code>"
        case Strong(text):
            return f"<strong>{escape(text, quote=False)}</strong>"
        case Link(text, anchor):
            return f'<a href="#{escape(anchor)}"><code>{escape(text, quote=False)}</code></a>'
        case _:
            assert_never(part)
