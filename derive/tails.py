"""What follows behind a question: given, over, by, for, top, to, as, a unit, and question marks."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.commands import VERBS
from derive.complain import Span, fault
from derive.kinds import different, label_unit, tags_clash
from derive.lexer import ARROW, COMMA, HOLE, NUMBER, RELATION, TIME, WORD, Cursor, keyword
from derive.literals import Amount, read_unit
from derive.named_items import NAMED_ITEMS, read_names
from derive.names import quantity_named
from derive.plan_line import read_prices, read_require
from derive.ranges import IN, opens_domain, read_domain
from derive.reading import (
    GIVEN,
    QUESTIONS,
    Axis,
    Reading,
    facts_behind_given,
    take_fact,
    take_item,
    take_name,
    take_names,
    take_one,
    unexpected,
)
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.statements import EVERY
from formulas.units import Unit

MOST_BEST = 1000

_FORMS = ("text", "md", "tex", "html", "json", "csv")
_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?(?![\w.])")
_COUNT = re.compile(r"[0-9]{1,9}(?![\w.])")
_EVERY = keyword("all")


def read_tail(cursor: Cursor, reading: Reading) -> None:
    """The next part of the line behind its first item."""
    if match := cursor.look(_TAIL):
        word = _PLAIN.get(match.group().lower(), match.group().lower())
        read, verbs = _TAILS[word]
        if reading.verb not in verbs and not (reading.drawn and word == "to"):
            raise _out_of_place(cursor, match.group(), reading)
        span = match.span()
        cursor.take(_TAIL)
        read(cursor, reading, span)
    elif cursor.look(COMMA) and reading.verb in QUESTIONS:
        cursor.take(COMMA)
        take_item(cursor, reading)
    elif cursor.look(COMMA) and reading.given:
        cursor.take(COMMA)
        take_fact(cursor, reading)
    elif not cursor.take(HOLE):
        raise unexpected(cursor, "the end")


def _out_of_place(cursor: Cursor, word: str, reading: Reading) -> Problem:
    """The problem of a tail that the verb does not have."""
    where = cursor.here()
    rest = cursor.text[where[1] :].strip()
    if word.lower() == "for":
        message = "'for' is read behind show and use only"
        return fault("syntax", message, where, f"facts stand behind 'given':  given {_head(rest)}")
    verb = VERBS.get(reading.verb)
    if verb is None:
        message = f"'{word}' does not belong to a question"
        return fault("syntax", message, where, f"example: {_EXAMPLES.get(word.lower(), 'tpot')}")
    advice = f"it is written  {verb.syntax}"
    return fault("syntax", f"'{word}' does not belong to '{verb.name}'", where, advice)


def _head(rest: str) -> str:
    return shortened(rest, 40) or "batch = 32"


_EXAMPLES = {
    "by": "sens context by memory_bandwidth, batch",
    "to": "tpot given batch = 32 to report.tex",
    "as": "show tpot as tex",
    "--time": "max context given batch = 32 --time 60",
}


def _given(cursor: Cursor, reading: Reading, span: Span) -> None:
    reading.given = span
    if reading.verb in QUESTIONS:
        take_item(cursor, reading)
    else:
        take_fact(cursor, reading)


def _over(cursor: Cursor, reading: Reading, _: Span) -> None:
    while True:
        axis = _axis(cursor, reading)
        reading.over = (*reading.over, axis)
        if not cursor.take(COMMA):
            return


def _axis(cursor: Cursor, reading: Reading) -> Axis:
    verb = VERBS.get(reading.verb)
    example = verb.example if verb else "min tpot given context = 4k over tp in {4, 8}, kv_dtype"
    start = cursor.start
    name = take_name(cursor, example)
    typed, span = cursor.since(start), (start, cursor.end)
    if any(axis.name == name for axis in reading.over):
        raise fault("syntax", f"{name} is searched twice", span, f"example: {example}")
    if name in NAMED_ITEMS:
        axis = Axis(name, read_names(cursor, name) if cursor.take(IN) else None)
    elif opens_domain(cursor):
        axis = Axis(name, read_domain(cursor, quantity_named(name), typed))
    else:
        axis = Axis(name)
    if cursor.look(NUMBER) or cursor.look(RELATION):
        raise facts_behind_given(cursor, example)
    if axis.values is None and reading.verb == "sweep":
        advice = f"example: {example}"
        raise fault("syntax", f"a sweep over {typed} needs its values", span, advice)
    return axis


def _by(cursor: Cursor, reading: Reading, _: Span) -> None:
    reading.by = (*reading.by, *take_names(cursor, VERBS["sens"].example))


def _for(cursor: Cursor, reading: Reading, span: Span) -> None:
    _once(reading.solve_for, span)
    reading.solve_for = take_one(cursor, VERBS[reading.verb].example).name


def _top(cursor: Cursor, reading: Reading, span: Span) -> None:
    _once(reading.top, span)
    where = cursor.here()
    if reading.verb == "plan" and cursor.take(_EVERY):
        reading.top = EVERY
        return
    count = int(cursor.take(_COUNT) or 0)
    if not 1 <= count <= MOST_BEST:
        message = f"'top' takes a whole number from 1 to {MOST_BEST}"
        raise fault("number", message, where, "example: top 5")
    reading.top = count


def _to(cursor: Cursor, reading: Reading, span: Span) -> None:
    _once(reading.to, span)
    where = cursor.here()
    word = cursor.take(WORD).strip('"')
    if not word:
        example = f"example: {_EXAMPLES['to']}"
        raise fault("syntax", "the name of a file was expected", where, example)
    reading.to = word


def _as(cursor: Cursor, reading: Reading, span: Span) -> None:
    _once(reading.form, span)
    where = cursor.here()
    word = cursor.take(_FORM).lower()
    if not word:
        raise fault("syntax", "a form was expected", where, f"one of {', '.join(_FORMS)}")
    reading.form = word


def _time(cursor: Cursor, reading: Reading, span: Span) -> None:
    _once(reading.seconds, span)
    where = cursor.here()
    text = cursor.take(_SECONDS)
    if not text or not float(text):
        message = "'--time' takes a number of seconds above 0"
        raise fault("number", message, where, "example: --time 60")
    reading.seconds = float(text)


def _once(before: object, span: Span) -> None:
    if before is not None:
        raise fault("syntax", "this stands twice in one line", span)


def _unit(cursor: Cursor, reading: Reading, _: Span) -> None:
    where = cursor.here()
    if cursor.done:
        raise fault("syntax", "line ends where a unit was expected", where, "example: tpot -> us")
    unit = read_unit(cursor)
    span = (where[0], cursor.end)
    if reading.asked is None:
        message = "a unit is asked for, but no quantity before it"
        raise fault("syntax", message, span, "example: tpot -> us")
    if reading.unit is not None:
        raise fault("syntax", "two units are asked for", span)
    name, own = _asked_unit(reading)
    own = own if unit.tags else Unit(own.powers)
    if not own.same_dimension(unit) or tags_clash(own, unit):
        raise different((name, own), (cursor.text[slice(*span)], unit), span)
    reading.unit = unit


def _asked_unit(reading: Reading) -> tuple[str, Unit]:
    """What is asked, by its name or as typed, and its unit with what it counts."""
    if isinstance(reading.asked, Amount):
        return shortened(reading.typed), Unit(reading.asked.unit.powers)
    assert reading.asked is not None
    own = label_unit(reading.asked)
    return reading.asked.name, own if own.same_dimension(reading.asked.unit) else (
        reading.asked.unit
    )


_ANSWERING = (
    "which", "why", "sens", "sweep", "relax", "variants", "need", "check", "plot",
)  # fmt: skip
# Verbs whose outcome can be written to a file.
_WRITTEN = (*_ANSWERING, "show", "derive")
# Each tail's reader, and the verbs that have it.
_TAILS: dict[str, tuple[Callable[[Cursor, Reading, Span], None], tuple[str, ...]]] = {
    "given": (_given, (*QUESTIONS, *_ANSWERING, "plan")),
    "over": (_over, (*QUESTIONS, "which", "sweep", "plan")),
    "by": (_by, ("sens",)),
    "for": (_for, ("show", "use")),
    "top": (_top, (*QUESTIONS, "which", "plan")),
    "require": (read_require, ("plan",)),
    "at": (read_prices, ("plan",)),
    "to": (_to, (*QUESTIONS, *_WRITTEN)),
    "as": (_as, ("show", "sweep")),
    "->": (_unit, QUESTIONS),
    "--time": (_time, (*QUESTIONS, *_WRITTEN, "plan")),
}
_PLAIN = {"where": "given", "st": "given", "with": "given", "in": "->", "\u2192": "->"}
_TAIL = re.compile(
    rf"{ARROW.pattern}|{TIME.pattern}|{GIVEN.pattern}"
    rf"|{keyword('over by for top to as in require at').pattern}"
)
_FORM = keyword(" ".join(_FORMS))
