"""How each verb's line begins: which names, whatif facts, sweep names, use NAME, and so on."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.commands import DRAWN, PICTURES
from derive.complain import fault
from derive.lexer import COMMA, Cursor, keyword
from derive.names import canonical_name
from derive.plan_line import read_plan
from derive.reading import (
    EXTREME,
    Reading,
    ask,
    take_extreme,
    take_facts,
    take_names,
    take_one,
)
from formulas.amounts import shortened
from formulas.errors import Problem

# Lines of a session and of what is still to come: recognised, so that they are nothing else.
LATER = (
    "facts", "drop", "edit", "undo", "redo", "reset", "save", "load", "set",
    "help", "quit",
)  # fmt: skip

LATER_VERB = keyword(" ".join(LATER))
_NOT = keyword("not")
_TAIL = keyword("require given where st with over by for top to as in")
_WORD_OF_SEARCH = re.compile(r"[^\s,]+")
_PICTURE = keyword(" ".join(PICTURES))
_PLOTS = (
    "example: plot region batch, context given tpot <= 30 ms to region.svg",
    "example: plot sens max context given tpot <= 30 ms to sens.png",
)
_RELATION_KEY = re.compile(r"[A-Za-z_][\w.]*")
_MOST_WORDS = 20


def read_verb(cursor: Cursor, reading: Reading) -> bool:
    """True where the line begins with a verb, which is read with what belongs to it."""
    word = cursor.take(VERB).lower()
    if not word:
        return False
    reading.verb = word
    _HEADS[word](cursor, reading)
    return True


def begins_inner(cursor: Cursor, reading: Reading) -> bool:
    """True where a whole question stands behind the verb without a colon."""
    if reading.verb == "derive":
        return not (cursor.done or cursor.look(_TAIL))
    return reading.verb == "plot" and not reading.words


def _which(cursor: Cursor, reading: Reading) -> None:
    reading.names = take_names(cursor, "which tp given tpot <= 25 ms, context = 8192")


def _whatif(cursor: Cursor, reading: Reading) -> None:
    take_facts(cursor, reading, "whatif gpu = 8 x h200-sxm: max context")


def _why(cursor: Cursor, reading: Reading) -> None:
    if cursor.take(_NOT):
        reading.verb = "whynot"
        take_facts(cursor, reading, "why not tp = 2")
        return
    _maybe_one(cursor, reading, "why tpot")


def _sens(cursor: Cursor, reading: Reading) -> None:
    _maybe_one(cursor, reading, "sens context by memory_bandwidth, batch")


def _maybe_one(cursor: Cursor, reading: Reading, example: str) -> None:
    """Nothing, a quantity, or the largest or smallest of one."""
    start = cursor.start
    if cursor.done or cursor.look(_TAIL):
        return
    reading.sense = cursor.take(EXTREME).lower()
    found = take_extreme(cursor, reading.sense) if reading.sense else take_one(cursor, example)
    ask(reading, found, cursor.since(start), (start, cursor.end))


def _sweep(cursor: Cursor, reading: Reading) -> None:
    example = "sweep tpot, output_token_rate over batch in 1..256 log2"
    reading.names = take_names(cursor, example)


def _relax(cursor: Cursor, reading: Reading) -> None:
    if not cursor.done and not cursor.look(_TAIL):
        reading.names = take_names(cursor, "relax tpot, batch")


def _one_name(cursor: Cursor, reading: Reading) -> None:
    """need NAME, variants NAME."""
    start = cursor.start
    found = take_one(cursor, f"{reading.verb} tpot")
    ask(reading, found, cursor.since(start), (start, cursor.end))
    reading.names = (found.name,)


def _use(cursor: Cursor, reading: Reading) -> None:
    reading.names = (_relation_name(cursor, "use decode_step_kv for step_time"),)


def _show(cursor: Cursor, reading: Reading) -> None:
    """A formula or a definition by its id, or a quantity by one of its names."""
    word = _relation_name(cursor, "show kv_bytes_per_token for n_kv_heads")
    try:
        name = canonical_name(word)
    except Problem:
        name = word
    if name.lower() != word.lower():
        cursor.note(f"{word} read as {name}")
    reading.names = (name,)


def _relation_name(cursor: Cursor, example: str) -> str:
    where = cursor.here()
    word = cursor.take(_RELATION_KEY).rstrip(".")
    if word and not _TAIL.fullmatch(word):
        return word
    if cursor.done and not word:
        raise fault("syntax", "line ends where a name was expected", where, f"example: {example}")
    typed = shortened(cursor.text[slice(*where)])
    message = f"'{typed}' stands where a name was expected"
    raise fault("syntax", message, where, f"example: {example}")


def _check(cursor: Cursor, reading: Reading) -> None:
    if not cursor.done and not cursor.look(_TAIL):
        take_facts(cursor, reading, "check tpot = 20 ms, batch = 64")


def _plot(cursor: Cursor, reading: Reading) -> None:
    """A picture of its own; behind `plot` may stand as well a whole question that has one."""
    word = cursor.take(_PICTURE).lower()
    if not word:
        if not cursor.look(keyword(" ".join(DRAWN))):
            message = f"plot draws {', '.join((*DRAWN, *PICTURES))}"
            raise fault("syntax", message, cursor.here(), *_PLOTS)
        return
    reading.words = (word,)
    if word == "region":
        start = cursor.start
        reading.names = take_names(cursor, _PLOTS[0].removeprefix("example: "))
        if len(reading.names) != 2:
            message = "a region has two quantities, one along each axis"
            raise fault("syntax", message, (start, cursor.end), _PLOTS[0])


def _derive(cursor: Cursor, reading: Reading) -> None:
    """What follows is a whole question, or nothing."""


def _formulas(cursor: Cursor, reading: Reading) -> None:
    words: list[str] = []
    while not cursor.done:
        where = cursor.here()
        word = cursor.take(_WORD_OF_SEARCH)
        if word:
            words.append(word)
        elif not cursor.take(COMMA):
            raise fault("syntax", "a word was expected", where, "example: formulas kv cache")
        if len(words) > _MOST_WORDS:
            raise fault("syntax", f"at most {_MOST_WORDS} words are searched", where)
    reading.words = tuple(words)


_HEADS: dict[str, Callable[[Cursor, Reading], None]] = {
    "which": _which,
    "whatif": _whatif,
    "why": _why,
    "sens": _sens,
    "sweep": _sweep,
    "relax": _relax,
    "variants": _one_name,
    "use": _use,
    "need": _one_name,
    "check": _check,
    "formulas": _formulas,
    "show": _show,
    "plan": read_plan,
    "plot": _plot,
    "derive": _derive,
}
VERB = keyword(" ".join(_HEADS))
# Verbs behind whose facts a whole question may stand: whatif tp = 4: max context.
WITH_INNER = ("whatif", "whynot")
