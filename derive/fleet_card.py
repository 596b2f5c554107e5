"""What a fleet comes to, for people: the placement, the nodes, the proof, or what clashes."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from derive.document import Block, Fields, Heading, Line, Table
from derive.fleet_json import (
    clash_data,
    money,
    open_data,
    part_text,
    planned_data,
    unserved_data,
)
from derive.outcome import Outcome
from formulas.amounts import display
from formulas.catalogue import catalogue
from solvers.fleet_clash import BUDGET, POOL, Part, Way
from solvers.fleet_demand import Config, Refused
from solvers.fleet_model import Fleet, Node, Pool
from solvers.fleet_plan import Impossible, Planned, Undecided, Unserved
from solvers.fleet_plan import Outcome as Found

_PROVED = {
    "z3": "proved by z3: nothing costs less",
    "highs": "HiGHS, in floats: nothing costs less",
}
_MOST_REASONS = 6
_UNKNOWN = "queueing, the time to load a model, and how requests are spread over replicas"


def outcome_of(found: Found, pools: tuple[Pool, ...], seconds: float) -> Outcome:
    """The card and the object of what was found."""
    match found:
        case Planned():
            status = "ok" if found.best.proved else "unproved"
            return Outcome(status, _planned(found), planned_data(found))
        case Unserved():
            return Outcome("infeasible", _unserved(found), unserved_data(found))
        case Impossible():
            return Outcome("infeasible", _impossible(found), clash_data(found))
        case Undecided():
            text = f"no placement was found in {seconds:g} s; none costs less than "
            text += f"{money(found.bound)}; --time gives it more"
            return Outcome(
                "unproved", (Heading(f"error[unproved]: {text}"),), open_data(found, text)
            )
        case _:
            assert_never(found)


def _shown(name: str, value: object) -> str:
    quantity = catalogue().quantities[name]
    return display(value, quantity.unit, quantity.label)


# -- a placement


def _planned(found: Planned) -> tuple[Block, ...]:
    best = found.best
    head = f"cost_per_hour >= {money(best.placed.cost)}    smallest for {_count(found)}"
    if not best.proved:
        head = f"cost_per_hour = {money(best.placed.cost)}    the best found for {_count(found)}"
    return (
        Heading(head),
        Fields((("proof", _proof(found)), *_binds(found))),
        Line(""),
        Table(_COLUMNS, tuple(_row(found, name) for name in found.configs), _NUMERIC),
        Line(""),
        Table(*_nodes(found)),
        Fields((*_cuts(found), *_assumed(found), ("note", f"not known here: {_UNKNOWN}"))),
    )


def _count(found: Planned) -> str:
    many = len(found.configs)
    return f"{many} workload{'s' * (many > 1)}"


def _proof(found: Planned) -> str:
    best = found.best
    kept = f"{best.kept} of {best.options} configurations are left by dominance"
    if best.proved:
        return f"{_PROVED[best.engine]}; {kept}"
    gap = f"{100 * best.gap:.2g} % above what is proved, {money(best.bound)}"
    return f"not closed by {best.engine}: {gap}; --time gives it more; {kept}"


def _binds(found: Planned) -> list[tuple[str, str]]:
    """The pools without a free GPU."""
    used = _used(found)
    full = [p.name for p in found.fleet.pools if used[p.name] == p.gpus]
    return [("full", ", ".join(full))] if full else []


def _used(found: Planned) -> Counter[str]:
    used: Counter[str] = Counter()
    for node in found.best.placed.nodes:
        used[node.pool] += node.gpus
    return used


_COLUMNS = ("workload", "node", "each replica", "formats", "replicas", "GPUs", "batch", "tpot",
            "ttft", "batch ends at")  # fmt: skip
_NUMERIC = ("replicas", "GPUs", "batch", "tpot", "ttft")


def _row(found: Planned, name: str) -> tuple[str, ...]:
    config = found.configs[name]
    each = config.profile or f"{config.tp} GPU{'s' * (config.tp > 1)}"
    formats = [config.weight_dtype, f"cache {config.kv_dtype}" if config.kv_dtype else ""]
    option = config.option
    return (
        name,
        config.pool.name,
        each,
        ", ".join(part for part in formats if part) or "its own",
        str(config.replicas),
        str(option.whole_gpus) if option.gpus else "shared",
        str(config.batch),
        _shown("tpot", config.tpot),
        _shown("ttft", config.ttft),
        ", ".join(config.binding),
    )


def _nodes(found: Planned) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    columns = ("node", "gpu", "GPUs used", "of", "price", "cost")
    used = _used(found)
    rows = tuple(
        (
            pool.name,
            pool.gpu,
            str(used[pool.name]),
            str(pool.gpus),
            money(pool.price),
            money(used[pool.name] * pool.price),
        )
        for pool in found.fleet.pools
    )
    return columns, rows, columns[2:]


def _cuts(found: Planned) -> list[tuple[str, str]]:
    """Each way in which GPUs are cut, with where each instance begins and whose it is."""
    ways: Counter[tuple[str, str]] = Counter()
    for node in found.best.placed.nodes:
        for text in _cut_texts(node):
            ways[node.pool, text] += 1
    texts = [
        f"{count} GPU{'s' * (count > 1)} of {pool}: {text}" for (pool, text), count in ways.items()
    ]
    return [("" if place else "cut", text) for place, text in enumerate(texts)]


def _cut_texts(node: Node) -> list[str]:
    return [
        ", ".join(f"{row.profile} at {row.start} ({row.workload})" for row in gpu)
        for gpu in node.cut
    ]


def _assumed(found: Planned) -> list[tuple[str, str]]:
    """What every workload's figures assumed; where they differ, only by name."""
    values: dict[str, set[str]] = {}
    for config in found.configs.values():
        for name, value in config.assumed.items():
            values.setdefault(name, set()).add(_shown(name, value))
    parts = [f"{n} {next(iter(v))}" if len(v) == 1 else n for n, v in sorted(values.items())]
    return [("assumed", ", ".join(parts))] if parts else []


