"""The quantities and choices of a search: the values of each, and a scenario that takes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from formulas.catalogue import Catalogue
from formulas.errors import Problem
from formulas.hardware import find_gpu, gpus, mig_profiles
from formulas.scenario import Scenario, scenario
from formulas.statements import Among, AmongNames, Axis, Calculated, Choose, Fact, UseGpu
from formulas.storage import BYTES_PER_ELEMENT

GPU, PROFILE, NONE = "gpu", "mig_profile", "none"
FORMATS = ("weight_dtype", "kv_dtype")
NAMED = (GPU, PROFILE, *FORMATS)
# Two spellings of one format are one choice.
_TWINS = ("fp16", "fp4")
_BYTES = {"weight_dtype": "bytes_per_weight", "kv_dtype": "kv_bytes_per_element"}


def axes_of(
    over: Iterable[Axis], scenario: Scenario, names: Catalogue
) -> dict[str, tuple[Any, ...] | None]:
    """The values of every axis; None for a quantity that may have any value of its grid."""
    found: dict[str, tuple[Any, ...] | None] = {}
    for axis in over:
        own = axis.values if axis.values is not None else _all(axis.name, scenario, names)
        allowed = scenario.options.get(axis.name, scenario.among.get(axis.name))
        if own is None:
            own = allowed
        elif allowed is not None:
            own = tuple(value for value in own if value in allowed)
        if own is not None and not own:
            raise Problem("syntax", f"no value of {axis.name} is left to search")
        found[axis.name] = own
    return found


def _all(name: str, scenario: Scenario, names: Catalogue) -> tuple[Any, ...] | None:
    if name == GPU:
        return tuple(gpus())
    if name in FORMATS:
        return tuple(word for word in BYTES_PER_ELEMENT if word not in _TWINS)
    if name == PROFILE:
        stated = next((r for r in scenario.statements if isinstance(r, UseGpu)), None)
        if stated is None:
            raise Problem("mig", "MIG profiles are those of a GPU", ("add  gpu NAME",), name)
        return (NONE, *mig_profiles(find_gpu(stated.name)))
    return names.quantity(name).domain.choices or None


def at_point(before: Scenario, point: Mapping[str, Any]) -> Scenario:
    """The scenario in which every axis of the point has its value, whatever was stated for it."""
    words = {name: value for name, value in point.items() if name in NAMED}
    found = _renamed(before, words) if words else before
    for name, value in point.items():
        if name not in NAMED:
            kept = {n: v for n, v in found.among.items() if n != name}
            found = replace(found.with_value(name, value), among=kept)
    kept_names = {name: names for name, names in found.options.items() if name not in point}
    return replace(found, options=kept_names)


def _renamed(before: Scenario, words: Mapping[str, str]) -> Scenario:
    """The facts that follow where these choices are made instead of those that were stated."""
    rows = before.statements
    if not rows and before.given:
        raise Problem("syntax", f"{', '.join(words)} can be searched among statements only")
    for name, word in words.items():
        rows = _restated(rows, name, word)
    found = scenario(rows)
    # What was set aside or stated for this question is so here as well.
    extra = {n: g for n, g in before.given.items() if g.origin == "asked"}
    given = {n: g for n, g in found.given.items() if n not in before.set_aside}
    return replace(found, given={**given, **extra})


def _restated(rows: Sequence[Any], name: str, word: str) -> tuple[Any, ...]:
    def is_replaced(row: Any) -> bool:
        if isinstance(row, Choose | AmongNames):
            return bool(row.choice == name)
        if isinstance(row, UseGpu):
            return name == GPU
        fact = isinstance(row, Fact | Among | Calculated)
        return fact and row.quantity == _BYTES.get(name)

    kept = tuple(row for row in rows if not is_replaced(row))
    if name == GPU:
        count = next((row.count for row in rows if isinstance(row, UseGpu)), None)
        text = f"gpu {word}" if count is None else f"gpu {count} x {word}"
        return (*kept, UseGpu(word, count, text))
    if name == PROFILE and word == NONE:
        return kept
    return (*kept, Choose(name, word, f"{name} = {word}"))


def shown_value(value: Any) -> Any:
    """A value of an axis as it is told: a whole number without its denominator."""
    return value if not isinstance(value, Fraction) or value.denominator > 1 else int(value)
