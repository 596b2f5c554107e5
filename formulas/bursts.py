"""What the figures of a burst leave open: ranges where nobody states it."""

from __future__ import annotations

from formulas.burst_quantities import OF_BURSTS, UNKNOWN_OF_BURSTS
from formulas.quantity import ONE, ZERO
from formulas.statements import Between, Statement

_SPEAK_OF_BURSTS = frozenset(quantity.name for quantity in OF_BURSTS)


def of_bursts(rows: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Where a burst is spoken of: what nobody states of it lies anywhere from 0 to 1."""
    stated = {getattr(row, "quantity", "") for row in rows}
    if not stated & _SPEAK_OF_BURSTS:
        return ()
    unknown = [quantity.name for quantity in UNKNOWN_OF_BURSTS if quantity.name not in stated]
    return tuple(Between(name, ZERO, ONE, f"{name} = 0..1") for name in unknown)


def said_of_bursts(taken: tuple[Statement, ...]) -> tuple[str, ...]:
    """What is left open, and how to narrow the answer."""
    names = [getattr(row, "quantity", "") for row in taken]
    told = "{}: {}; state it for a narrower answer"
    return tuple(
        told.format(f"{quantity.name} = 0..1", quantity.meaning)
        for quantity in UNKNOWN_OF_BURSTS
        if quantity.name in names
    )
