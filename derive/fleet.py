"""`derive plan FILE.toml`: several workloads on an inventory, at least cost per hour."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Protocol

from derive.fleet_card import outcome_of
from derive.fleet_file import read_fleet
from derive.outcome import Outcome
from derive.progress import progress
from formulas.errors import Problem


class Options(Protocol):
    """What the command line says: the time limit in seconds, and the back end, "" for ours."""

    time: float
    engine: str


class Command(Options, Protocol):
    """The whole command: which file, and in which form it is answered."""

    file: str
    json: bool


def show_fleet(options: Command) -> str:
    """Print what the fleet of the file comes to; its status."""
    from derive.as_json import json_text
    from derive.streams import width

    found = plan_fleet(options.file, options)
    text = json_text(found.data, sys.stdout.encoding) if options.json else found.text(width=width())
    print(text)
    return found.status


def plan_fleet(path: str, options: Options) -> Outcome:
    """What the fleet of the file comes to: the cheapest placement, or why there is none.

    Raises Problem where the file cannot be read or lacks a fact.
    """
    from solvers.fleet_plan import plan_demands

    started = monotonic()
    if options.engine == "highs":
        _refuse_without_scipy()
    file = read_fleet(path)
    left = options.time - (monotonic() - started)
    found = plan_demands(file.demands, file.pools, file.budget, left, options.engine, progress())
    return outcome_of(found, file.pools, options.time)


def _refuse_without_scipy() -> None:
    from solvers.fleet_milp import installed

    if not installed():
        advice = "install the extra: pip install 'derive-llm[fleet]'"
        raise Problem("fleet", "HiGHS needs scipy, which is not installed", (advice,))
