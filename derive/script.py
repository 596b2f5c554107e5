"""A file of lines, answered one after the other: a saved session, replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from derive.complain import complain
from derive.conversation import Conversation
from derive.outcome import Outcome
from derive.repl_lines import numbered_lines
from formulas.errors import Problem

PROMPT = "derive> "


def replay(
    lines: Iterable[str],
    show: Callable[[str, Outcome | Problem], None],
    seconds: float,
    keep_going: bool = False,
) -> str:
    """Answer every line, each after those before it; the status of the last one.

    A line that cannot be read ends the replay, unless it is to go on.
    """
    from derive.repl_dialogue import Dialogue, State

    dialogue = Dialogue(State(Conversation(seconds=seconds)))
    status = "ok"
    for number, line in numbered_lines(lines):
        try:
            dialogue, outcome = dialogue.say(line)
        except Problem as problem:
            problem.help = (*problem.help, f"line {number}")
            show(line, problem)
            status = "error"
            if not keep_going:
                return status
            continue
        show(line, outcome)
        status = outcome.status
        if dialogue.over:
            break
    return status


def shown(line: str, found: Outcome | Problem, width: int) -> str:
    """The line behind the prompt, and what it came to."""
    text = complain(found, line) if isinstance(found, Problem) else found.text(width=width)
    return f"{PROMPT}{line}\n{text}\n"


def as_object(line: str, found: Outcome | Problem) -> Mapping[str, Any]:
    """The line and its answer as one flat object."""
    from derive.as_json import problem_object

    data = problem_object(found) if isinstance(found, Problem) else found.data
    return {"ask": line, **data}
