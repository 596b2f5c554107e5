"""Side conditions: what must hold of choices and quantities together, with and, or and not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from solvers.search.program import Test


@dataclass(frozen=True, slots=True)
class Compares:
    """An atom on a quantity: one of <=, >=, <, >."""

    test: Test


@dataclass(frozen=True, slots=True)
class IsNamed:
    """An atom on a choice of names: it is one of these."""

    choice: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """Every part holds."""

    parts: tuple[Logic, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part holds."""

    parts: tuple[Logic, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Logic


Atom = Compares | IsNamed
Logic = Compares | IsNamed | Both | Either | Not


@dataclass(frozen=True, slots=True)
class Condition:
    """One side condition as it was written."""

    text: str
    logic: Logic


def atoms_of(logic: Logic) -> Iterator[Atom]:
    """The atoms, from left to right."""
    match logic:
        case Compares() | IsNamed():
            yield logic
        case Not(part):
            yield from atoms_of(part)
        case Both(parts) | Either(parts):
            for part in parts:
                yield from atoms_of(part)


def truth_of(logic: Logic, atom: Callable[[Atom], Any], words: tuple[Any, Any, Any]) -> Any:
    """The truth, from that of the atoms; `words` are and, or and not of whatever truths are."""
    conjunction, disjunction, negation = words
    match logic:
        case Compares() | IsNamed():
            return atom(logic)
        case Not(part):
            return negation(truth_of(part, atom, words))
        case Both(parts):
            return conjunction([truth_of(part, atom, words) for part in parts])
        case Either(parts):
            return disjunction([truth_of(part, atom, words) for part in parts])
