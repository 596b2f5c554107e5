"""A value with everything that it rests on, or the lack of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from formulas.deployment.defaults import STRUCTURAL
from formulas.formula import Relation


class Lacking(Exception):
    """The quantity has no value here; `names` are what was looked for and not found."""

    def __init__(self, *names: str) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = frozenset(names)


@dataclass(frozen=True, slots=True)
class Found:
    """A value, how it was had, and everything stated or assumed that it rests on.

    `inferred` are the stated quantities that were followed backwards on the way, `by` is the
    equation of a person that gave the value.
    """

    quantity: str
    value: Any
    relation: Relation | None = None
    solved_from: str = ""
    inputs: tuple[str, ...] = ()
    assumed: frozenset[str] = frozenset()
    stated: frozenset[str] = frozenset()
    inferred: frozenset[str] = frozenset()
    by: str = ""

    @property
    def guessed(self) -> frozenset[str]:
        """What was assumed and may be wrong, so that a stated fact comes before it."""
        return self.assumed - STRUCTURAL
