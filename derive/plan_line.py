"""How a line that begins with plan goes on: its goals, its side conditions, the prices of GPUs."""

from __future__ import annotations

from fractions import Fraction

from derive.complain import Span, fault
from derive.lexer import COMMA, GPU_WORD, RELATION, Cursor, keyword
from derive.reading import EXTREME, Reading, take_extreme
from derive.values import in_quantity, read_amount

_EXAMPLE = "plan min cost_per_hour given tpot <= 30 ms over tp, pp, batch top 5"
FRONT_EXAMPLE = "plan front min cost_per_hour, min tpot over tp, batch"
_FRONT = keyword("front")
MOST_GOALS = 5
MOST_OF_FRONT = 3
FRONT_SIZES = "a front has two or three quantities"


def read_plan(cursor: Cursor, reading: Reading) -> None:
    """`min NAME`, several of them in the order of their weight, or `front min NAME, max NAME`."""
    front = bool(cursor.take(_FRONT))
    reading.words = ("front",) if front else ()
    while True:
        where = cursor.here()
        sense = cursor.take(EXTREME).lower()
        if not sense:
            message = "a plan seeks the largest or the smallest of something"
            raise fault("syntax", message, where, f"example: {_EXAMPLE}")
        name = take_extreme(cursor, sense).name
        if any(name == other for _, other in reading.goals):
            raise fault("syntax", f"{name} is sought twice", where, f"example: {_EXAMPLE}")
        reading.goals = (*reading.goals, (sense, name))
        if not cursor.take(COMMA):
            break
    most = MOST_OF_FRONT if front else MOST_GOALS
    if len(reading.goals) > most or (front and len(reading.goals) < 2):
        message = FRONT_SIZES if front else f"at most {most} goals"
        raise fault("syntax", message, where, f"example: {FRONT_EXAMPLE}")


def read_require(cursor: Cursor, reading: Reading, _: Span) -> None:
    """`require tp >= 4 or fp8, not (pp > 1 and mig)`."""
    from derive.side_conditions import read_conditions

    reading.conditions = (*reading.conditions, *read_conditions(cursor))


def read_prices(cursor: Cursor, reading: Reading, _: Span) -> None:
    """`at h100-sxm $2.50/h, l40s $1/h`: what an hour of each GPU costs."""
    found = dict(reading.prices)
    while True:
        where = cursor.here()
        name, price = _price(cursor)
        if name in found:
            raise fault("syntax", f"{name} has two prices", where, "state each once")
        found[name] = price
        if not cursor.take(COMMA):
            break
    reading.prices = tuple(found.items())


def _price(cursor: Cursor) -> tuple[str, Fraction]:
    from formulas.catalogue import catalogue
    from formulas.hardware import find_gpu

    where = cursor.here()
    name = cursor.take(GPU_WORD).strip('"')
    if not name:
        example = "example: at h100-sxm $2.50/h, l40s $1/h"
        raise fault("syntax", "the name of a GPU was expected", where, example)
    gpu = find_gpu(name).name
    cursor.take(RELATION)
    start = cursor.here()
    quantity = catalogue().quantities["price_per_gpu_hour"]
    price = in_quantity(cursor, read_amount(cursor), quantity, "price_per_gpu_hour")
    if price < 0:
        raise fault("domain", f"a price of {name} below 0", (start[0], cursor.end))
    return gpu, price
