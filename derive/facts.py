"""One item of a list: a fact, a limit, a model, a GPU, a choice, or a quantity that is asked."""

from __future__ import annotations

from fractions import Fraction

from derive.complain import fault
from derive.kinds import example_of
from derive.lexer import (
    DOLLAR,
    FACTOR,
    HOLE,
    NAME,
    NUMBER,
    POWER,
    RELATION,
    SIGN,
    Cursor,
    keyword,
)
from derive.named_items import HARDWARE, NAMED_ITEMS, read_gpu
from derive.names import is_quantity
from derive.values import (
    VALUE_START,
    in_quantity,
    named_in_value,
    no_value,
    not_yet,
    read_amount,
    same_sort,
    take_quantity,
)
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.statements import Fact, Limit, Same, Statement

Item = tuple[Statement, ...] | Quantity

_FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
_SPELT = {"\u2264": "<=", "\u2265": ">="}
_RELATIONS = ("=", ":=", *_FLIPPED)
_ANSWERS = {"true": True, "yes": True, "false": False, "no": False}
_ANSWER = keyword(" ".join(_ANSWERS))


def read_item(cursor: Cursor) -> Item:
    """The statements that the next item makes, or the quantity that it asks."""
    start = cursor.start
    if cursor.look(HARDWARE):
        return (read_gpu(cursor, start, ""),)
    if any(cursor.look(pattern) for pattern in VALUE_START):
        return _value_first(cursor, start)
    if not cursor.look(NAME):
        raise unexpected(cursor, "a fact or a question")
    name = cursor.take(NAME)
    if name.lower() in NAMED_ITEMS:
        return (NAMED_ITEMS[name.lower()](cursor, start, name.lower()),)
    return _about(cursor, start, take_quantity(cursor, name), name)


def unexpected(cursor: Cursor, wanted: str) -> Problem:
    """The problem of something that does not fit here, or of the line ending too early."""
    where = cursor.here()
    if cursor.done:
        example = "example: tpot given batch = 32, context = 4k"
        return fault("syntax", f"line ends where {wanted} was expected", where, example)
    word = shortened(cursor.text[slice(*where)])
    return fault("syntax", f"'{word}' is not expected here", where, _ADVICE.get(word, _SEPARATE))


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
    where = cursor.here()
    relation = cursor.take(RELATION)
    relation = _SPELT.get(relation, relation)
    if relation and relation not in _RELATIONS:
        raise _no_relation(relation, where)
    if relation == "=" and cursor.take(HOLE):
        return quantity
    implied = not relation and any(cursor.look(p) for p in (NUMBER, DOLLAR, _ANSWER))
    if not relation and not implied:
        if any(cursor.look(pattern) for pattern in (SIGN, FACTOR, POWER)):
            raise not_yet("a calculation with quantities", cursor.here())
        return quantity
    _refuse_arrays(cursor, quantity, name)
    if cursor.done:
        message = "line ends where a value was expected"
        example = f"example: {name} {relation} {example_of(quantity)}"
        raise fault("syntax", message, cursor.here(), example)
    if relation in _FLIPPED:
        return (_limit(cursor, start, quantity, name, relation),)
    if cursor.look(NAME) and not implied and quantity.unit.text != "bool":
        return (_same(cursor, start, quantity, relation),)
    return (_fact(cursor, start, quantity, name, relation),)


def _no_relation(relation: str, span: tuple[int, int]) -> Problem:
    ways = "write = (a fact), := (an override), <=, >=, < or >"
    return fault("syntax", f"'{relation}' is not a relation", span, ways)


def _refuse_arrays(cursor: Cursor, quantity: Quantity, name: str) -> None:
    if quantity.shape or quantity.unit.text in ("hash", "tuple"):
        span = (cursor.end, cursor.end + 1) if cursor.done else cursor.here()
        message = f"{name} is no number, and cannot be given in a line"
        raise fault("syntax", message, span, "give it in JSON: --jsonl reads nested lists")


