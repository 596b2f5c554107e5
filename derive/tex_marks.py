"""The marks of the LaTeX that this project writes: what each shows, and the space around it."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What a mark is, which decides the space around it."""

    LETTER = "letter"
    DIGIT = "digit"
    WORD = "word"
    BINARY = "binary"
    RELATION = "relation"
    OPEN = "open"
    CLOSE = "close"
    COMMA = "comma"
    BIG = "big"
    NAME = "name"
    SPACE = "space"
    PLAIN = "plain"


_K = Kind
COMMANDS: dict[str, tuple[Kind, str]] = {
    r"\alpha": (_K.LETTER, "α"), r"\beta": (_K.LETTER, "β"), r"\kappa": (_K.LETTER, "κ"),
    r"\theta": (_K.LETTER, "θ"), r"\phi": (_K.LETTER, "ϕ"), r"\lambda": (_K.LETTER, "λ"),
    r"\eta": (_K.LETTER, "η"), r"\sigma": (_K.LETTER, "σ"), r"\tau": (_K.LETTER, "τ"),
    r"\mu": (_K.LETTER, "μ"),
    r"\Delta": (_K.PLAIN, "Δ"), r"\star": (_K.PLAIN, "⋆"), r"\top": (_K.PLAIN, "⊤"),
    r"\infty": (_K.PLAIN, "∞"), r"\partial": (_K.LETTER, "∂"), r"\%": (_K.WORD, "%"),
    r"\_": (_K.WORD, "_"),
    r"\cdot": (_K.BINARY, "⋅"), r"\times": (_K.BINARY, "×"), r"\bmod": (_K.BINARY, "mod"),
    r"\pm": (_K.BINARY, "±"),
    r"\approx": (_K.RELATION, "≈"), r"\ge": (_K.RELATION, "≥"), r"\le": (_K.RELATION, "≤"),
    r"\ne": (_K.RELATION, "≠"), r"\in": (_K.RELATION, "∈"), r"\to": (_K.RELATION, "→"),
    r"\Rightarrow": (_K.RELATION, "⇒"),
    r"\lceil": (_K.OPEN, "⌈"), r"\rceil": (_K.CLOSE, "⌉"), r"\lfloor": (_K.OPEN, "⌊"),
    r"\rfloor": (_K.CLOSE, "⌋"), r"\{": (_K.OPEN, "{"), r"\}": (_K.CLOSE, "}"),
    r"\min": (_K.NAME, "min"), r"\max": (_K.NAME, "max"), r"\ln": (_K.NAME, "ln"),
    r"\sum": (_K.BIG, "∑"), r"\vert": (_K.PLAIN, "|"), r"\dots": (_K.PLAIN, "…"),
    r"\,": (_K.SPACE, "0.167"), r"\;": (_K.SPACE, "0.278"), r"\ ": (_K.SPACE, "0.333"),
    r"\quad": (_K.SPACE, "1"), r"\qquad": (_K.SPACE, "2"), r"\!": (_K.SPACE, "-0.167"),
}  # fmt: skip
PLAIN = {
    **dict.fromkeys("=<>", Kind.RELATION),
    **dict.fromkeys("+-/*", Kind.BINARY),
    **dict.fromkeys("([", Kind.OPEN),
    **dict.fromkeys(")]", Kind.CLOSE),
    **dict.fromkeys(",;", Kind.COMMA),
    **dict.fromkeys("'|.:", Kind.PLAIN),
}
