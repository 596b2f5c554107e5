"""One item of a list: a fact, a limit, a model, a GPU, a choice, or a quantity that is asked."""

from __future__ import annotations

import re
from dataclasses import replace

from derive.complain import Span, fault
from derive.guesses import no_variable
from derive.kinds import example_of
from derive.lexer import (
    DOLLAR,
    DOTS,
    HOLE,
    NAME,
    NUMBER,
    PLUS_MINUS,
    RELATION,
    Cursor,
    keyword,
)
from derive.literals import CURRENCY, Amount, other_money
from derive.named_items import HARDWARE, NAMED_ITEMS, read_gpu, read_named_item
from derive.ranges import in_one_unit, opens_domain, read_domain, read_number_of
from derive.relations import FLIPPED, equal, related
from derive.symbolic import lone
from derive.values import VALUE_START, alone, continues, in_quantity, read_amount, take_quantity
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.statements import Among, Between, Fact, Spread, Statement

# What an item is: statements, or what it asks, a quantity or a calculation.
Item = tuple[Statement, ...] | Quantity | Amount

_SPELT = {"\u2264": "<=", "\u2265": ">="}
_RELATIONS = (":=", *FLIPPED)
_ANSWERS = {"true": True, "yes": True, "false": False, "no": False}
_ANSWER = keyword(" ".join(_ANSWERS))


def read_item(cursor: Cursor) -> Item:
    """The statements that the next item makes, or what it asks."""
    start = cursor.start
    if cursor.look(HARDWARE):
        return (read_gpu(cursor, start, ""),)
    if any(cursor.look(pattern) for pattern in VALUE_START):
        return _sides(cursor, start, read_amount(cursor))
    if match := cursor.look(RELATION):
        message = f"'{match.group()}' stands where a fact was expected"
        raise fault("syntax", message, match.span(), "a fact is NAME = VALUE")
    if not cursor.look(NAME):
        raise unexpected(cursor, "a fact or a question")
    name = cursor.take(NAME)
    if name.lower() in NAMED_ITEMS:
        return (read_named_item(cursor, start, name.lower()),)
    quantity = take_quantity(cursor, name)
    if continues(cursor):
        first = alone(quantity, name, (start, cursor.end))
        return _sides(cursor, start, read_amount(cursor, first))
    return _about(cursor, start, quantity, name)


def unexpected(cursor: Cursor, wanted: str) -> Problem:
    """The problem of something that does not fit here, or of the line ending too early."""
    where = cursor.here()
    if cursor.done:
        example = "example: tpot given batch = 32, context = 4k"
        return fault("syntax", f"line ends where {wanted} was expected", where, example)
    if cursor.look(CURRENCY):
        return other_money(cursor)
    if path := cursor.look(_PATH):
        advice = f"the file of a model is stated:  model {shortened(path.group(), 60)}"
        return fault("syntax", "a path stands where a fact was expected", path.span(), advice)
    word = shortened(cursor.text[slice(*where)])
    if wanted != "the end" and cursor.text[where[0]].isalpha():
        return no_variable(word, where)
    return fault("syntax", f"'{word}' is not expected here", where, _ADVICE.get(word, _SEPARATE))


# Of a file whose name says that it holds a model's shape.
_PATH = re.compile(r"[~./][\w./~-]*\.json(?![\w])")


_SEPARATE = "separate facts with ','; a fact is NAME = VALUE"
_ADVICE = {
    "x": "multiply with '*'",
    "in": "allowed values are written tp in {1, 2, 4, 8}",
    "=": "one relation to a fact; separate facts with ','",
    ")": "there is no '(' before it",
    "'": "names are written without quotes",
}


