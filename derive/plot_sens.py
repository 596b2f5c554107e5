"""The bars of `sens`: what one per cent of each fact does to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from derive.picture import Bar, Picture, Scale
from formulas.errors import Problem

# Below this many per cent for one per cent a fact is said to do nothing.
_NOTHING = 5e-5
MOST = 24


def picture(data: Mapping[str, Any]) -> Picture:
    """A bar for every fact that does something, the longest first; Problem where none does.

    `data` is the object of an answer to `sens`.
    """
    rows = sorted(data["sensitivities"], key=lambda row: (-abs(row["elasticity"]), row["name"]))
    moving = [row for row in rows if abs(row["elasticity"]) >= _NOTHING]
    if not moving:
        raise Problem("plot", f"{data['find']} moves with none of its facts")
    bars = tuple(Bar(_name(row), row["elasticity"]) for row in moving[:MOST])
    idle = [_name(row) for row in rows if abs(row["elasticity"]) < _NOTHING]
    notes = [f"the answer: {data['find']} = {data['display']}"]
    if data.get("binding"):
        notes.append(f"binding: {', '.join(data['binding'])}; before rounding to whole steps")
    notes += [f"does nothing here: {', '.join(idle)}"] if idle else []
    if len(moving) > MOST:
        notes.append(f"{len(moving) - MOST} that do least are left out")
    assumed = [row["name"] for row in moving if row["origin"] == "assumed"]
    notes += [f"assumed: {', '.join(assumed)}"] if assumed else []
    sense = f"{data['sense']} " if data.get("sense") else ""
    title = f"{sense}{data['find']}: its change for +1 % of each fact"
    return Picture(
        "sens", title, Scale(f"change of {data['find']}", "%"), Scale("+1 % of"),
        bars=bars, notes=tuple(notes),
    )  # fmt: skip


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['name']} limit" if row["origin"] == "limit" else str(row["name"])
