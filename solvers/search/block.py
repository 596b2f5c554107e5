"""A block of configurations: what does not move along the line once, the rest wherever asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from solvers.columns import compared, decisions
from solvers.exact import NUMERIC
from solvers.generated import numpy_kernel
from solvers.number import CONTEXT, is_number
from solvers.search.line import Line
from solvers.search.program import Program, Test
from solvers.search.trend import LINE, Trend, Trends, computed
from solvers.straight import NEAR, Straight, names_in, straight

_WHOLE = 2.0**53
_LEFT, _RIGHT = "side.left", "side.right"


class Block:
    """Configurations that share a program; a scratchpad of one search.

    `columns` are floats of what varies, `exactly` gives the exact numbers of one configuration.
    `kinds` are their kinds, `grid` is that of the line in each. Rows are numbers of
    configurations, places those of values on the line.
    """

    def __init__(
        self,
        program: Program,
        columns: Mapping[str, Any],
        exactly: Callable[[int], dict[str, Fraction]],
        line: Line | None,
        kinds: Any = None,
    ) -> None:
        import numpy

        self.program, self.line, self.exactly = program, line, exactly
        self.kinds = kinds
        self.size = len(next(iter(columns.values())))
        facts = {name: float(value) for name, value in program.facts.items()}
        self.values: dict[str, Any] = {**facts, **columns}
        self.varied = dict(columns)
        self.moving: dict[str, Trend] = {} if line is None else {line.name: LINE}
        self._steps: list[tuple[str, Any]] = []
        self._exact: dict[Any, Any] = {}
        self._whole: dict[str, bool] = {}
        self._lines: dict[tuple[Any, ...], tuple[Straight, Callable[..., Any]]] = {}
        for name, expr in program.steps:
            self._add(name, expr)
        one = numpy.ones(self.size, int)
        self.grid = one if line is None else self._grid(line.name, one)
        self.count = one if line is None else line.count(self.grid)

    # -- what does not move

    def _grid(self, name: str, one: Any) -> Any:
        """The grid of the line in each configuration: the product of what divides it."""
        from formulas.deployment.constraints import GRIDS

        found = one
        for part in GRIDS[name][1] if name in GRIDS else ():
            found = found * one * self.values.get(part, 1.0)
        return found.astype(int)

    def _add(self, name: str, expr: Any) -> None:
        if names_in(expr) & self.moving.keys():
            trends = Trends(self.line.name if self.line else "", self.moving, self.values)
            self.moving[name] = trends.of(expr)
            self._steps.append((name, expr))
            return
        value = computed(expr, self.values)
        doubt = self._undecided(expr)
        self.values[name] = self._settled(name, value, doubt) if doubt is not None else value

    def _undecided(self, expr: Any) -> Any:
        """Where a step or comparison is too close to call; None where nowhere."""
        import numpy

        doubt: Any = False
        for left, right, inputs in decisions(expr):
            if all(self._is_whole(name) for name in inputs):
                continue
            one = computed(left, self.values)
            other = numpy.rint(one) if right is None else computed(right, self.values)
            room = numpy.maximum(numpy.abs(one), numpy.abs(other))
            doubt = doubt | ~(numpy.abs(one - other) > NEAR * room)
        return doubt if numpy.any(doubt) else None

    def _is_whole(self, name: str) -> bool:
        import numpy

        if name in self.moving:
            return self.line is not None and name == self.line.name
        if name not in self._whole:
            value = numpy.asarray(self.values[name])
            whole = (value == numpy.rint(value)) & (numpy.abs(value) < _WHOLE)
            self._whole[name] = bool(numpy.all(whole))
        return self._whole[name]

    def _settled(self, name: str, value: Any, doubt: Any) -> Any:
        """The column with the exact values of the rows in doubt, each input looked at once."""
        import numpy

        leaves = sorted(self._leaves(name))
        rows = numpy.flatnonzero(numpy.broadcast_to(doubt, self.size))
        found = numpy.broadcast_to(value, self.size).astype(float).copy()
        if not leaves:
            (exact,) = self.program.exact({}, [name])
            found[:] = float(exact) if is_number(exact) else numpy.nan
            return found
        keys = numpy.stack([self.varied[leaf][rows] for leaf in leaves], axis=1)
        _, first, back = numpy.unique(keys, axis=0, return_index=True, return_inverse=True)
        exact = [self.program.exact(self.exactly(int(rows[i])), [name])[0] for i in first]
        numbers = numpy.array([float(v) if is_number(v) else numpy.nan for v in exact])
        found[rows] = numbers[back.reshape(-1)]
        return found

    def _leaves(self, name: str) -> set[str]:
        if name in self.varied:
            return {name}
        expr = self.program.given.get(name)
        return (
            set().union(*(self._leaves(n) for n in names_in(expr))) if expr is not None else set()
        )

    # -- anything, anywhere

    def trend(self, expr: Any) -> Trend:
        """The trend of an expression along the line."""
        return Trends(self.line.name if self.line else "", self.moving, self.values).of(expr)

    def moves(self, *exprs: Any) -> bool:
        """Whether the line moves any of them."""
        return any(names_in(expr) & self.moving.keys() for expr in exprs)

    def numbers(self, exprs: Sequence[Any], rows: Any, places: Any) -> tuple[list[Any], Any]:
        """The expressions in these configurations at these places of the line, and any doubt.

        Rows and places broadcast. A number is no part of the kernel, so that another limit is
        no other kernel.
        """
        import numpy

        key = tuple(expr for expr in exprs if not expr.is_Number)
        if key not in self._lines:
            self._lines[key] = self._line(key)
        line, kernel = self._lines[key]
        given = [self._column(name, rows, places) for name in line.inputs]
        with numpy.errstate(all="ignore"):
            *computed_, doubt = kernel(*given)
        shape = numpy.broadcast_shapes(rows.shape, places.shape)
        rest = iter(computed_)
        found = [float(expr) if expr.is_Number else next(rest) for expr in exprs]
        return [numpy.broadcast_to(numpy.asarray(row, float), shape) for row in found], (
            numpy.broadcast_to(doubt, shape)
        )

    def _line(self, exprs: tuple[Any, ...]) -> tuple[Straight, Callable[..., Any]]:
        """The steps that the expressions rest on, with what is to be watched, as a kernel."""
        names = [f"out.{i}" for i in range(len(exprs))]
        steps = [*self._steps, *zip(names, exprs, strict=True)]
        watched = [
            (left, right)
            for _, expr in straight(steps, names).steps
            for left, right, inputs in decisions(expr)
            if not all(self._is_whole(n) for n in inputs)
        ]
        line = straight(steps, names, watched)
        return line, numpy_kernel(line)

    def _column(self, name: str, rows: Any, places: Any) -> Any:
        import numpy

        if self.line is not None and name == self.line.name:
            return self.line.value(places, self.grid[rows])
        value = self.values[name]
        return value[rows] if isinstance(value, numpy.ndarray) and value.ndim else value

    def at(self, row: int, place: int) -> dict[str, Any]:
        """The exact numbers of one point."""
        found: dict[str, Any] = dict(self.exactly(row))
        if self.line is not None:
            found[self.line.name] = self.line.exact(place, int(self.grid[row]))
        return found

    def exact(self, exprs: Sequence[Any], row: int, place: int) -> list[Any]:
        """The exact values at one point; None where there is none."""
        key = (tuple(exprs), row, place)
        if key not in self._exact:
            self._exact[key] = self.program.exact(self.at(row, place), exprs)
        found: list[Any] = self._exact[key]
        return found

    def score(self, expr: Any, rows: Any, places: Any) -> Any:
        """The expression as floats, exactly rounded wherever a step is near; nan: no value."""
        (found,) = self.scores([expr], rows, places)
        return found

    def scores(self, exprs: Sequence[Any], rows: Any, places: Any) -> list[Any]:
        """The same of several expressions by one kernel."""
        import numpy

        found, doubt = self.numbers(exprs, rows, places)
        wanted = numpy.logical_or.reduce([doubt, *map(numpy.isnan, found)])
        for i, row, place in _points(wanted, rows, places):
            found = [one if one.flags.writeable else one.copy() for one in found]
            for one, value in zip(found, self.exact(exprs, row, place), strict=True):
                one[i] = float(value) if _is_real(value) else numpy.nan
        return found

    def holds(self, test: Test, rows: Any, places: Any) -> Any:
        """Whether the test holds at each point; near its edge it is decided in exact numbers."""
        import numpy

        found, doubt = self.numbers(test.sides, rows, places)
        with numpy.errstate(all="ignore"):
            if test.sign:
                met, unsure = compared(found[0], test.sign, found[1])
                unsure = unsure | numpy.isnan(found[0]) | numpy.isnan(found[1])
            else:
                met, unsure = found[0] == 1, self._unsure_truth(test, rows, places)
        met = numpy.array(met, bool)
        for i, row, place in _points(doubt | unsure, rows, places):
            met[i] = self._holds_exactly(test, row, place)
        return met

    def _unsure_truth(self, test: Test, rows: Any, places: Any) -> Any:
        import numpy

        found: Any = False
        for left, right, inputs in decisions(test.left):
            if all(self._is_whole(name) for name in inputs):
                continue
            sides = [left] if right is None else [left, right]
            (one, *more), doubt = self.numbers(sides, rows, places)
            other = more[0] if more else numpy.rint(one)
            room = numpy.maximum(numpy.abs(one), numpy.abs(other))
            found = found | doubt | ~(numpy.abs(one - other) > NEAR * room)
        return found

    def _holds_exactly(self, test: Test, row: int, place: int) -> bool:
        values = self.exact(test.sides, row, place)
        if not test.sign:
            return values[0] is True
        if not all(_is_real(v) for v in values):
            return False
        return bool(_COMPARE[test.sign](None, *values))


def _points(wanted: Any, rows: Any, places: Any) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Where it is wanted: the index in the array, the row and the place."""
    import numpy

    where = numpy.argwhere(wanted)
    if len(where):
        rows, places = numpy.broadcast_arrays(rows, places)
    for index in map(tuple, where):
        yield index, int(rows[index]), int(places[index])


def _is_real(value: Any) -> bool:
    return is_number(value) and not (isinstance(value, CONTEXT.mpf) and CONTEXT.isnan(value))


def _comparisons() -> dict[str, Any]:
    import sympy

    kinds = {"<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt, "=": sympy.Eq}
    return {**{sign: NUMERIC[kind] for sign, kind in kinds.items()}, "!=": NUMERIC[sympy.Ne]}


_COMPARE = _comparisons()
