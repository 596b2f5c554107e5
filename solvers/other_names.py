"""The other GPUs and formats that a choice by name could have had, the nearest first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from formulas.hardware import find_gpu, gpu_facts, gpus, peak_flops
from formulas.scenario import Scenario
from formulas.statements import UseGpu
from formulas.storage import BYTES_PER_ELEMENT
from solvers.number import Number
from solvers.said import FORMATS, Said

# What a GPU is chosen for.
_COMPARED = ("memory_bandwidth", "vram_bytes", "peak_flops")


@dataclass(frozen=True, slots=True)
class Other:
    """A name, and the facts that it gives in place of those of the present one."""

    name: str
    facts: Mapping[str, Fraction]


def other_names(scenario: Scenario, said: Said) -> list[Other]:
    """What could be chosen instead, the most alike first."""
    if said.statement.name == "gpu":
        return _gpus(scenario, said)
    return _formats(scenario, said)


def _gpus(scenario: Scenario, said: Said) -> list[Other]:
    now = used_gpu(scenario)
    if now is None or "mig_profile" in scenario.chosen:
        return []
    dtype = scenario.chosen.get("weight_dtype", "bf16")
    present = find_gpu(now.name).name
    found = []
    for name, gpu in gpus().items():
        facts = gpu_facts(gpu, dtype)
        if name != present and all(known in facts for known in said.points if known in _COMPARED):
            found.append((_distance(said.points, facts), name, facts))
    return [Other(name, facts) for _, name, facts in sorted(found, key=lambda row: row[:2])]


def _distance(now: Mapping[str, Number], facts: Mapping[str, Fraction]) -> float:
    return sum(
        abs(math.log(float(facts[name]) / float(now[name])))
        for name in _COMPARED
        if name in facts and name in now
    )


def _formats(scenario: Scenario, said: Said) -> list[Other]:
    quantity = next(q for q, choice in FORMATS.items() if choice == said.statement.name)
    now = said.points.get(quantity)
    found: list[tuple[float, int, Other]] = []
    for place, (name, size) in enumerate(BYTES_PER_ELEMENT.items()):
        if now is None or size == now:
            continue
        facts = {quantity: size}
        gpu = used_gpu(scenario)
        if quantity == "bytes_per_weight" and gpu is not None:
            rate = peak_flops(find_gpu(gpu.name), name)
            facts |= {} if rate is None else {"peak_flops": rate}
        found.append((abs(math.log(float(size) / float(now))), place, Other(name, facts)))
    return [other for _, _, other in sorted(found, key=lambda row: row[:2])]


def used_gpu(scenario: Scenario) -> UseGpu | None:
    """The statement that names the GPU."""
    return next((row for row in scenario.statements if isinstance(row, UseGpu)), None)
