"""From what workloads ask for to a placement in which everything was recomputed exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic

from solvers.fleet import Best, NoneFits, Open, solve_fleet
from solvers.fleet_candidates import Candidates, candidates_of, exact_config
from solvers.fleet_clash import Clash, clash_of
from solvers.fleet_demand import Config, Demand, Refused
from solvers.fleet_model import Fleet, Option, Pool, Workload

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Planned:
    """A placement with the exact configuration of each workload."""

    fleet: Fleet
    best: Best
    configs: Mapping[str, Config]


@dataclass(frozen=True, slots=True)
class Unserved:
    """No configuration of this workload meets its limits on any pool."""

    name: str
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class Impossible:
    """The fleet does not fit; `clash` is None where there was no time to say why."""

    fleet: Fleet
    clash: Clash | None


@dataclass(frozen=True, slots=True)
class Undecided:
    """The time was over; nothing costs less than `bound` USD/h."""

    fleet: Fleet
    bound: Fraction
    engine: str


Outcome = Planned | Unserved | Impossible | Undecided


def plan_demands(
    demands: tuple[Demand, ...],
    pools: tuple[Pool, ...],
    budget: Fraction | None,
    seconds: float,
    engine: str = "",
    say: Say = lambda _: None,
) -> Outcome:
    """The cheapest placement of all workloads, or why there is none.

    Raises Problem where a workload lacks a fact.
    """
    ends = monotonic() + seconds
    found: dict[str, Candidates] = {}
    for number, demand in enumerate(demands, start=1):
        say(f"configurations of {demand.name} ({number} of {len(demands)})")
        found[demand.name] = candidates_of(demand, pools)
        if not found[demand.name].options:
            return Unserved(demand.name, found[demand.name].refused)
    rows = tuple(Workload(demand.name, found[demand.name].options) for demand in demands)
    fleet = Fleet(pools, rows, budget)
    while True:
        say(f"placing {len(demands)} workloads")
        # A time that is over still leaves a moment for the first placement.
        answer = solve_fleet(fleet, max(ends - monotonic(), 1.0), engine)
        if isinstance(answer, NoneFits):
            say("looking for what clashes")
            return Impossible(fleet, clash_of(fleet, max(ends - monotonic(), 1.0)))
        if isinstance(answer, Open):
            return Undecided(fleet, answer.bound, answer.engine)
        exact = _recomputed(demands, answer.placed.choice)
        wrong = {name: row for name, row in exact.items() if not _agrees(answer, name, row)}
        if not wrong:
            configs = {name: row for name, row in exact.items() if isinstance(row, Config)}
            return Planned(fleet, answer, configs)
        fleet = _corrected(fleet, answer.placed.choice, wrong)


def _recomputed(
    demands: tuple[Demand, ...], choice: Mapping[str, Option]
) -> dict[str, Config | Refused]:
    return {d.name: exact_config(d, choice[d.name].about) for d in demands}


def _agrees(answer: Best, name: str, exact: Config | Refused) -> bool:
    return isinstance(exact, Config) and exact.replicas == answer.placed.choice[name].replicas


def _corrected(
    fleet: Fleet, choice: Mapping[str, Option], wrong: Mapping[str, Config | Refused]
) -> Fleet:
    """The fleet in which the options that exact arithmetic does not confirm are put right."""
    rows = []
    for workload in fleet.workloads:
        options = list(workload.options)
        if workload.name in wrong:
            exact, place = wrong[workload.name], options.index(choice[workload.name])
            options[place : place + 1] = [exact.option] if isinstance(exact, Config) else []
        rows.append(replace(workload, options=tuple(options)))
    return replace(fleet, workloads=tuple(rows))
