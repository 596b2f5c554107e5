"""What a plan is asked to find, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from formulas.scenario import Scenario
from formulas.statements import Axis
from solvers.answer import Answer
from solvers.search.logic import Compares, Condition, atoms_of
from solvers.straight import names_in

# Between configurations that are equally good the less of each decides, in this order.
TIES = ("n_gpus", "gpus_per_replica", "tpot", "tp")
# What a row of a table tells beside its choice, where it is known.
TOLD = (
    "gpus_per_replica", "replicas", "n_gpus", "replica_request_rate", "cost_per_hour",
    "cost_per_million_tokens", "tpot", "ttft", "memory_used_per_gpu", "memory_budget",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Goal:
    """A quantity whose largest or smallest is sought; `sense` is max or min."""

    name: str
    sense: str = "min"


@dataclass(frozen=True)
class Task:
    """The goals come in the order of their weight; `top` is how many rows are told, or EVERY.
    `front` asks for every configuration that no other beats in all of them.
    """

    scenario: Scenario
    goals: tuple[Goal, ...]
    over: tuple[Axis, ...]
    conditions: tuple[Condition, ...] = ()
    prices: Mapping[str, Fraction] = field(default_factory=dict)
    top: int = 1
    front: bool = False
    seconds: float = 60.0

    @property
    def wanted(self) -> tuple[str, ...]:
        """The quantities that the goals and the side conditions speak of."""
        atoms = (atom for row in self.conditions for atom in atoms_of(row.logic))
        sides = (s for atom in atoms if isinstance(atom, Compares) for s in atom.test.sides)
        names = [goal.name for goal in self.goals]
        return tuple(dict.fromkeys([*names, *(n for s in sides for n in sorted(names_in(s)))]))


@dataclass(frozen=True, slots=True)
class Row:
    """One configuration: its choice, what it comes to, and what decides its place."""

    point: Mapping[str, Any]
    values: Mapping[str, float]
    ranks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Excluded:
    """How many configurations and values a test rules out, and how many it alone does."""

    name: str
    count: int
    alone: int


@dataclass(frozen=True, slots=True)
class Relief:
    """The smallest change of one limit that would do by itself; None where none would.

    `best` is what the limited side reaches where no other limit is looked at.
    """

    name: str
    sign: str
    to: Any
    stated: Any
    point: Mapping[str, Any] = field(default_factory=dict)
    best: float | None = None


@dataclass(frozen=True, slots=True)
class Clashes:
    """Why there is none: minimal sets that clash, minimal sets to give up, and what would do."""

    clashes: tuple[tuple[str, ...], ...]
    corrections: tuple[tuple[str, ...], ...]
    reliefs: tuple[Relief, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The best rows, the best first; `points` is the size of the space (0 where it has no end),
    `feasible` how many of its combinations pass every test with some value of the line.

    `bound` is what is proved of the first goal where the search was stopped: no configuration is
    better than it. `binding` are the tests without which the first goal would come to something
    better, and to what. `refused` is the answer where the question cannot be searched.
    """

    rows: tuple[Row, ...] = ()
    combinations: int = 0
    points: int = 0
    feasible: int = 0
    excluded: tuple[Excluded, ...] = ()
    equal: int = 0
    clashes: Clashes | None = None
    proved: bool = True
    bound: float | None = None
    searched: int = 0
    refused: Answer | None = None
    unchecked: tuple[str, ...] = ()
    unbounded: bool = False
    notes: tuple[str, ...] = ()
    proof: str = ""
    binding: tuple[tuple[str, float], ...] = ()
