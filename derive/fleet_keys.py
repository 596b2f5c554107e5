"""The keys of a fleet's file, and what is said of one that is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from formulas.errors import Problem, nearest

TOP_KEYS = ("max_cost_per_hour", "facts", "node", "workload")
NODE_KEYS = ("name", "gpu", "nodes", "gpus_per_node", "price_per_gpu_hour", "mig")
# All other keys of a workload are read as facts and limits.
WORKLOAD_KEYS = ("name", "weight_dtype", "kv_dtype", "tp", "on", "mig", "given")
_CHOSEN: Mapping[str, str] = MappingProxyType(
    {
        "batch": "max_batch limits it",
        "tp": "tp = [1, 2, 4] lists what may be chosen",
        "pp": "a replica stands on one node",
        "dp": "a replica has one attention rank",
        "ep": "a replica has one attention rank",
        "replicas": "they follow from arrival_rate",
        "n_gpus": "they follow from arrival_rate",
        "gpus_per_replica": "tp = [1, 2, 4] lists what may be chosen",
        "available_gpus": "GPUs stand under [[node]]",
        "price_per_gpu_hour": "it stands under [[node]]",
        "mig_profile": "mig = [...] under [[node]] lists them",
        "mig_instances": "mig = [...] under [[node]] lists the profiles",
        "weight_dtype": 'weight_dtype = ["bf16", "fp8"] lists what may be chosen',
        "kv_dtype": 'kv_dtype = ["bf16", "fp8"] lists what may be chosen',
    }
)


def chosen_elsewhere(name: str) -> str | None:
    """Where that is decided instead, for what nobody may state of a workload."""
    return _CHOSEN.get(name)


def at(where: str, key: str, problem: Problem) -> Problem:
    """The problem, whose message names the table and the key."""
    return replace(problem, message=f"{where}, {key}: {problem.message}")


def known_keys(table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    """Nothing where every key is one of these; else Problem."""
    for key in table:
        if key not in keys:
            near = nearest(key, list(keys))
            advice = f"did you mean '{near}'?" if near else "keys: " + ", ".join(keys)
            raise Problem("fleet", f"{where} has no key '{key[:40]}'", (advice,), key)


def tables_of(data: Mapping[str, Any], key: str, most: int) -> list[Mapping[str, Any]]:
    """The [[key]] tables, at least one."""
    found = data.get(key)
    if not found:
        raise Problem("fleet", f"the file has no [[{key}]] table", (_EXAMPLES[key],))
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise Problem("fleet", f"'{key}' is no list of tables", (f"write [[{key}]]",))
    if len(found) > most:
        raise Problem("fleet", f"{len(found)} [[{key}]] tables; at most {most} are read")
    return found


_EXAMPLES = {
    "node": '[[node]] with name = "a", gpu = "h100-sxm", nodes = 2, price_per_gpu_hour = 2.50',
    "workload": "[[workload]] with name, model, arrival_rate, prompt, output, tpot_slo",
}


def table_of(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """The [key] table; an empty one where there is none."""
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise at(where, key, Problem("fleet", "a table is expected", (f"write [{key}]",)))
    return found


def text_of(table: Mapping[str, Any], key: str, where: str) -> str:
    """The text of a key that must be there."""
    if key not in table:
        raise Problem("fleet", f"{where} has no {key}")
    if not isinstance(table[key], str):
        raise at(where, key, Problem("fleet", "a text in quotes is expected"))
    return str(table[key])


def whole_of(
    table: Mapping[str, Any], key: str, where: str, most: int, usual: int | None = None
) -> int:
    """The whole number of a key, from 1 to `most`; `usual` where it is not there."""
    if key not in table and usual is not None:
        return usual
    if key not in table:
        raise Problem("fleet", f"{where} has no {key}", (f"example: {key} = 2",))
    value = table[key]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        shown = str(value)[:24]
        raise at(where, key, Problem("fleet", f"'{shown}' is no whole number from 1 to {most}"))
    return value


def items_of(value: Any, key: str, where: str) -> list[Any]:
    """The items of a list; of one value alone, that."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict | list) for item in items):
        raise at(where, key, Problem("fleet", "a list of plain values is expected"))
    return items
