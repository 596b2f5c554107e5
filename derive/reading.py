"""What has been read of a line so far, and how names are read; it never leaves the grammar."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from derive.complain import Span, fault
from derive.facts import read_item, unexpected
from derive.lexer import COMMA, NAME, NUMBER, RELATION, Cursor, keyword
from derive.literals import Amount
from derive.named_items import NAMED_ITEMS
from derive.values import continues, take_quantity
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.statements import Axis, Statement
from formulas.units import Unit

if TYPE_CHECKING:
    from derive.question import Question
    from solvers.search.logic import Condition

GIVEN = keyword("given where st with")
EXTREMES = ("max", "min")
EXTREME = keyword(" ".join(EXTREMES))
# Verbs of lines that begin with none: facts, and questions after a quantity.
QUESTIONS = ("state", "value", *EXTREMES)


@dataclass(slots=True)
class Reading:
    """The parts of a question as they come; `sense` is what max or min a verb speaks of.

    A question that stands behind `plot` or `derive` is `drawn`.
    """

    verb: str = "state"
    asked: Quantity | Amount | None = None
    typed: str = ""
    unit: Unit | None = None
    statements: list[Statement] = field(default_factory=list)
    given: Span | None = None
    names: tuple[str, ...] = ()
    over: tuple[Axis, ...] = ()
    by: tuple[str, ...] = ()
    solve_for: str | None = None
    top: int | None = None
    to: str | None = None
    form: str | None = None
    inner: Question | None = None
    words: tuple[str, ...] = ()
    sense: str = ""
    goals: tuple[tuple[str, str], ...] = ()
    conditions: tuple[Condition, ...] = ()
    prices: tuple[tuple[str, Fraction], ...] = ()
    seconds: float | None = None
    drawn: bool = False


def take_item(cursor: Cursor, reading: Reading) -> None:
    """The next item: statements are added, a quantity or calculation is what is asked."""
    start = cursor.start
    verb = cursor.take(EXTREME).lower()
    item = take_extreme(cursor, verb) if verb else read_item(cursor)
    if isinstance(item, tuple):
        reading.statements.extend(item)
        return
    ask(reading, item, cursor.since(start), (start, cursor.end))
    if reading.verb == "state":
        reading.verb = verb or "value"


def ask(reading: Reading, item: Quantity | Amount, typed: str, span: Span) -> None:
    """What is asked from now on; a second thing is a Problem."""
    if reading.asked:
        _refuse_second(reading, typed, span)
    reading.asked, reading.typed = item, typed


def _refuse_second(reading: Reading, typed: str, span: Span) -> NoReturn:
    message = f"two quantities are asked: {shortened(reading.typed)} and {shortened(typed)}"
    raise fault("syntax", message, span, "ask one at a time; a fact has a value: NAME = VALUE")


def take_extreme(cursor: Cursor, verb: str) -> Quantity:
    """The quantity whose largest or smallest is asked."""
    start = cursor.start
    found = take_one(cursor, f"{verb} context given tpot <= 30 ms")
    if continues(cursor):
        message = f"'{verb}' is asked of one quantity, not of a calculation"
        raise fault("syntax", message, cursor.here(), f"example: {verb} {cursor.since(start)}")
    return found


def take_one(cursor: Cursor, example: str) -> Quantity:
    """The quantity that comes next; anything else is a Problem with an example of the line."""
    where = cursor.here()
    example = f"example: {example}"
    if cursor.done:
        raise fault("syntax", "line ends where a quantity was expected", where, example)
    if cursor.look(NAME) and not cursor.look(GIVEN):
        name = cursor.take(NAME)
        if name.lower() in NAMED_ITEMS:
            message = f"'{name}' is a choice, and has no value of its own"
            raise fault("syntax", message, where, f"ask  which {name.lower()} given ...")
        return take_quantity(cursor, name)
    word = shortened(cursor.text[slice(*where)])
    raise fault("syntax", f"'{word}' stands where a quantity was expected", where, example)


def take_name(cursor: Cursor, example: str) -> str:
    """The canonical name of the quantity, or the choice, that comes next."""
    match = cursor.look(NAME)
    if match and match.group().lower() in NAMED_ITEMS:
        return cursor.take(NAME).lower()
    return take_one(cursor, example).name


def take_names(cursor: Cursor, example: str) -> tuple[str, ...]:
    """Names with commas between, each once."""
    names = {take_name(cursor, example): None}
    while cursor.take(COMMA):
        names[take_name(cursor, example)] = None
    if cursor.look(RELATION) or cursor.look(NUMBER):
        raise facts_behind_given(cursor, example)
    return tuple(names)


def facts_behind_given(cursor: Cursor, example: str) -> Problem:
    """The problem of a fact that stands where only names do."""
    word = shortened(cursor.text[slice(*cursor.here())])
    advice = (f"facts stand behind 'given'; example: {example}",)
    return fault("syntax", f"'{word}' is not expected here", cursor.here(), *advice)


def take_fact(cursor: Cursor, reading: Reading) -> None:
    """The next item, which has to state something."""
    start = cursor.start
    item = read_item(cursor)
    if not isinstance(item, tuple):
        typed = cursor.since(start)
        message = f"{shortened(typed)} has no value"
        raise fault("syntax", message, (start, cursor.end), f"a fact has one: {typed} = VALUE")
    reading.statements.extend(item)


def take_facts(cursor: Cursor, reading: Reading, example: str) -> None:
    """Facts with commas between; a question among them is a Problem."""
    while True:
        if cursor.done:
            message = "line ends where a fact was expected"
            raise fault("syntax", message, cursor.here(), f"example: {example}")
        take_fact(cursor, reading)
        if not cursor.take(COMMA):
            return


__all__ = [
    "EXTREME", "EXTREMES", "GIVEN", "QUESTIONS", "Axis", "Reading", "ask", "facts_behind_given",
    "take_extreme", "take_fact", "take_facts", "take_item", "take_name", "take_names", "take_one",
    "unexpected",
]  # fmt: skip
