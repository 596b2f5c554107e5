"""A limit on the time of one question."""

from __future__ import annotations

from derive.alarm import Alarm, TimedOut
from derive.asked import Asked
from derive.stopped import stopped
from solvers.answer import Answer, Contradiction, Infeasible
from solvers.solve import solve

__all__ = ["TimedOut", "answer", "solve_asked", "within"]

# The context of a question: TimedOut in its body after so many seconds.
within = Alarm


def answer(asked: Asked, seconds: float) -> Answer:
    """The answer; Unproved where the time is over before there is one.

    A refusal that there is no time to explain stands as it is.
    """
    found: Answer = stopped(asked.find, seconds)
    try:
        with within(seconds):
            found = _solved(asked)
            return _explained(asked, found)
    except TimedOut:
        return found


def solve_asked(asked: Asked) -> Answer:
    """The answer, however long it takes: of a quantity, or of a calculation with quantities."""
    return _explained(asked, _solved(asked))


def _solved(asked: Asked) -> Answer:
    if asked.expression is None:
        return solve(asked.request())
    from solvers.calculation import solve_calculation

    return solve_calculation(asked.expression, asked.request())


def _explained(asked: Asked, found: Answer) -> Answer:
    """A refusal with the statements that clash and the ways out; any other answer as it is."""
    if asked.expression is not None or not isinstance(found, Infeasible | Contradiction):
        return found
    from solvers.explain import explained

    return explained(asked.request(), found)
