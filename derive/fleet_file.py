"""A fleet's TOML file, read strictly: a key that is not known is a mistake, and so is one twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from derive.asked import refuse_outside
from derive.fleet_keys import (
    NODE_KEYS,
    TOP_KEYS,
    WORKLOAD_KEYS,
    at,
    chosen_elsewhere,
    items_of,
    known_keys,
    table_of,
    tables_of,
    text_of,
    whole_of,
)
from derive.question import parse, read_statement
from derive.toml_file import load_toml
from formulas.errors import Problem, nearest
from formulas.hardware import find_gpu, find_mig_profile, gpu_facts, mig_profiles
from formulas.statements import (
    Among,
    AmongNames,
    Between,
    Choose,
    Fact,
    Limit,
    Spread,
    Statement,
    UseGpu,
    UseModel,
)
from formulas.storage import BYTES_PER_ELEMENT
from solvers.fleet_demand import Demand
from solvers.fleet_model import Pool
from solvers.fleet_pools import plain_profiles, pool_of

MOST_WORKLOADS, MOST_NODES, MOST_GPUS, MOST_ON_A_NODE = 200, 50, 20_000, 576
_NAME = re.compile(r"[\w.+:/-][\w.+:/ -]{0,39}")
_BUDGET = "max_cost_per_hour"


@dataclass(frozen=True, slots=True)
class FleetFile:
    """What a file states: the pools, the workloads and the budget in USD/h, where there is one."""

    pools: tuple[Pool, ...]
    demands: tuple[Demand, ...]
    budget: Fraction | None


def read_fleet(path: str) -> FleetFile:
    """The fleet of the file; Problem, which names the key, where it cannot be read."""
    return fleet_of(load_toml(path, str))


def fleet_of(data: Mapping[str, Any]) -> FleetFile:
    """The fleet that the tables state."""
    known_keys(data, TOP_KEYS, "the file")
    budget = _money(data[_BUDGET], _BUDGET, "the file") if _BUDGET in data else None
    nodes = tables_of(data, "node", MOST_NODES)
    pools = tuple(_pool(row, number) for number, row in enumerate(nodes, start=1))
    _refuse_twice((pool.name for pool in pools), "node")
    shared = _statements(table_of(data, "facts", "the file"), "[facts]", ())
    names = tuple(pool.name for pool in pools)
    rows = enumerate(tables_of(data, "workload", MOST_WORKLOADS), start=1)
    demands = tuple(_demand(row, number, shared, names) for number, row in rows)
    _refuse_twice((demand.name for demand in demands), "workload")
    return FleetFile(pools, demands, budget)


def _refuse_twice(names: Iterable[str], kind: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Problem("fleet", f"two [[{kind}]] tables are named '{name}'", (), name)
        seen.add(name)


def _name(row: Mapping[str, Any], where: str) -> str:
    name = text_of(row, "name", where)
    if not _NAME.fullmatch(name):
        advice = "letters, digits, spaces and . + : / -, at most 40"
        raise at(where, "name", Problem("fleet", f"'{name[:40]}' is no name", (advice,)))
    return name


def _pool(row: Mapping[str, Any], number: int) -> Pool:
    where = f"node {number}"
    known_keys(row, NODE_KEYS, where)
    name = _name(row, where)
    where = f"node '{name}'"
    try:
        gpu = find_gpu(text_of(row, "gpu", where))
    except Problem as problem:
        raise at(where, "gpu", problem) from None
    nodes = whole_of(row, "nodes", where, MOST_GPUS)
    usual = int(gpu_facts(gpu)["node_gpus"])
    on_a_node = whole_of(row, "gpus_per_node", where, MOST_ON_A_NODE, usual)
    if nodes * on_a_node > MOST_GPUS:
        message = f"{nodes} nodes of {on_a_node} GPUs are {nodes * on_a_node} GPUs"
        raise at(where, "nodes", Problem("fleet", message, (f"at most {MOST_GPUS} are placed",)))
    if "price_per_gpu_hour" not in row:
        message = f"{where} has no price_per_gpu_hour"
        raise Problem("fleet", message, ("no price is shipped: price_per_gpu_hour = 2.50",))
    price = _money(row["price_per_gpu_hour"], "price_per_gpu_hour", where)
    cut = row.get("mig", False)
    if isinstance(cut, bool):
        if cut and not mig_profiles(gpu):
            raise at(where, "mig", Problem("mig", f"{gpu.name} has no MIG profiles"))
        profiles = plain_profiles(gpu) if cut else ()
    else:
        profiles = tuple(str(item) for item in items_of(cut, "mig", where))
    try:
        profiles = tuple(find_mig_profile(gpu, profile).name for profile in profiles)
    except Problem as problem:
        raise at(where, "mig", problem) from None
    return pool_of(name, gpu, nodes, on_a_node, price, profiles)


def _money(value: Any, key: str, where: str) -> Fraction:
    """An amount in USD/h, a bare number or with its unit; Problem for one below 0."""
    try:
        (row,) = read_statement("price_per_gpu_hour", _spelt(value, key, where))
    except Problem as problem:
        raise at(where, key, problem) from None
    if not isinstance(row, Fact) or not isinstance(row.value, Fraction):
        raise at(where, key, Problem("fleet", "one amount is expected", (f'{key} = "$2.50/h"',)))
    if row.value < 0:
        raise at(where, key, Problem("domain", f"{_spelt(value, key, where)} is below 0"))
    return row.value


def _demand(
    row: Mapping[str, Any], number: int, shared: tuple[Statement, ...], names: tuple[str, ...]
) -> Demand:
    where = f"workload {number}"
    name = _name(row, where)
    where = f"workload '{name}'"
    rest = {key: value for key, value in row.items() if key not in WORKLOAD_KEYS}
    given = row.get("given", "")
    lines = (given,) if isinstance(given, str) else items_of(given, "given", where)
    own = _statements(rest, where, tuple(str(line) for line in lines))
    _refuse_two_values(own, where)
    statements = (*_without(shared, own), *own)
    _refuse_incomplete(statements, where)
    pools = tuple(str(item) for item in items_of(row.get("on", []), "on", where))
    for pool in pools:
        if pool not in names:
            near = nearest(pool, list(names))
            advice = f"did you mean '{near}'?" if near else "there are " + ", ".join(names)
            raise at(where, "on", Problem("fleet", f"no [[node]] is named '{pool}'", (advice,)))
    mig = row.get("mig", True)
    if not isinstance(mig, bool):
        raise at(where, "mig", Problem("fleet", "true or false is expected"))
    formats = {key: _formats(row, key, where) for key in ("weight_dtype", "kv_dtype")}
    return Demand(
        name, statements, formats["weight_dtype"], formats["kv_dtype"], _tp(row, where), pools, mig
    )


def _formats(row: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    if key not in row:
        return ("",)
    found = []
    for item in items_of(row[key], key, where):
        try:
            (statement,) = read_statement(key, str(item))
        except Problem as problem:
            raise at(where, key, problem) from None
        if not isinstance(statement, Choose):
            raise at(where, key, Problem("fleet", f"'{item}' is no format", (_formats_known(),)))
        found.append(statement.value)
    if not found:
        raise at(where, key, Problem("fleet", "the list is empty", (_formats_known(),)))
    return tuple(dict.fromkeys(found))


def _formats_known() -> str:
    return "formats: " + ", ".join(BYTES_PER_ELEMENT)


def _tp(row: Mapping[str, Any], where: str) -> tuple[int, ...]:
    if "tp" not in row:
        return ()
    items = items_of(row["tp"], "tp", where)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int) or not 1 <= item <= MOST_ON_A_NODE:
            message = f"'{str(item)[:24]}' is no number of GPUs"
            raise at(where, "tp", Problem("fleet", message, ("example: tp = [1, 2, 4, 8]",)))
    if not items:
        raise at(where, "tp", Problem("fleet", "the list is empty", ("example: tp = [1, 2]",)))
    return tuple(dict.fromkeys(items))


def _statements(
    table: Mapping[str, Any], where: str, lines: tuple[str, ...]
) -> tuple[Statement, ...]:
    """What keys and lines of facts state; Problem, which names the key, where one is refused."""
    found: list[Statement] = []
    for key, value in table.items():
        if isinstance(value, dict):
            raise at(where, key, Problem("fleet", "a value is expected, not a table"))
        for item in value if isinstance(value, list) else (value,):
            text = _spelt(item, key, where)
            try:
                rows = read_statement(key, text)
                found += [_admitted(row) for row in rows]
            except Problem as problem:
                raise at(where, key, problem) from None
    for line in lines:
        try:
            question = parse(line)
            if question.verb != "state":
                raise Problem("syntax", "facts are expected here, not a question")
            found += [_admitted(row) for row in question.statements]
        except Problem as problem:
            raise at(where, "given", problem) from None
    return tuple(found)


def _admitted(row: Statement) -> Statement:
    refuse_outside(row)
    if isinstance(row, UseGpu):
        raise Problem("fleet", "GPUs stand under [[node]]", ('on = ["NODE"] chooses among them',))
    if isinstance(row, Between | Spread | Among | AmongNames):
        raise Problem("fleet", f"'{row.text}' is not one value, as a fleet needs")
    name = row.choice if isinstance(row, Choose) else getattr(row, "quantity", "")
    advice = None if isinstance(row, Limit) else chosen_elsewhere(name)
    if advice:
        raise Problem("fleet", f"{name} is chosen, and cannot be stated here", (advice,))
    return row


def _spelt(value: Any, key: str, where: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int):
        return str(value)
    raise at(where, key, Problem("fleet", "a number or a text in quotes is expected"))


def _said(row: Statement) -> str:
    if isinstance(row, UseModel):
        return "model"
    if isinstance(row, Choose):
        return row.choice
    return "" if isinstance(row, Limit) else getattr(row, "quantity", "")


def _without(shared: tuple[Statement, ...], own: tuple[Statement, ...]) -> tuple[Statement, ...]:
    said = {_said(row) for row in own} - {""}
    return tuple(row for row in shared if _said(row) not in said)


def _refuse_two_values(own: tuple[Statement, ...], where: str) -> None:
    seen: set[str] = set()
    for name in map(_said, own):
        if name in seen:
            raise Problem("fleet", f"{where}: {name} is stated twice", ("leave one of them out",))
        seen |= {name} - {""}


def _refuse_incomplete(statements: tuple[Statement, ...], where: str) -> None:
    rates = [r for r in statements if isinstance(r, Fact) and r.quantity == "arrival_rate"]
    if not rates:
        message = f"{where} has no arrival_rate"
        raise Problem("fleet", message, ('the requests per second: arrival_rate = "4/s"',))
    if not isinstance(rates[0].value, Fraction) or rates[0].value <= 0:
        message = f"{where}: arrival_rate is not above 0"
        raise Problem("fleet", message, ("leave a workload without traffic out",))
