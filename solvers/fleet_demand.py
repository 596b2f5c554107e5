"""What a workload of a fleet asks for, and one configuration that may serve it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from formulas.errors import Problem
from formulas.scenario import Scenario, scenario
from formulas.statements import Choose, Fact, Statement, UseGpu
from solvers.fleet_model import Option, Pool


@dataclass(frozen=True, slots=True)
class Demand:
    """A workload before it is configured: what is stated of it, and what may be chosen.

    A format of "" is the model's own. Without `tp` every power of two up to a node is tried;
    `pools` are the only ones it may use, where any are named.
    """

    name: str
    statements: tuple[Statement, ...]
    weight_dtypes: tuple[str, ...] = ("",)
    kv_dtypes: tuple[str, ...] = ("",)
    tp: tuple[int, ...] = ()
    pools: tuple[str, ...] = ()
    mig: bool = True


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration of a workload; what is derived of it is None until it is known.

    `batch` is the largest that breaks nothing, `rate` the requests per second of a busy replica,
    `binding` what a larger batch would break.
    """

    pool: Pool
    tp: int
    profile: str = ""
    weight_dtype: str = ""
    kv_dtype: str = ""
    batch: int = 0
    replicas: int = 0
    rate: Any = None
    tpot: Any = None
    ttft: Any = None
    binding: tuple[str, ...] = ()
    assumed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def option(self) -> Option:
        """The configuration as the fleet's model knows it."""
        gpus_ = 0 if self.profile else self.tp
        return Option(self.pool.name, self.replicas, gpus_, self.profile, self)

    @property
    def text(self) -> str:
        """Where it stands and how, without what is derived."""
        where = self.profile or f"tp {self.tp}"
        formats = [f"weights {self.weight_dtype}"] if self.weight_dtype else []
        formats += [f"cache {self.kv_dtype}"] if self.kv_dtype else []
        return " ".join((self.pool.name, where, *formats))


@dataclass(frozen=True, slots=True)
class Refused:
    """A configuration that cannot serve the workload, and the constraints that it breaks."""

    config: Config
    broken: tuple[str, ...]


def configs_of(demand: Demand, pools: tuple[Pool, ...]) -> Iterator[Config]:
    """Every configuration that the workload allows; the formats that are named first come first."""
    for weights in demand.weight_dtypes:
        for cache in demand.kv_dtypes:
            for pool in pools:
                if demand.pools and pool.name not in demand.pools:
                    continue
                for tp in demand.tp or _powers(pool.node_gpus):
                    if tp <= pool.node_gpus:
                        yield Config(pool, tp, "", weights, cache)
                for profile in pool.profiles if demand.mig else ():
                    yield Config(pool, 1, profile.name, weights, cache)


def _powers(most: int) -> tuple[int, ...]:
    return tuple(2**power for power in range(most.bit_length()))


def scenario_of(demand: Demand, config: Config) -> Scenario:
    """Everything that is stated where the workload stands in this configuration."""
    rows: list[Statement] = [*demand.statements]
    rows.append(UseGpu(config.pool.gpu, None, f"gpu {config.pool.gpu}"))
    chosen = {
        "mig_profile": config.profile,
        "weight_dtype": config.weight_dtype,
        "kv_dtype": config.kv_dtype,
    }
    rows += [Choose(name, value, f"{name} = {value}") for name, value in chosen.items() if value]
    facts = {"tp": Fraction(config.tp), "price_per_gpu_hour": config.pool.price}
    rows += [Fact(name, value, text=f"{name} = {value}") for name, value in facts.items()]
    return scenario(rows)


def of_workload(problem: Problem, demand: Demand) -> Problem:
    """The problem, which from now on names the workload that it was met in."""
    return replace(problem, message=f"workload '{demand.name}': {problem.message}")
