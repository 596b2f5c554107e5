"""Names beside the marks of a picture, none over another; where they are too many, numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from derive.draw_parts import filled, place_of
from derive.picture import Picture, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase

_WIDEST, _WIDEST_OF_KEY, _LONGEST_KEY = 40, 60, 40
# Where a label may stand about its mark, in points, the likeliest first.
_PLACES = tuple(
    (x * far, y * far, side, level)
    for far in (1, 1.8)
    for x, y, side, level in (
        (8, 5, "left", "bottom"), (8, -5, "left", "top"), (-8, 5, "right", "bottom"),
        (-8, -5, "right", "top"), (0, 8, "center", "bottom"), (0, -8, "center", "top"),
        (9, 0, "left", "center"), (-9, 0, "right", "center"),
    )
)  # fmt: skip
# Where a name has to lie on a curve, the curve goes on behind it.
_BEHIND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}


def label_marks(axes: Axes, picture: Picture, renderer: RendererBase, key_at: float) -> None:
    """A name beside each mark, where it covers no mark, no other name and best no curve.

    Where not all have room the marks are numbered, and the names stand on the right, from
    `key_at` of the width on.
    """
    places = [axes.transData.transform(place_of(picture, mark.at)) for mark in picture.marks]
    obstacles = (places, list(_along(axes, picture)))
    names = [filled(mark.name, _WIDEST) for mark in picture.marks]
    if _written(axes, picture, names, obstacles, renderer):
        return
    order = sorted(range(len(names)), key=lambda place: picture.marks[place].at)
    numbers = {place: str(number) for number, place in enumerate(order, start=1)}
    _written(axes, picture, [numbers[p] for p in range(len(names))], obstacles, renderer, True)
    wide = len(str(len(order)))
    rows = [
        f"{numbers[p]:\u2007>{wide}}  {picture.marks[p].name.replace(chr(10), ': ')}" for p in order
    ]
    left_out = rows[_LONGEST_KEY:]
    rows = [filled(row, _WIDEST_OF_KEY) for row in rows[:_LONGEST_KEY]]
    rows += [f"and {len(left_out)} more"] if left_out else []
    axes.annotate(
        "\n".join(rows), (key_at, 1.0), xycoords="axes fraction", va="top", fontsize=8,
        linespacing=1.3,
    )  # fmt: skip


def _written(
    axes: Axes,
    picture: Picture,
    names: Sequence[str],
    obstacles: tuple[Sequence[Any], Sequence[Point]],
    renderer: RendererBase,
    anyway: bool = False,
) -> bool:
    """Whether all names found a place; if not nothing is written, or `anyway` those that did."""
    from matplotlib.transforms import Bbox

    marked, lines = obstacles
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in marked]
    texts = []
    for name, mark in zip(names, picture.marks, strict=True):
        text = axes.annotate(
            name, place_of(picture, mark.at), (0, 0), textcoords="offset points", fontsize=8.5,
            zorder=2.5, linespacing=1.15, bbox=_BEHIND,
        )  # fmt: skip
        texts.append(text)
        if _placed(text, axes.get_window_extent(renderer), taken, lines, renderer):
            continue
        text.remove()
        texts.pop()
        if not anyway:
            for other in texts:
                other.remove()
            return False
    return True


def _placed(
    text: Any, room: Any, taken: list[Any], lines: Sequence[Point], renderer: RendererBase
) -> bool:
    """Whether the text found a place of its own, where it now is."""
    for crossing in (False, True):
        for x, y, side, level in _PLACES:
            text.set(position=(x, y), ha=side, va=level)
            box = text.get_window_extent(renderer)
            free = _inside(box, room) and not any(box.overlaps(other) for other in taken)
            if free and (crossing or not any(box.padded(2).contains(*at) for at in lines)):
                taken.append(box.padded(1))
                return True
    return False


def _inside(box: Any, room: Any) -> bool:
    return bool(box.x0 >= room.x0 and box.x1 <= room.x1 and box.y0 >= room.y0 and box.y1 <= room.y1)


def _along(axes: Axes, picture: Picture) -> Iterator[Point]:
    """Places along the curves, a few dots from each other."""
    for curve in picture.curves:
        for piece in curve.pieces:
            shown = [axes.transData.transform(place_of(picture, point)) for point in piece]
            for (x, y), (to_x, to_y) in pairwise(shown):
                steps = max(1, int(max(abs(to_x - x), abs(to_y - y)) / 5))
                for step in range(steps + 1):
                    yield x + (to_x - x) * step / steps, y + (to_y - y) * step / steps
