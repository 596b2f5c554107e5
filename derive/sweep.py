"""`sweep tpot over batch in 1..256 log2, tp in {4, 8} to sweep.csv`: a table along quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from derive.conversation import Conversation
from derive.csv_file import checked_path, write_csv
from derive.deadline import TimedOut, within
from derive.document import Block, Line, Table
from derive.lacking import lacking
from derive.outcome import Outcome
from derive.points import NAMED, Points, at_data, cell, label, number, points_of
from derive.question import Question
from derive.stopped import stopped_outcome
from derive.under_table import assumed, assumed_data, fields, unchecked, why_not
from derive.wording import status
from formulas.catalogue import catalogue
from formulas.errors import Problem
from solvers.answer import Evidence, Missing
from solvers.table import Grid, Row, answered, table

MEMORY = "memory_used_per_gpu"
LONGEST = 40
_SHOWN_ENDS = 18


def answer_sweep(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The values along the axes, with the memory in use and what breaks; as a file where asked."""
    path = None if question.to is None else checked_path(question.to)
    points = points_of(conversation, question, question.over)
    asked = [name for name in dict.fromkeys(question.names) if name not in points.grid.axes]
    for name in set(asked) & set(NAMED):
        advice = (f"put it behind 'over': sweep ... over {name}",)
        raise Problem(
            "name", f"{label(name)} is a choice and has no values of its own", advice, name
        )
    try:
        with within(conversation.seconds):
            refusal = _missing_everywhere(points.grid, asked)
            if refusal is not None:
                return conversation, _lacking(question, points, refusal)
            if MEMORY not in asked and _is_known(points.grid, MEMORY):
                asked.append(MEMORY)
            rows = table(points.grid, asked)
            shared = _assumed_everywhere(points.grid, rows, asked)
    except TimedOut:
        names = ", ".join(map(label, question.names))
        return conversation, stopped_outcome("sweep", names, conversation.seconds)
    refused = [row.failed for row in rows if isinstance(row.failed, Missing)]
    if len(refused) == len(rows):
        return conversation, _lacking(question, points, refused[0])
    if path is not None:
        write_csv(path, _csv(points, rows, asked))
    data = _data(question, points, rows, asked, shared)
    blocks = _blocks(points, rows, asked, shared)
    if path is not None:
        data["file"] = str(path)
        blocks.append(Line(f"{len(rows)} rows written to {path}"))
    return conversation, Outcome(data["status"], tuple(blocks), data)


def _lacking(question: Question, points: Points, refusal: Missing) -> Outcome:
    return lacking(", ".join(label(name) for name in question.names), points, refusal)


def _missing_everywhere(grid: Grid, names: Sequence[str]) -> Missing | None:
    """The refusal, where the first, a middle and the last point lack the very same."""
    places = [[0, len(values) // 2, -1] for values in grid.axes.values()]
    found = []
    for place in zip(*places, strict=True):
        at = {name: grid.axes[name][index] for name, index in zip(grid.axes, place, strict=True)}
        refusal = answered(grid, at, names).failed
        if not isinstance(refusal, Missing):
            return None
        found.append(refusal)
    same = {(refusal.find, refusal.alternatives, refusal.reason) for refusal in found}
    return found[0] if len(same) == 1 else None


def _is_known(grid: Grid, name: str) -> bool:
    """Whether the quantity has a value at the first or the last point."""
    ends = [{axis: values[place] for axis, values in grid.axes.items()} for place in (0, -1)]
    return any(answered(grid, at, (name,)).failed is None for at in ends)


def _assumed_everywhere(
    grid: Grid, rows: Sequence[Row], asked: Sequence[str]
) -> tuple[Evidence, ...]:
    """What the first and the last row rest on: what differs between them is not one value."""
    ends = (rows[0], rows[-1])
    exact = [row if row.answers else answered(grid, row.at, asked) for row in ends]
    return tuple(answer.evidence for row in exact for answer in row.answers)


# -- the table


def _blocks(
    points: Points, rows: Sequence[Row], asked: Sequence[str], shared: Sequence[Evidence]
) -> list[Block]:
    axes = list(points.grid.axes)
    columns = (*(label(name) for name in axes), *(label(name) for name in asked), "fits")
    numeric = tuple(label(name) for name in (*axes, *asked) if name not in NAMED)
    shown = _in_part(rows)
    body = [
        tuple("..." for _ in columns) if row is None else _cells(row, axes, asked) for row in shown
    ]
    blocks: list[Block] = [Table(columns, tuple(body), numeric)]
    if len(rows) > LONGEST:
        left_out = len(rows) - 2 * _SHOWN_ENDS
        blocks.append(Line(f"  {left_out} of {len(rows)} rows are left out; to FILE.csv has all"))
    below = [("read as", points.read_as), ("assumed", assumed(shared))]
    return blocks + fields([*below, ("unchecked", unchecked(shared))])


def _in_part(rows: Sequence[Row]) -> list[Row | None]:
    """All rows, or the first and the last ones with a gap between them."""
    if len(rows) <= LONGEST:
        return list(rows)
    return [*islice(rows, _SHOWN_ENDS), None, *rows[-_SHOWN_ENDS:]]


def _cells(row: Row, axes: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
    at = (cell(name, row.at[name]) for name in axes)
    values = (cell(name, row.values[name]) for name in asked)
    return (*at, *values, _fits(row))


def _fits(row: Row) -> str:
    if row.broken:
        return f"no: {', '.join(row.broken)}"
    return "yes" if row.failed is None else f"no: {why_not(row.failed)}"


# -- for scripts


def _data(
    question: Question,
    points: Points,
    rows: Sequence[Row],
    asked: Sequence[str],
    shared: Sequence[Evidence],
) -> dict[str, Any]:
    failed = rows[0].failed
    nowhere = all(row.failed is not None for row in rows)
    units = {
        label(n): catalogue().quantities[n].unit.text
        for n in (*points.grid.axes, *asked)
        if n not in NAMED
    }
    return {
        "status": status(failed) if failed is not None and nowhere else "ok",
        "find": ", ".join(label(name) for name in question.names),
        "value": None,
        "display": f"{len(rows)} rows",
        "axes": [label(name) for name in points.grid.axes],
        "units": units,
        "rows": [_row_data(row, asked) for row in rows],
        "assumed": assumed_data(shared),
    }


def _row_data(row: Row, asked: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = at_data(row.at)
    found |= {label(name): number(row.values[name]) for name in asked}
    found |= {"feasible": row.feasible, "broken": list(row.broken)}
    if row.failed is not None:
        found |= {"status": status(row.failed), "message": why_not(row.failed)}
    return found


def _csv(points: Points, rows: Sequence[Row], asked: Sequence[str]) -> list[list[Any]]:
    names = [label(name) for name in (*points.grid.axes, *asked)]
    lines: list[list[Any]] = [[*names, "feasible", "broken"]]
    for row in rows:
        data: Mapping[str, Any] = _row_data(row, asked)
        lines.append(
            [
                *(_csv_cell(data[name]) for name in names),
                "yes" if row.feasible else "no",
                " ".join(row.broken),
            ]
        )
    return lines


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list):
        return "..".join(str(end) for end in value)
    return "" if value is None else value
