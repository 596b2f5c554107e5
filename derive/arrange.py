"""The order of terms and factors, and the one sign in front of a product."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from derive.shapes import (
    ONE,
    Cases,
    Integer,
    Name,
    Negative,
    Power,
    Product,
    Quotient,
    Root,
    Shape,
    Sum,
    Term,
)
from formulas.formula import VOCABULARY
from formulas.quantities import CONSTANTS

_CASES = 2
_CONSTANTS = frozenset(quantity.name for quantity in CONSTANTS)
_PLACES = {name: place for place, name in enumerate(VOCABULARY)}


@dataclass(frozen=True, slots=True)
class Order:
    """How terms and factors are arranged, and when minus a sum becomes the sum turned round."""

    terms: Callable[[Iterable[Term]], tuple[Term, ...]]
    factors: Callable[[Iterable[Shape]], tuple[Shape, ...]]
    turns: Callable[[Sum], bool]


def names_in(shape: Any) -> list[str]:
    """The names in the shape, in the order in which they print; a named constant is a number."""
    if isinstance(shape, Name):
        return [] if shape.symbol.name in _CONSTANTS else [shape.symbol.name]
    if isinstance(shape, tuple):
        return [name for part in shape for name in names_in(part)]
    fields = getattr(shape, "__dataclass_fields__", {})
    return [name for field in fields for name in names_in(getattr(shape, field))]


def by_place(shape: Shape) -> tuple[int, list[int], str]:
    """Numbers first, cases last, between them by the places of the quantities in the vocabulary."""
    places = sorted(_PLACES.get(name, len(_PLACES)) for name in names_in(shape))
    rank = _CASES if isinstance(shape, Cases) else bool(places)
    return (rank, places, repr(shape))


def _factor_key(shape: Shape) -> tuple[bool, bool, list[int], str]:
    rank, places, text = by_place(shape)
    power_of_number = isinstance(shape, Power) and isinstance(shape.base, Integer)
    return (rank > 0 and not power_of_number, isinstance(shape, Sum), places, text)


def _positive_first(terms: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(sorted(terms, key=lambda term: term.negative))


AS_WRITTEN = Order(
    terms=tuple,
    factors=tuple,
    turns=lambda total: total.terms[0].negative,
)
BY_VOCABULARY = Order(
    terms=lambda terms: tuple(
        sorted(terms, key=lambda term: (term.negative, by_place(term.shape)))
    ),
    factors=lambda factors: tuple(sorted(factors, key=_factor_key)),
    turns=lambda total: 2 * sum(term.negative for term in total.terms) >= len(total.terms),
)


def _unsigned(shape: Shape) -> tuple[bool, Shape]:
    return (True, shape.inside) if isinstance(shape, Negative) else (False, shape)


def _turned(total: Sum) -> Sum:
    return Sum(_positive_first(Term(not term.negative, term.shape) for term in total.terms))


def add(parts: Iterable[Shape], order: Order) -> Shape:
    """One sum without sums inside; a sum that is subtracted keeps its brackets."""
    terms: list[Term] = []
    for part in parts:
        negative, shape = _unsigned(part)
        if isinstance(shape, Sum) and not negative:
            terms += shape.terms
        else:
            terms.append(Term(negative, shape))
    return Sum(order.terms(terms))


def multiply(parts: Iterable[Shape], order: Order) -> Shape:
    """One product or quotient with one sign in front of it."""
    negative = False
    top: list[Shape] = []
    bottom: list[Shape] = []
    for part in parts:
        minus, shape = _unsigned(part)
        negative ^= minus
        if isinstance(shape, Quotient) and _is_reciprocal_or_number(shape):
            top += _factors(shape.top)
            bottom += _factors(shape.bottom)
        else:
            top += _factors(shape)
    top = [shape for shape in top if shape != ONE]
    if bottom and len(top) == 1 and isinstance(top[0], Quotient):
        bottom = [*_factors(top[0].bottom), *bottom]
        top = list(_factors(top[0].top))
    for side in (top, bottom):
        negative = _gather_signs(side, negative, order)
    upper = _product(order.factors(top))
    whole = Quotient(upper, _product(order.factors(bottom))) if bottom else upper
    return Negative(whole) if negative else whole


def _is_reciprocal_or_number(shape: Quotient) -> bool:
    return shape.top == ONE or (
        isinstance(shape.top, Integer) and isinstance(shape.bottom, Integer)
    )


def _gather_signs(side: list[Shape], negative: bool, order: Order) -> bool:
    """Sums of minuses alone are turned round; so is one sum where that saves the sign in front."""
    for place, shape in enumerate(side):
        if not isinstance(shape, Sum):
            continue
        if all(term.negative for term in shape.terms) or (negative and order.turns(shape)):
            turned = _turned(shape)
            side[place] = Sum(order.terms(turned.terms))
            negative = not negative
    return negative


def _factors(shape: Shape) -> tuple[Shape, ...]:
    return shape.factors if isinstance(shape, Product) else (shape,)


def _product(factors: tuple[Shape, ...]) -> Shape:
    if not factors:
        return ONE
    return factors[0] if len(factors) == 1 else Product(factors)


def raise_to(base: Shape, exponent: Shape) -> Shape:
    """The power, which is the base itself or a root where that is what it says."""
    match exponent:
        case Integer(1):
            return base
        case Quotient(Integer(1), Integer(degree)):
            return Root(degree, base)
        case _:
            return Power(base, exponent)
