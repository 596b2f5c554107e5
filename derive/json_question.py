"""One JSON object as a request: names, numbers read exactly, statements as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from derive.asked import SENSES, Asked
from derive.axes import CHOICES, axis_of
from derive.named_items import NAMED_ITEMS
from derive.question import canonical_name, read_statement
from formulas.amounts import read_number, shortened
from formulas.catalogue import Catalogue, catalogue
from formulas.errors import Problem
from formulas.formula import Relation
from formulas.quantity import Quantity
from formulas.statements import Axis, Fact, Statement

LONGEST = 1_000_000
_KEYS = ("id", "find", "given", "using", "ask", "over")

_DEEPEST = 20
_LONGEST_NAME = 100
# Values of these units are whatever stands there, and no statement of the grammar.
_OPAQUE = ("hash", "tuple")


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as it stands in the text, so that no digit is lost."""

    text: str


def load_object(text: str) -> Mapping[str, Any]:
    """The JSON object of a line, with numbers as literals; anything else is a Problem."""
    if len(text) > LONGEST:
        raise Problem("json", f"a line of {len(text)} characters; at most {LONGEST} are read")
    try:
        # NaN and Infinity become literals as well: they are refused where they are given.
        found = json.loads(
            text,
            parse_float=Literal,
            parse_int=Literal,
            parse_constant=Literal,
            object_pairs_hook=_without_twins,
        )
    except json.JSONDecodeError as error:
        raise Problem("json", f"no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise Problem("json", "JSON nested too deeply") from None
    if not isinstance(found, dict):
        raise Problem("json", "a question is a JSON object", ('{"find": "tpot", "given": {...}}',))
    return found


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; of a key that stands twice, one value would be lost without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise Problem("json", f"the key '{shortened(twin)}' stands twice in one object")
    return found


def line_of(found: Mapping[str, Any]) -> str | None:
    """The whole line under "ask", None where the question is made of find and given."""
    if "ask" not in found:
        return None
    extra = [key for key in ("find", "given", "using", "over") if key in found]
    if extra:
        raise Problem("json", f"'ask' takes a whole line, and no '{extra[0]}' beside it")
    return _text(found["ask"], "ask")


def refuse_unknown_keys(found: Mapping[str, Any]) -> None:
    """A Problem for a key that means nothing."""
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise Problem(
            "json", f"unknown key '{shortened(unknown[0])}'", (f"the keys are {', '.join(_KEYS)}",)
        )


def read_object(found: Mapping[str, Any]) -> Asked:
    """The request of a JSON question of find, given, using and over."""
    if "find" not in found:
        raise Problem("json", "nothing asked", ('give "find": a quantity, or "ask": a line',))
    using = _using(found.get("using", []))
    relations = tuple(r for word in using for r in catalogue().named(word))
    owners = tuple(dict.fromkeys(r.id for r in relations))
    sense, name = _sense(_text(found["find"], "find"))
    quantity = _quantity(name, owners, relations)
    given = found.get("given", {})
    if not isinstance(given, dict):
        raise Problem(
            "json", "'given' is an object of names and values", ('"given": {"batch": 32}',)
        )
    statements = [s for key, value in given.items() for s in _given(key, value, owners, relations)]
    over = _over(found.get("over", {}))
    return Asked(quantity.name, sense, tuple(statements), using, over=over)


def _over(value: Any) -> tuple[Axis, ...]:
    """What is to be searched: a list of values, a range such as "1..512", or null for all."""
    if not isinstance(value, dict):
        raise Problem(
            "json", "'over' is an object of names and values", ('"over": {"tp": [1, 2]}',)
        )
    return tuple(_axis(name, values) for name, values in value.items())


def _axis(name: str, values: Any) -> Axis:
    match values:
        case None:
            return axis_of(name)
        case str():
            return axis_of(name, values)
        case list() if values and all(isinstance(part, str | Literal) for part in values):
            return axis_of(name, "{" + ", ".join(_spelt(part) for part in values) + "}")
        case _:
            advice = ('"over": {"tp": [1, 2, 4], "batch": "1..512"}',)
            raise Problem("json", f"'{shortened(name)}' is a list of values or a range", advice)


def asked_name(found: Mapping[str, Any]) -> str | None:
    """The canonical name of what is asked, where that alone can be read."""
    words = found.get("find")
    if not isinstance(words, str) or not words.strip():
        return None
    try:
        return canonical_name(words.split()[-1])
    except Problem:
        return None


def _text(value: Any, key: str) -> str:
    if isinstance(value, str):
        return value
    raise Problem("json", f"'{key}' is a text")


def _using(value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        for word in value:
            if len(word) > _LONGEST_NAME:
                raise Problem("name", f"no formula '{shortened(word)}'")
        return tuple(dict.fromkeys(value))
    raise Problem("json", "'using' is a list of formula ids", ('"using": ["kv_bytes_per_token"]',))


def _sense(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) == 2 and words[0] in SENSES:
        return words[0], words[1]
    if len(words) == 1:
        return "", words[0]
    raise Problem("json", f"'find' is NAME, max NAME or min NAME, not '{shortened(text)}'")


def _quantity(name: str, owners: tuple[str, ...], relations: tuple[Relation, ...]) -> Quantity:
    """The quantity of that name; of several owners' arrays, the one that a relation uses."""
    if len(name) > _LONGEST_NAME:
        raise Problem("name", f"no variable '{shortened(name)}'")
    names: Catalogue = catalogue()
    used = {n for r in relations for n in (r.gives, *r.inputs)}
    for owner in owners:
        quantity = names.quantities.get(f"{owner}.{name}")
        if quantity is not None and quantity.name in used:
            return quantity
    quantity = names.quantity(name)
    if quantity.shape and not relations:
        owner = quantity.name.partition(".")[0]
        raise Problem("name", f"'{name}' belongs to {owner}", (f'add "using": ["{owner}"]',), name)
    return quantity


def _given(
    key: str, value: Any, owners: tuple[str, ...], relations: tuple[Relation, ...]
) -> tuple[Statement, ...]:
    if key in CHOICES or key in NAMED_ITEMS:
        return read_statement(key, _text(value, key))
    quantity = _quantity(key, owners, relations)
    name, text = quantity.name, f"{key} = {_spelt(value)}"
    if quantity.shape or quantity.unit.text in _OPAQUE:
        return (Fact(name, _array(value, key, quantity.unit.text), text=text),)
    match value:
        case bool():
            if quantity.unit.text != "bool":
                raise Problem("number", f"{key} is a number, not {str(value).lower()}", (), key)
            return (Fact(name, value, text=text),)
        case Literal(digits):
            if quantity.unit.text == "bool":
                raise Problem("number", f"{key} is true or false, not {digits}", (), key)
            return (Fact(name, read_number(digits), text=text),)
        case str():
            return read_statement(name, value)
        case list() if value and all(isinstance(part, str) for part in value):
            return tuple(row for part in value for row in read_statement(name, part))
        case _:
            raise Problem(
                "json",
                f"'{key}' is a number, a text or a list of limits",
                ('"tpot": "<= 30 ms"',),
                key,
            )


def _array(value: Any, key: str, unit: str, depth: int = 0) -> Any:
    """Nested lists as tuples; among numbers, minus infinity is written "-inf"."""
    if depth > _DEEPEST:
        raise Problem("json", f"'{key}' is nested too deeply")
    match value:
        case list():
            return tuple(_array(part, key, unit, depth + 1) for part in value)
        case Literal(digits):
            return read_number(digits)
        case bool() if unit == "bool":
            return value
        case bool() | str() | None if unit in _OPAQUE:
            return value
        case "-inf":
            return float("-inf")
        case _:
            what = f"'{shortened(value)}'" if isinstance(value, str) else "something"
            raise Problem("json", f"'{key}' holds {what} that is no number", (), key)


def _spelt(value: Any) -> str:
    match value:
        case Literal(digits):
            return digits
        case list():
            return "[...]"
        case bool():
            return str(value).lower()
        case str():
            return value
        case _:
            return "..."
