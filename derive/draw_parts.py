"""What every picture has: colours, numbers along an axis, a title above it and notes below."""

from __future__ import annotations

from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from derive.picture import Picture, Point, Scale
from formulas.amounts import THIN_SPACE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart by people who do not see all colours, and by the dashes in print.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
FILLED, FAINT = "#d6e6f2", "#8a8a8a"
_WIDEST_NOTE = 112
# With fewer decades than this, 2 and 5 are written beside the powers of ten.
_FEW_DECADES = 3.2


def place_of(picture: Picture, point: Point) -> Point:
    """Where a point is drawn, in the units of the axes; on the axis where a logarithm ends."""
    x, y = point[0] / picture.x.divisor, point[1] / picture.y.divisor
    bottom = bottom_of(picture) if picture.y.log else None
    return x, y if bottom is None else max(y, bottom)


def bottom_of(picture: Picture) -> float | None:
    """The lower end of the heights where it is not left to the points.

    An area stands on zero; a logarithm, which never comes there, ends below the smallest height.
    """
    if not picture.areas:
        return None
    heights = [y for area in picture.areas for span in area for y in (span.low, span.high)]
    above = [y / picture.y.divisor for y in heights if y > 0]
    if not picture.y.log:
        return min(0.0, *heights) / picture.y.divisor
    return None if len(above) == len(heights) else min(above) / 2


def filled(text: str, width: int) -> str:
    """The lines of the text, each on as many as it takes."""
    return "\n".join(fill(line, width) for line in text.split("\n"))


def colour(number: int) -> str:
    """The colour of the first, the second and so on."""
    return COLOURS[number % len(COLOURS)]


def dashes(number: int) -> Any:
    """The dashes of the first, the second and so on."""
    return DASHES[number % len(DASHES)]


def texts(axes: Axes, picture: Picture, below: float, above: float = 12) -> None:
    """The title and the notes, each on as many lines as it takes, so many points off the axes."""
    title = "\n".join(wrap(picture.title, 84))
    axes.set_title(title, loc="left", fontsize=12, pad=above)
    lines = [
        line
        for note in picture.notes
        for line in wrap(note, _WIDEST_NOTE, subsequent_indent="    ")
    ]
    axes.annotate(
        "\n".join(lines), (0, 0), (0, -below), xycoords="axes fraction",
        textcoords="offset points", va="top", fontsize=8, color="#444444", linespacing=1.4,
    )  # fmt: skip


def scaled(axes: Axes, scale: Scale, which: str) -> None:
    """One axis: its name and unit, straight or by a logarithm, and numbers that people read."""
    from matplotlib.ticker import (
        FixedLocator,
        FuncFormatter,
        LogLocator,
        NullFormatter,
        NullLocator,
    )

    getattr(axes, f"set_{which}label")(scale.title)
    if scale.log:
        getattr(axes, f"set_{which}scale")("log")
        axis = getattr(axes, f"{which}axis")
        low, high = sorted(getattr(axes, f"get_{which}lim")())
        few = high < low * 10**_FEW_DECADES
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=15))
        axis.set_minor_formatter(NullFormatter())
    if scale.ticks:
        axis = getattr(axes, f"{which}axis")
        axis.set_major_locator(FixedLocator([value / scale.divisor for value in scale.ticks]))
        axis.set_minor_locator(NullLocator())
    axis = getattr(axes, f"{which}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.grid(True, color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)


def number(value: float) -> str:
    """A number beside an axis, its digits in groups of three."""
    if abs(value) >= 1e7 or 0 < abs(value) < 1e-4:
        return f"{value:.3g}"
    return f"{value:,.6g}".replace(",", THIN_SPACE)
