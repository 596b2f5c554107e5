"""The configurations that can serve a workload, each with its largest batch and its replicas.

Configurations that differ in numbers only share one numpy plan; whatever floats cannot decide is
answered exactly, as a person would ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from formulas.errors import Problem
from formulas.hardware import idle_facts
from formulas.scenario import Scenario
from solvers.answer import Answer, Contradiction, Exact, Infeasible, Missing, Unbounded
from solvers.fleet_demand import Config, Demand, Refused, configs_of, of_workload, scenario_of
from solvers.fleet_model import Option, Pool
from solvers.limits import shown_names
from solvers.plan import Block, Plan, plan_of
from solvers.solve import Request, solve

# What differs between the GPUs, the profiles and the formats of one workload.
_MOVING = (
    "vram_bytes", "memory_bandwidth", "peak_flops", "scale_up_bandwidth", "scale_up_domain_gpus",
    "pcie_bandwidth", "compute_capability", "mig_instances", "bytes_per_weight",
    "kv_bytes_per_element", "wide_params", "price_per_gpu_hour", "tp",
)  # fmt: skip
_ASKED = ("replicas", "replica_request_rate", "tpot", "ttft")
# A batch above this is limited by nothing.
_LARGEST = 2**24
_PARTS = 32


@dataclass(frozen=True, slots=True)
class Candidates:
    """The options of a workload, and why the other configurations are none."""

    options: tuple[Option, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    config: Config
    scenario: Scenario


def candidates_of(demand: Demand, pools: tuple[Pool, ...]) -> Candidates:
    """Every option of the workload on these pools.

    Raises Problem, which names the workload, where something it needs is not stated.
    """
    try:
        rows = [_Row(config, scenario_of(demand, config)) for config in configs_of(demand, pools)]
        groups: dict[Any, list[int]] = {}
        for place, row in enumerate(rows):
            groups.setdefault(_alike(row.scenario), []).append(place)
        found: dict[int, Config | Refused] = {}
        for places in groups.values():
            group = [rows[place] for place in places]
            found |= zip(places, _configured(group), strict=True)
    except Problem as problem:
        raise of_workload(problem, demand) from None
    ordered = [found[place] for place in range(len(rows))]
    options = tuple(row.option for row in ordered if isinstance(row, Config))
    return Candidates(options, tuple(row for row in ordered if isinstance(row, Refused)))


def exact_config(demand: Demand, config: Config) -> Config | Refused:
    """The configuration with its largest batch and what follows, in exact arithmetic."""
    try:
        return _exactly(_Row(config, scenario_of(demand, config)))
    except Problem as problem:
        raise of_workload(problem, demand) from None


def _alike(scenario: Scenario) -> Any:
    """Scenarios with the same key differ only in what moves."""
    fixed = {n: g.value for n, g in scenario.given.items() if n not in _MOVING}
    return frozenset(scenario.given), tuple(sorted(fixed.items(), key=lambda item: item[0]))


def _configured(rows: Sequence[_Row]) -> list[Config | Refused]:
    plan, columns = _plan(rows)
    if plan is None:
        return [_exactly(row) for row in rows]

    def block(pairs: Sequence[tuple[int, int]]) -> Block:
        moved = {name: [column[place] for place, _ in pairs] for name, column in columns.items()}
        return plan.block({**moved, "batch": [float(batch) for _, batch in pairs]})

    batches = _largest(len(rows), lambda pairs: _fits(block(pairs)))
    here = block([(place, max(batch, 1)) for place, batch in enumerate(batches)])
    above = block([(place, batch + 1) for place, batch in enumerate(batches)])
    found: list[Config | Refused] = []
    for place, (row, batch) in enumerate(zip(rows, batches, strict=True)):
        if here.open[place] or above.open[place] or batch >= _LARGEST:
            found.append(_exactly(row))
        elif not batch:
            broken = tuple(name for name, holds in here.holds.items() if not holds[place])
            found.append(Refused(row.config, shown_names(broken)))
        else:
            values = [float(here.values[name][place]) for name in _ASKED]
            found.append(_with(row.config, batch, values))
    return found


def _plan(rows: Sequence[_Row]) -> tuple[Plan | None, dict[str, list[float]]]:
    """One plan for all rows, and the columns of what moves; None where there is no such plan."""
    sample = max(rows, key=lambda row: row.config.tp).scenario
    given = [_complete(row.scenario).given for row in rows]
    names = [name for name in _MOVING if name in given[0]]
    if any(not isinstance(row[name].value, Fraction) for row in given for name in names):
        return None, {}
    asked = _complete(sample).with_value("batch", Fraction(2))
    plan = plan_of(asked, frozenset({*names, "batch"}), _ASKED)
    return plan, {name: [float(row[name].value) for row in given] for name in names}


def _complete(scenario: Scenario) -> Scenario:
    """What plays no part where it is not stated has any value, so that one plan serves all."""
    idle = idle_facts({name: row.value for name, row in scenario.given.items()})
    for name in idle - scenario.given.keys():
        scenario = scenario.with_value(name, Fraction(1))
    return scenario


def _fits(block: Block) -> list[bool]:
    import numpy

    size = len(block.open)
    return list(numpy.logical_and.reduce([*block.holds.values(), numpy.ones(size, bool)]))


def _largest(count: int, fits: Callable[[Sequence[tuple[int, int]]], list[bool]]) -> list[int]:
    """The largest batch of each row that fits, 0 where 1 does not; a larger one fits less."""
    powers = [2**power for power in range(_LARGEST.bit_length())]
    low, high = [0] * count, [1] * count
    tried = {place: [*powers] for place in range(count)}
    while tried:
        pairs = [(place, batch) for place, batches in tried.items() for batch in batches]
        verdicts = dict(zip(pairs, fits(pairs), strict=True))
        for place, batches in tried.items():
            good = [batch for batch in batches if verdicts[place, batch]]
            low[place] = max([low[place], *_run(batches, good)])
            high[place] = next((b for b in batches if b > low[place]), high[place])
        tried = {
            place: _between(low[place], high[place])
            for place in range(count)
            if high[place] - low[place] > 1
        }
    return low


def _run(batches: Sequence[int], good: Sequence[int]) -> list[int]:
    """Those that fit before the first that does not."""
    first_bad = next((batch for batch in batches if batch not in good), None)
    return [batch for batch in good if first_bad is None or batch < first_bad]


def _between(low: int, high: int) -> list[int]:
    """Batches above `low`, evenly up to `high`."""
    step = max(1, -(-(high - low) // _PARTS))
    return [*range(low + step, high, step), high]


def _with(config: Config, batch: int, values: Sequence[Any]) -> Config:
    replicas, rate, tpot, ttft = values
    return replace(config, batch=batch, replicas=round(replicas), rate=rate, tpot=tpot, ttft=ttft)


# -- exactly


def _exactly(row: _Row) -> Config | Refused:
    answer = solve(Request("batch", row.scenario, "max"))
    if isinstance(answer, Exact):
        batch = int(answer.value)
        known = row.scenario.with_value("batch", Fraction(batch))
        answers = [solve(Request(name, known)) for name in _ASKED]
        values = [_value(*pair) for pair in zip(answers, _ASKED, strict=True)]
        assumed = {name: v for found in answers for name, v in found.evidence.assumed.items()}
        found = _with(row.config, batch, values)
        return replace(found, binding=answer.binding, assumed=assumed)
    if isinstance(answer, Contradiction):
        message = f"what is stated of {answer.quantity} contradicts what follows for it"
        raise Problem("conflict", message, (f"from {answer.relation}; leave one of them out",))
    if isinstance(answer, Infeasible):
        broken = tuple(check.name for check in answer.evidence.checks if not check.holds)
        return Refused(row.config, shown_names(broken) or ("batch",))
    raise _no_batch(answer)


def _value(answer: Answer, name: str) -> Any:
    if isinstance(answer, Exact) and len(answer.branches) < 2:
        return answer.value
    raise _lacking(answer, name)


def _no_batch(answer: Answer) -> Problem:
    if isinstance(answer, Unbounded):
        advice = "state tpot_slo, ttft_slo or max_batch"
        return Problem("fleet", "nothing limits the batch", (advice,))
    return _lacking(answer, "batch")


def _lacking(answer: Answer, name: str) -> Problem:
    if isinstance(answer, Missing):
        ways = [" and ".join(names) for names in answer.alternatives[:3]]
        advice = ("state " + ", or ".join(ways),) if ways else ()
        return Problem("fleet", f"{name} cannot be derived from what is stated", advice)
    kind = type(answer).__name__.lower()
    return Problem("fleet", f"{name} has no single value ({kind})", ("state exact facts",))
