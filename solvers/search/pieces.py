"""The line of every configuration, cut where a test begins or ceases to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from formulas.errors import Problem
from solvers.search.block import Block
from solvers.search.logic import Atom, Compares, Condition, atoms_of, truth_of
from solvers.search.program import Test
from solvers.search.section import first_place

MOST_TESTS = 60
# Where a test is not proved to turn once, every value is looked at, in parts of so many points.
DENSE = 1 << 17


@dataclass(frozen=True)
class Pieces:
    """Stretches `start` to `stop` (not included) of the lines of `rows`; in each of them no test
    changes. `fails` has a bit for each test that does not hold, `truths` one for each atom.
    `counts` are the values that standing tests exclude which the line does not move.
    """

    rows: Any
    start: Any
    stop: Any
    fails: Any
    truths: Any
    counts: Mapping[str, int] = field(default_factory=dict)

    def only(self, wanted: Any) -> Pieces:
        """The pieces where it is true."""
        return Pieces(
            self.rows[wanted],
            self.start[wanted],
            self.stop[wanted],
            self.fails[wanted],
            self.truths[wanted],
            self.counts,
        )


@dataclass(frozen=True)
class Tests:
    """The tests of a search in the order of their bits; the first `hard` of them are never given
    up. The last bits are the side conditions.
    """

    rows: tuple[Test, ...]
    hard: int = 0
    conditions: tuple[Condition, ...] = ()

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms of the side conditions, each once."""
        found = (atom for row in self.conditions for atom in atoms_of(row.logic))
        return tuple(dict.fromkeys(found))

    @property
    def names(self) -> tuple[str, ...]:
        """What each bit is called."""
        return (*(row.name for row in self.rows), *(row.text for row in self.conditions))

    @property
    def hard_bits(self) -> int:
        """The bits of what is never given up."""
        return (1 << self.hard) - 1


def pieces_of(block: Block, tests: Tests, rows: Any, lenient: bool, words: Any) -> Pieces:
    """The pieces of these configurations; `lenient` keeps those that fail a test by itself.

    `words` gives where a choice is one of some names. Configurations that fail a hard test
    wherever the line goes are left out either way.
    """
    import numpy

    atoms = tests.atoms
    if len(tests.names) > MOST_TESTS or len(atoms) > MOST_TESTS:
        raise Problem("plan", f"more than {MOST_TESTS} limits cannot be searched under")
    still = numpy.zeros(block.size, numpy.int64)
    moving: list[tuple[int, Test]] = []
    counts: dict[str, int] = {}
    rows = rows[block.count[rows] > 0]
    for bit, test in enumerate(tests.rows):
        if block.moves(*test.sides):
            moving.append((bit, test))
            continue
        met = block.holds(test, rows, numpy.zeros(len(rows), int))
        still[rows[~met]] |= 1 << bit
        if bit < tests.hard:
            counts[test.name] = int(block.count[rows[~met]].sum())
        if bit < tests.hard or not lenient:
            rows = rows[met]
    truths = numpy.zeros(block.size, numpy.int64)
    turning: list[tuple[int, Test]] = []
    for bit, atom in enumerate(atoms):
        if isinstance(atom, Compares) and block.moves(*atom.test.sides):
            turning.append((bit, atom.test))
            continue
        if isinstance(atom, Compares):
            met = block.holds(atom.test, rows, numpy.zeros(len(rows), int))
        else:
            met = words(atom)[rows]
        truths[rows[met]] |= 1 << bit
    found = _cut(block, rows, moving, turning, still, truths, lenient)
    return replace(_with_conditions(found, tests), counts=counts)


