"""A body that can be stopped, by the end of its time or by Ctrl-C, wherever it happens to be.

What a signal's handler raises is lost where it interrupts a finaliser or a callback of the garbage
collector. The handler therefore rings again and again until the body has ended, and raises nothing
once the body's end is being dealt with: it looks at the frames that it interrupts.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any

AGAIN = 0.1
# An alarm that rang while one was being set comes as soon as the body has begun.
SOON = 1e-3


class TimedOut(BaseException):
    """The question's time is over; no `except Exception` on the way may keep it."""


class Alarm:
    """A context whose body ends with TimedOut after so many seconds; None and 0 set no limit.

    While the body runs, Ctrl-C raises KeyboardInterrupt in it, also where the first is lost. After
    it the signals are as they were. Nothing happens in a thread, or where no alarm can be set.
    """

    def __init__(self, seconds: float | None) -> None:
        """Set nothing yet."""
        self._seconds = seconds or 0.0
        self._reason: type[BaseException] = TimedOut
        self._over = False
        self._usable = False

    def __enter__(self) -> None:
        in_main = threading.current_thread() is threading.main_thread()
        self._usable = hasattr(signal, "setitimer") and in_main
        if not self._usable:
            return
        self._unraisable = sys.unraisablehook
        sys.unraisablehook = self._lost
        self._interrupts = signal.getsignal(signal.SIGINT)
        if _is_ours(self._interrupts):
            signal.signal(signal.SIGINT, self._interrupted)
        self._alarms = signal.signal(signal.SIGALRM, self._ring)
        self._began = time.monotonic()
        self._outer = signal.setitimer(signal.ITIMER_REAL, 0)[0]
        limits = [limit for limit in (self._seconds, self._outer) if limit > 0]
        if limits:
            signal.setitimer(signal.ITIMER_REAL, min(limits))

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        # From here on the handlers raise nothing, since this frame is what they interrupt.
        if not self._usable:
            return
        self._over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._alarms)
        if _is_ours(self._interrupts):
            signal.signal(signal.SIGINT, self._interrupts)
        sys.unraisablehook = self._unraisable
        if self._outer > 0:
            left = self._outer - (time.monotonic() - self._began)
            signal.setitimer(signal.ITIMER_REAL, max(left, SOON))
        if self._reason is KeyboardInterrupt and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt

    def _ring(self, _: int, frame: FrameType | None) -> None:
        if self._over:
            return
        if _at_an_edge(frame):
            signal.setitimer(signal.ITIMER_REAL, SOON)
            return
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        raise self._reason

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self._reason = KeyboardInterrupt
        self._ring(number, frame)

    def _lost(self, unraisable: Any) -> None:
        """Say nothing of our own exceptions; they come again."""
        if unraisable.exc_type not in (TimedOut, KeyboardInterrupt):
            self._unraisable(unraisable)


_EDGES = (Alarm.__enter__.__code__, Alarm.__exit__.__code__)


def _at_an_edge(frame: FrameType | None) -> bool:
    """True where an alarm is being set or taken back: an exception there would leave it half."""
    while frame is not None:
        if frame.f_code in _EDGES:
            return True
        frame = frame.f_back
    return False


def _is_ours(handler: Any) -> bool:
    """True of Python's own handler of Ctrl-C and of an alarm around this one."""
    owner = getattr(handler, "__self__", None)
    return handler is signal.default_int_handler or isinstance(owner, Alarm)
