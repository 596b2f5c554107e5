"""The table of `which`: what each choice comes to under every limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from derive.as_json import constraint_object
from derive.document import Table
from derive.points import NAMED, at_data, cell, label
from derive.under_table import why_not
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.deployment.constraints import OF_STRUCTURE
from solvers.answer import Check
from solvers.table import Row

GPUS = ("tp", "dp", "pp")
# What a broken limit is called, by the unit of its quantity and the side it is on.
_TOO = {
    ("byte", "<"): "too big",
    ("s", "<"): "too slow",
    ("1/s", ">"): "too slow",
    ("USD", "<"): "too dear",
    ("USD/h", "<"): "too dear",
}
_USUALLY = {"<": "too much", ">": "too little"}
_FEW_NAMED = 16
LONGEST = 40


def which_table(names: Sequence[str], rows: Sequence[Row], best: Row | None) -> Table:
    """A row for each point: its choices, each limit's value and whether it holds, and the mark.

    Of many points only those that break nothing are shown, if there are any.
    """
    shown = _shown_checks(rows)
    others = any(_others(row, shown) for row in rows)
    columns = [label(name) for name in names]
    for name in shown:
        columns += [_heading(name, rows), ""]
    columns += [*(["also breaks"] if others else []), ""]
    body = []
    for row in in_part(rows):
        cells = [cell(name, row.at[name]) for name in names]
        for name in shown:
            cells += _verdict(row, name, rows)
        cells += [_others(row, shown)] if others else []
        cells.append(_mark(names) if row is best else "")
        body.append(tuple(cells))
    numeric = [label(name) for name in names if name not in NAMED]
    return Table(tuple(columns), tuple(body), (*numeric, *(_heading(n, rows) for n in shown)))


def in_part(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows that are shown: all, or of many the first ones that break nothing."""
    if len(rows) <= LONGEST:
        return rows
    good = [row for row in rows if row.feasible]
    return (good or rows)[:LONGEST]


def _mark(names: Sequence[str]) -> str:
    if len(names) == 1 and names[0] not in NAMED:
        return "<- smallest"
    return "<- fewest GPUs" if set(names) & set(GPUS) else "<- first that holds"


def _shown_checks(rows: Sequence[Row]) -> list[str]:
    """The comparisons that get a column: those of the person, the memory, and what is broken."""
    found: dict[str, None] = {}
    for row in rows:
        for check in row.checks:
            if check.left is None or check.name in OF_STRUCTURE:
                continue
            if check.stated or check.name == "memory" or not check.holds:
                found[check.name] = None
    return sorted(found, key=lambda name: name != "memory")


def _check(row: Row, name: str) -> Check | None:
    """The check of that name; of several limits on one quantity the one that is broken."""
    found = [check for check in row.checks if check.name == name]
    return next((check for check in found if not check.holds), found[0] if found else None)


def _heading(name: str, rows: Sequence[Row]) -> str:
    """The constraint with its limit, where that is the same everywhere."""
    limits = dict.fromkeys(_limit(c) for row in rows if (c := _check(row, name)))
    return f"{name} ({next(iter(limits))})" if len(limits) == 1 else name


def _limit(check: Check) -> str:
    shown = _side(check, check.right)
    return shown if check.relation == "<=" else f"{check.relation} {shown}"


def _side(check: Check, value: Any) -> str:
    quantity = catalogue().quantities.get(check.quantity)
    if quantity is None:
        return f"{float(value):.4g}"
    return display(value, quantity.unit, quantity.label)


def _verdict(row: Row, name: str, rows: Sequence[Row]) -> list[str]:
    check = _check(row, name)
    if check is None:
        return ["-", ""]
    value = _side(check, check.left)
    if _heading(name, rows) == name:
        value += f" of {_limit(check)}"
    return [value, "ok" if check.holds else _too(check)]


def _too(check: Check) -> str:
    quantity = catalogue().quantities.get(check.quantity)
    side = check.relation[:1]
    return _TOO.get((quantity.unit.text if quantity else "", side), _USUALLY[side])


def _others(row: Row, shown: Sequence[str]) -> str:
    """What is broken without a column of its own, or why there is no value at all."""
    if not row.checks and row.failed is not None:
        return why_not(row.failed)
    return ", ".join(name for name in row.broken if name not in shown)


def reason(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Which constraint excludes which values."""
    excluded: dict[str, list[str]] = {}
    for row in rows:
        point = ", ".join(cell(name, row.at[name]) for name in names)
        for name in row.broken or (why_not(row.failed) if row.failed else "",):
            excluded.setdefault(name, []).append(point)
    if len(rows) > _FEW_NAMED:
        return f"each of the {len(rows)} combinations breaks {' or '.join(excluded)}"
    between = ", " if len(names) == 1 else " | "
    return "; ".join(f"{name} excludes {between.join(at)}" for name, at in excluded.items())


def row_data(row: Row) -> dict[str, Any]:
    """The point as an object for JSON: what is broken, and both sides of every constraint."""
    found: dict[str, Any] = {
        **at_data(row.at),
        "feasible": row.feasible,
        "broken": list(row.broken),
        "constraints": [constraint_object(check) for check in row.checks],
    }
    if row.failed is not None:
        found["message"] = why_not(row.failed)
    return found
