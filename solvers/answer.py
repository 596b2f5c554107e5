"""The closed union of answers. Never None: a refusal is an answer with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from formulas.units import Unit
from solvers.number import Number


@dataclass(frozen=True, slots=True)
class Step:
    """One relation used: what it was solved for, from which values, and what came out."""

    relation: str
    solved_for: str
    value: Any
    inputs: Mapping[str, Any] = field(default_factory=dict)
    because: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One constraint at the point of the answer; without `left`, a statement that holds or not.

    Where it compares calculations, and no quantity, `unit` is that of both sides.
    """

    name: str
    relation: str
    left: Number | None
    right: Number | None
    holds: bool
    quantity: str = ""
    stated: bool = False
    unit: Unit | None = None

    @property
    def slack(self) -> float | None:
        """The room that is left, relative to the limit; negative where it is broken."""
        if self.left is None or self.right is None or self.right == 0:
            return None
        gap = float(self.right) - float(self.left)
        return (gap if self.relation.startswith("<") else -gap) / abs(float(self.right))


@dataclass(frozen=True, slots=True)
class Branch:
    """One admissible value, and the condition under which it is the one."""

    value: Any
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A piece of the line; an end of None is none."""

    low: Number | None = None
    high: Number | None = None
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said, as a clash names it: text, who said it, the quantities it fixes."""

    name: str
    text: str
    origin: str


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A smallest change of one statement that makes the question feasible; `then` is its answer.

    `to` is a number in the quantity's own unit or a name, `change` is relative to what was stated.
    """

    name: str
    relation: str
    to: Any
    change: float | None = None
    then: Any = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What every answer carries: its steps, checks, assumptions and what was not used."""

    steps: tuple[Step, ...] = ()
    checks: tuple[Check, ...] = ()
    assumed: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Any] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exact:
    """A value with every other admissible one; an attained largest or smallest is exact too.

    `spread` is its standard deviation where a fact has one.
    """

    find: str
    value: Any
    branches: tuple[Branch, ...] = ()
    binding: tuple[str, ...] = ()
    sense: str = ""
    numeric: bool = False
    intervals: tuple[Interval, ...] = ()
    evidence: Evidence = Evidence()
    spread: Number | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """Every value of these intervals satisfies the question; `one_sided` if a bound bounds it."""

    find: str
    intervals: tuple[Interval, ...]
    one_sided: bool = False
    value: Any = None
    evidence: Evidence = Evidence()


@dataclass(frozen=True, slots=True)
class Choice:
    """One value for each searched quantity."""

    find: str
    value: Any
    choice: Mapping[str, Any]
    binding: tuple[str, ...] = ()
    evidence: Evidence = Evidence()


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No value satisfies the question; the statements that clash, the reason, and the ways out.

    `cannot_help` are statements of which no value would make it feasible, each with its reason.
    """

    find: str
    reason: str
    conflict: tuple[Statement, ...] = ()
    evidence: Evidence = Evidence()
    relaxations: tuple[Relaxation, ...] = ()
    cannot_help: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """What to give, as alternatives, the smallest first.

    `tradeoff` are points of the answer along a quantity that is not given, each by names.
    """

    find: str
    alternatives: tuple[tuple[str, ...], ...]
    reason: str = ""
    evidence: Evidence = Evidence()
    tradeoff: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two stated facts that a relation does not allow together."""

    find: str
    quantity: str
    stated: Any
    derived: Any
    relation: str
    conflict: tuple[Statement, ...] = ()
    evidence: Evidence = Evidence()


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Nothing given limits the quantity in the direction asked."""

    find: str
    sense: str
    evidence: Evidence = Evidence()


@dataclass(frozen=True, slots=True)
class Unproved:
    """The search ended before it was complete; the reason says where.

    `seconds` is the limit on time that ended it, None where it was not the time.
    """

    find: str
    reason: str
    value: Any = None
    evidence: Evidence = Evidence()
    seconds: float | None = None


Answer = Exact | Range | Choice | Infeasible | Missing | Contradiction | Unbounded | Unproved
