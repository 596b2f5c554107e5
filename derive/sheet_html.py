"""The sheet as one HTML file: MathML, a filter, a print layout, the graph to click on."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from derive.as_html import html_block, html_part, page
from derive.paper import Block, Display, Paragraph, Section
from derive.sheet_graph import formulas_of as giving
from derive.sheet_graph import graph_svg, needs
from derive.sheet_paper import TITLE, formula_part, formulas_of, number_part, section_name
from formulas.catalogue import SHEET, catalogue
from formulas.formula import VOCABULARY
from formulas.numbers import numbers

_HERE = Path(__file__).parent


def sheet_html() -> str:
    """The whole page; it asks for nothing from elsewhere."""
    head = (
        f"<h1>{TITLE}</h1>\n<p>{len(catalogue().formulas)} formulas, {len(numbers())} numbers, "
        "each with its quantities, conditions, a computed example and every inversion.</p>"
    )
    body = "\n".join((head, _bar(), _graph(), *map(_section, SHEET), _script()))
    style = f"<style>\n{_text('sheet.css')}</style>\n"
    return page(TITLE, body, style)


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _bar() -> str:
    links = "".join(
        f'<a href="#section-{name}">{escape(section_name(name).partition(":")[0])}</a>'
        for name in SHEET
    )
    return (
        '<header class="bar"><input id="filter" type="search" placeholder="filter: kv cache" '
        f'aria-label="filter"><span id="count" role="status"></span><nav>{links}</nav></header>'
    )


def _graph() -> str:
    return (
        '<section id="graph-part"><h2 id="graph-title">What depends on what</h2>\n'
        "<p>Click on a quantity to see what it needs.</p>\n"
        '<div id="needs" aria-live="polite"></div>\n'
        f'<div id="graph-box" tabindex="0" aria-labelledby="graph-title">{graph_svg()}</div>'
        "</section>"
    )


def _section(section: str) -> str:
    articles = "\n".join(_article(identity) for identity in formulas_of(section))
    found = number_part(section)
    words = " ".join(n.id + " " + n.about for n in numbers().values() if n.section == section)
    figures = ""
    if found:
        name = f"numbers {section} {words}"
        figures = f'<article data-words="{_words(name)}">{html_part(tuple(found))}</article>'
    return (
        f'<section class="sheet" id="section-{section}"><h2>{escape(section_name(section))}</h2>\n'
        f"{articles}\n{figures}</section>"
    )


def _article(identity: str) -> str:
    rows = catalogue().formulas[identity]
    names = {n for r in rows for n in (r.gives, *r.inputs)}
    words = " ".join(
        [identity, *(r.meaning for r in rows), *names, *(VOCABULARY[n].meaning for n in names)]
    )
    blocks = formula_part(identity)
    title = blocks[0]
    assert isinstance(title, Section)
    return (
        f'<article id="{title.anchor}" data-words="{_words(words)}"><h3>{escape(title.text)}</h3>\n'
        f"{_folded(blocks[1:])}</article>"
    )


def _folded(blocks: list[Block]) -> str:
    """The inversions are shown on demand, and in print."""
    start = next(
        (i for i, b in enumerate(blocks)
         if isinstance(b, Paragraph) and str(b.text[0]).startswith("Solved for")), None,
    )  # fmt: skip
    if start is None:
        return "\n".join(map(html_block, blocks))
    end = start + 1
    while end < len(blocks) and isinstance(blocks[end], Display):
        end += 1
    inside = "\n".join(map(html_block, blocks[start + 1 : end]))
    fold = (
        f"<details open><summary>{escape(str(blocks[start].text[0]))}</summary>\n{inside}</details>"  # type: ignore[union-attr]
    )
    return "\n".join((*map(html_block, blocks[:start]), fold, *map(html_block, blocks[end:])))


def _words(text: str) -> str:
    plain = f"{text} {text.replace('_', ' ')}".lower()
    return escape(" ".join(dict.fromkeys(plain.split())))


def _script() -> str:
    data = {
        name: {"needs": list(inputs), "formulas": list(giving(name))}
        for name, inputs in needs().items()
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<script type="application/json" id="graph-data">{text}</script>\n'
        f"<script>\n{_text('sheet.js')}</script>"
    )
