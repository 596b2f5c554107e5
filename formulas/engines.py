"""What an engine takes besides weights and cache, and of what its share of the memory is a share.

Every figure is a range of start-up logs or a setting that a log shows, each with its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from formulas.errors import Problem, nearest
from formulas.statements import Between, Choose, Fact, Statement
from formulas.tables import dashed, load

ENGINE = "engine"
_GIBIBYTE = Fraction(2**30)
_RANGE = "_gib"


@dataclass(frozen=True, slots=True)
class Engine:
    """`ranges` are bytes by quantity, `settings` what it takes unless told otherwise.

    `family` is its name in profiles, whatever the version; `needs` is a setting without which its
    budget is not known.
    """

    name: str
    family: str
    ranges: Mapping[str, tuple[Fraction, Fraction]]
    settings: Mapping[str, Fraction]
    needs: str
    source: tuple[str, ...]
    as_of: str


@cache
def engines() -> Mapping[str, Engine]:
    """The engines of the table by each of their spellings."""
    found: dict[str, Engine] = {}
    for key, row in load("engines.toml")["engines"].items():
        name = key.replace("_", ".")
        found |= dict.fromkeys((name, *row.get("aliases", ())), _engine(name, row))
    return MappingProxyType(found)


def _engine(name: str, row: Mapping[str, Any]) -> Engine:
    ranges = {
        key.removesuffix(_RANGE): (_bytes(row[key][0]), _bytes(row[key][1]))
        for key in row
        if key.endswith(_RANGE)
    }
    settings = {key: Fraction(value) for key, value in row.get("settings", {}).items()}
    return Engine(
        name,
        name.partition("-")[0],
        MappingProxyType(ranges),
        MappingProxyType(settings),
        row.get("needs", ""),
        tuple(row["source"]),
        row["as_of"],
    )


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
    """Where the figures of the engine that is named come from, and what it does not say."""
    stated = {getattr(row, "quantity", "") for row in rows}
    found = []
    for name, engine in _named(rows):
        if engine.ranges or engine.settings:
            told = "what {} takes is of start-up logs, as of {}: {}"
            found.append(told.format(name, engine.as_of, "; ".join(engine.source)))
        if engine.needs and engine.needs not in stated:
            found.append(
                f"{name} takes a share of what is free: state {engine.needs}; without it the "
                "budget here is a share of the card"
            )
    return tuple(found)


def of_engine(rows: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """What the engine that is named is known to take, where nobody states it."""
    stated = {getattr(row, "quantity", "") for row in rows}
    found: list[Statement] = []
    for name, engine in _named(rows):
        text = f"{ENGINE} = {name}"
        found += [
            Between(quantity, low, high, text)
            for quantity, (low, high) in engine.ranges.items()
            if quantity not in stated and low != high
        ]
        found += [
            Fact(quantity, value, text=text)
            for quantity, value in engine.settings.items()
            if quantity not in stated
        ]
    return tuple(found)


def _named(rows: tuple[Statement, ...]) -> list[tuple[str, Engine]]:
    chosen = [row for row in rows if isinstance(row, Choose) and row.choice == ENGINE]
    return [(row.value, engines()[find_engine(row.value)]) for row in chosen]
