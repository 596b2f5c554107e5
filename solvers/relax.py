"""The ways out of a question that has no answer: the smallest change of each statement that makes
it feasible, and what cannot help.

Every way out is solved again before it is told: it has an answer, and just short of it there is
none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from formulas.statements import Statement
from solvers.answer import Answer, Choice, Exact, Range, Relaxation
from solvers.nearest import Nearest, nearest
from solvers.number import Number, divide, less, minus
from solvers.other_names import other_names
from solvers.replacing import Restated, restated, shown_statement
from solvers.said import Said
from solvers.sides import Side, side_of
from solvers.state import State
from solvers.system import System
from solvers.witness import decide

_JUST_SHORT = Fraction(1, 10**4)
# Assumptions that describe what can be had, rather than how a question is read.
_TOLD = frozenset(("mbu", "mfu", "gpu_memory_utilization", "weight_dtype", "kv_dtype"))

# The answer with other statements, without its ways out.
Again = Callable[[tuple[Statement, ...]], Answer]


@dataclass
class WaysOut:
    """The changes that help, what cannot help with its reason, and what was not decided."""

    relaxations: list[Relaxation] = field(default_factory=list)
    cannot_help: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)


def ways_out(system: System, again: Again, clash: Iterable[int] = ()) -> WaysOut:
    """The smallest change of each statement that alone makes the question feasible."""
    found = WaysOut()
    members = frozenset(clash)
    statements = system.composed.chain.scenario.statements
    for index, said in sorted(
        enumerate(system.said), key=lambda row: _rank(row[0], row[1], members)
    ):
        if said.statement.name == "model" or (said.assumed and said.statement.name not in _TOLD):
            continue
        trial = _Trial(system, again, statements, index, said)
        rows, reason = trial.ways()
        found.relaxations += rows
        if rows:
            continue
        if reason is None:
            found.undecided.append(said.statement.name)
        elif not said.assumed or reason or index in members:
            name = said.statement.name
            found.cannot_help.append(f"{name}: {reason}" if reason else name)
    found.cannot_help = list(dict.fromkeys(found.cannot_help))
    return found


def _rank(index: int, said: Said, members: frozenset[int]) -> tuple[Any, ...]:
    """A person's limits first, then facts, then what is assumed; of those, what clashes first."""
    limit = said.bound is not None and said.bound.limit is not None
    return said.assumed, not limit, index not in members, index


