"""A text as the lines that somebody says in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_PROMPT = "derive>"


def lines_in(text: str) -> tuple[str, ...]:
    """The lines that say something; one that ends with a comma goes on in the next."""
    return tuple(line for _, line in numbered_lines(text.splitlines()))


def numbered_lines(rows: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The same with the number of the row that each begins in, as the rows come."""
    start, begun = 0, ""
    for number, row in enumerate(rows, start=1):
        # What a terminal shows before a line comes along when the line is copied.
        line = row.strip().removeprefix(_PROMPT).strip()
        if not line or line.startswith("#"):
            continue
        start = start if begun else number
        begun = f"{begun} {line}" if begun else line
        if not line.endswith(","):
            yield start, begun
            begun = ""
    if begun:
        yield start, begun


def begins_a_question(word: str) -> bool:
    """True where the word, or the text, is the beginning of a line rather than a command."""
    if any(mark in word for mark in " =<>,"):
        return True
    from derive.commands import VERBS
    from derive.lexer import NAME
    from derive.names import is_quantity

    lower = word.lower()
    plain = NAME.fullmatch(word) is not None and is_quantity(lower)
    return plain or lower in VERBS or lower in ("max", "min", "model", "gpu")
