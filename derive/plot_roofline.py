"""`plot roofline given ...`: the roofs of a GPU, and where the work of a deployment lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from derive.asked import asked_of
from derive.deadline import answer
from derive.document import Document, Heading, Table
from derive.outcome import Outcome
from derive.picture import Curve, Mark, Picture, Point, note, scale_of
from derive.question import parse
from derive.replace import replaced
from derive.session import Reply
from derive.under_table import assumed, assumed_data, fields, groups, why_not
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.roofline import INTENSITY, REACHED, WORKS
from formulas.scenario import scenario
from formulas.statements import Fact, Statement, UseGpu
from solvers.answer import Evidence, Exact
from solvers.number import fraction_of
from solvers.solve import Request, solve

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.question import Question

RATE, RIDGE = "attainable_flops", "ridge_intensity"
ROOFS = ("peak_flops", "memory_bandwidth")
_GROUPS = ("tp", "pp", "dp", "ep")
# So many times beyond the outermost points the roofs are drawn.
_BEYOND = 6


@dataclass(frozen=True, slots=True)
class Place:
    """Some work under the roof: its intensity, what the roof allows there, what is predicted."""

    name: str
    intensity: Fraction
    roof: Fraction
    rate: Fraction | None
    bound: str

    @property
    def at(self) -> Point:
        """The point: at the predicted rate, on the roof where none is predicted."""
        rate = self.roof if self.rate is None else self.rate
        return float(self.intensity), float(rate)


def answer_roofline(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The roofs, the ridge and the work that is known; the card of what lacks without a GPU."""
    stated = replaced(conversation.statements, question.statements)
    times = [_asking(conversation, stated)(work.time) for work in WORKS if work.time]
    # Work and time are of one deployment, also where nobody states how many GPUs share it.
    ask = _asking(conversation, (*stated, *_shared(times)))
    needed = [ask(name) for name in (*ROOFS, RIDGE)]
    for reply in needed:
        if not isinstance(reply.answer, Exact):
            return conversation, reply.outcome()
    peak, bandwidth, ridge = map(_exact, needed)
    roofs = (peak, bandwidth)
    meant = [work for work in WORKS if not (work.unless and _exact(ask(work.unless)))]
    asked = [(work, ask(work.intensity)) for work in meant]
    places = [Place("ridge", ridge, _of_roofs(RATE, roofs, ridge), None, "")]
    for work, reply in asked:
        intensity = _exact(reply)
        if intensity is not None:
            roof = _of_roofs(RATE, roofs, intensity)
            rate = _exact(ask(work.rate)) if work.rate else None
            bound = "memory" if intensity < ridge else "compute"
            places.append(Place(work.name, intensity, roof, rate, bound))
    reached = [_exact(ask(line)) for line in REACHED]
    evidence = [reply.answer.evidence for _, reply in asked if _exact(reply) is not None]
    evidence += [reply.answer.evidence for reply in times if _exact(reply) is not None]
    lacking = {
        work.name: _needs(ask(work.time))
        for work, reply in asked
        if work.time and _exact(reply) is None
    }
    picture = Picture(
        "roofline",
        f"Roofline of one {_gpu(stated)}",
        scale_of(INTENSITY, (1.0,), True),
        scale_of(RATE, (float(peak),), True),
        tuple(_curves(roofs, reached, places)),
        tuple(Mark(_label(place), place.at) for place in places),
        notes=tuple(_notes(evidence, lacking)),
    )
    return conversation, Outcome(
        "ok", _document(picture, places, evidence), _data(picture, places, evidence), None, picture
    )


def _asking(conversation: Conversation, stated: tuple[Statement, ...]) -> Callable[[str], Reply]:
    def ask(line: str) -> Reply:
        asked = asked_of(parse(line), stated, conversation.prefer)
        return Reply(asked, answer(asked, conversation.seconds))

    return ask


def _shared(replies: Iterable[Reply]) -> Iterator[Fact]:
    """The parallel groups that the replies assume, as facts."""
    found = {n: v for r in replies for n, v in r.answer.evidence.assumed.items()}
    yield from (Fact(name, found[name]) for name in _GROUPS if name in found)