@dataclass(frozen=True)
class _Trial:
    """One statement whose change is looked for."""

    system: System
    again: Again
    statements: tuple[Statement, ...]
    index: int
    said: Said

    def ways(self) -> tuple[list[Relaxation], str | None]:
        """What helps; else why nothing does, empty where there is no more to say, None unknown."""
        name = self.said.statement.name
        if name in ("gpu", "weight_dtype", "kv_dtype"):
            return self._names()
        if self.said.bound is not None:
            return self._number(self.system.bounds[self.index], self.said.bound.value)
        if len(self.said.points) != 1:
            return [], ""
        ((quantity, value),) = self.said.points.items()
        return self._number(quantity, value)

    @property
    def _all(self) -> range:
        return range(len(self.system.said))

    # -- numbers

    def _number(self, variable: str, start: Number) -> tuple[list[Relaxation], str | None]:
        rows: list[tuple[float, Relaxation]] = []
        decided = True
        for upwards, side in self._directions(variable, start):
            found = nearest(self.system, self._all, variable, start, side, upwards)
            decided = decided and found.proved
            if found.value is None:
                continue
            row = self._told(self._edge(found), start, upwards)
            if row is not None:
                rows.append((abs(row.change or 0.0), row))
        if rows:
            return [min(rows, key=lambda row: row[0])[1]], ""
        return [], self._beyond(variable, start) if decided else None

    def _directions(self, variable: str, start: Number) -> Iterator[tuple[bool, Side]]:
        """What lies above and below the start; of a limit, where it lets more through."""
        bound = self.said.bound
        relation = bound.relation if bound is not None else "="
        quantity = self._quantity(variable)
        whole = Side(-math.inf, math.inf) if bound is not None else side_of(quantity.domain)
        if bound is not None and bound.relation == "=":
            whole = side_of(quantity.domain)
        at = float(start)
        for upwards, signs in ((True, "<="), (False, ">=")):
            if relation != "=" and relation[0] != signs[0]:
                continue
            side = whole.within(at, math.inf) if upwards else whole.within(-math.inf, at)
            if side is not None and not side.is_point:
                yield upwards, side

    def _quantity(self, variable: str) -> Any:
        name = self.said.bound.quantity if self.said.bound is not None else variable
        return self.system.composed.chain.catalogue.quantities[name]

    def _edge(self, found: Nearest) -> Number:
        """Of a limit, what its quantity comes to at that point; exact."""
        bound = self.said.bound
        assert found.value is not None
        if bound is None or found.point is None or bound.relation not in ("<=", ">="):
            return found.value
        values = self.system.known_at(self._all, found.point, (bound.quantity,))
        return values.get(bound.quantity, found.value)

    def _told(self, value: Number, start: Number, upwards: bool) -> Relaxation | None:
        """The way out, if the question solved again has an answer there and none just short."""
        restatement = self._restated(value)
        if restatement is None:
            return None
        answer = self.again(restatement.statements)
        if not is_feasible(answer):
            return None
        quantity = self._quantity(next(iter(self.said.points), ""))
        if not (quantity.domain.whole or quantity.domain.choices) and value != start:
            step = abs(value or start) * _JUST_SHORT
            short = minus(value, step if upwards else -step)
            if less(start, short) == upwards and start != short:
                before = self._restated(short)
                if before is None or is_feasible(self.again(before.statements)):
                    return None
        change = float(divide(minus(value, start), abs(start))) if start != 0 else None
        relation = ">=" if upwards else "<="
        if quantity.domain.choices and self.said.bound is None:
            relation = "="
        text = shown_statement(restatement, quantity, value, upwards)
        name = self.said.statement.name
        return Relaxation(name, relation, value, change, _then(answer), text)

    def _restated(self, value: Any) -> Restated | None:
        return restated(self.statements, self.said, value)

    def _beyond(self, variable: str, start: Number) -> str:
        """Why no value helps: the one that it would take, or what the next ones break."""
        quantity = self._quantity(variable)
        domain = quantity.domain
        if self.said.bound is not None:
            return ""
        if domain.choices:
            return self._next_choices(variable, start, domain.choices)
        if domain.high is None or quantity.domain.whole:
            return ""
        side = Side(float(domain.high), math.inf)
        verdict = nearest(self.system, self._all, variable, domain.high, side, True)
        if verdict.value is None or not verdict.proved:
            return ""
        return f"would need {float(verdict.value):.4g}"

    def _next_choices(self, variable: str, start: Number, choices: tuple[Fraction, ...]) -> str:
        beside = [max((c for c in choices if c < start), default=None)]
        beside.insert(0, min((c for c in choices if c > start), default=None))
        parts = []
        for choice in beside:
            if choice is not None:
                at = Side(float(choice), float(choice))
                broken = _broken(self.system, tuple(self._all), {variable: at})
                if broken:
                    parts.append(f"{choice} breaks {broken}")
        return ", ".join(parts)

    # -- names

    def _names(self) -> tuple[list[Relaxation], str | None]:
        """The nearest other GPU or format with which the question has an answer."""
        decided = True
        for other in other_names(self.system.composed.chain.scenario, self.said):
            changed = {
                name: Side(float(value), float(value))
                for name, value in other.facts.items()
                if name in self.system.composed.base
            }
            verdict = decide(self.system, self._all, changed)
            decided = decided and verdict.feasible is not None
            restatement = self._restated(other.name)
            if not verdict.feasible or restatement is None:
                continue
            answer = self.again(restatement.statements)
            if is_feasible(answer):
                name = self.said.statement.name
                text = restatement.text
                return [Relaxation(name, "=", other.name, None, _then(answer), text)], ""
        return [], "" if decided else None


def _broken(system: System, kept: tuple[int, ...], changed: Mapping[str, Side]) -> str:
    """The first condition that fails wherever the rest lies; what always holds before limits."""
    state = State(system, kept, changed)
    state.fill(state.sides)
    rows = (*system.always, *state.conditions)
    return next((row.name for row in rows if state.values[row.node] is False), "")


def is_feasible(answer: Answer) -> bool:
    """Whether the question has an answer."""
    return isinstance(answer, Exact | Range | Choice)


def _then(answer: Answer) -> Any:
    return answer.value if isinstance(answer, Exact | Range | Choice) else None