def _fact(cursor: Cursor, start: int, quantity: Quantity, name: str, relation: str) -> Fact:
    where = cursor.start
    value: bool | Fraction
    if quantity.unit.text == "bool":
        value = _answer(cursor, name)
    else:
        value = in_quantity(cursor, read_amount(cursor), quantity, name)
    if not relation:
        cursor.note(f"{cursor.since(start)} read as {quantity.name} = {cursor.since(where)}")
    return Fact(quantity.name, value, relation == ":=", cursor.since(start))


def _answer(cursor: Cursor, name: str) -> bool:
    where = cursor.here()
    word = cursor.take(_ANSWER)
    if not word:
        typed = shortened(cursor.text[slice(*where)])
        raise fault("domain", f"{name} is yes or no, not {typed}", where, f"example: {name} = yes")
    return _ANSWERS[word]


def _limit(cursor: Cursor, start: int, quantity: Quantity, name: str, relation: str) -> Limit:
    _refuse_answers(cursor, quantity, name, start)
    if cursor.look(NAME):
        where = cursor.here()
        problem = no_value(cursor)
        raise problem if problem.kind == "name" else not_yet("a limit that is a quantity", where)
    value = in_quantity(cursor, read_amount(cursor), quantity, name)
    return Limit(quantity.name, relation, value, cursor.since(start))


def _refuse_answers(cursor: Cursor, quantity: Quantity, name: str, start: int) -> None:
    if quantity.unit.text == "bool":
        span = (start, cursor.end)
        raise fault(
            "domain", f"{name} is yes or no, and has no limits", span, f"example: {name} = yes"
        )


def _same(cursor: Cursor, start: int, quantity: Quantity, relation: str) -> Same:
    where = cursor.start
    name = cursor.take(NAME)
    other = take_quantity(cursor, name) if is_quantity(name) else named_in_value(cursor, name)
    span = (where, cursor.end)
    if any(cursor.look(pattern) for pattern in (SIGN, FACTOR, POWER)):
        raise not_yet("a calculation with quantities", span)
    if relation == ":=":
        raise not_yet("an override by another quantity", span)
    if other is quantity:
        raise fault("syntax", f"{quantity.name} = {quantity.name} says nothing", span)
    same_sort(quantity, other, span)
    return Same(quantity.name, other.name, cursor.since(start))


def _value_first(cursor: Cursor, start: int) -> tuple[Statement, ...]:
    """One limit or two: 30 ms >= tpot, 1 <= tp <= 8."""
    low = read_amount(cursor)
    text = cursor.since(start)
    first = _direction(cursor, text)
    if not cursor.look(NAME):
        raise unexpected(cursor, "a quantity")
    name = cursor.take(NAME)
    quantity = take_quantity(cursor, name)
    _refuse_arrays(cursor, quantity, name)
    _refuse_answers(cursor, quantity, name, start)
    value = in_quantity(cursor, low, quantity, name)
    limit = Limit(quantity.name, _FLIPPED[first], value, f"{name} {_FLIPPED[first]} {text}")
    if not cursor.look(RELATION):
        return (limit,)
    where = cursor.here()
    second = _direction(cursor, text)
    if second[0] != first[0]:
        example = f"example: 1 {first} {name} {first} 8"
        raise fault("syntax", "the two limits point different ways", where, example)
    place = cursor.start
    other = _limit(cursor, place, quantity, name, second)
    return limit, Limit(other.quantity, second, other.value, f"{name} {second} {other.text}")


def _direction(cursor: Cursor, text: str) -> str:
    where = cursor.here()
    relation = cursor.take(RELATION)
    relation = _SPELT.get(relation, relation)
    if relation in _FLIPPED:
        return relation
    if relation in (":=", "="):
        message = f"the quantity stands on the left of '{relation}'"
        raise fault("syntax", message, where, f"write NAME {relation} {text}")
    if relation:
        raise _no_relation(relation, where)
    if not cursor.done and cursor.text[where[0]] not in ",":
        raise unexpected(cursor, "a relation")
    span = (cursor.end - len(text), cursor.end)
    advice = f"write NAME = {text} or NAME <= {text}"
    raise fault("syntax", f"'{shortened(text)}' is a value without a quantity", span, advice)
