"""Facts that are known within limits: what an answer may be, or how far it spreads."""

from __future__ import annotations

from dataclasses import replace

from solvers.answer import Answer
from solvers.solve import Request, solve


def uncertain_answer(request: Request) -> Answer:
    """The answer at the middle of what is stated."""
    return solve(replace(request, scenario=replace(request.scenario, ranges={}, spreads={})))
