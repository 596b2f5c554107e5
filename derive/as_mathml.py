"""A formula as MathML, which browsers show without a script; its LaTeX goes along as a note."""

from __future__ import annotations

from html import escape

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
    parse,
)

_ACCENTS = {r"\hat": "^", r"\tilde": "~", r"\bar": "\u203e"}
_FENCES = {r"\lceil": "⌈", r"\rceil": "⌉", r"\lfloor": "⌊", r"\rfloor": "⌋", ".": ""}
_ALIGN = {"cases": "left left", "aligned": "right left", "gathered": "center"}


def mathml(latex: str, *, display: bool = False) -> str:
    """The math element of a LaTeX formula."""
    shown = ' display="block"' if display else ""
    note = f'<annotation encoding="application/x-tex">{escape(latex, quote=False)}</annotation>'
    body = _row(parse(latex).nodes)
    return f"<math{shown}><semantics>{body}{note}</semantics></math>"


def _row(nodes: tuple[Node, ...]) -> str:
    """The nodes in one element; neighbouring digits are one number."""
    parts: list[str] = []
    digits = ""
    for place, node in enumerate(nodes):
        after = nodes[place + 1] if place + 1 < len(nodes) else None
        if _in_number(node, digits, after):
            assert isinstance(node, Mark)
            digits += " " if node.kind is Kind.SPACE else node.text
            continue
        if digits:
            parts.append(f"<mn>{digits}</mn>")
            digits = ""
        last = nodes[place - 1] if place else None
        parts.append(_node(node, last))
        if isinstance(node, Mark) and node.kind is Kind.NAME and not _opens(after):
            parts.append('<mspace width="0.167em"/>')
    if digits:
        parts.append(f"<mn>{digits}</mn>")
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def _in_number(node: Node, digits: str, after: Node | None) -> bool:
    """Digits, and between two of them the point and the space that groups them."""
    if not isinstance(node, Mark):
        return False
    if node.kind is Kind.DIGIT:
        return True
    joins = node.text in (".", "0.167") and isinstance(after, Mark) and after.kind is Kind.DIGIT
    return bool(digits) and joins


def _opens(node: Node | None) -> bool:
    return isinstance(node, Fenced | type(None)) or (
        isinstance(node, Mark) and node.kind in (Kind.OPEN, Kind.SPACE)
    )


def _node(node: Node, last: Node | None = None) -> str:
    match node:
        case Mark():
            return _mark(node, last)
        case Row(nodes):
            return _row(nodes)
        case Fraction(_, top, bottom):
            return f"<mfrac>{_row(top.nodes)}{_row(bottom.nodes)}</mfrac>"
        case Radical("", inside):
            return f"<msqrt>{_row(inside.nodes)}</msqrt>"
        case Radical(degree, inside):
            return f"<mroot>{_row(inside.nodes)}<mn>{escape(degree)}</mn></mroot>"
        case Script():
            return _script(node)
        case Fenced(left, inside, right):
            marks = [_fence(mark) for mark in (left, right)]
            return f"<mrow>{marks[0]}{_row(inside.nodes)}{marks[1]}</mrow>"
        case Accent(command, base):
            accent = f'<mo stretchy="false">{_ACCENTS[command]}</mo>'
            return f'<mover accent="true">{_row(base.nodes)}{accent}</mover>'
        case Environment():
            return _environment(node)


def _mark(mark: Mark, last: Node | None) -> str:
    text = escape(mark.text, quote=False)
    match mark.kind:
        case Kind.SPACE:
            return f'<mspace width="{mark.text}em"/>'
        case Kind.LETTER:
            return f"<mi>{text}</mi>"
        case Kind.DIGIT:
            return f"<mn>{text}</mn>"
        case Kind.WORD:
            # A space at the end of an element is not shown.
            return f'<mi mathvariant="normal">{text.replace(" ", chr(0xA0))}</mi>'
        case Kind.NAME:
            return f'<mi mathvariant="normal">{text}</mi>'
        case Kind.OPEN | Kind.CLOSE:
            return f'<mo stretchy="false">{text}</mo>'
        case Kind.BINARY if mark.text == "mod":
            return (
                '<mspace width="0.22em"/><mi mathvariant="normal">mod</mi><mspace width="0.22em"/>'
            )
        case Kind.BINARY if mark.text in "−+" and _is_sign(last):
            return f'<mo form="prefix">{text}</mo>'
        case Kind.BINARY if mark.text == "/":
            return '<mo lspace="0.1em" rspace="0.1em">/</mo>'
        case Kind.RELATION:
            return f'<mo form="infix">{text}</mo>'
        case Kind.PLAIN if mark.text in "Δ⊤∞⋆|…":
            return f'<mi mathvariant="normal">{text}</mi>'
        case _:
            return f"<mo>{text}</mo>"


def _is_sign(last: Node | None) -> bool:
    kinds = (Kind.OPEN, Kind.RELATION, Kind.BINARY, Kind.COMMA, Kind.SPACE)
    return last is None or (isinstance(last, Mark) and last.kind in kinds)


def _fence(mark: str) -> str:
    text = _FENCES.get(mark, mark)
    return f'<mo fence="true" stretchy="true">{escape(text, quote=False)}</mo>' if text else ""


def _script(node: Script) -> str:
    base = _node(node.base)
    below = None if node.below is None else _row(node.below.nodes)
    above = None if node.above is None else _row(node.above.nodes)
    under = isinstance(node.base, Mark) and node.base.text in ("∑", "max", "min")
    names = ("munder", "mover", "munderover") if under else ("msub", "msup", "msubsup")
    if below is not None and above is not None:
        return f"<{names[2]}>{base}{below}{above}</{names[2]}>"
    name, part = (names[0], below) if below is not None else (names[1], above)
    return f"<{name}>{base}{part}</{name}>"


def _environment(node: Environment) -> str:
    rows = "".join(
        f"<mtr>{''.join(f'<mtd>{_row(cell.nodes)}</mtd>' for cell in row)}</mtr>"
        for row in node.rows
    )
    style = ' displaystyle="true"' if node.name != "cases" else ""
    table = f'<mtable columnalign="{_ALIGN[node.name]}"{style} class="{node.name}">{rows}</mtable>'
    if node.name != "cases":
        return table
    return f'<mrow><mo fence="true" stretchy="true">{{</mo>{table}</mrow>'