# -- none


def _unserved(found: Unserved) -> tuple[Block, ...]:
    reasons = tuple((("because" if not place else ""), text)
                    for place, text in enumerate(refusals(found.refused)))  # fmt: skip
    head = f"no configuration of '{found.name}' meets its limits, whatever else is placed"
    return (Heading(head), Fields(reasons or (("because", "no node may hold it"),)))


def refusals(refused: tuple[Refused, ...]) -> list[str]:
    """What the configurations break, the most frequent first, each with one that breaks least."""
    groups: dict[tuple[str, ...], list[Config]] = {}
    for row in refused:
        groups.setdefault(row.broken, []).append(row.config)
    ordered = sorted(groups.items(), key=lambda item: (len(item[0]), -len(item[1])))
    return [
        f"{len(configs)} of {len(refused)} break {' and '.join(broken)} at batch 1: "
        + ", ".join(config.text for config in configs[-2:])
        + (" ..." if len(configs) > 2 else "")
        for broken, configs in ordered[:_MOST_REASONS]
    ]


def _impossible(found: Impossible) -> tuple[Block, ...]:
    head = Heading("these workloads do not fit on these nodes")
    clash = found.clash
    if clash is None:
        text = "proved; what clashes was not found in the time; --time gives it more"
        return (head, Fields((("because", text),)))
    shown = [part_text(found.fleet, part) for part in clash.parts]
    rows = [("" if place else "clash", text) for place, text in enumerate(shown)]
    size = "the smallest set that does not fit" if clash.smallest else "each of them is needed"
    rows += [("", f"({size})")]
    ways = [_way(found.fleet, way) for way in clash.ways]
    rows += [("" if place else "ways out", text) for place, text in enumerate(ways)]
    if clash.cannot_help:
        rows += [("no help", ", ".join(_alone(part) for part in clash.cannot_help))]
    return (head, Fields(tuple(rows)))


def _way(fleet: Fleet, way: Way) -> str:
    kind, name = way.part
    then = f": {money(way.then)}" if way.then is not None else ""
    if kind == BUDGET and way.to is not None:
        return f"max_cost_per_hour {money(way.to)}"
    if kind == POOL:
        pool = fleet.pool(name)
        return f"{way.to} nodes of {name} in place of {pool.nodes}{then}"
    return f"without {name}"


def _alone(part: Part) -> str:
    kind, name = part
    return {BUDGET: "any budget", POOL: f"more nodes of {name}"}.get(kind, f"leaving {name} out")
