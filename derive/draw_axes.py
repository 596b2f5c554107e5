"""Curves, marks and areas between two axes, with labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

from derive.draw_parts import COLOURS, FAINT, FILLED, colour, dashes, scaled, texts
from derive.picture import Curve, Mark, Picture, Point, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure

_SIZE = (7.6, 4.9)
_WIDEST_LEGEND = 34
_ENDS = {"left": 0.0, "bottom": 0.0, "center": 0.5, "right": 1.0, "top": 1.0}
# A label that stands closer to its mark than this needs no line to it.
_FAR = 12
# Where a label may stand about its mark, in points, the likeliest first.
_PLACES = tuple(
    (x * far, y * far, side, level)
    for far in (1, 2.2, 4)
    for x, y, side, level in (
        (8, 5, "left", "bottom"), (8, -5, "left", "top"), (-8, 5, "right", "bottom"),
        (-8, -5, "right", "top"), (0, 9, "center", "bottom"), (0, -9, "center", "top"),
        (10, 0, "left", "center"), (-10, 0, "right", "center"),
    )
)  # fmt: skip


def draw_axes(picture: Picture) -> Figure:
    """Areas at the back, then curves, marks and their labels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    bottom = _bottom(picture)
    for which, scale in (("x", picture.x), ("y", picture.y)):
        getattr(axes, f"set_{which}scale")("log" if scale.log else "linear")
    for area in picture.areas:
        _area(axes, picture, area, bottom)
    for number, curve in enumerate(picture.curves):
        _curve(axes, picture, curve, number)
    _marks(figure, axes, picture)
    axes.margins(x=0.04, y=0.08)
    if bottom:
        axes.set_ylim(bottom=bottom)
    elif not picture.y.log:
        axes.set_ylim(bottom=min(0.0, *(y for _, y in _points(picture)), 0.0))
    for which, scale in (("x", picture.x), ("y", picture.y)):
        scaled(axes, scale, which)
    texts(axes, picture, 44)
    if len(picture.curves) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=8.5)
    canvas.draw()
    _labels(axes, picture, canvas.get_renderer())
    return figure


def _points(picture: Picture) -> Iterator[Point]:
    """Every point of the picture, in the units of its axes."""
    points = [mark.at for mark in picture.marks]
    points += [point for curve in picture.curves for piece in curve.pieces for point in piece]
    points += [(s.x, y) for area in picture.areas for s in area for y in (s.low, s.high)]
    for point in points:
        yield _at(picture, point)


def _bottom(picture: Picture) -> float:
    """Where a logarithm ends that would have no end: below the smallest height that is there."""
    heights = [y for _, y in _points(picture)]
    above = [y for y in heights if y > 0]
    return min(above) / 2 if picture.y.log and len(above) < len(heights) else 0.0


def _at(picture: Picture, point: Point) -> Point:
    return point[0] / picture.x.divisor, point[1] / picture.y.divisor


def _drawn_at(picture: Picture, point: Point) -> Point:
    """The place of a point; what a logarithm has no place for lies on the axis."""
    x, y = _at(picture, point)
    return x, max(y, _bottom(picture)) if picture.y.log else y


def _area(axes: Axes, picture: Picture, area: Sequence[Span], bottom: float) -> None:
    x = [span.x / picture.x.divisor for span in area]
    low = [max(span.low / picture.y.divisor, bottom) for span in area]
    high = [span.high / picture.y.divisor for span in area]
    if len(area) == 1:
        axes.vlines(x, low, high, colors=FILLED, linewidth=9, zorder=1)
    else:
        axes.fill_between(x, low, high, color=FILLED, linewidth=0, zorder=1)


def _curve(axes: Axes, picture: Picture, curve: Curve, number: int) -> None:
    look: dict[str, Any] = {"color": colour(number), "linestyle": dashes(number), "linewidth": 2.2}
    if curve.faint:
        look = {"color": FAINT, "linestyle": (0, (4, 2)), "linewidth": 1.3}
    name: str | None = _filled(curve.name, _WIDEST_LEGEND)
    for piece in curve.pieces:
        points = [_drawn_at(picture, point) for point in piece]
        if len(points) == 1:
            look |= {"marker": "o", "markersize": 5, "linestyle": "none"}
        axes.plot(*zip(*points, strict=True), label=name, zorder=2, clip_on=False, **look)
        name = None


