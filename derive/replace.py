"""What is said anew takes the place of what was said of the same thing before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from formulas.statements import (
    Among,
    AmongNames,
    Between,
    Calculated,
    Choose,
    Fact,
    Limit,
    Relate,
    Same,
    Spread,
    Statement,
    UseGpu,
    UseModel,
)
from formulas.storage import BYTES_OF

Subject = tuple[str, ...]


def replaced(
    statements: Iterable[Statement], new: Iterable[Statement], *, same_count: bool = False
) -> tuple[Statement, ...]:
    """The statements with the new ones in place of those about the same thing.

    The same thing is one quantity's value, one choice, the model, the GPU, or a limit of the same
    direction on one quantity. A value calculated from itself keeps the value that it starts from.
    With `same_count` a GPU without a number is taken as many times as the one before it.
    """
    old, fresh = tuple(statements), tuple(new)
    gone = {subject(row) for row in fresh if not _starts_from_itself(row)}
    if same_count:
        fresh = tuple(_as_many(row, old) for row in fresh)
    return (*(row for row in old if subject(row) not in gone and row not in fresh), *fresh)


def subject(statement: Statement) -> Subject:
    """What the statement is about; two of one subject cannot both hold."""
    match statement:
        case UseModel():
            return ("model",)
        case UseGpu():
            return ("gpu",)
        case AmongNames("gpu"):
            # A list of GPUs says nothing of how many there are.
            return ("gpus",)
        case Choose(choice) | AmongNames(choice):
            return ("value", BYTES_OF.get(choice, choice))
        case Limit(quantity, relation):
            return ("limit", quantity, relation[0])
        case Fact() | Between() | Spread() | Calculated() | Same() | Among():
            return ("value", statement.quantity)
        case Relate():
            return ("relation", str(statement.left), statement.relation[0], str(statement.right))
        case _:
            assert_never(statement)


def _starts_from_itself(row: Statement) -> bool:
    return isinstance(row, Calculated) and row.quantity in {s.name for s in row.expr.free_symbols}


def _as_many(row: Statement, old: tuple[Statement, ...]) -> Statement:
    """The GPU in the number that was stated before, where it comes without one."""
    count = next((gpu.count for gpu in reversed(old) if isinstance(gpu, UseGpu)), None)
    if not isinstance(row, UseGpu) or row.count is not None or count is None:
        return row
    return replace(row, count=count, text=f"gpu {count} x {row.name}")
