"""Every recomputation by the id of its number, and whether it agrees with what the sheet says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from formulas.numbers import Figure, ReferenceNumber, numbers
from solvers.recompute.figures import Recomputation, Several
from solvers.recompute.of_hardware import OF_HARDWARE
from solvers.recompute.of_models import OF_MODELS, mlp_shares
from solvers.recompute.of_serving import OF_SERVING

RECOMPUTATIONS: Mapping[str, Recomputation] = MappingProxyType(
    {**OF_MODELS, **OF_HARDWARE, **OF_SERVING}
)
# The same figure of other models, to be read beside the number; it is not part of the check.
BESIDE: Mapping[str, Callable[[], Mapping[str, Fraction]]] = MappingProxyType(
    {"dense_parameter_split": mlp_shares}
)

SAME, OTHER = Fraction(0), Fraction(1)


@cache
def recomputed(name: str) -> Mapping[str, Figure]:
    """The figures of the number that can be recomputed, by key; none where it is only quoted.

    Of a figure of several models or devices it is the one that is furthest from the quoted.
    """
    if name not in RECOMPUTATIONS:
        return MappingProxyType({})
    number = numbers()[name]
    found = RECOMPUTATIONS[name]().items()
    return MappingProxyType({key: _furthest(number, key, figure) for key, figure in found})


def _furthest(number: ReferenceNumber, key: str, figure: Figure | Several) -> Figure:
    if not isinstance(figure, Several):
        return figure
    return max(figure.figures, key=lambda one: difference(number, key, one))


def agrees(number: ReferenceNumber, computed: Mapping[str, Figure]) -> bool:
    """True where something was recomputed and all of it is within the number's tolerance."""
    return bool(computed) and all(within(number, key, figure) for key, figure in computed.items())


def within(number: ReferenceNumber, key: str, figure: Figure) -> bool:
    """True where this one figure is within the number's tolerance."""
    return number.tolerance is not None and difference(number, key, figure) <= number.tolerance


def difference(number: ReferenceNumber, key: str, figure: Figure) -> Fraction:
    """How far the figure is from what is quoted, relative to the quoted.

    It is 0 inside a quoted range, above an `at_least` and below an `at_most`. What is no number and
    no range is the same, 0, or another, 1.
    """
    quoted = number.values.get(key)
    ends = None if key in number.lists else _ends(key, quoted)
    parts = figure if isinstance(figure, tuple) else (figure,)
    alike = isinstance(figure, tuple) == isinstance(quoted, tuple)
    if ends and parts and alike and all(isinstance(part, Fraction) for part in parts):
        return max(_beyond(*ends, part) for part in parts)
    return SAME if quoted == figure else OTHER


def _ends(key: str, quoted: Figure | None) -> tuple[Fraction | None, Fraction | None] | None:
    """Between what a number lies that agrees exactly; None where no number or range is quoted."""
    match quoted:
        case Fraction():
            return (None if key == "at_most" else quoted, None if key == "at_least" else quoted)
        case (Fraction() as low, Fraction() as high):
            return low, high
        case _:
            return None


def _beyond(low: Fraction | None, high: Fraction | None, figure: Any) -> Fraction:
    """How far a number is below the low end or above the high one, relative to that end."""
    if low is not None and figure < low:
        return (low - figure) / abs(low) if low else OTHER
    if high is not None and figure > high:
        return (figure - high) / abs(high) if high else OTHER
    return SAME
