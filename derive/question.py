"""A line of text becomes a question: what is asked, what is stated, and how the line was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from derive.complain import Span, fault, located
from derive.facts import read_item, unexpected
from derive.kinds import different, label_unit, tags_clash
from derive.lexer import ARROW, COMMA, HOLE, NAME, NUMBER, RELATION, WORD, Cursor, Pattern, keyword
from derive.literals import read_unit
from derive.names import canonical_name, quantity_named
from derive.spelling import canonical_line
from derive.values import not_yet, take_quantity
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.statements import Axis, Fact, Statement
from formulas.units import Unit

__all__ = ["LONGEST_LINE", "Question", "canonical", "canonical_name", "parse", "read_statement"]

LONGEST_LINE = 10_000

EXTREMES = ("max", "min")
# Verbs of the grammar that are still to come: never read as something else.
LATER = (
    "which", "whatif", "why", "derive", "sens", "sweep", "plan", "relax", "formulas", "show",
    "variants", "use", "facts", "need", "check", "drop", "edit", "undo", "redo", "reset", "save",
    "load", "set", "help", "quit",
)  # fmt: skip

_EXTREME, _LATER_VERB = keyword(" ".join(EXTREMES)), keyword(" ".join(LATER))
_GIVEN, _IN = keyword("given where st with"), keyword("in")
_LATER_TAIL = keyword("over by for top as to")


@dataclass(frozen=True, slots=True)
class Question:
    """A line as it was read. `verb` is value, max, min, state or one of the table of verbs.

    A calculation that is asked is `expression`, in own units; `names` are what a verb speaks of.
    """

    text: str
    verb: str
    find: str | None = None
    statements: tuple[Statement, ...] = ()
    unit: Unit | None = None
    read_as: tuple[str, ...] = ()
    expression: Any = None
    names: tuple[str, ...] = ()
    over: tuple[Axis, ...] = ()
    by: tuple[str, ...] = ()
    solve_for: str | None = None
    top: int | None = None
    to: str | None = None
    form: str | None = None
    inner: Question | None = None
    words: tuple[str, ...] = ()


def parse(text: str) -> Question:
    """The question that the line asks; a line that cannot be read is a Problem with its place.

    Example:
        >>> parse("max context given tpot <= 30 ms").find
        'context_tokens'
    """
    _refuse_length(text)
    cursor = Cursor(text)
    try:
        reading = _read_line(cursor)
    except Problem as problem:
        raise located(problem, text) from None
    return Question(
        text,
        reading.verb,
        reading.asked.name if reading.asked else None,
        tuple(reading.statements),
        reading.unit,
        tuple(cursor.notes),
    )


def canonical(question: Question) -> str:
    """The one spelling of the question; reading it gives the same question."""
    return canonical_line(question.verb, question.find, question.statements, question.unit)


def read_statement(name: str, text: str) -> tuple[Statement, ...]:
    """What `name` is stated to be by a text such as '30 ms', '<= 30 ms' or '8 x h100-sxm'."""
    _refuse_length(name + text)
    line = _statement_line(name, text)
    cursor = Cursor(line)
    try:
        if not NAME.fullmatch(name):
            quantity_named(name)
        if name in ("model", "gpu") or not _is_hash(name):
            return _only_statements(cursor)
    except Problem as problem:
        raise located(problem, line) from None
    return (Fact(canonical_name(name), text, text=line),)


def _refuse_length(text: str) -> None:
    if len(text) > LONGEST_LINE:
        message = f"line of {len(text)} characters; at most {LONGEST_LINE} are read"
        raise Problem("syntax", message)


def _statement_line(name: str, text: str) -> str:
    text = text.strip()
    if RELATION.match(text):
        return f"{name} {text}"
    # A path in JSON is quoted already.
    if name == "model" and text and '"' not in text and not WORD.fullmatch(text):
        text = f'"{text}"'
    return f"{name} = {text}"


def _is_hash(name: str) -> bool:
    try:
        return quantity_named(name).unit.text == "hash"
    except Problem:
        return False


def _only_statements(cursor: Cursor) -> tuple[Statement, ...]:
    item = read_item(cursor)
    if isinstance(item, Quantity):
        span = (0, max(1, cursor.end))
        raise fault("syntax", "a value was expected", span, "example: 30 ms, or <= 30 ms")
    if not cursor.done:
        raise unexpected(cursor, "the end")
    return item


@dataclass(slots=True)
class _Reading:
    """What has been read so far; it never leaves this module."""

    verb: str = "state"
    asked: Quantity | None = None
    typed: str = ""
    unit: Unit | None = None
    statements: list[Statement] = field(default_factory=list)
    given: Span | None = None


def _read_line(cursor: Cursor) -> _Reading:
    """Items between commas and `given`, a unit where one is asked, and question marks."""
    reading = _Reading()
    if cursor.done:
        return reading
    _refuse_later(cursor, _LATER_VERB)
    if not cursor.look(_GIVEN):
        _read_item(cursor, reading)
    while not cursor.done:
        _read_next(cursor, reading)
    if reading.given and not reading.asked:
        example = "example: tpot given batch = 32"
        raise fault("syntax", "nothing is asked before or after 'given'", reading.given, example)
    return reading


def _refuse_later(cursor: Cursor, pattern: Pattern) -> None:
    if match := cursor.look(pattern):
        raise not_yet(f"'{match.group()}'", match.span())


def _read_next(cursor: Cursor, reading: _Reading) -> None:
    where = cursor.here()
    _refuse_later(cursor, _LATER_TAIL)
    if cursor.take(COMMA):
        _read_item(cursor, reading)
    elif cursor.take(_GIVEN):
        reading.given = where
        _read_item(cursor, reading)
    elif cursor.take(ARROW) or _take_in(cursor):
        _read_asked_unit(cursor, reading)
    elif not cursor.take(HOLE):
        raise unexpected(cursor, "the end")


def _take_in(cursor: Cursor) -> bool:
    """True behind an `in` that a unit follows; a list of values follows the other."""
    where = cursor.here()
    if not cursor.take(_IN):
        return False
    if cursor.look(NUMBER) or cursor.text[cursor.start : cursor.start + 1] in ("{", "("):
        raise not_yet("a list of allowed values", where, "example of what is read: 1 <= tp <= 8")
    return True


def _read_item(cursor: Cursor, reading: _Reading) -> None:
    start = cursor.start
    verb = cursor.take(_EXTREME)
    item = _extreme(cursor, verb) if verb else read_item(cursor)
    if not isinstance(item, Quantity):
        reading.statements.extend(item)
        return
    typed = cursor.since(start)
    if reading.asked:
        _refuse_second(reading, typed, (start, cursor.end))
    reading.verb, reading.asked, reading.typed = verb or "value", item, typed


def _extreme(cursor: Cursor, verb: str) -> Quantity:
    where = cursor.here()
    name = cursor.take(NAME)
    if name:
        return take_quantity(cursor, name)
    example = f"example: {verb} context given tpot <= 30 ms"
    if cursor.done:
        raise fault("syntax", "line ends where a quantity was expected", where, example)
    word = shortened(cursor.text[slice(*where)])
    raise fault("syntax", f"'{word}' stands where a quantity was expected", where, example)


def _refuse_second(reading: _Reading, typed: str, span: Span) -> NoReturn:
    message = f"two quantities are asked: {shortened(reading.typed)} and {shortened(typed)}"
    raise fault("syntax", message, span, "ask one at a time; a fact has a value: NAME = VALUE")


def _read_asked_unit(cursor: Cursor, reading: _Reading) -> None:
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
    own = label_unit(reading.asked)
    own = own if unit.tags else Unit(reading.asked.unit.powers)
    if not own.same_dimension(unit) or tags_clash(own, unit):
        raise different((reading.asked.name, own), (cursor.text[slice(*span)], unit), span)
    reading.unit = unit
