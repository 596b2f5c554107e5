"""What a notebook shows of an answer, a formula or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.as_html import html_part
from derive.as_tex import aligned_latex, display_latex
from derive.as_text import as_text
from derive.card_paper import paper_of
from derive.derivation_parts import formula_latex
from derive.document import Document, Equation
from derive.document_letters import document_letters
from formulas.catalogue import catalogue

if TYPE_CHECKING:
    from derive.session import Reply

# Notebooks scroll a formula that is wider than their column.
_ROOM = 60.0


def steps_latex(reply: Reply) -> str:
    """The formulas behind an answer, one under the other, in letters that do not clash."""
    relations = catalogue().relations
    keys = dict.fromkeys(s.relation for s in reply.steps if s.relation in relations)
    used = [relations[key] for key in keys]
    if not used:
        return ""
    letters, _ = document_letters(used, ())
    rows = tuple(("", formula_latex(row, letters)) for row in used)
    return f"$$\n{aligned_latex(rows, _ROOM)}\n$$"


def document_latex(document: Document) -> str:
    """The formulas in the document; nothing where it has none."""
    rows = [block.latex for block in document if isinstance(block, Equation)]
    if not rows:
        return ""
    lines = " \\\\\n".join(f"& {display_latex(row, _ROOM)}" for row in rows)
    return f"$$\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}\n$$"


def document_html(document: Document) -> str:
    """The document as a piece of HTML."""
    return f'<div class="derive">{html_part(paper_of(document))}</div>'


def bundle(document: Document) -> dict[str, str]:
    """The document in every form that a notebook may choose from."""
    found = {"text/plain": as_text(document), "text/html": document_html(document)}
    latex = document_latex(document)
    return {**found, "text/latex": latex} if latex else found
