"""Why no configuration passes: minimal clashes, minimal corrections, and what alone would do.

Each piece of each line fails some set of tests. The smallest of these sets are what has to be given
up together, and the smallest sets that meet all of them cannot hold together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from solvers.number import fraction_of, is_number
from solvers.search.block import Block
from solvers.search.pieces import Pieces, Tests, pieces_of
from solvers.search.program import Test
from solvers.search.task import Clashes, Relief
from solvers.search.walk import Search, searched
from solvers.straight import names_in

_MOST = 8
# What a batch breaks of which no value is a multiple of the ranks and stages.
GRID = "batch_divides"


def clashes_of(search: Search) -> Clashes:
    """The reasons, from every piece that passes what is never given up."""
    lenient = Search(search.task, search.space, True)
    masks: set[int] = set()
    names: tuple[str, ...] = ()
    hard = 0
    blocks = search.blocks or []
    walk = blocks if search.lenient else searched(lenient)
    reliefs: dict[int, tuple[float, Any, Any]] = {}
    reached: dict[int, float] = {}
    tests_of: Tests | None = None
    for block, tests, pieces in walk:
        tests_of = tests_of or tests
        names, hard = tests.names, tests.hard_bits
        eligible = pieces.only(pieces.fails & hard == 0)
        masks |= {int(mask) for mask in set(eligible.fails.tolist())}
        _relieve(block, tests, eligible, reliefs, search)
        _reach(block, tests, eligible, reached)
    if tests_of is None or not masks:
        return _nowhere(search)
    found = []
    for bit in range(tests_of.hard, len(tests_of.rows)):
        row = _relief(tests_of.rows[bit], reliefs.get(bit))
        found.append(replace(row, best=reached.get(bit)))
    return Clashes(*_told(masks, names), tuple(found))


def _relief(test: Test, found: tuple[float, Any, Any] | None) -> Relief:
    if found is None:
        return Relief(test.name, test.sign, None, None)
    _, (value, stated), point = found
    return Relief(test.name, test.sign, value, stated, point)


def _relieve(
    block: Block,
    tests: Tests,
    pieces: Pieces,
    found: dict[int, tuple[float, Any, Any]],
    search: Search,
) -> None:
    """For each limit, the least that it would have to give where it alone fails."""
    import numpy

    for bit in range(tests.hard, len(tests.rows)):
        test = tests.rows[bit]
        alone = pieces.only(pieces.fails == 1 << bit)
        if not test.sign or not len(alone.rows):
            continue
        ends = (alone.start, alone.stop - 1)
        gap = [_gap(block, test, alone.rows, place) for place in ends]
        gaps = numpy.minimum(*gap)
        best = int(numpy.argmin(gaps))
        place = int(ends[0][best] if gap[0][best] <= gap[1][best] else ends[1][best])
        row = int(alone.rows[best])
        if bit not in found or gaps[best] < found[bit][0]:
            values = [_number(v) for v in block.exact(test.sides, row, place)]
            point = search.point(block, row, place)
            found[bit] = (float(gaps[best]), tuple(values), point)


def _reach(block: Block, tests: Tests, pieces: Pieces, found: dict[int, float]) -> None:
    """What the left side of each limit reaches at best, whatever the other limits say."""
    import numpy

    for bit in range(tests.hard, len(tests.rows)):
        test = tests.rows[bit]
        if not test.sign or not len(pieces.rows) or names_in(test.right):
            continue
        ends = (pieces.start, pieces.stop - 1)
        values = [block.score(test.left, pieces.rows, place) for place in ends]
        down = test.sign[0] == "<"
        best = min(map(numpy.nanmin, values)) if down else max(map(numpy.nanmax, values))
        before = found.get(bit, best)
        found[bit] = float(min(best, before) if down else max(best, before))


def _number(value: Any) -> Any:
    return fraction_of(value) if is_number(value) else value


def _gap(block: Block, test: Test, rows: Any, places: Any) -> Any:
    """How far beyond the limit, relative to it where it is no zero."""
    import numpy

    (left, right), _ = block.numbers(test.sides, rows, places)
    over = left - right if test.sign[0] == "<" else right - left
    return numpy.where(right == 0, over, over / numpy.where(right == 0, 1, numpy.abs(right)))


def _nowhere(search: Search) -> Clashes:
    """What keeps every configuration out where none passes the standing constraints."""
    import numpy

    masks: set[int] = set()
    names: tuple[str, ...] = ()
    for block, tests, _ in searched(Search(search.task, search.space, True)):
        soft = Tests(tests.rows)
        every = numpy.arange(block.size)
        pieces = pieces_of(block, soft, every, True, lambda _, n=block.size: numpy.zeros(n, bool))
        names = (*(row.name for row in tests.rows), GRID)
        masks |= {int(mask) for mask in set((pieces.fails & tests.hard_bits).tolist())}
        if (block.count == 0).any():
            masks.add(1 << len(tests.rows))
    return Clashes(*_told(masks, names), ())


def _told(
    masks: Iterable[int], names: Sequence[str]
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    """The minimal clashes and the minimal corrections, by name."""
    minimal = _minimal(masks)
    corrections = tuple(tuple(names[b] for b in _bits(mask)) for mask in minimal)
    groups = _hitting([frozenset(_bits(mask)) for mask in minimal])
    return tuple(tuple(names[b] for b in sorted(group)) for group in groups), corrections


def _minimal(masks: Iterable[int]) -> list[int]:
    found: list[int] = []
    for mask in sorted(masks, key=lambda m: (m.bit_count(), m)):
        if not any(other & mask == other for other in found):
            found.append(mask)
    return found


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _hitting(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """The minimal sets that have a member in each group: by size, at most a handful."""
    members = sorted(set().union(*groups)) if groups else []
    found: list[frozenset[int]] = []
    for size in range(1, len(groups) + 1):
        for chosen in combinations(members, size):
            tried = frozenset(chosen)
            if any(other <= tried for other in found):
                continue
            if all(tried & group for group in groups):
                found.append(tried)
                if len(found) == _MOST:
                    return found
    return found