def _filled(text: str, width: int) -> str:
    from derive.draw import printable

    return "\n".join(fill(printable(line), width) for line in text.split("\n"))


def _marks(figure: Figure, axes: Axes, picture: Picture) -> None:
    if not picture.marks:
        return
    x, y = zip(*(_at(picture, mark.at) for mark in picture.marks), strict=True)
    look: dict[str, Any] = {
        "s": 42,
        "zorder": 3,
        "edgecolors": "white",
        "linewidths": 0.8,
        "clip_on": False,
    }
    if picture.third is None:
        axes.scatter(x, y, color=COLOURS[1], **look)
        return
    ranks = [(mark.rank or 0.0) / picture.third.divisor for mark in picture.marks]
    found = axes.scatter(x, y, c=ranks, cmap="viridis", **look)
    beside = figure.add_axes((1.04, 0.0, 0.022, 1.0))
    figure.colorbar(found, cax=beside, label=picture.third.title)


# -- labels


def _labels(axes: Axes, picture: Picture, renderer: RendererBase) -> None:
    """A label at each mark, where it covers no mark, no label and best no curve.

    Where there is no room for some of them, a line below the title says so.
    """
    from matplotlib.transforms import Bbox

    seen = {mark.at: None for mark in picture.marks}
    marked = [axes.transData.transform(_drawn_at(picture, at)) for at in seen]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in marked]
    lines = list(_along(axes, picture))
    left_out = 0
    for mark in picture.marks:
        if mark.name and not _label(axes, picture, mark, taken, lines, renderer):
            left_out += 1
    if left_out:
        axes.annotate(
            f"{left_out} of {len(picture.marks)} labels have no room", (1, 1), (0, -4),
            xycoords="axes fraction", textcoords="offset points", ha="right", va="top",
            fontsize=8, color="#444444",
        )  # fmt: skip


def _label(
    axes: Axes,
    picture: Picture,
    mark: Mark,
    taken: list[Any],
    lines: Sequence[Point],
    renderer: RendererBase,
) -> bool:
    text = axes.annotate(
        _filled(mark.name, 40), _at(picture, mark.at), (0, 0),
        textcoords="offset points", fontsize=8.5, zorder=4, linespacing=1.15,
        arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.6, "shrinkA": 0,
                    "shrinkB": 4, "relpos": (0.5, 0.5)},
    )  # fmt: skip
    room = axes.get_window_extent(renderer)
    for crossing in (False, True):
        for x, y, side, level in _PLACES:
            text.set(position=(x, y), ha=side, va=level)
            text.arrowprops["relpos"] = (_ENDS[side], _ENDS[level])
            text.update_positions(renderer)
            own = _text_box(text, renderer)
            if not _inside(own, room) or any(own.overlaps(other) for other in taken):
                continue
            if not crossing and any(own.padded(2).contains(*point) for point in lines):
                continue
            if max(abs(x), abs(y)) < _FAR:
                text.arrow_patch.set_visible(False)
            taken.append(own.padded(1))
            return True
    text.remove()
    return False


def _text_box(text: Any, renderer: RendererBase) -> Any:
    """The box of the words alone, without the line that leads to the mark."""
    from matplotlib.text import Text

    return Text.get_window_extent(text, renderer)


def _inside(box: Any, room: Any) -> bool:
    return bool(box.x0 >= room.x0 and box.x1 <= room.x1 and box.y0 >= room.y0 and box.y1 <= room.y1)


def _along(axes: Axes, picture: Picture) -> Iterator[Point]:
    """Places along the curves, a few dots from each other."""
    for curve in picture.curves:
        for piece in curve.pieces:
            shown = [axes.transData.transform(_drawn_at(picture, point)) for point in piece]
            yield from _between(shown)


def _between(shown: Iterable[Any]) -> Iterator[Point]:
    found = list(shown)
    for (x, y), (to_x, to_y) in pairwise(found):
        steps = max(1, int(max(abs(to_x - x), abs(to_y - y)) / 5))
        for step in range(steps + 1):
            yield x + (to_x - x) * step / steps, y + (to_y - y) * step / steps
