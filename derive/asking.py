"""One question, or a stream of JSON questions: each is answered, whatever the others are."""

from __future__ import annotations

import json
import math
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO

from derive.as_json import answer_object, error_object, json_text, problem_object
from derive.json_question import (
    LONGEST,
    Asked,
    asked_name,
    load_object,
    read_line,
    read_object,
)
from derive.session import Reply
from formulas.amounts import LONGEST_NUMBER
from formulas.errors import Problem
from solvers.answer import Answer, Unproved
from solvers.solve import solve


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
            return solve(asked.request())
    except TimedOut:
        return Unproved(asked.find, f"stopped after {seconds:g} s; --time gives it more")


def ask_once(text: str, seconds: float) -> dict[str, Any]:
    """The answer's object to a line, the reply under `reply`; Problem where it is unreadable."""
    asked = read_line(text)
    found = answer(asked, seconds)
    return {**answer_object(found, asked.unit), "reply": Reply(asked, found)}


def ask_lines(questions: BinaryIO, answers: TextIO, seconds: float) -> int:
    """Answer every line; 0 where each line got an answer, whatever it says."""
    for number, line in enumerate(_lines(questions), start=1):
        if line is not None and not line.strip():
            continue
        found = _answer_line(line, number, seconds)
        answers.write(json_text(found, answers.encoding) + "\n")
        answers.flush()
    return 0


def _lines(questions: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a stream; None for one that is too long, of which nothing is kept."""
    while line := questions.readline(LONGEST + 2):
        if len(line) > LONGEST and not line.endswith(b"\n"):
            while (rest := questions.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield None
        else:
            yield line


def _answer_line(line: bytes | None, number: int, seconds: float) -> dict[str, Any]:
    question: Mapping[str, Any] = {}
    find = None
    try:
        if line is None:
            raise Problem("json", f"a line of more than {LONGEST} characters is not read")
        question = load_object(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        find = asked_name(question)
        asked = read_object(question)
        find = asked.find
        found = answer_object(answer(asked, seconds), asked.unit)
    except Problem as problem:
        found = problem_object(problem, find)
    except UnicodeDecodeError:
        found = problem_object(Problem("json", "the line is no UTF-8 text"))
    except Exception as error:  # one bad line must not end the others
        message = f"error[bug]: {type(error).__name__}: {error}"
        found = error_object("bug", message[:300], find)
    return {**_identity(question, number), **found}


def _identity(question: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The question's id as it was given; without a readable one, null and the line's number."""
    identity = question.get("id")
    text = getattr(identity, "text", identity)
    if isinstance(identity, str):
        return {"id": identity}
    if isinstance(text, str) and len(text) <= LONGEST_NUMBER:
        found = json.loads(text)
        # An id beyond every number would come back as a word that is no JSON.
        if isinstance(found, int) or math.isfinite(found):
            return {"id": found}
    return {"id": None, "line": number}
