"""The reference numbers of the cheat sheet: what it says, in which unit, and where that is from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from formulas.errors import CatalogueError
from formulas.tables import load

# A number, a word, yes or no; two numbers are the ends of a range unless the row says otherwise.
Figure = Fraction | bool | str | tuple[Any, ...]

_MANDATORY = ("section", "chapter", "values", "unit", "about", "source", "as_of")


@dataclass(frozen=True, slots=True)
class ReferenceNumber:
    """One entry of the sheet. `tolerance` is relative and stands where the number is recomputed.

    `unit` is that of the contract for all values together, `units` what people see for each; the
    keys in `lists` hold figures that stand apart, and are no range. `source` begins with the sheet.
    """

    id: str
    section: str
    chapter: int
    values: Mapping[str, Figure]
    unit: str
    units: Mapping[str, str]
    lists: frozenset[str]
    about: str
    source: tuple[str, ...]
    as_of: str
    tolerance: Fraction | None
    qualifier: str | Mapping[str, str] | None
    meaning: Mapping[str, str]
    note: str

    @property
    def verified(self) -> bool:
        """Whether the number is recomputed, and not only quoted."""
        return self.tolerance is not None


@cache
def numbers() -> Mapping[str, ReferenceNumber]:
    """Every reference number by id, in the order of the sheet."""
    rows = load("numbers.toml")["numbers"]
    return MappingProxyType({name: reference_number(name, row) for name, row in rows.items()})


def reference_number(name: str, row: Mapping[str, Any]) -> ReferenceNumber:
    """The number that a row of numbers.toml declares; CatalogueError where it says too little."""
    lacking = [key for key in _MANDATORY if key not in row or row[key] in ((), [])]
    if lacking:
        raise CatalogueError(f"numbers.toml: {name}: no {', '.join(lacking)}; every number says it")
    values = {key: _figure(value) for key, value in row["values"].items()}
    return ReferenceNumber(
        id=name,
        section=row["section"],
        chapter=row["chapter"],
        values=MappingProxyType(values),
        unit=row["unit"],
        units=MappingProxyType(_units(values, row["unit"], row.get("shown_in", {}))),
        lists=frozenset(row.get("lists", ())),
        about=row["about"],
        source=tuple(dict.fromkeys((*row["source"], *_sources_of(name, row.get("rows", ()))))),
        as_of=row["as_of"],
        tolerance=row.get("tolerance"),
        qualifier=row.get("qualifier"),
        meaning=row.get("meaning", MappingProxyType({})),
        note=row.get("note", ""),
    )


def _figure(value: Any) -> Figure:
    """The value with every number exact."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, (tuple, list)):
        return tuple(_figure(item) for item in value)
    figure: Figure = value
    return figure


def _units(values: Iterable[str], unit: str, shown_in: str | Mapping[str, str]) -> dict[str, str]:
    """The unit of each value for people: `shown_in`, else its part of the unit, without remark."""
    keys = list(values)
    if isinstance(shown_in, str):
        return dict.fromkeys(keys, shown_in)
    parts = [part.partition(",")[0].strip() for part in unit.split(";")]
    parts += parts[-1:] * (len(keys) - len(parts))
    return {**dict(zip(keys, parts, strict=True)), **shown_in}


def _sources_of(name: str, rows: Iterable[str]) -> Iterable[str]:
    """The sources of rows of the other tables, each written TABLE.ROW."""
    for reference in rows:
        table, _, row = reference.partition(".")
        rows_there = load(f"{table}.toml")[table]
        if row not in rows_there:
            message = f"numbers.toml: {name}: no row '{row}' in {table}.toml; correct rows="
            raise CatalogueError(message)
        yield from rows_there[row]["source"]
