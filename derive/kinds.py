"""What sort of amount something is, in words, and what to say where two sorts meet."""

from __future__ import annotations

from fractions import Fraction

from derive.complain import Span, fault
from formulas.errors import Problem
from formulas.quantity import Quantity
from formulas.units import Powers, Unit, parse_unit

_PLAIN = "plain number"
_KINDS: dict[Powers, str] = {
    parse_unit(unit).powers: kind
    for unit, kind in (
        ("1", _PLAIN),
        ("s", "time"),
        ("B", "size"),
        ("B/s", "bandwidth"),
        ("FLOP", "amount of work"),
        ("FLOP/s", "rate of work"),
        ("FLOP/B", "intensity"),
        ("$", "amount of money"),
        ("$/h", "price per time"),
        ("1/s", "rate"),
        ("J", "energy"),
        ("W", "power"),
    )
}
_EXAMPLES: dict[Powers, str] = {
    parse_unit(unit).powers: example
    for unit, example in (
        ("1", "8"),
        ("s", "30 ms"),
        ("B", "80 GB"),
        ("B/s", "3.35 TB/s"),
        ("FLOP", "1 TFLOP"),
        ("FLOP/s", "989 TFLOP/s"),
        ("FLOP/B", "300 FLOP/B"),
        ("$", "$0.90"),
        ("$/h", "$2.50/h"),
        ("1/s", "10/s"),
    )
}
# What completes a value that lacks only a time below it: 400 GB -> 400 GB/s, $2.50 -> $2.50/h.
_PER_TIME = {parse_unit("B").powers: "/s", parse_unit("FLOP").powers: "/s"}
_PER_TIME[parse_unit("$").powers] = "/h"
_SYMBOLS = {
    "byte": "B", "second": "s", "dollar": "$", "joule": "J",
    "token": "tok", "sequence": "seq", "request": "req", "parameter": "param",
}  # fmt: skip
_THINGS = {"seq": "sequences", "req": "requests", "tok": "tokens", "GPU": "GPUs"}


def kind_of(unit: Unit) -> str:
    """The everyday name of a dimension: time, size, bandwidth."""
    return _KINDS.get(unit.powers) or f"amount in {spelt(unit.powers)}"


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def spelt(powers: Powers) -> str:
    """The factors with their powers: B^1 s^-1."""
    return " ".join(f"{_SYMBOLS.get(base, base)}^{power}" for base, power in powers) or "1"


def label_unit(quantity: Quantity) -> Unit:
    """The unit that the quantity is printed with, whose tags say what it counts."""
    return parse_unit(quantity.label) if quantity.label else quantity.unit


def example_of(quantity: Quantity) -> str:
    """A value that the quantity could have, for messages."""
    if quantity.unit.text == "bool":
        return "yes"
    if quantity.domain.high == 1:
        return "0.8"
    if quantity.label == "tok":
        return "4k"
    plain = _EXAMPLES.get(quantity.unit.powers, "1")
    return f"10 {quantity.label}" if quantity.label.endswith("/s") else plain


def wrong_dimension(quantity: Quantity, typed: str, value: str, unit: Unit, span: Span) -> Problem:
    """The value has another dimension: both lined up, and the missing factor where one is."""
    return fault(
        "dimension",
        f"{typed} is {_with_article(kind_of(quantity.unit))}, "
        f"{value} is {_with_article(kind_of(unit))}",
        span,
        *_lined_up((typed, spelt(quantity.unit.powers)), (value, spelt(unit.powers))),
        _advice(quantity, typed, value, unit),
    )


def wrong_tag(quantity: Quantity, typed: str, value: str, unit: Unit, span: Span) -> Problem:
    """The value counts something else than the quantity does."""
    own = label_unit(quantity)
    return fault(
        "dimension",
        f"{typed} counts {_counted(own)}, {value} counts {_counted(unit)}",
        span,
        *_lined_up((typed, spelt(own.tags)), (value, spelt(unit.tags))),
        f"example: {typed} = {example_of(quantity)}",
    )


def different(one: tuple[str, Unit], other: tuple[str, Unit], span: Span) -> Problem:
    """Two amounts that are to be added or equal have different dimensions or tags."""
    (left, first), (right, second) = one, other
    if first.powers == second.powers:
        sentence = f"{left} counts {_counted(first)}, {right} counts {_counted(second)}"
        rows = ((left, spelt(first.tags)), (right, spelt(second.tags)))
    else:
        kinds = (_with_article(kind_of(unit)) for unit in (first, second))
        sentence = f"{left} is {next(kinds)}, {right} is {next(kinds)}"
        rows = ((left, spelt(first.powers)), (right, spelt(second.powers)))
    return fault("dimension", sentence, span, *_lined_up(*rows))


def tags_clash(one: Unit, other: Unit) -> bool:
    """True where both say what they count, and it is not the same."""
    return bool(one.tags and other.tags and one.tags != other.tags)


def _counted(unit: Unit) -> str:
    if len(unit.tags) == 1 and unit.tags[0][1] == 1:
        symbol = _SYMBOLS.get(unit.tags[0][0], unit.tags[0][0])
        return _THINGS.get(symbol, f"{symbol}s")
    return spelt(unit.tags)


def _lined_up(*rows: tuple[str, str]) -> tuple[str, ...]:
    width = max(len(name) for name, _ in rows) + 4
    return tuple(f"{name.ljust(width)}{text}" for name, text in rows)


def _advice(quantity: Quantity, typed: str, value: str, unit: Unit) -> str:
    wanted, given = kind_of(quantity.unit), kind_of(unit)
    factor = unit / quantity.unit
    plain = not unit.powers or not quantity.unit.powers
    if plain or wanted not in _KINDS.values() or given not in _KINDS.values():
        return f"example: {typed} = {example_of(quantity)}"
    if factor.powers == (("second", Fraction(1)),) and unit.powers in _PER_TIME:
        return f"did you mean {value}{_PER_TIME[unit.powers]}? {given} / time = {wanted}"
    if factor.powers in _KINDS:
        missing = _KINDS[factor.powers]
        return f"did you mean {_with_article(missing)} term? {given} / {missing} = {wanted}"
    missing = _KINDS.get((Unit() / factor).powers, "")
    if missing:
        return f"did you mean {_with_article(missing)} term? {given} * {missing} = {wanted}"
    return f"example: {typed} = {example_of(quantity)}"
