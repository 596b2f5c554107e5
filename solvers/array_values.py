"""Arrays as they are given, nested lists of exact numbers, to float64 and back; shapes are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from formulas.errors import Problem
from formulas.quantity import Quantity

MOST_ELEMENTS = 2_000_000


def to_array(quantity: Quantity, value: Any) -> Any:
    """The value as a float64 array with the dimensions of the quantity, inside its domain."""
    import numpy

    name = quantity.short_name
    sizes = _sizes(quantity, value)
    flat: Iterable[Any] = [value]
    for _ in sizes:
        flat = [item for row in flat for item in row]
    array = numpy.array([_number(name, item) for item in flat], dtype=numpy.float64).reshape(sizes)
    _check_domain(quantity, array)
    return array


def _sizes(quantity: Quantity, value: Any) -> tuple[int, ...]:
    """The size of each dimension; a Problem where rows are of unequal length, or dimensions too many."""
    name, sizes, rows = quantity.short_name, [], [value]
    declared = f"{name} has {_dimensions(quantity)}"
    for _ in quantity.shape:
        if not all(isinstance(row, tuple | list) for row in rows):
            raise Problem("shape", f"{declared}, but it is given with fewer", (_example(quantity),), name)
        lengths = [len(row) for row in rows]
        odd = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            message = f"row {odd + 1} of {name} has {lengths[odd]} entries, and row 1 has {lengths[0]}"
            raise Problem("shape", message, ("give every row the same length",), name)
        if lengths[0] == 0:
            raise Problem("shape", f"{name} is empty", (_example(quantity),), name)
        check_count(name, lengths[0] * len(lengths))
        sizes.append(lengths[0])
        rows = [item for row in rows for item in row]
    if any(isinstance(item, tuple | list) for item in rows):
        raise Problem("shape", f"{declared}, but it is given with more", (_example(quantity),), name)
    return tuple(sizes)


def check_count(name: str, count: int) -> None:
    """A Problem where an array is too large to be computed with."""
    if count > MOST_ELEMENTS:
        message = f"{name} would have {count:,} elements, and {MOST_ELEMENTS:,} is the most"
        raise Problem("size", message, ("give a smaller array",), name)


def _dimensions(quantity: Quantity) -> str:
    if not quantity.shape:
        return "no dimensions"
    return f"the dimension{'s' * (len(quantity.shape) > 1)} {' x '.join(quantity.shape)}"


def _example(quantity: Quantity) -> str:
    shown = {0: "a single number", 1: "a list, such as [1, 2, 3]", 2: "a list of rows: [[1, 2], [3, 4]]"}
    return f"give {shown[len(quantity.shape)]}"


def _number(name: str, item: Any) -> float:
    try:
        number = float(item)
    except (TypeError, ValueError, OverflowError):
        raise Problem("number", f"{name} holds {item!r}, which is no number", (), name) from None
    if number != number or number == float("inf"):  # noqa: PLR0124  (NaN is not equal to itself)
        raise Problem("number", f"{name} holds {number}; only minus infinity may stand in it", (), name)
    return number


def _check_domain(quantity: Quantity, array: Any) -> None:
    outside = [x for x in (array.min(), array.max()) if not quantity.domain.holds(float(x))]
    if outside:
        name = quantity.short_name
        whose = f"{name} holds" if quantity.shape else f"{name} is"
        message = f"{whose} {outside[0]:g}, but it must be {quantity.domain}"
        raise Problem("domain", message, (), name)


def check_shapes(arrays: Mapping[str, tuple[Quantity, Any]], sizes: Mapping[str, str]) -> dict[str, int]:
    """The size of each dimension; a Problem where two arrays, or an array and a scalar, disagree."""
    known: dict[str, tuple[int, str]] = {}
    for quantity, array in arrays.values():
        for dimension, size in zip(quantity.shape, array.shape, strict=True):
            seen, whose = known.setdefault(dimension, (size, quantity.name))
            if seen != size:
                other = arrays[whose]
                message = f"{_shown(*other)} and {_shown(quantity, array)}: both have {dimension}"
                raise Problem("shape", message, (f"make {dimension} the same in both",), quantity.short_name)
    for dimension, scalar in sizes.items():
        if dimension in known and scalar in arrays and float(arrays[scalar][1]) != known[dimension][0]:
            quantity, array = arrays[known[dimension][1]]
            short, value = arrays[scalar][0].short_name, float(arrays[scalar][1])
            message = f"{short} is {value:g} and {_shown(quantity, array)}: {short} is its {dimension}"
            raise Problem("shape", message, (f"give {short} = {known[dimension][0]}",), short)
    return {dimension: size for dimension, (size, _) in known.items()}


def _shown(quantity: Quantity, array: Any) -> str:
    sizes = " x ".join(str(size) for size in array.shape)
    return f"{quantity.short_name} {'is' if len(array.shape) > 1 else 'has length'} {sizes}"


def from_array(quantity: Quantity, result: Any) -> Any:
    """Nested lists of Python numbers, whole where the quantity is; a Problem where there is no value."""
    import numpy

    if isinstance(result, str | bytes | bool):
        return result
    array = numpy.asarray(result, dtype=numpy.float64)
    name = quantity.short_name
    if numpy.isnan(array).any() or (array == numpy.inf).any():
        where = f" at position {numpy.argwhere(~(array < numpy.inf))[0].tolist()}" if array.ndim else ""
        raise Problem("domain", f"{name} has no value{where}: something is divided by 0, or infinite", (), name)
    if quantity.domain.whole and (array == numpy.floor(array)).all():
        return array.astype(numpy.int64).tolist()
    return array.tolist()