def _of_roofs(name: str, roofs: tuple[Any, Any], intensity: Any = None) -> Any:
    """What the catalogue gives for a quantity of the two roofs alone, or at an intensity."""
    facts = [*map(Fact, ROOFS, roofs)]
    facts += [] if intensity is None else [Fact(INTENSITY, intensity)]
    found = solve(Request(name, scenario(facts)))
    assert isinstance(found, Exact)
    return fraction_of(found.value)


def _exact(reply: Reply) -> Any:
    return fraction_of(reply.answer.value) if isinstance(reply.answer, Exact) else None


def _needs(reply: Reply) -> str:
    """What to add for the answer, in the words of its card; else why there is none."""
    rows = groups(reply.document())
    first = [texts[0].split(" or ")[0].strip() for word, texts in rows if word in ("give", "and")]
    return f"add {', '.join(first)}" if first else why_not(reply.answer)


def _curves(
    roofs: tuple[Any, Any], reached: Sequence[Any], places: Sequence[Place]
) -> Iterator[Curve]:
    """The roofs, and below them what is reached of them where that is known."""
    known = [place.intensity for place in places]
    low, high = min(known) / _BEYOND, max(known) * _BEYOND
    yield _roofs("roofs", roofs, low, high)
    if None not in reached:
        peak, bandwidth = reached
        yield replace(_roofs("reached with mbu and mfu", (peak, bandwidth), low, high), faint=True)


def _roofs(name: str, roofs: tuple[Any, Any], low: Any, high: Any) -> Curve:
    """Both roofs, from one end over their ridge to the other; between these they are straight."""
    ridge = _of_roofs(RIDGE, roofs)
    line = tuple((float(x), float(_of_roofs(RATE, roofs, x))) for x in (low, ridge, high))
    shown = ", ".join(map(_shown, ROOFS, roofs))
    return Curve(f"{name}: {shown}", (line,))


def _shown(name: str, value: Any) -> str:
    quantity = catalogue().quantities[name]
    return display(value, quantity.unit, quantity.label)


def _label(place: Place) -> str:
    return f"{place.name}\n{_shown(INTENSITY, place.intensity)}, {_shown(RATE, place.at[1])}"


def _gpu(stated: Sequence[Statement]) -> str:
    return next((row.name for row in reversed(stated) if isinstance(row, UseGpu)), "GPU")


def _notes(evidence: Sequence[Evidence], lacking: Mapping[str, str]) -> Iterator[str]:
    for work in WORKS:
        if work.name in lacking:
            yield note(f"no {work.name}", lacking[work.name])
        elif work.note:
            yield f"{work.name}: {work.note}"
    for text in assumed(evidence):
        yield note("assumed", text)


def _document(picture: Picture, places: Sequence[Place], evidence: Sequence[Evidence]) -> Document:
    columns = ("work", "intensity", "roof", "predicted", "bound by")
    rows = tuple(
        (
            place.name,
            _shown(INTENSITY, place.intensity),
            _shown(RATE, place.roof),
            "-" if place.rate is None else _shown(RATE, place.rate),
            place.bound or "-",
        )
        for place in places
    )
    below = fields([("note", [n for n in picture.notes if not n.startswith("assumed")]),
                    ("assumed", assumed(evidence))])  # fmt: skip
    return (Heading(picture.title), Table(columns, rows, columns[1:4]), *below)


def _data(
    picture: Picture, places: Sequence[Place], evidence: Sequence[Evidence]
) -> dict[str, Any]:
    from derive.as_json import plain

    rows = [
        {
            "name": place.name,
            INTENSITY: plain(place.intensity),
            RATE: plain(place.roof),
            "predicted": plain(place.rate),
            "bound": place.bound or None,
        }
        for place in places
    ]
    return {"status": "ok", "find": picture.kind, "value": None, "display": picture.title,
            "rows": rows, "assumed": assumed_data(evidence)}  # fmt: skip
