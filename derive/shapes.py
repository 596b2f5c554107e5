"""What a printed formula is made of: sums, products, quotients, and the text each becomes.

`layout` turns a sympy expression into shapes, `as_latex` and `as_plain` turn shapes into text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Name:
    """A quantity, a dimension or a running index: the sympy symbol that stands for it."""

    symbol: Any


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number, not negative."""

    value: int


@dataclass(frozen=True, slots=True)
class Decimal:
    """A rounded number, not negative: its digits times ten to the exponent."""

    digits: str
    exponent: int = 0


@dataclass(frozen=True, slots=True)
class Word:
    """A constant with a fixed name: infinity, e, pi, true, false."""

    word: str


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus the inside, which is itself neither negative nor a sum that begins with a minus."""

    inside: Shape


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a sum; the shape carries no sign of its own."""

    negative: bool
    shape: Shape


@dataclass(frozen=True, slots=True)
class Sum:
    """Two or more terms, in the order in which they print."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Two or more factors, none of them negative and none a product."""

    factors: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """The top over the bottom, neither of them negative."""

    top: Shape
    bottom: Shape


@dataclass(frozen=True, slots=True)
class Power:
    """The base to the exponent."""

    base: Shape
    exponent: Shape


@dataclass(frozen=True, slots=True)
class Root:
    """The root of the inside, of degree two or more."""

    degree: int
    inside: Shape


@dataclass(frozen=True, slots=True)
class Call:
    """A named function of its arguments."""

    word: str
    arguments: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Fence:
    """Something between a pair of marks that mean something: ceiling, floor, absolute."""

    kind: str
    inside: Shape


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left when the first is divided by the second."""

    dividend: Shape
    divisor: Shape


@dataclass(frozen=True, slots=True)
class Cases:
    """Each value with its condition; None is otherwise."""

    rows: tuple[tuple[Shape, Shape | None], ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """Two sides and the sign between them: =, !=, <, <=, >, >=."""

    sign: str
    left: Shape
    right: Shape


@dataclass(frozen=True, slots=True)
class Logic:
    """Statements joined by and, or; or one statement with not."""

    word: str
    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """The entry of an array at the given places."""

    array: Shape
    places: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """Something made of a term for each value of an index: sum, max, entries.

    The limits are None where the index runs over a whole array.
    """

    kind: str
    term: Shape
    index: Shape
    limits: tuple[Shape, Shape] | None


@dataclass(frozen=True, slots=True)
class Transposed:
    """A matrix with its rows as columns."""

    matrix: Shape


Shape = (
    Name | Integer | Decimal | Word | Negative | Sum | Product | Quotient | Power | Root | Call
    | Fence | Remainder | Cases | Compare | Logic | Item | Over | Transposed
)  # fmt: skip

ONE = Integer(1)


class Level(IntEnum):
    """How tightly a text holds together; a place that wants more gets brackets."""

    OPEN = 0
    COMPARE = 1
    SUM = 2
    NEGATIVE = 3
    REACHING = 4  # takes in all that follows, so that it can only be the last factor
    SLASH = 5
    PRODUCT = 6
    FRACTION = 7
    POWER = 8
    ATOM = 9


@dataclass(frozen=True, slots=True)
class Text:
    """A printed shape; `wordy` where words stand in it, which want a sign between factors."""

    text: str
    level: Level
    wordy: bool = False