def _about(cursor: Cursor, start: int, quantity: Quantity, name: str) -> Item:
    """What the line says of the quantity; nothing said is a question."""
    if opens_domain(cursor):
        _refuse_arrays(cursor, quantity, name)
        _refuse_answers(cursor, quantity, name, start)
        values = read_domain(cursor, quantity, name)
        return (Among(quantity.name, values, cursor.since(start)),)
    relation, where = _relation(cursor)
    if relation == "=" and cursor.take(HOLE):
        return quantity
    implied = not relation and any(cursor.look(p) for p in (NUMBER, DOLLAR, _ANSWER))
    if not relation and not implied:
        return quantity
    _refuse_arrays(cursor, quantity, name)
    if cursor.done:
        message = "line ends where a value was expected"
        example = f"example: {name} {relation} {example_of(quantity)}"
        raise fault("syntax", message, cursor.here(), example)
    if relation in FLIPPED and relation != "=":
        _refuse_answers(cursor, quantity, name, start)
        return _sides(cursor, start, lone(quantity, (start, start + len(name))), (relation, where))
    return (_stated(cursor, start, quantity, name, relation),)


def _relation(cursor: Cursor) -> tuple[str, Span]:
    """The relation that comes next in its plain spelling, and its place."""
    where = cursor.here()
    relation = cursor.take(RELATION)
    relation = _SPELT.get(relation, relation)
    if relation and relation not in _RELATIONS:
        ways = "write = (a fact), := (an override), <=, >=, < or >"
        raise fault("syntax", f"'{relation}' is not a relation", where, ways)
    return relation, where


def _refuse_arrays(cursor: Cursor, quantity: Quantity, name: str) -> None:
    if quantity.shape or quantity.unit.text in ("hash", "tuple"):
        span = (cursor.end, cursor.end + 1) if cursor.done else cursor.here()
        message = f"{name} is no number, and cannot be given in a line"
        raise fault("syntax", message, span, "give it in JSON: --jsonl reads nested lists")


def _refuse_answers(cursor: Cursor, quantity: Quantity, name: str, start: int) -> None:
    if quantity.unit.text == "bool":
        message = f"{name} is yes or no, and has no limits"
        raise fault("domain", message, (start, cursor.end), f"example: {name} = yes")


def _stated(cursor: Cursor, start: int, quantity: Quantity, name: str, relation: str) -> Statement:
    """What `quantity = ...` states: a value, an interval, a spread, or a calculation."""
    where = cursor.start
    override = relation == ":="
    if quantity.unit.text == "bool":
        yes = _answer(cursor, name)
        return Fact(quantity.name, yes, override, _text(cursor, start, where, quantity, relation))
    amount = read_amount(cursor)
    if amount.symbolic:
        return equal(cursor, quantity, name, override, amount, cursor.since(start))
    if cursor.look(DOTS) or cursor.look(PLUS_MINUS):
        return _vague(cursor, start, (quantity, name), override, amount)
    value = in_quantity(cursor, amount, quantity, name)
    return Fact(quantity.name, value, override, _text(cursor, start, where, quantity, relation))


def _text(cursor: Cursor, start: int, where: int, quantity: Quantity, relation: str) -> str:
    """The fact as typed; where no '=' was, it is noted how it was read."""
    if not relation:
        cursor.note(f"{cursor.since(start)} read as {quantity.name} = {cursor.since(where)}")
    return cursor.since(start)


def _vague(
    cursor: Cursor, start: int, subject: tuple[Quantity, str], override: bool, first: Amount
) -> Statement:
    """An interval low..high, or a value with one standard deviation."""
    quantity, name = subject
    where = cursor.here()
    if override:
        advice = f"write {name} = LOW..HIGH, or {name} := VALUE"
        raise fault("syntax", "an override is one value", where, advice)
    interval = bool(cursor.take(DOTS))
    if not interval:
        cursor.take(PLUS_MINUS)
    second = read_number_of(cursor, quantity, name)
    if not interval and second.bare and quantity.unit.powers:
        second = replace(second, unit=first.unit, bare=first.bare)
    ends = in_one_unit(cursor, first, second, quantity)
    low, high = (in_quantity(cursor, end, quantity, name) for end in ends)
    span = (first.span[0], cursor.end)
    if interval and low > high:
        raise fault("syntax", "the interval runs backwards", span, "the smaller end stands first")
    if not interval and high < 0:
        message = "a deviation is not below 0"
        raise fault("number", message, second.span, f"example: {name} = 0.75 +/- 0.05")
    make = Between if interval else Spread
    return make(quantity.name, low, high, cursor.since(start))


