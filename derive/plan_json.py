"""A plan as one flat object for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from derive.as_json import answer_object, plain
from formulas.amounts import display
from formulas.catalogue import catalogue
from solvers.answer import Answer, Choice
from solvers.axes import shown_value
from solvers.search.task import Plan, Relief, Row

if TYPE_CHECKING:
    from derive.plan import Wanted


def plan_data(wanted: Wanted, plan: Plan, answer: Answer, status: str) -> dict[str, Any]:
    """Status, value and choice as every answer has them; the rows, the counts and the reasons."""
    goal = wanted.goals[0]
    quantity = catalogue().quantities[goal.name]
    data: dict[str, Any] = {}
    if isinstance(answer, Choice):
        data = answer_object(answer, quantity.unit, quantity)
        data["binding"] = list(answer.binding)
    data |= {
        "status": status,
        "find": f"{goal.sense} {goal.name}",
        "unit": quantity.unit.text,
        "goals": [{"sense": goal.sense, "name": goal.name} for goal in wanted.goals],
        "rows": [_row(row) for row in plan.rows],
        "combinations": plan.combinations,
        "points": plan.points,
        "feasible": plan.feasible,
        "equal": plan.equal,
        "proved": plan.proved,
        "excluded": [
            {"name": row.name, "count": row.count, "alone": row.alone} for row in plan.excluded
        ],
        "unchecked": list(plan.unchecked),
    }
    if not isinstance(answer, Choice):
        data.setdefault("value", None)
        data["message"] = getattr(answer, "reason", "")
        data["display"] = status
    if plan.binding:
        data["without"] = dict(plan.binding)
    if plan.bound is not None:
        data["bound"] = plan.bound
    if not plan.proved:
        data["searched"] = plan.searched
    if plan.clashes is not None:
        data["clashes"] = [list(group) for group in plan.clashes.clashes]
        data["corrections"] = [list(group) for group in plan.clashes.corrections]
        data["relaxations"] = [_relief(row) for row in plan.clashes.reliefs if row.to is not None]
        data["cannot_help"] = [row.name for row in plan.clashes.reliefs if row.to is None]
    if wanted.front and plan.rows:
        data["value"], data["kind"] = None, "front"
        data["display"] = f"{len(plan.rows)} configurations"
        data.pop("choice", None)
    return data


def _row(row: Row) -> dict[str, Any]:
    return {**_point(row.point), "values": dict(row.values)}


def _point(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(shown_value(value)) for name, value in point.items()}


def _relief(row: Relief) -> dict[str, Any]:
    quantity = catalogue().quantities.get(row.name)
    unit = quantity.unit.text if quantity else "1"
    change = float(row.to) / float(row.stated) - 1 if row.stated else None
    shown = display(row.to, quantity.unit, quantity.label) if quantity else f"{float(row.to):g}"
    text = f"{row.name} {row.sign} {shown}"
    return {"name": row.name, "to": plain(row.to), "unit": unit, "change": change, "text": text,
            "at": _point(row.point)}  # fmt: skip
