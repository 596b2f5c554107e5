"""The bars of `sens`: what one per cent of each fact does to an answer, and for how far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from derive.picture import Bar, Picture, Scale
from derive.sens import NOTHING
from formulas.errors import Problem

MOST_BARS = 24


def picture(data: Mapping[str, Any]) -> Picture:
    """A bar for every fact that does something, the longest first; Problem where none does.

    `data` is the object of an answer to `sens`.
    """
    rows = sorted(data["sensitivities"], key=lambda row: (-abs(row["elasticity"]), row["name"]))
    moving = [row for row in rows if abs(row["elasticity"]) >= NOTHING]
    if not moving:
        raise Problem("plot", f"{data['find']} moves with none of its facts")
    bars = tuple(
        Bar(_name(row), row["elasticity"], row.get("holds", "")) for row in moving[:MOST_BARS]
    )
    idle = [_name(row) for row in rows if row not in moving]
    notes = [f"{data['find']} = {data['display']}"]
    if data.get("binding"):
        notes.append(f"binds: {', '.join(data['binding'])}; before rounding to whole steps")
    notes += [f"does nothing here: {', '.join(idle)}"] if idle else []
    if len(moving) > MOST_BARS:
        notes.append(f"does less: {', '.join(map(_name, moving[MOST_BARS:]))}")
    assumed = [row["name"] for row in moving if row["origin"] == "assumed"]
    notes += [f"assumed: {', '.join(assumed)}"] if assumed else []
    sense = {"max": "the largest ", "min": "the smallest "}.get(data.get("sense", ""), "")
    title = f"What +1 % of each fact does to {sense}{data['find']}"
    return Picture(
        "sens", title, Scale(f"change of {data['find']}", "%"), Scale("+1 % of"),
        bars=bars, notes=tuple(notes),
    )  # fmt: skip


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['name']} limit" if row["origin"] == "limit" else str(row["name"])
