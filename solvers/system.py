"""A composed question as one tape: what is kept has its value, what is dropped its domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from formulas.quantity import stand_in
from solvers.compose import Composed
from solvers.enclosure import Tape, pair
from solvers.exact import evaluate
from solvers.number import Number, Undefined, from_sympy, is_number, to_sympy
from solvers.said import RELATIONS, Said
from solvers.sides import Side, side_of

# How many boxes one question may look at in all.
MOST_LOOKED_AT = 1200.0
_TRUTHS = (sympy.And, sympy.Or)
# Which way the difference of its sides must move for a comparison to become true.
_SIGNS = {sympy.Le: -1, sympy.Lt: -1, sympy.Ge: 1, sympy.Gt: 1, sympy.Eq: 0, sympy.Ne: 0}


@dataclass(frozen=True)
class Rooted:
    """A condition on the tape, with the comparisons that it is made of."""

    name: str
    condition: Any
    node: int
    compared: tuple[int, ...]


@dataclass
class System:
    """The tape of a composed question, and where its quantities may lie.

    `held` are base quantities that a guard of a definition holds at one value, `left` is how many
    boxes may still be looked at.
    """

    composed: Composed
    whole: bool = True
    left: float = MOST_LOOKED_AT
    tape: Tape = field(default_factory=Tape)
    always: list[Rooted] = field(default_factory=list)
    limits: list[list[Rooted]] = field(default_factory=list)
    held: dict[str, Number] = field(default_factory=dict)
    reference: list[Any] = field(default_factory=list)
    signs: dict[int, int] = field(default_factory=dict)
    bounds: dict[int, str] = field(default_factory=dict)
    bound_values: dict[str, Number] = field(default_factory=dict)
    _moving: dict[frozenset[str], list[int]] = field(default_factory=dict)
    _placed: set[str] = field(default_factory=set)
    _busy: set[str] = field(default_factory=set)
    _circular: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.formulas = {n: e for said in self.said for n, e in said.formulas.items()}
        for name in (*self.composed.definitions, *self.composed.base):
            self._place(name)
        for row in self.composed.always:
            held = _held(row.condition, self.composed.base)
            if held is not None:
                self.held.update(held)
            self.always.append(self._rooted(row.name, row.condition))
        for index, said in enumerate(self.said):
            rows = [*self._bound(index, said), *self._limits(said)]
            self.limits.append([self._rooted(said.statement.name, row) for row in rows])
        self._refer()

    @property
    def said(self) -> tuple[Said, ...]:
        """The statements, by whose places they are meant from here on."""
        return self.composed.statements

    def _bound(self, index: int, said: Said) -> list[Any]:
        """The comparison with its number as a quantity of its own, so that it can be moved."""
        bound = said.bound
        if bound is None:
            return []
        number = stand_in(real=True)
        self.bounds[index] = number.name
        self.bound_values[number.name] = bound.value
        self.tape.add(number)
        return [RELATIONS[bound.relation](_symbol(self, bound.quantity), number, evaluate=False)]

    def _limits(self, said: Said) -> list[Any]:
        rows = list(said.conditions)
        for name, values in said.among.items():
            if name in self.composed.definitions:
                symbol = _symbol(self, name)
                rows.append(sympy.Or(*(sympy.Eq(symbol, to_sympy(v)) for v in values)))
        for name in said.formulas:
            if name in self._circular:
                symbol = _symbol(self, name)
                rows.append(sympy.Eq(symbol, said.formulas[name], evaluate=False))
        return rows

    def _place(self, name: str) -> None:
        if name in self._placed or name in self._busy:
            return
        self._busy.add(name)
        expr = self.composed.definitions.get(name, self.formulas.get(name))
        if expr is not None:
            inner = [symbol.name for symbol in getattr(expr, "free_symbols", ())]
            circular = name in self.formulas and self._rests_on(expr, name)
            for other in () if circular else sorted(inner):
                self._place(other)
            if circular:
                self._circular[name] = expr
                self.tape.add(_symbol(self, name))
            elif name in self.formulas:
                self.tape.stand_for(name, expr)
            else:
                self.tape.define(name, expr)
        else:
            self.tape.add(_symbol(self, name))
        self._busy.discard(name)
        self._placed.add(name)

    def _rests_on(self, expr: Any, name: str) -> bool:
        todo, seen = [s.name for s in expr.free_symbols], set[str]()
        while todo:
            other = todo.pop()
            if other == name:
                return True
            inner = self.composed.definitions.get(other, self.formulas.get(other))
            if other not in seen and hasattr(inner, "free_symbols"):
                seen.add(other)
                todo += [s.name for s in inner.free_symbols]
        return False

    def _rooted(self, name: str, condition: Any) -> Rooted:
        node = self.tape.add(condition)
        return Rooted(name, condition, node, tuple(self._compared(condition)))

    def _compared(self, condition: Any) -> list[int]:
        if isinstance(condition, _TRUTHS):
            return [node for part in condition.args for node in self._compared(part)]
        node = self.tape.add(condition)
        sign = next((s for kind, s in _SIGNS.items() if isinstance(condition, kind)), None)
        if sign is not None:
            self.signs[node] = sign
        return [node]

    def fixed_by(self, condition: Any, values: list[Any]) -> Iterator[tuple[str, float]]:
        """The quantities that a condition can only hold with at one value, as far as is seen."""
        if isinstance(condition, sympy.And):
            for part in condition.args:
                yield from self.fixed_by(part, values)
        elif isinstance(condition, sympy.Or):
            may = [part for part in condition.args if values[self.tape.add(part)] is not False]
            if len(may) == 1:
                yield from self.fixed_by(may[0], values)
        elif isinstance(condition, sympy.Eq):
            for side, other in (condition.args, condition.args[::-1]):
                low, high = values[self.tape.add(other)]
                if side.is_Symbol and low == high and side.name in self.tape.names:
                    yield side.name, low

    # -- values

    def _refer(self) -> None:
        """The value of every node while all statements are kept; exact where it is a number."""
        points = {**self.composed.points, **self.held, **self.bound_values}
        open_names = self.free(range(len(self.said)))
        box = {**{n: s.pair for n, s in open_names.items()}, **points}
        roots = range(len(self.tape.rules))
        self.reference = self.tape.values(box, roots)
        moving = set(self.tape.moving(roots, open_names))
        self.exact: dict[str, Number] = dict(points)
        exact: set[int] = set()
        for name in (*self.formulas, *self.composed.definitions):
            if name in self._circular:
                continue
            node = self.tape.add(_symbol(self, name))
            if node in moving:
                continue
            try:
                value = self.composed.values(self.exact, (name,), self.formulas)[name]
            except Undefined:
                continue
            if is_number(value):
                self.exact[name] = value
                self.reference[node] = pair(value)
                exact.add(node)
        self.tape.run(self.reference, [node for node in roots if node not in exact])

    def free(
        self, kept: Iterable[int], changed: Mapping[str, Side] | None = None
    ) -> dict[str, Side]:
        """The base quantities that the kept statements leave free, and where each may lie."""
        rows = [self.said[index] for index in kept]
        fixed = {n for said in rows for n in said.points} | self.held.keys()
        fixed |= {n for said in rows for n in said.formulas if n not in self._circular}
        among: dict[str, tuple[Number, ...]] = {}
        for said in rows:
            for name, values in said.among.items():
                among[name] = tuple(v for v in values if v in among.get(name, values))
        found: dict[str, Side] = {}
        for name in self.composed.base:
            if name not in fixed:
                domain = self.composed.chain.catalogue.quantities[name].domain
                whole = self.whole or name != self.composed.chain.asked
                found[name] = side_of(domain, among.get(name), whole)
        return {**found, **(changed or {})}

    def moving(self, free: Iterable[str]) -> list[int]:
        """The nodes that move with these quantities, parts first."""
        key = frozenset(free)
        if key not in self._moving:
            pinned = {self.tape.names[name] for name in key if name in self.tape.names}
            rows = self.tape.moving(range(len(self.tape.rules)), key)
            self._moving[key] = [node for node in rows if node not in pinned]
        return self._moving[key]

    def holds(self, kept: Iterable[int], point: Mapping[str, Number]) -> bool:
        """Whether everything that is kept, and all that always holds, is true there; exactly."""
        places = tuple(kept)
        rows = [row for index in places for row in self.limits[index]]
        return self._all_hold([*self.always, *rows], *self._state(places, point))

    def known_at(
        self, kept: Iterable[int], point: Mapping[str, Number], names: Iterable[str]
    ) -> dict[str, Number]:
        """The exact values of these quantities at the point; none where they have no value."""
        known, formulas = self._state(kept, point)
        try:
            return self.composed.values(known, names, formulas)
        except (Undefined, KeyError):
            return {}

    def also_met(self, kept: Iterable[int], point: Mapping[str, Number]) -> frozenset[int]:
        """The kept statements, and the others that the point meets as well."""
        places = frozenset(kept)
        known, formulas = self._state(places, point)
        met = set(places)
        for index, said in enumerate(self.said):
            if index in places or any(known.get(n) != v for n, v in said.points.items()):
                continue
            if any(
                float(v) not in [float(a) for a in said.among.get(n, (v,))]
                for n, v in known.items()
            ):
                continue
            equal = [
                Rooted(n, sympy.Eq(_symbol(self, n), e, evaluate=False), -1, ())
                for n, e in said.formulas.items()
            ]
            if self._all_hold([*self.limits[index], *equal], known, formulas):
                met.add(index)
        return frozenset(met)

    def _state(
        self, places: Iterable[int], point: Mapping[str, Number]
    ) -> tuple[dict[str, Number], dict[str, Any]]:
        """The values of base quantities, and the formulas of those that follow others."""
        rows = [self.said[index] for index in places]
        known = {name: value for said in rows for name, value in said.points.items()}
        formulas = {
            name: expr
            for said in rows
            for name, expr in said.formulas.items()
            if name not in self._circular and name not in point
        }
        return {**known, **self.held, **self.bound_values, **point}, formulas

    def _all_hold(
        self, rows: Iterable[Rooted], known: dict[str, Number], formulas: Mapping[str, Any]
    ) -> bool:
        for row in rows:
            condition = row.condition
            if isinstance(condition, bool):
                if not condition:
                    return False
                continue
            try:
                names = {symbol.name for symbol in condition.free_symbols}
                known.update(self.composed.values(known, names, formulas))
                if evaluate(condition, known.__getitem__) is not True:
                    return False
            except (Undefined, KeyError):
                return False
        return True


def _symbol(system: System, name: str) -> Any:
    return system.composed.chain.catalogue.quantities[name].symbol


def _held(condition: Any, base: Iterable[str]) -> dict[str, Number] | None:
    """The value at which an equality holds a base quantity."""
    if not isinstance(condition, sympy.Eq):
        return None
    if condition.lhs.is_Symbol and condition.rhs.is_number and condition.lhs.name in base:
        return {condition.lhs.name: from_sympy(condition.rhs)}
    return None
