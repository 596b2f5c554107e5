"""The verb `plot`: sensitivities, a front, a region or a roofline as a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.document import Line
from derive.outcome import Outcome
from derive.plan_line import FRONT_EXAMPLE, FRONT_SIZES, MOST_OF_FRONT
from derive.sens import answer_sens
from formulas.errors import Problem

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.picture import Picture
    from derive.question import Question


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture that a notebook shows, and that can be written to a file."""

    picture: Picture

    def save(self, path: str | Path) -> Path:
        """Write the picture as SVG or PNG, by the end of the name; Problem where that fails."""
        from derive.draw import checked_picture, write

        target = checked_picture(str(path))
        write(self.picture, target)
        return target

    def _repr_svg_(self) -> str:
        from derive.draw import drawn

        return drawn(self.picture, "svg").decode("utf-8")


def plotted(outcome: Outcome, path: str | Path | None = None) -> Drawing:
    """The picture that the outcome has, written to a file where one is named.

    Problem for an outcome that has no picture, and without matplotlib.
    """
    found = picture_of(outcome)
    if found is None:
        message = "this answer has no picture"
        raise Problem("plot", message, ("pictures have: sens, plan front, region and roofline",))
    drawing = Drawing(found)
    if path is not None:
        drawing.save(path)
    return drawing


def picture_of(outcome: Outcome) -> Picture | None:
    """The picture that the outcome brings, or that its data make; None where there is none."""
    if outcome.picture is not None:
        return outcome.picture
    for has, make in _OF_DATA:
        if has(outcome.data):
            return make(outcome.data)
    return None


def _sens(data: Mapping[str, Any]) -> Picture:
    from derive.plot_sens import picture

    return picture(data)


def _front(data: Mapping[str, Any]) -> Picture:
    from derive.plot_front import picture

    return picture(data)


_OF_DATA: tuple[
    tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Picture]], ...
] = (
    (lambda data: "sensitivities" in data, _sens),
    (lambda data: data.get("kind") == "front", _front),
)


# -- the verb


def answer_plot(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The answer as a card, and its picture in the file that is named.

    Where there is no answer there is no picture, and its card says why.
    """
    target = question.to or (question.inner.to if question.inner else None)
    if target is not None:
        from derive.draw import checked_picture

        path = checked_picture(target)
    kind = question.inner.verb if question.inner else question.words[0]
    after, outcome = _ANSWERS[kind](conversation, question.inner or question)
    found = picture_of(outcome)
    if found is None:
        return after, outcome
    data = {**outcome.data, "picture": found.to_dict()}
    if target is None:
        line = Line("  to FILE.svg or to FILE.png draws it")
    else:
        from derive.draw import write

        write(found, path)
        line, data["file"] = Line(f"  picture written to {path}"), str(path)
    return after, replace(outcome, document=(*outcome.document, line), data=data, picture=found)


def _plan(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The front of a plan's goals, whether it was asked for by that word or not."""
    from derive.plan import answer_plan

    if not 2 <= len(question.goals) <= MOST_OF_FRONT:
        example = f"example: plot {FRONT_EXAMPLE} to front.svg"
        raise Problem("syntax", FRONT_SIZES, (example,))
    return answer_plan(conversation, replace(question, words=("front",), to=None))


def _region(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    from derive.plot_region import answer_region

    return answer_region(conversation, question)


def _roofline(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    from derive.plot_roofline import answer_roofline

    return answer_roofline(conversation, question)


_ANSWERS: dict[str, Callable[[Conversation, Question], tuple[Conversation, Outcome]]] = {
    "sens": answer_sens,
    "plan": _plan,
    "region": _region,
    "roofline": _roofline,
}
