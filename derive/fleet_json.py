"""What a fleet comes to, as the flat object that scripts read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.as_json import plain
from formulas.amounts import display
from formulas.units import parse_unit
from solvers.fleet_clash import BUDGET, POOL, Part
from solvers.fleet_model import Fleet
from solvers.fleet_plan import Impossible, Planned, Undecided, Unserved

FIND, UNIT = "cost_per_hour", "USD/h"


def planned_data(found: Planned) -> dict[str, Any]:
    """A placement: its cost, what is proved of it, each workload, and each node in use."""
    best = found.best
    return {
        "status": "ok" if best.proved else "unproved",
        "find": FIND,
        "value": plain(best.placed.cost),
        "unit": UNIT,
        "display": money(best.placed.cost),
        "bound": plain(best.bound),
        "gap": best.gap,
        "proved": best.proved,
        "engine": best.engine,
        "options": best.options,
        "options_kept": best.kept,
        "workloads": [_workload(found, name) for name in found.configs],
        "nodes": [
            {
                "node": node.pool,
                "whole": [{"workload": name, "gpus": gpus} for name, gpus in node.whole],
                "mig": [
                    [
                        {"workload": row.workload, "profile": row.profile, "start": row.start}
                        for row in gpu
                    ]
                    for gpu in node.cut
                ],
            }
            for node in best.placed.nodes
        ],
    }


def _workload(found: Planned, name: str) -> dict[str, Any]:
    config = found.configs[name]
    return {
        "name": name,
        "node": config.pool.name,
        "gpu": config.pool.gpu,
        "tp": config.tp,
        "mig_profile": config.profile or None,
        "weight_dtype": config.weight_dtype or None,
        "kv_dtype": config.kv_dtype or None,
        "batch": config.batch,
        "replicas": config.replicas,
        "replica_request_rate": plain(config.rate),
        "tpot": plain(config.tpot),
        "ttft": plain(config.ttft),
        "binding": list(config.binding),
        "assumed": {key: plain(value) for key, value in config.assumed.items()},
    }


def unserved_data(found: Unserved) -> dict[str, Any]:
    """A workload that nothing serves, with what each configuration breaks."""
    message = f"no configuration of '{found.name}' meets its limits"
    rows = [{"config": row.config.text, "broken": list(row.broken)} for row in found.refused]
    conflict = [{"name": found.name, "kind": "workload"}]
    return {**_none("infeasible", message), "conflict": conflict, "refused": rows}


def clash_data(found: Impossible) -> dict[str, Any]:
    """A fleet that does not fit: the parts that clash, and what would help."""
    data = _none("infeasible", "these workloads do not fit on these nodes")
    clash = found.clash
    if clash is None:
        return data
    data["conflict"] = [
        {"kind": kind, "name": name, "text": part_text(found.fleet, (kind, name))}
        for kind, name in clash.parts
    ]
    data["smallest"] = clash.smallest
    data["relaxations"] = [
        {"kind": way.part[0], "name": way.part[1], "to": plain(way.to), "then": plain(way.then)}
        for way in clash.ways
    ]
    data["cannot_help"] = [{"kind": kind, "name": name} for kind, name in clash.cannot_help]
    return data


def open_data(found: Undecided, message: str) -> dict[str, Any]:
    """That the time was over, with what is proved."""
    return {**_none("unproved", message), "bound": plain(found.bound), "engine": found.engine}


def part_text(fleet: Fleet, part: Part) -> str:
    """A part of a fleet as a clash names it."""
    kind, name = part
    if kind == BUDGET:
        return f"max_cost_per_hour {money(fleet.budget or Fraction(0))}"
    if kind == POOL:
        pool = fleet.pool(name)
        nodes = f"{pool.nodes} node{'s' * (pool.nodes > 1)}"
        return f"{nodes} of {name}, {pool.node_gpus} x {pool.gpu} each"
    options = next(w.options for w in fleet.workloads if w.name == name)
    cheapest: dict[str, str] = {}
    for option in options:
        size = f"{option.gpus} GPUs" if option.gpus > 1 else option.profile or "1 GPU"
        cheapest.setdefault(option.pool, f"{option.replicas} x {size} of {option.pool}")
    return f"{name}: " + ", or ".join(list(cheapest.values())[:3])


def _none(status: str, message: str) -> dict[str, Any]:
    return {"status": status, "find": FIND, "value": None, "unit": UNIT, "message": message}


def money(amount: Fraction) -> str:
    """An amount of USD per hour, to the cent where it is one."""
    cents = amount * 100
    if cents.denominator > 1 or not amount:
        return display(amount, parse_unit("$/h"))
    return f"${cents.numerator // 100}.{cents.numerator % 100:02}/h"
