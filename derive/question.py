"""A line of text becomes a question: what is asked, what is stated, and how the line was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.commands import VERBS
from derive.complain import Span, fault, located
from derive.facts import read_item, unexpected
from derive.lexer import COLON, HOLE, NAME, RELATION, WORD, Cursor
from derive.literals import Amount
from derive.names import canonical_name, quantity_named
from derive.ranges import IN
from derive.reading import GIVEN, Reading, take_item
from derive.spelt_line import canonical_line
from derive.symbolic import kept, own_unit
from derive.tails import read_tail
from derive.values import not_yet
from derive.verbs import LATER_VERB, WITH_INNER, begins_inner, read_verb
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.statements import Axis, Fact, Statement
from formulas.units import Unit

# What has no derivation of its own.
_UNDERIVED = ("state", "derive", "plot", "use")

__all__ = ["LONGEST_LINE", "Question", "canonical", "canonical_name", "parse", "read_statement"]

LONGEST_LINE = 10_000


@dataclass(frozen=True, slots=True)
class Question:
    """A line as it was read. `verb` is value, max, min, state or one of the table of verbs.

    A calculation that is asked is `expression`, with its values in `expression_unit`; `names` are
    what a verb speaks of. `inner` is the question behind `whatif FACTS:`, `why not FACTS:`, `plot`
    and `derive`, and the largest or smallest of `why max NAME` and `sens max NAME`. `goals` (sense
    and name), side `conditions` and `prices` of GPUs are those of a plan. It may take `seconds`;
    None is what the conversation allows.
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
    expression_unit: Unit | None = None
    goals: tuple[tuple[str, str], ...] = ()
    conditions: tuple[Any, ...] = ()
    prices: tuple[tuple[str, Any], ...] = ()
    seconds: float | None = None


def parse(text: str) -> Question:
    """The question that the line asks; a line that cannot be read is a Problem with its place.

    Example:
        >>> parse("max context given tpot <= 30 ms").find
        'context_tokens'
    """
    _refuse_length(text)
    cursor = Cursor(text)
    try:
        return _read_line(cursor)
    except Problem as problem:
        raise located(problem, text) from None


def canonical(question: Question) -> str:
    """The one spelling of the question; reading it gives the same question."""
    return canonical_line(question)


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
    if RELATION.match(text) or IN.match(text):
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
    if not isinstance(item, tuple):
        span = (0, max(1, cursor.end))
        raise fault("syntax", "a value was expected", span, "example: 30 ms, or <= 30 ms")
    if not cursor.done:
        raise unexpected(cursor, "the end")
    return item


def _read_line(cursor: Cursor, start: int = 0, drawn: bool = False) -> Question:
    """A whole line, or the rest of one behind a colon, `plot` or `derive`."""
    reading = Reading(drawn=drawn)
    notes = len(cursor.notes)
    _refuse_later(cursor)
    if cursor.done and not start:
        return _question(cursor, reading, start, notes)
    if not read_verb(cursor, reading) and not cursor.look(GIVEN):
        take_item(cursor, reading)
    if begins_inner(cursor, reading):
        where = cursor.here()
        reading.inner = _inner(cursor, drawn=True)
        if reading.verb == "derive" and reading.inner.verb in _UNDERIVED:
            example = f"example: {VERBS['derive'].example}"
            raise fault("syntax", "a question stands behind 'derive'", where, example)
    while not cursor.done:
        if reading.verb in WITH_INNER and cursor.take(COLON):
            reading.inner = _inner(cursor)
            break
        read_tail(cursor, reading)
    _refuse_incomplete(reading, (cursor.end + 1, cursor.end + 2))
    return _question(cursor, reading, start, notes)


def _inner(cursor: Cursor, drawn: bool = False) -> Question:
    """The rest of the line as a question, whose notes are its own."""
    own = len(cursor.notes)
    found = _read_line(cursor, cursor.start, drawn)
    del cursor.notes[own:]
    return found


def _refuse_later(cursor: Cursor) -> None:
    if match := cursor.look(LATER_VERB) or cursor.look(HOLE):
        raise not_yet(f"'{match.group()}'", match.span())


def _refuse_incomplete(reading: Reading, end: Span) -> None:
    """A Problem for a line that lacks what its verb cannot do without."""
    if reading.verb == "state" and reading.given:
        example = "example: tpot given batch = 32"
        raise fault("syntax", "nothing is asked before or after 'given'", reading.given, example)
    if reading.verb == "state" and (reading.over or reading.top or reading.to):
        example = "example: min tpot given context = 4k over tp, kv_dtype"
        raise fault("syntax", "nothing is asked", end, example)
    over = ("over", reading.over)
    lacking = {"sweep": over, "plan": over, "use": ("for", reading.solve_for)}
    word, found = lacking.get(reading.verb, ("", True))
    if not found:
        example = f"example: {VERBS[reading.verb].example}"
        raise fault("syntax", f"line ends where '{word}' was expected", end, example)


def _question(cursor: Cursor, reading: Reading, start: int, notes: int) -> Question:
    asked = reading.asked
    text, statements = cursor.text[start:], tuple(reading.statements)
    find = asked.name if isinstance(asked, Quantity) else None
    inner = reading.inner
    if reading.sense:
        inner = Question(text, reading.sense, find, statements, reading.unit)
    own = own_unit(asked.unit) if isinstance(asked, Amount) else None
    return Question(
        text,
        reading.verb,
        find,
        statements,
        reading.unit,
        tuple(cursor.notes[notes:]),
        kept(asked, own) if isinstance(asked, Amount) and own else None,
        reading.names,
        reading.over,
        reading.by,
        reading.solve_for,
        reading.top,
        reading.to,
        reading.form,
        inner,
        reading.words,
        own,
        reading.goals,
        reading.conditions,
        reading.prices,
        reading.seconds,
    )
