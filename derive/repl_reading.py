"""What the words of a session take: a name, a number, a file, or nothing."""

from __future__ import annotations

import re

from derive.complain import fault
from derive.document import Document
from derive.lexer import COMMA, NAME, WORD, Cursor
from derive.outcome import Outcome
from derive.repl_words import WORDS
from formulas.amounts import shortened

_COUNT = re.compile(r"[0-9]{1,9}(?![\w.])")
_FILE = re.compile(rf"{WORD.pattern}|[^\s#]+")


def done(document: Document, verb: str, **data: object) -> Outcome:
    """The outcome of a word that was understood."""
    return Outcome("ok", document, {"status": "ok", "verb": verb, **data})


def end_of(cursor: Cursor, verb: str) -> None:
    """Nothing more may follow."""
    if not cursor.done:
        where = cursor.here()
        word = shortened(cursor.text[slice(*where)])
        syntax = f"it is written  {WORDS[verb].syntax}"
        raise fault("syntax", f"'{word}' is not expected here", where, syntax)


def take_count(cursor: Cursor, verb: str, otherwise: int | None = None) -> int:
    """A whole number from 1; `otherwise` where the line ends."""
    if cursor.done and otherwise is not None:
        return otherwise
    where = cursor.here()
    count = int(cursor.take(_COUNT) or 0)
    if not count:
        example = f"example: {WORDS[verb].example}"
        raise fault("syntax", "a whole number was expected", where, example)
    return count


def take_file(cursor: Cursor, verb: str) -> str:
    """The name of a file."""
    where = cursor.here()
    name = cursor.take(_FILE).strip('"')
    if not name:
        example = f"example: {WORDS[verb].example}"
        raise fault("syntax", "the name of a file was expected", where, example)
    end_of(cursor, verb)
    return name


def take_words(cursor: Cursor, verb: str) -> tuple[tuple[str, tuple[int, int]], ...]:
    """Names with commas between, each with its place."""
    found = []
    while True:
        where = cursor.here()
        name = cursor.take(NAME)
        if not name:
            example = f"example: {WORDS[verb].example}"
            raise fault("syntax", "a name was expected", where, example)
        found.append((name, where))
        if cursor.done:
            return tuple(found)
        cursor.take(COMMA)
