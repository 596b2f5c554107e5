"""A table that cannot be made: what to give so that its points can be answered."""

from __future__ import annotations

from derive.asked import Asked
from derive.document import Heading
from derive.need import missing_rows
from derive.outcome import Outcome
from derive.points import Points
from derive.under_table import fields
from solvers.answer import Missing
from solvers.gifts import gifts
from solvers.solve import Request


def lacking(what: str, points: Points, answer: Missing, before: str = "") -> Outcome:
    """The outcome of a table about `what` of which no point can be answered.

    `answer` is the refusal of one of its points; `before` stands before what is asked.
    """
    # Where several GPUs work together, at the end of the axes, the most has to be known.
    last = {name: values[-1] for name, values in points.grid.axes.items()}
    scenario = points.grid.build(last)
    given = gifts(Request(answer.find, scenario, prefer=points.grid.prefer))
    asked = Asked(answer.find, "", points.statements)
    rows = [(name, (text,)) for name, text in missing_rows(asked, answer, given)]
    because = [("because", (answer.reason,))] if answer.reason else []
    message = f"{before}{what} needs more facts"
    data = {
        "status": "missing",
        "find": what,
        "value": None,
        "display": "missing",
        "missing": [list(names) for names in answer.alternatives],
        "give": [{"name": gift.name, "instead": list(gift.instead)} for gift in given],
        "message": answer.reason or message,
    }
    return Outcome("missing", (Heading(message), *fields([*because, *rows])), data)
