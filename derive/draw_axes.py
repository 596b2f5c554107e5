"""Curves, marks and areas between two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from derive.draw_labels import label_marks
from derive.draw_parts import (
    COLOURS,
    FAINT,
    FILLED,
    bottom_of,
    colour,
    dashes,
    filled,
    place_of,
    scaled,
    texts,
)
from derive.picture import Curve, Picture, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (7.6, 4.9)
_WIDEST_LEGEND = 34
# Shares of the width at which what stands on the right begins, without and with a scale of colours.
_BESIDE, _BESIDE_COLOURS = 1.03, 1.2


def draw_axes(picture: Picture) -> Figure:
    """Areas at the back, then curves, marks and their names."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    for which, scale in (("x", picture.x), ("y", picture.y)):
        getattr(axes, f"set_{which}scale")("log" if scale.log else "linear")
    for area in picture.areas:
        _area(axes, picture, area)
    for number, curve in enumerate(picture.curves):
        _curve(axes, picture, curve, number)
    _marks(figure, axes, picture)
    axes.margins(x=0.04, y=0.08)
    bottom = bottom_of(picture)
    if bottom is not None:
        axes.set_ylim(bottom=bottom)
    for which, scale in (("x", picture.x), ("y", picture.y)):
        scaled(axes, scale, which)
    texts(axes, picture, 44)
    if len(picture.curves) > 1 or picture.areas:
        axes.legend(loc="upper left", bbox_to_anchor=(_BESIDE, 1.0), frameon=False, fontsize=8.5)
    canvas.draw()
    key_at = _BESIDE if picture.third is None else _BESIDE_COLOURS
    label_marks(axes, picture, canvas.get_renderer(), key_at)
    return figure


def _area(axes: Axes, picture: Picture, area: Sequence[Span]) -> None:
    low = [place_of(picture, (span.x, span.low)) for span in area]
    high = [place_of(picture, (span.x, span.high)) for span in area]
    x, lows, highs = [at[0] for at in low], [at[1] for at in low], [at[1] for at in high]
    if len(area) == 1:
        axes.vlines(x, lows, highs, colors=FILLED, linewidth=9, zorder=1)
    else:
        axes.fill_between(x, lows, highs, color=FILLED, linewidth=0, zorder=1)


def _curve(axes: Axes, picture: Picture, curve: Curve, number: int) -> None:
    line: dict[str, Any] = {"linestyle": dashes(number), "linewidth": 2.2}
    alone: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5}
    if curve.faint:
        line = {"linestyle": (0, (4, 2)), "linewidth": 1.3}
    name: str | None = filled(curve.name, _WIDEST_LEGEND)
    # The legend shows a line where there is one.
    for piece in sorted(curve.pieces, key=len, reverse=True):
        points = [place_of(picture, point) for point in piece]
        axes.plot(
            *zip(*points, strict=True), label=name, zorder=2, clip_on=False,
            color=FAINT if curve.faint else colour(number), **(line if len(points) > 1 else alone),
        )  # fmt: skip
        name = None


def _marks(figure: Figure, axes: Axes, picture: Picture) -> None:
    if not picture.marks:
        return
    x, y = zip(*(place_of(picture, mark.at) for mark in picture.marks), strict=True)
    look: dict[str, Any] = {"s": 42, "zorder": 3, "edgecolors": "white", "linewidths": 0.8}
    if picture.third is None:
        axes.scatter(x, y, color=COLOURS[1], clip_on=False, **look)
        return
    ranks = [(mark.rank or 0.0) / picture.third.divisor for mark in picture.marks]
    found = axes.scatter(x, y, c=ranks, cmap="viridis", clip_on=False, **look)
    beside = figure.add_axes((1.04, 0.0, 0.022, 1.0))
    figure.colorbar(found, cax=beside, label=filled(picture.third.title, _WIDEST_LEGEND))
