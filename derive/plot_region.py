"""`plot region X, Y given ...`: which pairs meet every limit, and which limit ends them where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from derive.asked import Asked, refuse_outside
from derive.deadline import TimedOut, answer, within
from derive.document import Document, Heading, Table
from derive.outcome import Outcome
from derive.picture import Curve, Picture, Point, Span, note, scale_of, wide
from derive.points import NAMED, cell, label, points_of
from derive.replace import replaced, subject
from derive.session import Reply
from derive.spelling import spelt_statement
from derive.under_table import assumed, assumed_data, fields, unchecked
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.quantity import Domain
from formulas.statements import Among, Axis, Between, Fact, Limit, Statement
from solvers.region import SLICES, Region, region
from solvers.slices import Axes, End, Slice

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.question import Question

_EXAMPLE = "example: plot region batch, context given tpot <= 30 ms"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the boundary along which the same limits bind.

    It is the `largest` or `smallest` of the second quantity, or the `first` or `last` of the first.
    """

    side: str
    binding: tuple[str, ...]
    points: tuple[Point, ...]


def answer_region(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The boundary with what binds along it; where no pair meets the limits, the card of why."""
    stated = replaced(conversation.statements, question.statements)
    for statement in stated:
        refuse_outside(statement)
    x, y = question.names
    _refuse(x, y)
    axes = replace(axes_of(x, y, stated), prefer=conversation.prefer)
    if axes.values:
        points = points_of(conversation, question, (Axis(x),))
        axes = replace(axes, values=tuple(points.grid.axes[x]))
    try:
        with within(conversation.seconds):
            found = region(axes)
    except TimedOut:
        message = f"the region was not all found in {conversation.seconds:g} s"
        raise Problem("plot", message, ("--time gives it more",)) from None
    if not found.runs:
        return conversation, _refused(axes, conversation).outcome()
    picture = picture_of(axes, found)
    evidence = [run[place].answer.evidence for run in found.runs for place in (0, -1)]
    below = [("read as", question.read_as), ("assumed", assumed(evidence))]
    below += [("unchecked", unchecked(evidence))]
    data = _data(axes, found, picture.title) | {"assumed": assumed_data(evidence)}
    without = sorted(set(axes.values) - {row.x for run in found.runs for row in run})
    if without:
        shown = ", ".join(cell(x, value) for value in without)
        below.append(("nothing at", (f"{label(x)} {shown}",)))
    document = (*_document(axes, found, picture.title), *fields(below))
    notes = [note(name, text) for name, texts in below[1:] for text in texts]
    picture = replace(picture, notes=tuple(notes))
    return conversation, Outcome("ok", document, data, None, picture)


def _refuse(x: str, y: str) -> None:
    for name in (x, y):
        if name in NAMED:
            message = f"{name} is a choice, and no quantity along an axis"
            raise Problem("plot", message, (f"which {name} given ... lists its choices",), name)
    if catalogue().quantities[y].domain.choices:
        both = catalogue().quantities[x].domain.choices
        advice = f"which {x}, {y} given ... lists them" if both else f"plot region {y}, {x} ..."
        message = f"{y} has a list of values, which have nothing between them"
        raise Problem("plot", message, (advice,), y)


def _refused(axes: Axes, conversation: Conversation) -> Reply:
    """The largest of the second quantity at the lower end: it says what is missing or clashes."""
    low = axes.values[0] if axes.values else axes.low
    text = f"{axes.x} = {cell(axes.x, low)}"
    statements = (*axes.stated, Fact(axes.x, low, text=text))
    asked = Asked(axes.y, "max", statements, prefer=axes.prefer)
    return Reply(asked, answer(asked, conversation.seconds))


# -- the part that is looked at


def axes_of(x: str, y: str, stated: Sequence[Statement]) -> Axes:
    """The axes, and what is stated of anything else; Problem where the first has no beginning.

    What `in` lists of a quantity ends its axis; few values of the first are looked at alone.
    """
    kept = tuple(row for row in stated if subject(row) not in (("value", x), ("value", y)))
    told = [row for row in stated if subject(row) == ("value", x)]
    seen = [row for row in stated if subject(row) == ("value", y)]
    values = _listed(x, told[-1] if told else None)
    if values and (len(values) <= SLICES or catalogue().quantities[x].domain.choices):
        return Axes(x, y, (*kept, *_limits(seen)), values[0], values[-1], values)
    ends = [*kept, *_limits(told)]
    low = _ends(x, ends, ">")
    high = _ends(x, ends, "<")
    domain = catalogue().quantities[x].domain
    if not low and not domain.whole and (domain.low is None or domain.low_open):
        raise _unlimited(x, "begins")
    start = max([*low, *_lowest(domain)])
    stop = min([*high, *([] if domain.high is None else [domain.high])], default=None)
    if stop is None and not domain.whole:
        raise _unlimited(x, "ends")
    return Axes(x, y, (*kept, *_limits(seen)), start, stop)


def _lowest(domain: Any) -> list[Fraction]:
    if domain.low is None:
        return []
    # A count of none has no place on a picture of some.
    return [max(Fraction(1), Fraction(domain.low))] if domain.whole else [Fraction(domain.low)]


def _unlimited(name: str, what: str) -> Problem:
    message = f"nothing says where the axis of {name} {what}"
    return Problem("plot", message, (f"add limits on it, or  {name} = LOW..HIGH", _EXAMPLE), name)


def _listed(name: str, row: Statement | None) -> tuple[Fraction, ...]:
    if isinstance(row, Among):
        return tuple(sorted(set(row.values)))
    choices = catalogue().quantities[name].domain.choices
    return choices if row is None or isinstance(row, Fact) else ()


def _limits(rows: Iterable[Statement]) -> tuple[Limit, ...]:
    """Limits in place of lists and intervals."""
    found: list[Limit] = []
    for row in rows:
        match row:
            case Among(name, values):
                ends = (min(values), max(values))
            case Between(name, low, high):
                ends = (low, high)
            case _:
                continue
        found += [Limit(name, ">=", ends[0]), Limit(name, "<=", ends[1])]
    return tuple(replace(row, text=spelt_statement(row)) for row in found)


def _ends(name: str, rows: Iterable[Statement], sign: str) -> list[Fraction]:
    limits = [row for row in rows if isinstance(row, Limit) and row.quantity == name]
    return [row.value for row in limits if row.relation.startswith(sign)]


# -- the picture


def picture_of(axes: Axes, found: Region) -> Picture:
    """The region's areas, and a curve for each limit where it binds."""
    tops = [float(row.top.value) for run in found.runs for row in run]
    places = [float(row.x) for run in found.runs for row in run]
    across = scale_of(axes.x, places, wide(places, 3 if axes.values else 20))
    curves: dict[str, list[tuple[Point, ...]]] = {}
    for piece in pieces(axes, found):
        curves.setdefault(_called(axes, piece), []).append(piece.points)
    return Picture(
        "region",
        f"Where every limit is met: {label(axes.y)} against {label(axes.x)}",
        replace(across, ticks=tuple(places)) if axes.values else across,
        scale_of(axes.y, tops, wide(tops)),
        tuple(Curve(name, tuple(lines)) for name, lines in curves.items()),
        areas=tuple(_areas(axes, found)),
    )


def _areas(axes: Axes, found: Region) -> Iterator[tuple[Span, ...]]:
    """A run is filled from slice to slice; slices with gaps, or of a list, stand alone."""
    for run in found.runs:
        if _alone(axes, run):
            yield from ((span,) for row in run for span in _spans(row))
        else:
            yield tuple(span for row in run for span in _spans(row))


def _spans(row: Slice) -> list[Span]:
    x = float(row.x)
    return [Span(x, float(low.value), float(high.value)) for low, high in row.intervals]


def _alone(axes: Axes, run: Sequence[Slice]) -> bool:
    return bool(axes.values) or any(len(row.intervals) > 1 for row in run)


def pieces(axes: Axes, found: Region) -> Iterator[Piece]:
    """The boundary: the largest and the smallest along the axis, and the sides of it."""
    for run in found.runs:
        if _alone(axes, run):
            for row in run:
                for low, high in row.intervals:
                    yield _piece("smallest", [(row, low)])
                    yield _piece("largest", [(row, high)])
            continue
        tops, bottoms = ([(row, row.top) for row in run], [(row, row.bottom) for row in run])
        for side, line in (("largest", tops), ("smallest", bottoms)):
            for _, same in groupby(line, lambda place: place[1].binding):
                yield _piece(side, list(same))
    for run, ends in zip(found.runs, found.ends, strict=False):
        for side, row, end in (("first", run[0], ends[0]), ("last", run[-1], ends[1])):
            # Where the largest meets the smallest there is no side.
            if end.binding and row.top.value > row.bottom.value:
                ends_there = (row.bottom, row.top)
                yield _piece(side, [(row, replace(y, binding=end.binding)) for y in ends_there])


def _piece(side: str, line: Sequence[tuple[Slice, End]]) -> Piece:
    points = tuple((float(row.x), float(end.value)) for row, end in line)
    return Piece(side, line[0][1].binding, points)


def _called(axes: Axes, piece: Piece) -> str:
    """What the legend says of the limit: its words, and of a standing one what it compares."""
    sign = "<" if piece.side in ("largest", "last") else ">"
    along = axes.x if piece.side in ("first", "last") else axes.y
    return "\n".join(_limit(axes, name, sign, along) for name in piece.binding) or "not known"


def _limit(axes: Axes, name: str, sign: str, along: str) -> str:
    from derive.as_plain import plain

    if name == "domain":
        whole = catalogue().quantities[along].domain
        low = Domain(whole.low, low_open=whole.low_open)
        return f"{label(along)} {low if sign == '>' else Domain(high=whole.high)}"
    if name == "facts":
        return f"{label(along)} follows from the facts"
    for row in (*axes.stated, *_seen(axes)):
        # A limit of the asked quantity itself ends it on one side only.
        ends = isinstance(row, Limit) and (name != along or row.relation.startswith(sign))
        if isinstance(row, Limit) and row.quantity == name and ends:
            return spelt_statement(row)
    standing = {row.name: row for row in catalogue().constraints}
    return f"{name}: {plain(standing[name].expr)}" if name in standing else name


def _seen(axes: Axes) -> Iterator[Limit]:
    """The ends of the part that is looked at."""
    yield Limit(axes.x, ">=", axes.low)
    if axes.high is not None:
        yield Limit(axes.x, "<=", axes.high)


# -- what people and scripts read


def _document(axes: Axes, found: Region, title: str) -> Document:
    x, y = label(axes.x), label(axes.y)
    columns = ("boundary", f"from {x}", f"to {x}", f"from {y}", f"to {y}", "limit")
    rows = tuple(
        (
            f"{piece.side} {x if piece.side in ('first', 'last') else y}",
            *(cell(axes.x, Fraction(point[0])) for point in _ends_of(piece)),
            *(cell(axes.y, Fraction(point[1])) for point in _ends_of(piece)),
            _called(axes, piece).replace("\n", ", "),
        )
        for piece in pieces(axes, found)
    )
    return (Heading(title), Table(columns, rows, columns[1:5]))


def _ends_of(piece: Piece) -> tuple[Point, Point]:
    return piece.points[0], piece.points[-1]


def _data(axes: Axes, found: Region, title: str) -> dict[str, Any]:
    names = (axes.x, axes.y)
    rows = [
        {
            "side": piece.side,
            "binding": list(piece.binding),
            "points": [list(point) for point in piece.points],
        }
        for piece in pieces(axes, found)
    ]
    units = {name: catalogue().quantities[name].unit.text for name in names}
    return {"status": "ok", "find": f"{axes.x}, {axes.y}", "value": None, "display": title,
            "axes": list(names), "units": units, "rows": rows}  # fmt: skip
