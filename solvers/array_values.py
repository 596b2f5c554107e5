"""Nested lists of exact numbers to float64 arrays and back; shapes and domains are checked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from formulas.errors import Problem
from formulas.quantity import Quantity

MOST_ELEMENTS = 2_000_000

# Below this every whole number is a float64.
_EXACT = 2**53

_EXAMPLES = ("a single number", "a list: [1, 2, 3]", "a list of rows: [[1, 2], [3, 4]]")


def to_array(quantity: Quantity, value: Any) -> Any:
    """The value as a float64 array with the dimensions of the quantity, inside its domain."""
    import numpy

    name, sizes, items = quantity.short_name, [], [value]
    for _ in quantity.shape:
        sizes.append(_row_length(quantity, items))
        items = list(chain.from_iterable(items))
    if any(isinstance(item, tuple | list) for item in items):
        raise _wrong_depth(quantity, "more")
    array = numpy.array([_number(name, item) for item in items], dtype=numpy.float64)
    for end in (array.min(), array.max()):
        if not quantity.domain.holds(float(end)):
            verb = "holds" if sizes else "is"
            message = f"{name} {verb} {end:g}, but it must be {quantity.domain}"
            raise Problem("domain", message, (), name)
    return array.reshape(sizes)


def _row_length(quantity: Quantity, rows: list[Any]) -> int:
    """The length of every row; a Problem where there are no rows, or they differ."""
    name = quantity.short_name
    if not all(isinstance(row, tuple | list) for row in rows):
        raise _wrong_depth(quantity, "fewer")
    length = len(rows[0])
    odd = next((k for k, row in enumerate(rows) if len(row) != length), None)
    if odd is not None:
        message = f"row {odd + 1} of {name} has {len(rows[odd])} entries, and row 1 has {length}"
        raise Problem("shape", message, ("give every row the same length",), name)
    if length == 0:
        raise Problem("shape", f"{name} is empty", (_example(quantity),), name)
    check_count(name, length * len(rows))
    return length


def _wrong_depth(quantity: Quantity, how: str) -> Problem:
    declared = f"has the shape {' x '.join(quantity.shape)}" if quantity.shape else "is one number"
    message = f"{quantity.short_name} {declared}, but it is given with {how} dimensions"
    return Problem("shape", message, (_example(quantity),), quantity.short_name)


def _example(quantity: Quantity) -> str:
    return f"give {_EXAMPLES[len(quantity.shape)]}"


def check_count(name: str, count: int) -> None:
    """A Problem where an array is too large to be computed with."""
    if count > MOST_ELEMENTS:
        message = f"{name} takes arrays of {count:,} elements, and {MOST_ELEMENTS:,} is the most"
        raise Problem("size", message, ("give a smaller array",), name)


def _number(name: str, item: Any) -> float:
    try:
        number = float(item)
    except (TypeError, ValueError, OverflowError):
        raise Problem("number", f"{name} holds {item!r}, which is no number", (), name) from None
    if number < float("inf"):
        return number
    raise Problem("number", f"{name} holds {number}, which cannot be computed with", (), name)


def check_shapes(
    given: Mapping[str, tuple[Quantity, Any]], sizes: Mapping[str, str]
) -> dict[str, int]:
    """The size of each dimension; a Problem where two arrays, or array and scalar, disagree."""
    known: dict[str, int] = {}
    owner: dict[str, str] = {}
    for name, (quantity, array) in given.items():
        for dimension, size in zip(quantity.shape, array.shape, strict=True):
            if known.setdefault(dimension, size) != size:
                both = f"{_shown(*given[owner[dimension]])} and {_shown(quantity, array)}"
                repair = f"make {dimension} the same in both"
                message = f"{both}: both have {dimension}"
                raise Problem("shape", message, (repair,), quantity.short_name)
            owner.setdefault(dimension, name)
    for dimension, scalar in sizes.items():
        if dimension in known and scalar in given:
            _check_size(given[scalar], dimension, known[dimension], given[owner[dimension]])
    return known


def _check_size(
    scalar: tuple[Quantity, Any], dimension: str, size: int, array: tuple[Quantity, Any]
) -> None:
    name, value = scalar[0].short_name, float(scalar[1])
    if value != size:
        message = f"{name} is {value:g}, but {_shown(*array)}, so {dimension} is {size}"
        raise Problem("shape", message, (f"give {name} = {size}",), name)


def _shown(quantity: Quantity, array: Any) -> str:
    sizes = " x ".join(str(size) for size in array.shape)
    return f"{quantity.short_name} {'is' if len(array.shape) > 1 else 'has length'} {sizes}"


def from_array(quantity: Quantity, result: Any) -> Any:
    """Nested lists of Python numbers, whole where the quantity is; a Problem for a missing one."""
    import numpy

    array = numpy.asarray(result, dtype=numpy.float64)
    missing = numpy.argwhere(~(array < numpy.inf))
    if missing.size or (not array.ndim and not array < numpy.inf):
        where = f"[{', '.join(str(k) for k in missing[0])}]" if array.ndim else ""
        message = f"{quantity.short_name}{where} has no value: it comes to 0/0, or is infinite"
        raise Problem("domain", message, (), quantity.short_name)
    exact = (array == numpy.floor(array)) & (abs(array) < _EXACT)
    if quantity.domain.whole and exact.all():
        return array.astype(numpy.int64).tolist()
    return array.tolist()
