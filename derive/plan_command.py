"""`derive plan FILE.toml` and `derive launch FILE.toml`."""

from __future__ import annotations

import argparse
import sys

from derive.as_json import json_text
from derive.outcome import Outcome
from derive.plan import Wanted, plan_outcome
from derive.plan_file import load, top_of, wanted_of
from derive.streams import width
from formulas.errors import Problem


def run(options: argparse.Namespace) -> str:
    """Print what the command of these options comes to; its status."""
    if is_fleet(options.file):
        from derive.fleet import show_fleet

        if options.command == "launch":
            advice = "derive plan shows where each of a fleet's workloads stands"
            raise Problem("file", f"{options.file} has no plan to launch", (advice,))
        return show_fleet(options)
    if options.command == "launch":
        found = launch_file(options.file, options.time, options.engine)
    else:
        found = plan_file(options.file, options.time, options.top)
    if options.json:
        print(json_text(found.data, sys.stdout.encoding))
    else:
        print(found.text(False, width()))
    return found.status


def is_fleet(path: str) -> bool:
    """Whether the file has workloads on an inventory instead of one plan."""
    return bool(load(path).keys() & {"workload", "node"})


def plan_file(path: str, seconds: float, top: int | str | None = None) -> Outcome:
    """What the file's plan comes to; Problem where it cannot be read."""
    return plan_outcome(read(path, top), seconds)


def launch_file(path: str, seconds: float, engine: str | None = None) -> Outcome:
    """The plan's choice as commands that start it."""
    from derive.launch import launch_outcome

    return launch_outcome(read(path, 1), seconds, engine)


def read(path: str, top: int | str | None = None) -> Wanted:
    """The plan of a file, with another number of rows where one is asked."""
    from dataclasses import replace

    wanted = wanted_of(load(path), path)
    return wanted if top is None else replace(wanted, top=top_of(top, "--"))
