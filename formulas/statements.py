"""What a person can say, as it was said: facts, limits, names, choices and calculations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from formulas.units import Unit

# A number is a Fraction; arrays are nested tuples; probe_ok is a bool; a hash is any hashable
# value.
Value = Any


@dataclass(frozen=True, slots=True)
class Fact:
    """`quantity = value`, or with `override` `quantity := value`, which cuts its own relations."""

    quantity: str
    value: Value
    override: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """`quantity <= value` and its like; the relation is one of <=, >=, <, >."""

    quantity: str
    relation: str
    value: Fraction
    text: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """`quantity = other`: two quantities that are to be equal."""

    quantity: str
    other: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class UseModel:
    """`model NAME` or `model PATH`."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class UseGpu:
    """`gpu N x NAME`, or `gpu NAME` where the count is None."""

    name: str
    count: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Choose:
    """A choice whose values are names: weight_dtype, kv_dtype, mig_profile."""

    choice: str
    value: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Among:
    """`quantity in {1, 2, 4}`: the values that are allowed."""

    quantity: str
    values: tuple[Fraction, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class AmongNames:
    """`choice in {bf16, fp8}`: the GPUs, formats or profiles that are allowed."""

    choice: str
    names: tuple[str, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Between:
    """`quantity = low..high`: a fact that is known to lie between two values."""

    quantity: str
    low: Fraction
    high: Fraction
    text: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """`quantity = value ± deviation`: a fact with one standard deviation."""

    quantity: str
    value: Fraction
    deviation: Fraction
    text: str = ""


@dataclass(frozen=True, slots=True)
class Calculated:
    """`quantity = calculation`, or with `override` :=, of other quantities in their own units."""

    quantity: str
    expr: Any
    override: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Relate:
    """A relation between two calculations; one of <=, >=, <, >, =. Both sides are in `unit`.

    The unit of numbers cannot be seen in an expression; it is None where nobody said it.
    """

    left: Any
    relation: str
    right: Any
    text: str = ""
    unit: Unit | None = None


Statement = (
    Fact | Limit | Same | UseModel | UseGpu | Choose | Among | AmongNames | Between | Spread
    | Calculated | Relate
)  # fmt: skip


# Instead of a number of rows: all that are as good as the best.
EVERY = -1


@dataclass(frozen=True, slots=True)
class Axis:
    """A quantity or a choice that is searched or swept; without values, over all of its own."""

    name: str
    values: tuple[Any, ...] | None = None