def _cut(
    block: Block,
    rows: Any,
    moving: Sequence[tuple[int, Test]],
    turning: Sequence[tuple[int, Test]],
    still: Any,
    truths: Any,
    lenient: bool,
) -> Pieces:
    import numpy

    count = block.count[rows]
    wild = [t for t in (*moving, *turning) if _sense(block, t[1]) is None]
    if wild:
        return _every_value(block, rows, moving, turning, still, truths)
    low, high = numpy.zeros(len(rows), int), count.copy()
    cuts: list[Any] = []
    turns: list[tuple[int, bool, bool, Any]] = []
    for is_atom, group in ((False, moving), (True, turning)):
        for bit, test in group:
            first = _sense(block, test) == 1
            cut = bisected(block, test, rows, count, first)
            if not is_atom and not lenient:
                low, high = (
                    (low, numpy.minimum(high, cut)) if first else (numpy.maximum(low, cut), high)
                )
            else:
                cuts.append(cut)
            turns.append((bit, is_atom, first, cut))
    edges = [numpy.clip(cut, low, high) for cut in cuts]
    bounds = numpy.sort(numpy.stack([low, *edges, numpy.maximum(low, high)], axis=1), axis=1)
    start, stop = bounds[:, :-1], bounds[:, 1:]
    some = stop > start
    at = numpy.broadcast_to(numpy.arange(len(rows))[:, None], start.shape)[some]
    start, stop = start[some], stop[some]
    fails, true = still[rows[at]], truths[rows[at]]
    for bit, is_atom, first, cut in turns:
        holds = start < cut[at] if first else start >= cut[at]
        if is_atom:
            true = true | numpy.where(holds, 1 << bit, 0)
        else:
            fails = fails | numpy.where(holds, 0, 1 << bit)
    return Pieces(rows[at], start, stop, fails, true)


def _sense(block: Block, test: Test) -> int | None:
    """1 where the test holds up to a place, -1 where it holds from a place on."""
    if not test.sign:
        return None
    left, right = block.trend(test.left), block.trend(test.right)
    less = test.sign[0] == "<"
    if left.up and right.down:
        return 1 if less else -1
    if left.down and right.up:
        return -1 if less else 1
    return None


def bisected(block: Block, test: Test, rows: Any, count: Any, first: bool) -> Any:
    """The number of places up to which the test holds, or (not `first`) does not hold."""
    import numpy

    def turned(lines: Any, places: Any) -> Any:
        met = block.holds(test, rows[lines], places)
        return ~met if first else met

    return first_place(turned, numpy.zeros(len(rows), int), count)


def _every_value(
    block: Block,
    rows: Any,
    moving: Sequence[tuple[int, Test]],
    turning: Sequence[tuple[int, Test]],
    still: Any,
    truths: Any,
) -> Pieces:
    """A piece for every value, where it is not proved that each test turns once."""
    import numpy

    count = block.count[rows]
    if int(count.sum()) > 200 * DENSE:
        message = "the limits cannot be shown to turn once, and there are too many values to try"
        raise Problem("plan", message, ("give a list, or a lower end:  batch in 1..1024",))
    at = numpy.repeat(numpy.arange(len(rows)), count)
    first = numpy.cumsum(count) - count
    place = numpy.arange(len(at)) - first[at]
    found, true = still[rows[at]], truths[rows[at]]
    for begin in range(0, len(at), DENSE):
        part = slice(begin, begin + DENSE)
        for bit, test in moving:
            met = block.holds(test, rows[at[part]], place[part])
            found[part] |= numpy.where(met, 0, 1 << bit)
        for bit, test in turning:
            met = block.holds(test, rows[at[part]], place[part])
            true[part] |= numpy.where(met, 1 << bit, 0)
    return Pieces(rows[at], place, place + 1, found, true)


def _with_conditions(found: Pieces, tests: Tests) -> Pieces:
    """The same pieces, with a bit for each side condition that does not hold."""
    import numpy

    if not tests.conditions:
        return found
    bits = {atom: bit for bit, atom in enumerate(tests.atoms)}
    words = (numpy.logical_and.reduce, numpy.logical_or.reduce, numpy.logical_not)
    fails = found.fails.copy()
    for place, row in enumerate(tests.conditions):
        holds = truth_of(row.logic, lambda atom: (found.truths >> bits[atom]) & 1 == 1, words)
        fails |= numpy.where(holds, 0, 1 << (len(tests.rows) + place))
    return Pieces(found.rows, found.start, found.stop, fails, found.truths)
