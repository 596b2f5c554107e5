"""A quantity: its name, letter, unit, domain. The only maker of symbols."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from formulas.units import Unit, parse_unit


@dataclass(frozen=True, slots=True)
class Domain:
    """Where a quantity may lie; `whole` and `choices` bind max and min, not exact inverses."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    whole: bool = False
    choices: tuple[Fraction, ...] = ()

    def holds(self, value: Any) -> bool:
        """True where the value lies in the domain; grids are not looked at."""
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        return self.high is None or bool(value <= self.high)

    def __str__(self) -> str:
        if self.choices:
            shown = ", ".join(
                str(float(c)) if c.denominator > 1 else str(c) for c in self.choices[:8]
            )
            return f"one of {shown}{', ...' if len(self.choices) > 8 else ''}"
        low = "" if self.low is None else f"{'>' if self.low_open else '>='} {self.low}"
        high = "" if self.high is None else f"<= {self.high}"
        return (
            ", ".join(part for part in (low, high, "whole" if self.whole else "") if part) or "real"
        )


ZERO, ONE = Fraction(0), Fraction(1)
REAL = Domain()
POSITIVE = Domain(ZERO, low_open=True)
NOT_NEGATIVE = Domain(ZERO)
SHARE = Domain(ZERO, ONE)
ATTAINED = Domain(ZERO, ONE, low_open=True)
COUNT = Domain(ZERO, low_open=True, whole=True)
COUNT_OR_NONE = Domain(ZERO, whole=True)
FROM_ONE = Domain(ONE, whole=True)
FROM_TWO = Domain(Fraction(2), whole=True)
INTEGER = Domain(whole=True)
# Units of values that are no amounts.
OPAQUE = ("bool", "hash", "tuple")
POWERS_OF_TWO = Domain(ONE, choices=tuple(Fraction(2**k) for k in range(13)))


@dataclass(frozen=True)
class Quantity:
    """One word of the vocabulary. `shape` names its dimensions: empty for a scalar."""

    name: str
    letter: str
    unit: Unit
    domain: Domain
    meaning: str
    label: str = ""
    shape: tuple[str, ...] = ()
    subject: str = ""
    value: Fraction | None = None

    @cached_property
    def symbol(self) -> Any:
        """The sympy symbol; it carries the sign of the domain and nothing else."""
        import sympy

        if len(self.shape) == 2:
            return sympy.MatrixSymbol(self.name, *(dimension(d) for d in self.shape))
        if len(self.shape) == 1:
            return sympy.IndexedBase(self.name, shape=(dimension(self.shape[0]),))
        return sympy.Symbol(self.name, **self._signs())

    def _signs(self) -> dict[str, bool]:
        low = self.domain.low
        if self.unit.text in OPAQUE or low is None:
            return {} if self.unit.text in OPAQUE else {"real": True}
        return {"positive": True} if low > 0 or self.domain.low_open else {"nonnegative": True}

    @property
    def short_name(self) -> str:
        """The name inside its own formula: `A` for `lora_forward.A`."""
        return self.name.rpartition(".")[2]


def dimension(name: str) -> Any:
    """The symbol of a dimension of an array, such as d_in."""
    import sympy

    return sympy.Symbol(name, integer=True, positive=True)


def bound_index(name: str) -> Any:
    """A symbol that a sum runs over; no quantity, and free in no relation."""
    import sympy

    return sympy.Symbol(name, integer=True, nonnegative=True)


def intermediate(name: str, shape: Any) -> Any:
    """A matrix that a kernel computes once and uses again; no quantity."""
    import sympy

    return sympy.MatrixSymbol(name, *shape)


def stand_in(**signs: bool) -> Any:
    """A nameless symbol that stands for an expression while another is taken apart; no quantity."""
    import sympy

    return sympy.Dummy(**signs)


def subject(name: str, rows: Iterable[tuple[Any, ...]]) -> tuple[Quantity, ...]:
    """The quantities of one subject, from rows of name, letter, unit, domain, meaning[, label]."""
    return tuple(_of_row(name, *row) for row in rows)


def _of_row(
    subject: str, name: str, letter: str, unit: str, domain: Domain, meaning: str, label: str = ""
) -> Quantity:
    return Quantity(name, letter, parse_unit_of(unit), domain, meaning, label, subject=subject)


def parse_unit_of(text: str) -> Unit:
    """A unit of the contract; those of OPAQUE are no amounts and have dimension 1."""
    return Unit(text=text) if text in OPAQUE else parse_unit(text)


def constant(name: str, value: int, unit: str, letter: str, meaning: str) -> Quantity:
    """A number with a unit: prints as its number, is substituted everywhere, is never an input."""
    number = Fraction(value)
    return Quantity(
        name, letter, parse_unit(unit), POSITIVE, meaning, subject="constants", value=number
    )
