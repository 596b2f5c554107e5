"""What a picture shows, before anything is drawn: values in the units of their quantities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from derive.as_text import TOGETHER
from formulas.amounts import LADDERS
from formulas.catalogue import catalogue

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis: its name and unit as they are written, and what a value is divided by for them.

    `ticks` are the only values that there are, where there is nothing between them.
    """

    name: str
    unit: str = ""
    divisor: float = 1.0
    log: bool = False
    ticks: tuple[float, ...] = ()

    @property
    def title(self) -> str:
        """What stands beside the axis."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


@dataclass(frozen=True, slots=True)
class Curve:
    """Points that are joined, in pieces with gaps between; `faint` for one that only compares."""

    name: str
    pieces: tuple[tuple[Point, ...], ...]
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """One point with its name; `rank` is the value of a third quantity, told by colour."""

    name: str
    at: Point
    rank: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """At `x` everything from `low` to `high` satisfies every limit."""

    x: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: what moves, by how much the answer follows, and until where that holds."""

    name: str
    length: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of any kind: what it has none of is empty. `notes` stand below it.

    Each of `areas` is filled from span to span; spans that stand alone are columns.
    """

    kind: str
    title: str
    x: Scale
    y: Scale
    curves: tuple[Curve, ...] = ()
    marks: tuple[Mark, ...] = ()
    areas: tuple[tuple[Span, ...], ...] = ()
    bars: tuple[Bar, ...] = ()
    notes: tuple[str, ...] = ()
    third: Scale | None = None

    def to_dict(self) -> dict[str, Any]:
        """The picture as an object for scripts."""
        return asdict(self)


def note(label: str, text: str) -> str:
    """A line below a picture, from a text of the cards."""
    return f"{label}: {text.replace(TOGETHER, ' ')}"


def scale_of(name: str, values: Iterable[float], log: bool = False) -> Scale:
    """The axis of a quantity, in the unit that suits the largest of the values."""
    quantity = catalogue().quantities[name]
    own = quantity.unit
    most = max((abs(value) for value in values), default=0.0) * float(own.scale)
    ladder = () if quantity.label else LADDERS.get(own.powers, ())
    rungs = [(float(size), word) for size, word in ladder]
    fitting = [rung for rung in rungs if rung[0] <= most] or rungs[:1]
    if fitting:
        size, word = fitting[-1]
        return Scale(quantity.short_name, word, size / float(own.scale), log)
    unit = quantity.label or str(own)
    return Scale(quantity.short_name, "" if unit == "1" else unit, 1.0, log)


def wide(values: Iterable[float], ratio: float = 20.0) -> bool:
    """Whether values are all above 0 and so far apart that only a logarithm shows each."""
    found = list(values)
    return bool(found) and min(found) > 0 and max(found) > ratio * min(found)
