"""Bars under each other: a name on the left, a length, and what is to be known on the right."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from derive.draw_parts import scaled, texts
from derive.picture import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RAISES, _LOWERS = "#0072b2", "#d55e00"
_WIDEST_NOTE = 62
_SMALL = 0.005


def _shown(length: float) -> str:
    return f"{length:+.2f}" if abs(length) >= _SMALL else f"{length:+.1g}"


def draw_bars(picture: Picture) -> Figure:
    """The bars, the first on top."""
    from matplotlib.figure import Figure

    notes = [wrap(bar.note, _WIDEST_NOTE) for bar in picture.bars]
    # A row is as high as its note.
    heights = [max(1.0, 0.62 * len(lines) + 0.3) for lines in notes]
    places = [sum(heights[:row]) + height / 2 for row, height in enumerate(heights)]
    figure = Figure(figsize=(5.2, 0.6 + 0.3 * sum(heights)))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    lengths = [bar.length / picture.x.divisor for bar in picture.bars]
    axes.barh(places, lengths, height=0.62, color=[_RAISES if x > 0 else _LOWERS for x in lengths])
    axes.set_yticks(places, [bar.name for bar in picture.bars])
    axes.set_ylim(sum(heights), -0.1)
    # Room for the numbers at the ends of the bars.
    low, high = min(0.0, *lengths), max(0.0, *lengths)
    room = 0.17 * (high - low)
    axes.set_xlim(low - (room if low < 0 else 0), high + (room if high > 0 else 0))
    axes.axvline(0, color="black", linewidth=0.8)
    for place, length, lines in zip(places, lengths, notes, strict=True):
        axes.annotate(
            _shown(length), (length, place), (4 if length > 0 else -4, 0),
            textcoords="offset points", va="center", ha="left" if length > 0 else "right",
            fontsize=8.5,
        )  # fmt: skip
        axes.annotate(
            "\n".join(lines), (1, place), (12, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", fontsize=8, color="#444444",
        )  # fmt: skip
    heads = [(0, -4, "right", picture.y.title)]
    heads += [(1, 12, "left", "holds")] if any(bar.note for bar in picture.bars) else []
    for x, shift, side, head in heads:
        axes.annotate(
            head, (x, 1), (shift, 4), xycoords="axes fraction", textcoords="offset points",
            fontsize=8.5, weight="bold", ha=side,
        )  # fmt: skip
    scaled(axes, picture.x, "x")
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    texts(axes, picture, 40, 22)
    return figure
