"""What the code of a kernel calls: the numpy meaning of array nodes. numpy is imported on use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formulas.errors import Problem

_LEAVE_ONE = "leave at least one entry that is not masked"


def take(table: Any, index: Any, name: str) -> Any:
    """The entries at these positions; a Problem where one is not whole or not in the table."""
    import numpy

    position = numpy.asarray(index)
    inside = (position == numpy.floor(position)) & (position >= 0) & (position < len(table))
    if not inside.all():
        wrong = f"{float(position[~inside].flat[0]):g}"
        entries = f"{name} has {len(table)} entries, from 0 to {len(table) - 1}"
        repair = f"give a whole number from 0 to {len(table) - 1}"
        raise Problem("domain", f"there is no {name}[{wrong}]: {entries}", (repair,), wrong)
    return table[position.astype(numpy.int64)]


def _terms(low: Any, high: Any, term: Callable[[Any], Any]) -> Any:
    import numpy

    index = numpy.arange(int(low), int(high) + 1)
    return numpy.broadcast_to(term(index), index.shape)


def add_up(low: Any, high: Any, term: Callable[[Any], Any]) -> Any:
    """The sum of the terms."""
    return _terms(low, high, term).sum()


def largest(low: Any, high: Any, term: Callable[[Any], Any]) -> Any:
    """The largest term."""
    return _terms(low, high, term).max()


def entries(low: Any, high: Any, term: Callable[[Any], Any]) -> Any:
    """The vector of the terms."""
    return _terms(low, high, term)


def share(exponent: Any, exponents: Any) -> Any:
    """e^exponent over the sum of e^exponents, without overflow; a Problem where all are masked."""
    import numpy

    top = exponents.max()
    if top == -numpy.inf:
        raise Problem("domain", "every entry is masked, so nothing can be chosen", (_LEAVE_ONE,))
    return numpy.exp(exponent - top) / numpy.exp(exponents - top).sum()


def softmax(matrix: Any) -> Any:
    """Each row as probabilities, without overflow; a Problem where a row is masked everywhere."""
    import numpy

    top = matrix.max(axis=-1, keepdims=True)
    masked = numpy.flatnonzero(top == -numpy.inf)
    if masked.size:
        message = f"row {masked[0] + 1} is masked everywhere, so nothing can be chosen in it"
        raise Problem("domain", message, (_LEAVE_ONE,))
    powers = numpy.exp(matrix - top)
    return powers / powers.sum(axis=-1, keepdims=True)


def rms_norm(matrix: Any, *, epsilon: float) -> Any:
    """Each row over its root mean square; `epsilon` is added to the mean. There is no weight."""
    import numpy

    return matrix / numpy.sqrt((matrix * matrix).mean(axis=-1, keepdims=True) + epsilon)


NAMESPACE: dict[str, Callable[..., Any]] = {
    "take": take,
    "add_up": add_up,
    "largest": largest,
    "entries": entries,
    "share": share,
    "softmax": softmax,
}