def _answer(cursor: Cursor, name: str) -> bool:
    where = cursor.here()
    word = cursor.take(_ANSWER)
    if not word:
        typed = shortened(cursor.text[slice(*where)])
        raise fault("domain", f"{name} is yes or no, not {typed}", where, f"example: {name} = yes")
    return _ANSWERS[word.lower()]


def _sides(cursor: Cursor, start: int, left: Amount, taken: tuple[str, Span] | None = None) -> Item:
    """Two or three sides with relations between: 30 ms >= tpot, 1 <= tp <= 8, a + b <= 0.9 * c."""
    relation, where = taken or _relation(cursor)
    if not relation:
        return _asked(cursor, left)
    if relation == ":=" or (relation == "=" and not left.symbolic):
        text = cursor.since(start)[: where[0] - start].strip()
        message = f"the quantity stands on the left of '{relation}'"
        raise fault("syntax", message, where, f"write NAME {relation} {shortened(text)}")
    if relation == "=" and cursor.take(HOLE):
        return _asked(cursor, left)
    if relation == "=" and left.quantity is not None:
        typed = cursor.text[slice(*left.span)]
        return (_stated(cursor, start, left.quantity, typed, relation),)
    middle = _side(cursor, left)
    if relation == "=" and middle.quantity is not None:
        typed = cursor.text[slice(*middle.span)]
        return (equal(cursor, middle.quantity, typed, False, left, cursor.since(start)),)
    first = _between(cursor, left, relation, middle, cursor.since(start))
    if not cursor.look(RELATION):
        return (first,)
    second, where = _relation(cursor)
    if second[0] != relation[0] or "=" in (relation, second):
        example = "example: 1 <= tp <= 8"
        raise fault("syntax", "the two limits point different ways", where, example)
    right = _side(cursor, middle)
    text = cursor.since(middle.span[0])
    return first, _between(cursor, middle, second, right, text)


def _side(cursor: Cursor, before: Amount) -> Amount:
    """The side behind a relation; two sides without a quantity say nothing of one."""
    if cursor.done:
        message = "line ends where a value was expected"
        example = "example: tpot <= 30 ms"
        raise fault("syntax", message, cursor.here(), example)
    side = read_amount(cursor)
    if not before.symbolic and not side.symbolic:
        span = (before.span[0], side.span[1])
        raise fault("syntax", "neither side has a quantity", span, "example: 1 <= tp <= 8")
    return side


def _between(cursor: Cursor, left: Amount, relation: str, right: Amount, text: str) -> Statement:
    """The statement of one relation; of a limit, the quantity stands on the left in its text."""
    if not left.symbolic and right.quantity is not None:
        name, value = (cursor.text[slice(*side.span)] for side in (right, left))
        text = f"{name} {FLIPPED[relation]} {value}"
    return related(cursor, left, relation, right, text)


def _asked(cursor: Cursor, amount: Amount) -> Item:
    """A calculation that is asked; one without a quantity is nobody's value."""
    if amount.quantity is not None:
        return amount.quantity
    if amount.symbolic:
        return amount
    if not cursor.done and cursor.text[cursor.start] not in ",":
        raise unexpected(cursor, "a relation")
    text = shortened(cursor.text[slice(*amount.span)])
    advice = f"write NAME = {text} or NAME <= {text}"
    raise fault("syntax", f"'{text}' is a value without a quantity", amount.span, advice)
