"""Where something begins to hold along many lines, against looking at every place."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from solvers.search.section import first_place


@pytest.mark.parametrize("lines", [1, 7, 600, 20_000])
def test_the_first_place_is_that_of_looking_at_every_place(lines: int) -> None:
    chance = numpy.random.default_rng(lines)
    low = chance.integers(0, 50, lines)
    high = low + chance.integers(0, 300, lines)
    turn = chance.integers(-20, 400, lines)
    seen: list[int] = []

    def holds(which: Any, places: Any) -> Any:
        assert ((places >= low[which]) & (places < high[which])).all()
        seen.append(int(numpy.broadcast_shapes(which.shape, places.shape)[0]))
        return places >= turn[which]

    found = first_place(holds, low, high)
    for line in range(lines):
        every = [p for p in range(low[line], high[line]) if p >= turn[line]]
        assert found[line] == (every[0] if every else high[line])
    # At least halved each time.
    assert len(seen) <= 10


def test_a_line_of_many_places_takes_few_looks() -> None:
    low, high, turn = numpy.array([0]), numpy.array([2**30]), 123_456_789
    looks = 0

    def holds(_: Any, places: Any) -> Any:
        nonlocal looks
        looks += 1
        return places >= turn

    assert first_place(holds, low, high)[0] == turn
    assert looks <= 9


def test_no_lines_and_empty_lines() -> None:
    empty = numpy.zeros(0, int)
    assert not len(first_place(lambda *_: pytest.fail("nothing to look at"), empty, empty))
    same = numpy.array([5])
    assert first_place(lambda *_: pytest.fail("nothing to look at"), same, same)[0] == 5
