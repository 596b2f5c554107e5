"""Looking for words in what is said of a thing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from formulas.amounts import shortened
from formulas.errors import Problem, nearest

Words = str | Iterable[str]

_PIECE = re.compile(r"[a-z0-9.+]+")
# A shorter word is looked for at the beginnings of words only: tp is not meant in output.
_LONG = 5
_SHORTEST_PLURAL = 4


@dataclass(frozen=True, slots=True)
class Needles:
    """Words in lower case, of which a text has to have every one."""

    words: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.words)

    def all_in(self, text: str) -> bool:
        """True where each word is the beginning of a word of the text, or its pieces are.

        Units are words too, and have to be there as they are; all_reduce is found as allreduce.
        """
        lower = text.lower()
        whole = frozenset(lower.split())
        pieces = _PIECE.findall(lower)
        run = "".join(pieces)
        return all(_is_in(word, whole, pieces, run) for word in self.words)


def needles(words: Words) -> Needles:
    """The words to look for, from one text or several."""
    text = words if isinstance(words, str) else " ".join(words)
    return Needles(tuple(text.lower().split()))


def _is_in(word: str, whole: frozenset[str], pieces: list[str], run: str) -> bool:
    if word in whole:
        return True
    wanted = [_singular(piece) for piece in _PIECE.findall(word)]
    # A slash makes a unit, which is there or not.
    if not wanted or "/" in word:
        return False
    if all(any(piece.startswith(part) for piece in pieces) for part in wanted):
        return True
    return len("".join(wanted)) >= _LONG and "".join(wanted) in run


def _singular(piece: str) -> str:
    return piece[:-1] if len(piece) >= _SHORTEST_PLURAL and piece.endswith("s") else piece


def nothing_found(what: str, words: Words, names: list[str]) -> Problem:
    """The Problem for words that nothing has, with the name that was perhaps meant."""
    text = shortened(words if isinstance(words, str) else " ".join(words), 60)
    close = nearest("_".join(text.split()), names) or nearest(text, names)
    lines = (f"did you mean '{close}'?",) if close else ("fewer words find more",)
    return Problem("name", f"no {what} has '{text}'", lines, text, (close,) if close else ())
