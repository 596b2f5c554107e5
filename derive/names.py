"""The names that a person may write for a quantity."""

from __future__ import annotations

from functools import cache

from formulas.amounts import shortened
from formulas.errors import Problem, nearest
from formulas.quantities import ALIASES, SCALARS
from formulas.quantity import Quantity

_BY_NAME = {quantity.name: quantity for quantity in SCALARS}
_SHORTEST_PLURAL = 4


@cache
def _arrays() -> dict[str, Quantity]:
    # The module of arrays imports sympy, which few lines need.
    from formulas.arrays import ARRAYS

    return {quantity.name: quantity for quantity in ARRAYS}


def canonical_name(word: str) -> str:
    """The canonical name of the quantity that a name, an alias or another number of it means."""
    return quantity_named(word).name


def quantity_named(word: str) -> Quantity:
    """The quantity that the word names; another word is a Problem with the nearest name."""
    for spelling in _spellings(word):
        name = ALIASES.get(spelling, spelling)
        if name in _BY_NAME:
            return _BY_NAME[name]
    # Only an array's name has a dot: a mistyped word does not pay for their import.
    if "." in word and word in _arrays():
        return _arrays()[word]
    raise _no_variable(word)


def is_quantity(word: str) -> bool:
    """True where the word, as it stands, names a scalar quantity."""
    return word in _BY_NAME or word in ALIASES


def _spellings(word: str) -> tuple[str, ...]:
    """The word itself first, then in lower case, then in the other of singular and plural."""
    lower = word.lower()
    if len(lower) < _SHORTEST_PLURAL:
        return word, lower
    return word, lower, lower[:-1] if lower.endswith("s") else f"{lower}s"


def _no_variable(word: str) -> Problem:
    short = shortened(word)
    close = nearest(short, [*ALIASES, *_BY_NAME])
    search = f"search: formulas {short}"
    return Problem(
        "name",
        f"no variable '{short}'",
        (f"did you mean '{close}'? ({search})" if close else search,),
        word,
        (close,) if close else (),
    )
