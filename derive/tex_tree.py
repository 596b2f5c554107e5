"""The LaTeX that this project writes, read back as a tree: for MathML, for widths, for breaking.

A closed subset; a command that is not in the table is a KeyError, so that nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from derive.tex_marks import COMMANDS, PLAIN, Kind


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark, or one word: its LaTeX, and the characters that it shows."""

    kind: Kind
    latex: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes one behind the other."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Fraction:
    """One row over another; `command` is \\frac or \\dfrac."""

    command: str
    top: Row
    bottom: Row


@dataclass(frozen=True, slots=True)
class Radical:
    """A root; the degree is empty for a square root."""

    degree: str
    inside: Row


@dataclass(frozen=True, slots=True)
class Script:
    """A base with what stands below and above it."""

    base: Node
    below: Row | None
    above: Row | None


@dataclass(frozen=True, slots=True)
class Fenced:
    """Something between marks that grow with it; a mark of "." shows nothing."""

    left: str
    inside: Row
    right: str


@dataclass(frozen=True, slots=True)
class Environment:
    """Rows of cells: cases, aligned or gathered."""

    name: str
    rows: tuple[tuple[Row, ...], ...]


@dataclass(frozen=True, slots=True)
class Accent:
    """A letter under a hat, a tilde or a bar."""

    command: str
    base: Row


Node = Mark | Row | Fraction | Radical | Script | Fenced | Environment | Accent

_WORDS = (r"\text", r"\mathrm", r"\mathbb", r"\textsf")
_ACCENTS = (r"\hat", r"\tilde", r"\bar")
_FRACTIONS = (r"\frac", r"\dfrac", r"\tfrac")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_&]|\s+|.", re.DOTALL)


def parse(latex: str) -> Row:
    """The tree of the formula; a ValueError where braces or fences do not match."""
    reader = _Reader(_TOKEN.findall(latex))
    found = reader.row(())
    if not reader.done:
        raise ValueError(f"unmatched '{reader.peek()}' in {latex}")
    return found


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.place = 0

    @property
    def done(self) -> bool:
        return self.place >= len(self.tokens)

    def peek(self) -> str:
        return "" if self.done else self.tokens[self.place]

    def take(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def skip(self) -> None:
        while self.peek().isspace():
            self.place += 1

    def row(self, ends: tuple[str, ...]) -> Row:
        """Nodes up to one of the ends, which is left where it is."""
        nodes: list[Node] = []
        self.skip()
        while not self.done and self.peek() not in (*ends, "}"):
            nodes.append(self.scripted())
            self.skip()
        return Row(tuple(nodes))

    def scripted(self) -> Node:
        base = self.atom()
        below = above = None
        while (mark := self.next_script()) is not None:
            part = self.argument()
            below, above = (part, above) if mark == "_" else (below, part)
        return base if below is None and above is None else Script(base, below, above)

    def next_script(self) -> str | None:
        place = self.place
        self.skip()
        if self.peek() in ("_", "^"):
            return self.take()
        self.place = place
        return None

    def argument(self) -> Row:
        """What stands in braces, or the one thing that comes next."""
        self.skip()
        if self.peek() != "{":
            return Row((self.atom(),))
        self.take()
        found = self.row(())
        if self.take() != "}":
            raise ValueError("a brace is left open")
        return found

    def word(self) -> str:
        """The characters between braces, as they are."""
        self.skip()
        if self.peek() != "{":
            return self.take()
        self.take()
        text, depth = "", 0
        while not self.done and (self.peek() != "}" or depth):
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            text += token
        if self.take() != "}":
            raise ValueError("a word is left open")
        return text

    def atom(self) -> Node:
        token = self.take()
        if token == "{":
            self.place -= 1
            return self.argument()
        if token in _FRACTIONS:
            return Fraction(token, self.argument(), self.argument())
        if token == r"\sqrt":
            self.skip()
            degree = ""
            if self.peek() == "[":
                self.take()
                degree = "".join(iter(self.take, "]"))
            return Radical(degree, self.argument())
        if token in _ACCENTS:
            return Accent(token, self.argument())
        if token in _WORDS:
            word = self.word()
            shown = word.replace(r"\%", "%").replace(r"\_", "_").replace(r"\$", "$")
            return Mark(Kind.WORD, f"{token}{{{word}}}", shown)
        if token == r"\left":
            return self.fenced()
        if token == r"\begin":
            return self.environment()
        return _mark(token)

    def fenced(self) -> Node:
        self.skip()
        left = self.take()
        inside = self.row((r"\right",))
        if self.take() != r"\right":
            raise ValueError(r"\left without \right")
        self.skip()
        return Fenced(left, inside, self.take())

    def environment(self) -> Node:
        name = self.word()
        rows: list[tuple[Row, ...]] = []
        cells: list[Row] = []
        while True:
            cells.append(self.row(("&", r"\\", r"\end")))
            end = self.take()
            if end == "&":
                continue
            rows.append(tuple(cells))
            cells = []
            if end == r"\end":
                break
            if end != r"\\":
                raise ValueError(f"{name} is left open")
        if self.word() != name:
            raise ValueError(f"{name} ends as something else")
        return Environment(name, tuple(rows))


def _mark(token: str) -> Mark:
    if token in COMMANDS:
        kind, text = COMMANDS[token]
        return Mark(kind, token, text)
    if token.isdigit():
        return Mark(Kind.DIGIT, token, token)
    if token.isascii() and token.isalpha():
        return Mark(Kind.LETTER, token, token)
    return Mark(PLAIN[token], token, {"-": "−", "'": "′"}.get(token, token))


def latex_of(node: Node) -> str:
    """LaTeX that reads as this tree."""
    match node:
        case Mark(latex=latex):
            return latex
        case Row(nodes):
            return " ".join(_grouped(part) for part in nodes)
        case Fraction(command, top, bottom):
            return rf"{command}{{{latex_of(top)}}}{{{latex_of(bottom)}}}"
        case Radical(degree, inside):
            return rf"\sqrt{f'[{degree}]' if degree else ''}{{{latex_of(inside)}}}"
        case Script(base, below, above):
            low = "" if below is None else f"_{{{latex_of(below)}}}"
            high = "" if above is None else f"^{{{latex_of(above)}}}"
            return f"{_grouped(base)}{low}{high}"
        case Fenced(left, inside, right):
            return rf"\left{left} {latex_of(inside)} \right{right}"
        case Accent(command, base):
            return f"{command}{{{latex_of(base)}}}"
        case Environment(name, rows):
            body = r" \\ ".join(" & ".join(map(latex_of, row)) for row in rows)
            return rf"\begin{{{name}}} {body} \end{{{name}}}"


def _grouped(node: Node) -> str:
    return f"{{{latex_of(node)}}}" if isinstance(node, Row) else latex_of(node)
