"""The points of a table in words of the language: the values of each axis, and the facts there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from derive.as_json import plain
from derive.asked import refuse_outside
from derive.conversation import Conversation
from derive.question import Question
from derive.replace import replaced, subject
from derive.wording import between
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.statements import (
    Among,
    AmongNames,
    Axis,
    Choose,
    Fact,
    Statement,
    UseGpu,
    UseModel,
)
from formulas.storage import BYTES_PER_ELEMENT
from solvers.answer import Interval
from solvers.table import Grid

# Other names for bf16's size and for nvfp4.
_FORMATS = tuple(name for name in BYTES_PER_ELEMENT if name not in ("fp16", "fp4"))
NAMED = ("model", "gpu", "weight_dtype", "kv_dtype", "mig_profile")
_PARALLEL = ("tp", "pp", "dp", "ep")
WHOLE_GPU = "none"


@dataclass(frozen=True, slots=True)
class Points:
    """A grid, and the statements that hold at every point of it."""

    grid: Grid
    statements: tuple[Statement, ...]
    read_as: tuple[str, ...] = ()


def points_of(conversation: Conversation, question: Question, axes: Iterable[Axis]) -> Points:
    """The grid of the axes beside what is stated; an axis without values takes all that are
    allowed of it.

    What is stated of an axis is set aside: its values take that place.
    """
    stated = replaced(conversation.statements, question.statements)
    for statement in stated:
        refuse_outside(statement)
    values = {axis.name: _values(axis, stated) for axis in axes}
    about = {subject(row) for name in values for row in _facts({name: values[name][0]}, stated)}
    kept = tuple(
        row
        for row in stated
        if subject(row) not in about and not any(_listed(row, name) for name in values)
    )
    counted = tuple(row for row in stated if isinstance(row, UseGpu))

    def build(at: Mapping[str, Any]) -> Any:
        from formulas.scenario import scenario

        return scenario(replaced(kept, _facts(at, counted)))

    numeric = frozenset(name for name in values if name not in NAMED)
    return Points(Grid(values, build, numeric, conversation.prefer), kept, question.read_as)


def _facts(at: Mapping[str, Any], stated: Sequence[Statement]) -> list[Statement]:
    """What is stated at a point: a GPU in the number that is stated anyway."""
    found: list[Statement] = []
    count = next((row.count for row in stated if isinstance(row, UseGpu)), None)
    for name, value in at.items():
        text = f"{name} = {value}"
        match name:
            case "model":
                found.append(UseModel(value, text))
            case "gpu":
                number = "" if count is None else f"{count} x "
                found.append(UseGpu(value, count, f"gpu {number}{value}"))
            case "mig_profile" if value == WHOLE_GPU:
                continue
            case "weight_dtype" | "kv_dtype" | "mig_profile":
                found.append(Choose(name, value, text))
            case _:
                found.append(Fact(name, value, text=text))
    return found


# -- which values an axis takes


def _values(axis: Axis, stated: tuple[Statement, ...]) -> tuple[Any, ...]:
    if axis.values is not None:
        found: tuple[Any, ...] = axis.values
    else:
        lists = (_listed(row, axis.name) for row in stated)
        listed = [values for values in lists if values is not None]
        found = listed[-1] if listed else _domain(axis.name, stated)
    if axis.name in NAMED:
        return tuple(dict.fromkeys(found))
    for value in found:
        refuse_outside(Fact(axis.name, value, text=f"{axis.name} = {value}"))
    return tuple(sorted(set(found)))


def _listed(row: Statement, name: str) -> tuple[Any, ...] | None:
    """The values that the statement allows of that name."""
    match row:
        case Among(quantity, values) if quantity == name:
            return values
        case AmongNames(choice, names) if choice == name:
            return names
        case _:
            return None


def _domain(name: str, stated: tuple[Statement, ...]) -> tuple[Any, ...]:
    """All values of a choice; what can only be too many GPUs is left out."""
    match name:
        case "weight_dtype" | "kv_dtype":
            return _FORMATS
        case "gpu":
            from formulas.hardware import gpus

            return tuple(gpus())
        case "mig_profile":
            return _profiles(stated)
        case "model":
            example = "model in {llama-3.1-8b, llama-3.1-70b}"
            raise Problem("syntax", "there are too many models to try them all", (example,))
    choices = catalogue().quantities[name].domain.choices
    if not choices:
        raise Problem("syntax", f"{name} has no list of choices", (f"add  {name} in {{1, 2, 4}}",))
    most = _most(name, stated)
    return tuple(value for value in choices if most is None or value <= most)


def _most(name: str, stated: tuple[Statement, ...]) -> Fraction | None:
    """How many GPUs one replica, or one scale-up domain, can have at most."""
    from formulas.scenario import scenario

    if name not in _PARALLEL:
        return None
    given = scenario(row for row in stated if not isinstance(row, Among)).given
    known = [given[row].value for row in _ROOM[name] if row in given]
    return min(known) if known else None


_ROOM = {
    "tp": ("available_gpus", "node_gpus"),
    "dp": ("available_gpus", "node_gpus"),
    "ep": ("available_gpus",),
    "pp": ("available_gpus", "n_layers"),
}


def _profiles(stated: tuple[Statement, ...]) -> tuple[str, ...]:
    from formulas.hardware import find_gpu, mig_profiles

    named = [row.name for row in stated if isinstance(row, UseGpu)]
    if not named:
        raise Problem("mig", "a MIG profile needs a GPU", ("add  gpu NAME",))
    return (WHOLE_GPU, *mig_profiles(find_gpu(named[-1])))


# -- how they are shown


def label(name: str) -> str:
    """The name of an axis or quantity as a column's heading."""
    return name if name in NAMED else catalogue().quantities[name].short_name


def cell(name: str, value: Any) -> str:
    """A value in a column under its quantity's name; counts without their word."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        return between(value, lambda end: cell(name, end))
    quantity = catalogue().quantities[name]
    counted = str(quantity.unit) == "1" and quantity.domain.whole
    return display(value, quantity.unit, "" if counted else quantity.label)


def number(value: Any) -> Any:
    """A value for JSON; one that lies between two as both of them."""
    if isinstance(value, Interval):
        return [plain(value.low), plain(value.high)]
    return plain(value)


def at_data(at: Mapping[str, Any]) -> dict[str, Any]:
    """A point as values for JSON."""
    return {label(name): plain(value) for name, value in at.items()}
