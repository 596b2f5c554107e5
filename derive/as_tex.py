"""A document as LaTeX: complete, with no package but those of a recommended installation."""

from __future__ import annotations

import unicodedata
from typing import assert_never

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
from derive.tex_break import lines_of
from derive.tex_tree import parse
from derive.tex_width import width

# What goes on a line of the page, in em; a tag takes its part.
ROOM, ROOM_OF_TAG, ROOM_OF_RIGHT = 38.0, 12.0, 31.0
_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage{array,booktabs,longtable}
\usepackage[hidelinks]{hyperref}
\allowdisplaybreaks
\raggedright
\raggedbottom
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.5ex plus 0.2ex}
\setlength{\emergencystretch}{3em}
\LTleft=0pt
\setcounter{secnumdepth}{0}
\newcommand{\dtyped}[1]{{\ttfamily #1}}
"""
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_\allowbreak{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{|}", '"': r"\textquotedbl{}",
    "\u202f": r"\,", "\u00a0": "~", "±": r"\ensuremath{\pm}", "×": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}", "≈": r"\ensuremath{\approx}",
    "−": r"\ensuremath{-}", "·": r"\ensuremath{\cdot}", "→": r"\ensuremath{\to}", "–": "--",
    "∞": r"\ensuremath{\infty}", "µ": r"\ensuremath{\mu}", "…": r"\dots{}", "“": "``", "”": "''",
    "’": "'", "‑": "-",
}  # fmt: skip
_TYPED = {
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "-": "-{}", ",": ",{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "/": r"/\allowbreak{}", ".": r".\allowbreak{}",
}  # fmt: skip
_BOOKMARK = str.maketrans({"≤": "<=", "≥": ">=", "×": "x", "−": "-", "\u202f": " ", "\u00a0": " "})
_PLAIN = " .,:;=+-*/()[]<>'"
# A line of a table in em, a column that is never broken, a letter of a typewriter.
_TABLE_ROOM, _NARROW, _TYPED_WIDTH = 43.0, 10.0, 0.53
_LATIN = ("LATIN ",)


def as_tex(paper: Paper) -> str:
    """The whole document, ready for pdflatex."""
    body = "\n".join(_block(block) for block in paper)
    titles = [block.text for block in paper if isinstance(block, Title)]
    about = f"\\hypersetup{{pdftitle={{{bookmark(titles[0])}}}}}\n" if titles else ""
    return f"{_PREAMBLE}{about}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def _block(block: Block) -> str:
    match block:
        case Title(text):
            return f"{{\\Large\\bfseries {escaped(text)}\\par}}\n"
        case Section(text, level, anchor):
            command = "section" if level == 1 else "subsection"
            label = f"\\hypertarget{{{_anchor(anchor)}}}{{}}" if anchor else ""
            short = bookmark(text)
            return f"\\{command}{{\\texorpdfstring{{{escaped(text)}}}{{{short}}}}}{label}"
        case Paragraph(text):
            return f"{text_of(text)}\\par"
        case Note(text):
            return f"{{\\small {text_of(text)}\\par}}"
        case Display(latex, tag):
            return _display(latex, tag)
        case Aligned(rows):
            return aligned_tex(rows)
        case Grid():
            return _grid(block)
        case Code(lines):
            return _code(lines)
        case _:
            assert_never(block)


def _display(latex: str, tag: str) -> str:
    body = display_latex(latex, ROOM - ROOM_OF_TAG if tag else ROOM)
    name = f" \\tag{{\\footnotesize\\ttfamily {escaped(tag, breaks=False)}}}" if tag else ""
    return f"\\begin{{equation*}}\n{body}{name}\n\\end{{equation*}}"


def display_latex(latex: str, room: float) -> str:
    """The formula, or its lines one below the other where it is wider than `room`."""
    lines = lines_of(latex, room)
    if len(lines) == 1:
        return lines[0]
    first, *rest = lines
    body = " \\\\\n".join([f"& {first}", *(rf"& \quad {line}" for line in rest)])
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def aligned_tex(rows: tuple[tuple[str, str], ...]) -> str:
    """The lines of a derivation under each other, long ones broken."""
    return f"\\begin{{equation*}}\n{aligned_latex(rows)}\n\\end{{equation*}}"


def aligned_latex(rows: tuple[tuple[str, str], ...], room: float = ROOM) -> str:
    """The same as one formula, for every renderer that reads LaTeX."""
    widest = max((width(parse(left)) for left, _ in rows if left), default=0.0)
    lines = []
    for left, right in rows:
        first, *rest = lines_of(right, max(room - widest, 12.0))
        lines.append(f"{left} & {{}} {first}")
        lines += [rf"& {{}} \quad {line}" for line in rest]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


# -- tables


def _grid(grid: Grid) -> str:
    kinds = _columns(grid)
    head = " & ".join(escaped(name) for name in grid.columns)
    rows = "\n".join(" & ".join(map(text_of, row)) + r" \\" for row in grid.rows)
    top = f"{head} \\\\ \\midrule\n" if any(grid.columns) else ""
    return (
        f"{{\\small\\setlength{{\\tabcolsep}}{{4pt}}\n\\begin{{longtable}}"
        f"{{@{{}}{''.join(kinds)}@{{}}}}\n\\toprule\n{top}"
        f"\\endhead\n\\bottomrule\n\\endfoot\n{rows}\n\\end{{longtable}}}}"
    )


def _columns(grid: Grid) -> list[str]:
    """A kind for each column: as wide as its text, or where they are too wide together a share."""
    count = len(grid.columns)
    lines = [tuple((name,) for name in grid.columns), *grid.rows]
    natural = [max(_text_width(row[i]) for row in lines) for i in range(count)]
    room = _TABLE_ROOM - 0.8 * count
    kinds = ["r" if place in grid.right else "l" for place in range(count)]
    # Mathematics is not broken in a cell.
    whole = {i for row in grid.rows for i, cell in enumerate(row) for part in cell
             if isinstance(part, Math)}  # fmt: skip
    narrow = {i for i in range(count) if natural[i] <= _NARROW} | whole
    if sum(natural) <= room:
        return kinds
    left = room - sum(natural[i] for i in narrow)
    shares = sum(natural[i] for i in range(count) if i not in narrow)
    for i in range(count):
        if i not in narrow:
            share = f"{left * natural[i] / shares:.2f}em"
            kinds[i] = f">{{\\raggedright\\arraybackslash}}p{{{share}}}"
    return kinds


def _text_width(text: Text) -> float:
    """The width of a cell in em, on the wide side."""
    return sum(
        width(parse(part.latex)) if isinstance(part, Math)
        else _TYPED_WIDTH * len(part if isinstance(part, str) else part.text)
        for part in text
    )  # fmt: skip


def _code(lines: tuple[str, ...]) -> str:
    rows = [f"\\hangindent=2em \\dtyped{{{typed(line)}}}\\par" for line in lines]
    return "{\\small\n" + "\n".join(rows) + "\n}"


# -- text


def text_of(text: Text) -> str:
    """The run of text."""
    return "".join(_inline(part) for part in text)


def _inline(part: Inline) -> str:
    match part:
        case str():
            return escaped(part)
        case Math(latex):
            return f"${latex}$"
        case Typed(text):
            return f"\\dtyped{{{typed(text)}}}"
        case Strong(text):
            return f"\\textbf{{{escaped(text)}}}"
        case Link(text, anchor):
            return f"\\hyperlink{{{_anchor(anchor)}}}{{\\dtyped{{{typed(text)}}}}}"
        case _:
            assert_never(part)


def _anchor(text: str) -> str:
    return text.replace("_", "-")


def escaped(text: str, *, breaks: bool = True) -> str:
    """The text with everything that TeX would read as its own written out."""
    found = "".join(_character(character) for character in unicodedata.normalize("NFC", text))
    return found if breaks else found.replace(r"\allowbreak{}", "")


def bookmark(text: str) -> str:
    """The text for the table of contents of the file, which knows no mathematics."""
    plain = unicodedata.normalize("NFKC", text).translate(_BOOKMARK)
    return "".join(
        _character(c).replace(r"\allowbreak{}", "") if c in "_%&#$" or c.isalnum() or c in _PLAIN
        else "" for c in plain
    )  # fmt: skip


def typed(text: str) -> str:
    """The text as it is typed: no ligatures, straight quotes, a line may end after a dot."""
    return "".join(
        _TYPED.get(character) or _character(character)
        for character in unicodedata.normalize("NFC", text)
    )


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isascii():
        return character if character.isprintable() else " "
    # T1 has the letters of Latin alphabets; what else a file may be called is named by its number.
    if unicodedata.name(character, "").startswith(_LATIN) and ord(character) < 0x180:
        return character
    return f"[U+{ord(character):04X}]"
