"""The two ways to write a plain line: in names of quantities, and in the letters of the sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from derive.figures import grouped
from derive.letters import is_words, superscript, unicode_letter
from derive.shapes import Integer, Level, Negative, Shape, Text


@dataclass(frozen=True)
class Style:
    """The marks of one way to write; a pair stands around something, {} is where an index goes."""

    minus: str
    signs: Mapping[str, str]
    words: Mapping[str, str]
    fences: Mapping[str, tuple[str, str]]
    over: Mapping[str, tuple[str, str, Level]]
    root: tuple[str, str]
    item: tuple[str, str]
    transposed: str
    name: Callable[[str], Text]
    number: Callable[[str, int], Text]
    power: Callable[[Text, Shape, Text], str]
    between: Callable[[Text, Text], str]
    slash: Callable[[Text, Text], str]
    least_factor: Level


def bracketed(text: Text, least: Level) -> Text:
    """The text, in brackets where it holds together less tightly than its place wants."""
    return text if text.level >= least else Text(f"({text.text})", Level.ATOM, text.wordy)


def _has_open_space(text: str) -> bool:
    """True where a space stands outside all brackets."""
    depth = 0
    for mark in text:
        depth += (mark in "([{⌈⌊") - (mark in ")]}⌉⌋")
        if mark == " " and not depth:
            return True
    return False


def _named(name: str) -> Text:
    """A number with a unit is kept apart from what stands beside it."""
    return Text(name, Level.REACHING if " " in name else Level.ATOM)


def _lettered(letter: str) -> Text:
    """Words that hold a slash or a function are kept apart from what divides or multiplies them."""
    text = unicode_letter(letter)
    level = Level.POWER if any(mark in text for mark in " ([|⋆") else Level.ATOM
    if "/" in text or text.startswith("max ") or (" " in text and text[0].isdigit()):
        level = Level.REACHING
    return Text(text, Level.NEGATIVE if text.startswith(("-", "−")) else level, is_words(letter))


def _ascii_number(digits: str, exponent: int) -> Text:
    scaled = f"10^{exponent}" if digits == "1" else f"{digits}e{exponent}"
    return Text(scaled if exponent else digits, Level.ATOM)


def _unicode_number(digits: str, exponent: int) -> Text:
    whole, point, rest = digits.partition(".")
    shown = grouped(whole, "\u2009") + point + rest
    if not exponent:
        return Text(shown, Level.ATOM)
    ten = "10" + superscript(str(exponent))
    return Text(ten, Level.POWER) if digits == "1" else Text(f"{shown} · {ten}", Level.PRODUCT)


def _caret(base: Text, _: Shape, exponent: Text) -> str:
    return f"{bracketed(base, Level.ATOM).text}^{bracketed(exponent, Level.ATOM).text}"


def _ascii_power(base: Text, shape: Shape, exponent: Text) -> str:
    return f"exp({exponent.text})" if base == EULER else _caret(base, shape, exponent)


def _unicode_power(base: Text, shape: Shape, exponent: Text) -> str:
    digits = shape.inside if isinstance(shape, Negative) else shape
    if not isinstance(digits, Integer):
        return _caret(base, shape, exponent)
    sign = "-" if isinstance(shape, Negative) else ""
    return bracketed(base, Level.ATOM).text + superscript(f"{sign}{digits.value}")


def _between_names(left: Text, right: Text) -> str:
    """A space, or a sign where a space could be read as a call or as one number."""
    reads_as_call = right.text.startswith("(") and (
        left.text[-1].isalnum() and not left.text.isdigit()
    )
    return " · " if reads_as_call or right.text[0].isdigit() else " "


def _between_letters(left: Text, right: Text) -> str:
    if left.wordy or right.wordy:
        return " × "
    if Level.SLASH in (left.level, right.level) or right.text[0].isdigit():
        return " · "
    closed = left.level is Level.ATOM and left.text.endswith(")")
    if closed or (
        right.text.startswith("(") and left.text[-1].isdigit() and left.text[0].isdigit()
    ):
        return ""
    return " · " if right.text.startswith("(") else " "


def _tight_slash(top: Text, bottom: Text) -> str:
    loose = top.wordy or bottom.wordy or _has_open_space(top.text) or _has_open_space(bottom.text)
    return " / " if loose else "/"


EULER = Text("e", Level.ATOM)

NAMES = Style(
    minus="-",
    signs={sign: sign for sign in ("=", "≈", "!=", ">=", "<=", ">", "<")},
    words={"infinity": "infinity", "e": "e", "pi": "pi", "true": "true", "false": "false"},
    fences={"ceiling": ("ceil(", ")"), "floor": ("floor(", ")"), "absolute": ("abs(", ")")},
    over={
        "sum": ("sum(", " for {})", Level.ATOM),
        "max": ("max(", " for {})", Level.ATOM),
        "entries": ("[", " for {}]", Level.ATOM),
    },
    root=("sqrt(", ")"),
    item=("[", "]"),
    transposed="^T",
    name=_named,
    number=_ascii_number,
    power=_ascii_power,
    between=_between_names,
    slash=lambda top, bottom: " / ",
    least_factor=Level.FRACTION,
)
LETTERS = Style(
    minus="−",
    signs={**NAMES.signs, "!=": "≠", ">=": "≥", "<=": "≤"},
    words={**NAMES.words, "infinity": "∞", "pi": "π"},
    fences={"ceiling": ("⌈", "⌉"), "floor": ("⌊", "⌋"), "absolute": ("|", "|")},
    over={
        "sum": ("∑_{} ", "", Level.REACHING),
        "max": ("max_{} ", "", Level.REACHING),
        "entries": ("(", ")_{}", Level.POWER),
    },
    root=("√(", ")"),
    item=("_", ""),
    transposed="ᵀ",
    name=_lettered,
    number=_unicode_number,
    power=_unicode_power,
    between=_between_letters,
    slash=_tight_slash,
    least_factor=Level.SLASH,
)
# Every sign written out, as one types it; and the same as tight as numbers can stand.
TYPED = replace(NAMES, between=lambda left, right: " * ")
TYPED_NUMBERS = replace(NAMES, between=lambda left, right: "*", slash=lambda top, bottom: "/")
