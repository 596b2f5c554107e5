"""A limit on the time of one question."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from derive.asked import Asked
from solvers.answer import Answer, Contradiction, Infeasible, Unproved
from solvers.solve import Request, solve


class TimedOut(BaseException):
    """The question's time is over; no `except Exception` on the way may keep it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimedOut in the body after so many seconds; no limit where no alarm can be set."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable or seconds <= 0:
        yield
        return

    def ring(*_: Any) -> None:
        raise TimedOut

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(asked: Asked, seconds: float) -> Answer:
    """The answer; Unproved where the time is over before there is one."""
    try:
        with within(seconds):
            return solve_asked(asked)
    except TimedOut:
        return Unproved(asked.find, f"stopped after {seconds:g} s; --time gives it more")


def solve_asked(asked: Asked) -> Answer:
    """The answer, however long it takes: of a quantity, or of a calculation with quantities."""
    if asked.expression is None:
        return _with_ways_out(asked.request())
    from solvers.calculation import solve_calculation

    return solve_calculation(asked.expression, asked.request())


def _with_ways_out(request: Request) -> Answer:
    """The answer; of a refusal with the statements that clash and the ways out."""
    found = solve(request)
    if isinstance(found, Infeasible | Contradiction):
        from solvers.explain import explained

        return explained(request, found)
    return found
