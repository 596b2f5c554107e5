"""The Pareto front of a plan: the configurations that no other beats in all of its goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from derive.picture import Curve, Mark, Picture, Point, scale_of, wide
from derive.points import cell
from formulas.catalogue import catalogue

_SENSES = {"min": "smallest", "max": "largest"}


def picture(data: Mapping[str, Any]) -> Picture:
    """A mark for each configuration; a third goal is the colour of the marks.

    `data` is the object of an answer to `plan front`.
    """
    goals = [(goal["sense"], goal["name"]) for goal in data["goals"]]
    rows = data["rows"]
    columns = [[float(row["values"][name]) for row in rows] for _, name in goals]
    scales = [
        scale_of(name, column, wide(column))
        for (_, name), column in zip(goals, columns, strict=True)
    ]
    ranks = columns[2] if len(columns) > 2 else [None] * len(rows)
    names = {name for _, name in goals}
    marks = tuple(
        Mark(_choice(row, rows, names), (x, y), rank)
        for row, x, y, rank in zip(rows, columns[0], columns[1], ranks, strict=True)
    )
    stairs = _stairs(sorted(mark.at for mark in marks), goals[0][0] == "min")
    # Between two goals a front is a line; among three it is a surface.
    curves = (Curve("front", (stairs,)),) if len(goals) == 2 else ()
    shown = [f"{_SENSES[sense]} {catalogue().quantities[name].short_name}" for sense, name in goals]
    notes = [f"{data['feasible']} of {data['combinations']} configurations meet every limit"]
    notes += [] if data["proved"] else ["the time was over: there may be better ones"]
    common = _common(rows)
    notes += [f"all of them: {_named(common)}"] if common else []
    notes += [f"unchecked: {', '.join(data['unchecked'])}"] if data.get("unchecked") else []
    return Picture(
        "front", f"None beats these: {', '.join(shown)}",
        scales[0], scales[1], curves, marks, notes=tuple(notes),
        third=scales[2] if len(scales) > 2 else None,
    )  # fmt: skip


def _stairs(points: Sequence[Point], least: bool) -> tuple[Point, ...]:
    """The edge of what some configuration reaches: there is none between two of them."""
    found = [*points[:1]]
    for (x, y), (to_x, to_y) in pairwise(points):
        found += [(to_x, y) if least else (x, to_y), (to_x, to_y)]
    return tuple(found)


def _choice(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], axes: set[str]) -> str:
    """What is chosen there, without what is the same everywhere or is read off an axis."""
    common = _common(rows)
    told = {n: v for n, v in row.items() if n != "values" and n not in common and n not in axes}
    return _named(told)


def _common(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What every configuration chooses alike, where there are several."""
    first = rows[0]
    alike = {n: v for n, v in first.items() if all(row.get(n) == v for row in rows)}
    return alike if len(rows) > 1 else {}


def _named(values: Mapping[str, Any]) -> str:
    quantities = catalogue().quantities
    return ", ".join(
        f"{name} {cell(name, value) if name in quantities else value}"
        for name, value in values.items()
    )
