"""Where along a line something begins to hold, of many lines at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# So many places of a line are looked at together, and so many of all lines.
_MOST = 16
_TOGETHER = 1 << 13


def first_place(holds: Callable[[Any, Any], Any], low: Any, high: Any) -> Any:
    """The first place from `low` on where it holds, `high` where it holds nowhere before.

    `holds` takes numbers of lines and places, which broadcast; once it holds it holds for good.
    """
    import numpy

    low, high = low.astype(int), high.astype(int)
    while True:
        lines = numpy.flatnonzero(low < high)
        if not len(lines):
            return low
        parts = max(1, min(_MOST, _TOGETHER // len(lines)))
        width = (high - low)[lines, None]
        places = low[lines, None] + width * numpy.arange(1, parts + 1) // (parts + 1)
        met = holds(lines[:, None], places)
        ends = numpy.concatenate([low[lines, None] - 1, places, high[lines, None]], axis=1)
        found = numpy.where(met.any(axis=1), met.argmax(axis=1), parts)
        each = numpy.arange(len(lines))
        low[lines], high[lines] = ends[each, found] + 1, ends[each, found + 1]
