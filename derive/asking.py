"""One question, or a stream of JSON questions: each is answered, whatever the others are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, TextIO

from derive.answering import outcome_of
from derive.as_json import error_object, json_text, problem_object
from derive.conversation import Conversation
from derive.json_question import (
    LONGEST,
    asked_name,
    line_of,
    load_object,
    read_object,
    refuse_unknown_keys,
)
from derive.outcome import Outcome
from derive.question import Question, parse
from formulas.amounts import LONGEST_NUMBER
from formulas.errors import Problem


def ask_once(text: str, seconds: float) -> Outcome:
    """What a line comes to; Problem where it is unreadable, or only states facts."""
    question = parse(text)
    refuse_facts_alone(question)
    return Conversation(seconds=seconds).answer(question)[1]


def refuse_facts_alone(question: Question) -> None:
    """A Problem for a line that asks nothing."""
    if question.verb == "state":
        raise Problem("syntax", "nothing asked", ("ask a quantity:  tpot given ...",))


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
        refuse_unknown_keys(question)
        text = line_of(question)
        if text is None:
            asked = read_object(question)
            find = asked.find
            found = dict(outcome_of(asked, seconds).data)
        else:
            found = dict(ask_once(text, seconds).data)
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
