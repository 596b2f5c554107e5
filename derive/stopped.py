"""What is said of a question that its limit on time ended."""

from __future__ import annotations

from typing import Any

from derive.document import Document, Heading, Line
from derive.outcome import Outcome
from solvers.answer import Answer, Evidence, Unproved

# With the space that sets the values of a stopped search apart.
BEST_FOUND = "best found "
# So many times as long is proposed to who wants to wait.
_LONGER = 6
_NONE = Evidence()


def stopped(find: str, seconds: float, value: Any = None, evidence: Evidence = _NONE) -> Unproved:
    """The answer to a question that took so long, with the best that was found till then."""
    return Unproved(find, f"stopped after {seconds:g} s", value, evidence, seconds)


def continues(what: str, answer: Answer) -> list[Line]:
    """What takes a question further that was stopped: `plan ... --time 60 continues`."""
    if not isinstance(answer, Unproved) or answer.seconds is None:
        return []
    return [Line(f"  {what} ... --time {_LONGER * answer.seconds:g} continues")]


def stopped_outcome(verb: str, names: str, seconds: float) -> Outcome:
    """The card and the object of a verb that was stopped before it had anything to show."""
    answer = stopped(names, seconds)
    document: Document = (Heading(f"error[unproved]: {answer.reason}"), *continues(verb, answer))
    data = {"status": "unproved", "find": names, "value": None, "message": answer.reason}
    return Outcome("unproved", document, data)
