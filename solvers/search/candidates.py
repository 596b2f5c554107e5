"""What one workload may run on, as plain rows: the best of each kind and number of GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from solvers.search.plan import planned
from solvers.search.task import Goal, Plan, Row, Task

_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configuration of one replica, with what it comes to; `cost` is per hour and replica.

    A replica on a MIG instance has `gpus` 0 and the share of its GPU's price. Choices that were
    neither searched nor stated are 1, "none" or None. `exact_rate` is in requests per second.
    """

    gpu: str | None
    mig_profile: str
    gpus: int
    tp: int
    pp: int
    dp: int
    ep: int
    weight_dtype: str | None
    kv_dtype: str | None
    batch: int | None
    rate: float
    cost: float | None
    tpot: float | None
    ttft: float | None
    point: Mapping[str, Any]


def candidates(task: Task) -> tuple[tuple[Candidate, ...], Plan]:
    """The rows that no other beats: fewer GPUs of the same kind, or a higher rate; and the plan.

    Each passes every limit and side condition of the task; its goals are not looked at. Where
    there is none, the plan says why.
    """
    goal = (Goal("replica_request_rate", "max"),)
    plan = planned(replace(task, goals=goal, top=_ALL))
    rows = [_candidate(task, row) for row in plan.rows]
    return tuple(_unbeaten(rows)), plan


def _candidate(task: Task, row: Row) -> Candidate:
    known = _known(task, row.point)
    profile = str(known.get("mig_profile", "none"))
    numbers = {name: int(known.get(name, 1)) for name in ("tp", "pp", "dp", "ep")}
    gpus = 0 if profile != "none" else round(row.values["gpus_per_replica"])
    gpu = known.get("gpu")
    batch = known.get("batch")
    return Candidate(
        gpu,
        profile,
        gpus,
        **numbers,
        weight_dtype=known.get("weight_dtype"),
        kv_dtype=known.get("kv_dtype"),
        batch=None if batch is None else int(batch),
        rate=row.values["replica_request_rate"],
        cost=_cost(task, gpu, profile, gpus),
        tpot=row.values.get("tpot"),
        ttft=row.values.get("ttft"),
        point=row.point,
    )


def _known(task: Task, point: Mapping[str, Any]) -> dict[str, Any]:
    """What is stated, and what is chosen in its place."""
    from formulas.hardware import find_gpu
    from formulas.statements import UseGpu

    scenario = task.scenario
    stated: dict[str, Any] = {n: g.value for n, g in scenario.given.items()}
    found = {**stated, **scenario.chosen, **point}
    gpu = point.get("gpu") or next(
        (row.name for row in scenario.statements if isinstance(row, UseGpu)), None
    )
    return {**found, "gpu": None if gpu is None else find_gpu(gpu).name}


def _cost(task: Task, gpu: str | None, profile: str, gpus: int) -> float | None:
    from formulas.hardware import find_gpu, find_mig_profile

    price: Any = task.prices.get(gpu) if gpu else None
    if price is None and "price_per_gpu_hour" in task.scenario.given:
        price = task.scenario.given["price_per_gpu_hour"].value
    if price is None:
        return None
    if profile == "none" or gpu is None:
        return float(price * gpus)
    return float(Fraction(price) / find_mig_profile(find_gpu(gpu), profile).instances)


def _unbeaten(rows: Sequence[Candidate]) -> list[Candidate]:
    """Of each GPU and profile, by the number of GPUs, those of a higher rate than all smaller."""
    found: list[Candidate] = []
    kinds: dict[tuple[str | None, str], float] = {}
    for row in sorted(rows, key=lambda r: (r.gpus, -r.rate)):
        kind = (row.gpu, row.mig_profile)
        if row.rate > kinds.get(kind, -1.0):
            kinds[kind] = row.rate
            found.append(row)
    return found
