"""One JSON object as a request: names, numbers read exactly, statements as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from derive.question import canonical_name, parse, read_statement
from formulas.amounts import display, read_number, shortened
from formulas.catalogue import Catalogue, catalogue
from formulas.errors import Problem
from formulas.formula import Relation
from formulas.quantity import Quantity
from formulas.scenario import Fact, Statement
from formulas.units import Unit
from solvers.solve import Request

LONGEST = 1_000_000
_KEYS = ("id", "find", "given", "using", "ask", "over")
_CHOICES = ("model", "gpu", "mig_profile", "weight_dtype", "kv_dtype")
_SENSES = ("max", "min")
_DEEPEST = 20
_LONGEST_NAME = 100
# Values of these units are whatever stands there, and no statement of the grammar.
_OPAQUE = ("hash", "tuple")


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as it stands in the text, so that no digit is lost."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A request read from text, with the unit asked and how the text was read."""

    find: str
    sense: str
    statements: tuple[Statement, ...]
    using: tuple[str, ...] = ()
    unit: Unit | None = None
    read_as: tuple[str, ...] = ()

    def request(self) -> Request:
        """What the solver answers; Problem for a model or GPU that is not known."""
        from formulas.scenario import scenario

        for statement in self.statements:
            _refuse_outside(statement)
        return Request(self.find, scenario(self.statements), self.sense, self.using)


def _refuse_outside(statement: Statement) -> None:
    """A Problem for a fact that its quantity can never be: nothing computed from it is true."""
    if not isinstance(statement, Fact) or not isinstance(statement.value, Fraction):
        return
    quantity = catalogue().quantities[statement.quantity]
    value = statement.value
    if quantity.domain.holds(value):
        return
    name, domain = quantity.name, quantity.domain
    shown = display(value, quantity.unit, quantity.label)
    above = (
        "" if domain.low is None else f"{'above' if domain.low_open else 'at least'} {domain.low}"
    )
    below = "" if domain.high is None else f"at most {domain.high}"
    advice = [f"{name} is {' and '.join(part for part in (above, below) if part)}"]
    if domain.high == 1 and 2 <= value <= 100:
        advice.append(f"a percentage is written with its sign: {float(value):g}%")
    raise Problem("domain", f"{name} = {shown} is not allowed", tuple(advice), statement.text)


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


def read_object(found: Mapping[str, Any]) -> Asked:
    """The request of a JSON question."""
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise Problem(
            "json", f"unknown key '{shortened(unknown[0])}'", (f"the keys are {', '.join(_KEYS)}",)
        )
    if "over" in found:
        raise Problem(
            "syntax", "'over' is not understood yet", ("ask for max or min of one quantity",)
        )
    if "ask" in found:
        extra = [key for key in ("find", "given", "using") if key in found]
        if extra:
            raise Problem("json", f"'ask' takes a whole line, and no '{extra[0]}' beside it")
        return read_line(_text(found["ask"], "ask"))
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
    return Asked(quantity.name, sense, tuple(statements), using)


def asked_name(found: Mapping[str, Any]) -> str | None:
    """The canonical name of what is asked, where that alone can be read."""
    words = found.get("find")
    if not isinstance(words, str) or not words.strip():
        return None
    try:
        return canonical_name(words.split()[-1])
    except Problem:
        return None


def read_line(text: str) -> Asked:
    """The request of a line; a line that only states facts asks nothing."""
    question = parse(text)
    if question.find is None:
        raise Problem("syntax", "nothing asked", ("ask a quantity:  tpot given ...",))
    sense = question.verb if question.verb in _SENSES else ""
    return Asked(question.find, sense, question.statements, (), question.unit, question.read_as)


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
    if len(words) == 2 and words[0] in _SENSES:
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
    if key in _CHOICES:
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
