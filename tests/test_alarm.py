"""A question's time and Ctrl-C: they end the body wherever it is, and nothing but the body."""
# ruff: noqa: PT012

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from derive.alarm import AGAIN, Alarm, TimedOut

ROOT = Path(__file__).parent.parent
SOON = 0.02
PATIENCE = 20.0

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")


def spin(seconds: float = PATIENCE) -> None:
    """Work that can be interrupted anywhere; it ends by itself, so that a lost alarm is seen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Every test leaves the signals as it found them, and no alarm behind."""
    watched = (signal.SIGINT, signal.SIGALRM)
    before = [signal.getsignal(number) for number in watched]
    hook = sys.unraisablehook
    yield
    assert [signal.getsignal(number) for number in watched] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert sys.unraisablehook is hook


def test_the_body_ends_with_its_time() -> None:
    with pytest.raises(TimedOut), Alarm(SOON):
        spin()


@pytest.mark.parametrize("seconds", [0, 0.0, None, PATIENCE])
def test_a_body_within_its_time_is_left_alone(seconds: float | None) -> None:
    with Alarm(seconds):
        spin(3 * SOON)


class Slow:
    """Its finaliser is running when the alarm rings."""

    def __del__(self) -> None:
        spin(4 * SOON)


def in_a_finaliser() -> None:
    Slow()


def in_a_callback_of_the_collector() -> None:
    def slow(*_: Any) -> None:
        spin(2 * SOON)

    gc.callbacks.append(slow)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(slow)


@pytest.mark.parametrize("lose", [in_a_finaliser, in_a_callback_of_the_collector])
def test_an_alarm_that_is_lost_rings_again(
    lose: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> None:
    reached = []
    with pytest.raises(TimedOut), Alarm(SOON):
        lose()
        reached.append("the body goes on")
        spin()
        reached.append("to its end")
    assert reached == ["the body goes on"]
    assert capfd.readouterr().err == ""


def interrupt_in_a_finaliser() -> None:
    class Interrupting:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            spin(SOON)

    Interrupting()


def test_a_ctrl_c_that_is_lost_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), Alarm(PATIENCE):
        interrupt_in_a_finaliser()
        reached.append("the body goes on")
        spin()
        reached.append("to its end")
    assert reached == ["the body goes on"]
    assert capfd.readouterr().err == ""


def test_a_ctrl_c_lost_at_the_end_of_the_body_is_not_forgotten() -> None:
    with pytest.raises(KeyboardInterrupt), Alarm(None):
        interrupt_in_a_finaliser()


def test_no_ring_comes_after_the_body() -> None:
    """The body ends about when the alarm rings, thousands of times; what follows is never hit."""
    rung = 0
    for turn in range(3000):
        try:
            with Alarm(1e-4):
                spin(turn % 40 * 5e-6)
        except TimedOut:
            rung += 1
        _quiet()
    assert 0 < rung < 3000


def _quiet() -> None:
    """Anything raised here is raised after the body."""
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    spin(2e-5)


def test_a_slow_way_out_is_followed_by_no_second_ring() -> None:
    """Rings go on while the body unwinds, and not one of them is raised behind it."""

    @contextmanager
    def reluctant() -> Iterator[None]:
        try:
            yield
        finally:
            try:
                spin(2 * AGAIN)
            except TimedOut:
                spin(AGAIN / 2)

    for _ in range(5):
        with pytest.raises(TimedOut), Alarm(SOON):
            with reluctant():
                spin()
            spin(0)
        spin(AGAIN)


@pytest.mark.parametrize(("outer", "inner"), [(SOON, PATIENCE), (PATIENCE, SOON), (SOON, SOON)])
def test_an_alarm_within_an_alarm(outer: float, inner: float) -> None:
    reached = []
    with pytest.raises(TimedOut), Alarm(outer):
        try:
            with Alarm(inner):
                spin()
        except TimedOut:
            reached.append("inner")
            if outer > inner:
                raise
        spin()
        reached.append("outer")
    assert reached == ["inner"]


def test_the_outer_alarm_rings_after_an_inner_one_that_ended() -> None:
    with pytest.raises(TimedOut), Alarm(10 * SOON):
        with Alarm(PATIENCE):
            spin(SOON)
        spin()


LONG = (
    "which tp, pp, dp, kv_dtype given model deepseek-v3, gpu 1024 x h100-sxm, batch = 64, "
    "context = 8k, tpot <= 30 ms"
)


def test_ctrl_c_ends_a_question_of_the_command_and_says_so() -> None:
    command = [sys.executable, "-m", "derive", "ask", LONG]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "stopped\n")
