"""What a recomputation gives, and how it asks a relation of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from formulas.numbers import Figure


@dataclass(frozen=True, slots=True)
class Several:
    """One figure of several models or devices, each of which has to agree with what is quoted."""

    figures: tuple[Fraction, ...]


Figures = Mapping[str, Figure | Several]
Recomputation = Callable[[], Figures]


def calculated(relation: str, *facts: Mapping[str, Fraction], **known: Fraction) -> Fraction:
    """What the relation gives for these facts, of which the last word counts; exact."""
    from formulas.catalogue import catalogue
    from solvers.exact import evaluate

    inputs = {name: value for table in (*facts, known) for name, value in table.items()}
    value: Fraction = evaluate(catalogue().relations[relation].value, inputs.__getitem__)
    return value
