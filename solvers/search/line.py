"""The values that one searched number may take in each configuration, by their place in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

# Where nothing else ends a line of whole numbers.
ENDLESS = 2**30


@dataclass(frozen=True)
class Whole:
    """Every whole number from `low` to `high`; beyond `grid` only its multiples."""

    name: str
    low: int
    high: int

    def count(self, grid: Any) -> Any:
        """How many values there are on each grid."""
        few, first = self._parts(grid)
        import numpy

        return few + numpy.maximum(0, self.high // grid - first + 1)

    def value(self, place: Any, grid: Any) -> Any:
        """The value at each place, as floats."""
        import numpy

        few, first = self._parts(grid)
        beyond = grid * (first + place - few)
        return numpy.where(place < few, self.low + place, beyond).astype(float)

    def exact(self, place: int, grid: int) -> Fraction:
        """The value at one place."""
        return Fraction(int(self.value(place, grid)))

    def _parts(self, grid: Any) -> tuple[Any, Any]:
        import numpy

        few = numpy.maximum(0, numpy.minimum(grid, self.high) - self.low + 1)
        first = numpy.maximum(grid, self.low - 1) // grid + 1
        return few, first


@dataclass(frozen=True)
class Listed:
    """The values of a list; beyond the grid only its multiples."""

    name: str
    values: tuple[Fraction, ...]

    def count(self, grid: Any) -> Any:
        """How many of them there are on each grid."""
        import numpy

        counts = {int(g): len(self._on(int(g))) for g in numpy.unique(grid)}
        return numpy.vectorize(counts.__getitem__, otypes=[int])(grid)

    def value(self, place: Any, grid: Any) -> Any:
        """The value at each place, as floats."""
        import numpy

        place, grid = numpy.broadcast_arrays(place, grid)
        found = numpy.zeros(place.shape)
        for g in numpy.unique(grid):
            own = numpy.array([float(v) for v in self._on(int(g))])
            found[grid == g] = own[place[grid == g]]
        return found

    def exact(self, place: int, grid: int) -> Fraction:
        """The value at one place."""
        return self._on(grid)[place]

    def _on(self, grid: int) -> list[Fraction]:
        return [v for v in self.values if v <= grid or v % grid == 0]


Line = Whole | Listed


def line_of(name: str, values: Sequence[Any] | None, divided: bool) -> Line:
    """The line of a quantity with these values; without any, every whole number from 1.

    `divided` says whether the quantity has a grid.
    """
    if values is None:
        return Whole(name, 1, ENDLESS)
    if isinstance(values, range) and values.step == 1:
        return Whole(name, values.start, values.stop - 1)
    exact = sorted({Fraction(v) for v in values})
    low, high = exact[0], exact[-1]
    whole = low.denominator == 1 and high - low == len(exact) - 1
    if whole and divided and all(v.denominator == 1 for v in exact):
        return Whole(name, int(low), int(high))
    return Listed(name, tuple(exact))
