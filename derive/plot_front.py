"""The Pareto front of a plan: the configurations that no other beats in all of its goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from derive.picture import Curve, Mark, Picture, scale_of, wide
from formulas.catalogue import catalogue
from formulas.errors import Problem

_NOT_CHOSEN = ("values",)


def picture(data: Mapping[str, Any]) -> Picture:
    """A mark for each configuration; a third goal is the colour of the marks.

    `data` is the object of an answer to `plan front`.
    """
    goals = [(goal["sense"], goal["name"]) for goal in data["goals"]]
    rows = data["rows"]
    names = [name for _, name in goals]
    columns = [[float(row["values"][name]) for row in rows] for name in names]
    scales = [
        scale_of(name, column, wide(column)) for name, column in zip(names, columns, strict=True)
    ]
    third = columns[2] if len(columns) > 2 else [None] * len(rows)
    marks = tuple(
        Mark(_choice(row, data), (x, y), rank)
        for row, x, y, rank in zip(rows, columns[0], columns[1], third, strict=True)
    )
    # Between two goals the front is a line from left to right; among three it is a surface.
    line = tuple(sorted(mark.at for mark in marks))
    curves = (Curve("no other is better in both", (line,)),) if len(names) == 2 else ()
    goal = ", ".join(f"{sense} {catalogue().quantities[name].short_name}" for sense, name in goals)
    notes = [f"{len(rows)} of {data['feasible']} configurations that meet every limit"]
    notes += [] if data["proved"] else ["the time was over: there may be better ones"]
    notes += [f"assumed: {_facts(data['assumed'])}"] if data.get("assumed") else []
    notes += [f"unchecked: {', '.join(data['unchecked'])}"] if data.get("unchecked") else []
    return Picture(
        "front", f"front of {goal}", scales[0], scales[1], curves, marks,
        notes=tuple(notes), third=scales[2] if len(scales) > 2 else None,
    )  # fmt: skip


def refuse_other(data: Mapping[str, Any]) -> None:
    """A Problem for an answer that is no front."""
    if data.get("kind") != "front":
        example = "plan front min gpus_per_replica, min tpot given ... over tp, batch"
        raise Problem("plot", "this is no front of a plan", (f"example: {example}",))


def _choice(row: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """What is chosen there, without what is the same everywhere."""
    rows: Sequence[Mapping[str, Any]] = data["rows"]
    chosen = {name: value for name, value in row.items() if name not in _NOT_CHOSEN}
    differing = {n: v for n, v in chosen.items() if any(other.get(n) != v for other in rows)}
    return _facts(differing or chosen)


def _facts(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
