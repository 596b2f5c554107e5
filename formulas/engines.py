"""What an engine was seen to take besides weights and cache: ranges, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from formulas.errors import Problem, nearest
from formulas.statements import Between, Choose, Statement
from formulas.tables import dashed, load

ENGINE = "engine"
_GIBIBYTE = Fraction(2**30)
_RANGE = "_gib"


Ranges = Mapping[str, tuple[Fraction, Fraction]]


@cache
def engines() -> Mapping[str, Ranges]:
    """The ranges in bytes by quantity, for every engine of the table and each of its aliases."""
    found: dict[str, Ranges] = {}
    for name, row in load("engines.toml")["engines"].items():
        ranges = MappingProxyType(
            {
                key.removesuffix(_RANGE): (_bytes(row[key][0]), _bytes(row[key][1]))
                for key in row
                if key.endswith(_RANGE)
            }
        )
        spellings = (name.replace("_", "."), *row.get("aliases", ()))
        found |= dict.fromkeys(spellings, ranges)
    return MappingProxyType(found)


def _bytes(gibibytes: Fraction | int) -> Fraction:
    return Fraction(gibibytes) * _GIBIBYTE


def find_engine(text: str) -> str:
    """The engine's name as the table spells it; a Problem where there is none."""
    name = dashed(text)
    if name in engines():
        return name
    near = nearest(name, list(engines()))
    listing = "there are " + ", ".join(engines())
    help_lines = (f"did you mean '{near}'?", listing) if near else (listing,)
    raise Problem("name", f"no engine '{text}'", help_lines, text)


def said_of(rows: tuple[Statement, ...]) -> tuple[str, ...]:
    """Where the ranges of the engine that is named come from."""
    table = load("engines.toml")["engines"]
    names = [row.value for row in rows if isinstance(row, Choose) and row.choice == ENGINE]
    return tuple(
        f"what {name} takes is a range of start-up logs, as of {row['as_of']}: "
        + "; ".join(row["source"])
        for name in names
        for spelling, row in table.items()
        if name in (spelling.replace("_", "."), *row.get("aliases", ()))
    )


def of_engine(rows: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """What the engine that is named is known to take, where nobody states it."""
    stated = {getattr(row, "quantity", "") for row in rows}
    found: list[Statement] = []
    for row in rows:
        if isinstance(row, Choose) and row.choice == ENGINE:
            ranges = engines()[find_engine(row.value)]
            found += [
                Between(quantity, low, high, row.text)
                for quantity, (low, high) in ranges.items()
                if quantity not in stated and low != high
            ]
    return tuple(found)
