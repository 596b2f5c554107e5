"""The letter of a symbol, in LaTeX and in Unicode."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any

from formulas.arrays import DIMENSION_LETTERS
from formulas.formula import VOCABULARY

_UNICODE = {
    r"\alpha": "α", r"\beta": "β", r"\kappa": "κ", r"\theta": "θ", r"\phi": "φ", r"\lambda": "λ",
    r"\eta": "η", r"\sigma": "σ", r"\tau": "τ", r"\Delta": "Δ", r"\star": "⋆", r"\max": "max ",
    r"\mathbb{E}": "E", r"\,": " ", r"\ ": " ", "'": "′",
}  # fmt: skip
_ACCENTS = {r"\hat": "\u0302", r"\tilde": "\u0303", r"\bar": "\u0304"}
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_ACCENTED = re.compile(r"(\\(?:hat|tilde|bar))\{(\w)\}")
# A space after a command is the command's end and no space.
_COMMAND = re.compile(r"(\\mathbb\{E\}|\\[A-Za-z]+|\\[ ,]|') ?")
_LONG_SUBSCRIPT = re.compile(r"_\{([^{}]{2,})\}")
_FRACTION = re.compile(r"\\frac\{\\text\{([^{}]*)\}\}\{\\text\{([^{}]*)\}\}")
_SUBSCRIPT_WORD = re.compile(r"_\\text\{([^{}]*)\}")
_WORD = re.compile(r"\\(?:text|mathrm)\{([^{}]*)\}")
_RAISED = re.compile(r"\^\{?(⋆|\d+)\}?")


def letter_of(symbol: Any, letters: Mapping[str, str]) -> str:
    """The LaTeX letter: that in `letters`, else that of the vocabulary or of the dimension."""
    name = symbol.name
    if name in letters:
        return letters[name]
    quantity = VOCABULARY.get(name)
    if quantity is not None and quantity.symbol == symbol:
        return quantity.letter
    return DIMENSION_LETTERS.get(name) or _letter_of_name(name)


def _letter_of_name(name: str) -> str:
    """A name as a letter: its first part, then the rest as a subscript."""
    stem, _, rest = name.partition("_")
    stem = stem if len(stem) == 1 else rf"\text{{{stem}}}"
    return rf"{stem}_\text{{{rest.replace('_', ' ')}}}" if rest else stem


def is_words(letter: str) -> bool:
    """True where a LaTeX letter is words rather than a letter with a subscript."""
    return letter.startswith(r"\text{") or letter.startswith(r"\frac{\text{")


@cache
def unicode_letter(letter: str) -> str:
    """A LaTeX letter as Unicode: Greek as itself, a subscript after an underscore, words bare."""
    text = _FRACTION.sub(r"\1 / \2", letter)
    text = _ACCENTED.sub(lambda found: found[2] + _ACCENTS[found[1]], text)
    text = _SUBSCRIPT_WORD.sub(lambda found: "_" + found[1].replace(" ", "_"), text)
    text = _WORD.sub(r"\1", text)
    text = _LONG_SUBSCRIPT.sub(lambda found: f"_({found[1].replace('-', '−')})", text)
    text = _COMMAND.sub(lambda found: _UNICODE[found[1]], text)
    text = _RAISED.sub(lambda found: superscript(found[1]), text)
    text = text.replace("{", "").replace("}", "")
    return unicodedata.normalize("NFC", " ".join(text.split()))


def superscript(text: str) -> str:
    """The digits raised."""
    return text.translate(_SUPERSCRIPTS)
