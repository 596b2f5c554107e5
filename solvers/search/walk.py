"""Every configuration in blocks, each under the program that is right for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from formulas.errors import Problem
from solvers.search.block import Block
from solvers.search.line import Whole
from solvers.search.logic import IsNamed
from solvers.search.pieces import Pieces, Tests, pieces_of
from solvers.search.program import Program, program_of
from solvers.search.space import Space, places
from solvers.search.task import TIES, TOLD, Row, Task
from solvers.search.trend import computed

# So many configurations are looked at together.
BLOCK = 1 << 14
# Standing constraints that only say that a person's own limit is met.
_LEVELS = ("ttft_level", "tpot_level", "batch_limit", "replica_size", "fleet_size")
# What a choice is where nobody states it.
_PLAIN = {"mig_profile": "none"}


@dataclass
class Search:
    """A search under way, so many configurations at a time; a scratchpad that never leaves it."""

    task: Task
    space: Space
    lenient: bool
    together: int = BLOCK
    rows: list[Row] = field(default_factory=list)
    options: list[tuple[tuple[float, ...], int]] = field(default_factory=list)
    feasible: int = 0
    searched: int = 0
    excluded: dict[str, list[int]] = field(default_factory=dict)
    unchecked: dict[str, None] = field(default_factory=dict)
    blocks: list[tuple[Block, Tests, Pieces]] = field(default_factory=list)

    def point(self, block: Block, row: int, place: int) -> dict[str, Any]:
        """The choice of one point, in the order in which it was asked."""
        found = {**block.at(row, place), **self.space.kinds[int(block.kinds[row])].at}
        return {name: found[name] for name in self.space.order if name in found}


def searched(search: Search, end: float | None = None) -> Iterator[tuple[Block, Tests, Pieces]]:
    """Every block of the space with its pieces; ends early when the time is over."""
    for group in search.space.groups():
        total = len(group) * search.space.each
        programs: list[Program] = []
        varied = search.space.varied(group)
        for first in range(0, total, search.together):
            if end is not None and time.monotonic() > end and search.searched:
                return
            last = min(total, first + search.together)
            yield from _by_program(search, group, varied, programs, first, last)
            search.searched += last - first


def _by_program(
    search: Search,
    group: Sequence[int],
    varied: frozenset[str],
    programs: list[Program],
    first: int,
    last: int,
) -> Iterator[tuple[Block, Tests, Pieces]]:
    """The configurations of a block, each under the program that is right for it."""
    import numpy

    space = search.space
    kinds, numbers = places(space, group, first, last)
    left = numpy.arange(last - first)
    tried = 0
    while len(left):
        if tried == len(programs):
            programs.append(program_at(search, varied, kinds, numbers, int(left[0])))
        program = programs[tried]
        tried += 1
        tried_block = _block(program, space, kinds[left], [n[left] for n in numbers])
        own = left[_right(program, space, tried_block)]
        if tried == len(programs) and (not len(own) or own[0] != left[0]):
            raise Problem("plan", "the steps of a configuration cannot be told", ())
        if len(own):
            mine, places_of = kinds[own], [n[own] for n in numbers]
            whole = len(own) == tried_block.size
            block = tried_block if whole else _block(program, space, mine, places_of)
            tests = _tests(program, search.task)
            rows = numpy.arange(block.size)

            def words(atom: IsNamed, mine: Any = mine) -> Any:
                return _named(space, mine, atom)

            pieces = pieces_of(block, tests, rows, search.lenient, words)
            search.unchecked |= dict.fromkeys(program.unchecked)
            yield block, tests, pieces
        left = numpy.setdiff1d(left, own, assume_unique=True)


def _named(space: Space, kinds: Any, atom: IsNamed) -> Any:
    """Where the choice is one of the names; a choice that is not searched is what is stated."""
    import numpy

    own = []
    for kind in space.kinds:
        word = kind.at.get(atom.choice) or kind.scenario.chosen.get(atom.choice)
        if atom.choice == "gpu":
            word = kind.gpu
        own.append((word or _PLAIN.get(atom.choice, "bf16")) in atom.names)
    return numpy.array(own, bool)[kinds]


def _tests(program: Program, task: Task) -> Tests:
    stated = [test for test in program.tests if test.stated]
    standing = [test for test in program.tests if not test.stated]
    levels = [test for test in standing if test.name in _LEVELS]
    hard = [test for test in standing if test.name not in _LEVELS]
    return Tests((*hard, *levels, *stated), len(hard), task.conditions)


def program_at(
    search: Search, varied: frozenset[str], kinds: Any, numbers: Sequence[Any], at: int
) -> Program:
    """The program of the configuration with this number among those of a block."""
    space, task = search.space, search.task
    line = space.line
    value = None
    if line is not None:
        value = Fraction(line.low) if isinstance(line, Whole) else line.values[0]
    scenario = space.scenario_at(int(kinds[at]), [int(n[at]) for n in numbers], value)
    return program_of(scenario, varied, task.wanted, (*TIES, *TOLD))


def _right(program: Program, space: Space, block: Block) -> Any:
    """Where what the program takes for true is true, and for false is false."""
    import numpy

    found = numpy.ones(block.size, bool)
    for conditions, wanted in ((program.true, True), (program.false, False)):
        for condition in conditions:
            if block.moves(condition.expr):
                raise Problem("plan", f"{condition.name} depends on {space.order}", ())
            truth = numpy.broadcast_to(computed(condition.expr, block.values), block.size)
            found &= truth.astype(bool) == wanted
    return found


def _block(program: Program, space: Space, kinds: Any, numbers: Sequence[Any]) -> Block:
    import numpy

    axes = dict(zip(space.numbers, numbers, strict=True))
    columns: dict[str, Any] = {}
    for name, values in space.numbers.items():
        columns[name] = numpy.array([float(v) for v in values])[axes[name]]
    line = space.line.name if space.line else ""
    for name in program.varied - set(columns) - {line}:
        # A kind of another group may not state it; its column is never looked at.
        own = [float(kind.facts.get(name, 0)) for kind in space.kinds]
        columns[name] = numpy.array(own)[kinds]

    def exactly(row: int) -> dict[str, Fraction]:
        facts = space.kinds[int(kinds[row])].facts
        found = {n: facts[n] for n in program.varied if n in facts and n != line}
        return found | {n: space.numbers[n][int(axes[n][row])] for n in axes}

    if not columns:
        columns = {"": numpy.zeros(len(kinds))}
    return Block(program, columns, exactly, space.line, kinds)
