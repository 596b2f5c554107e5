"""What remains once everything has been followed forwards: equations between unknown quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from formulas.deployment.defaults import OF_CONTEXT_ALONE, SPEAKS_OF_CONTEXT
from formulas.formula import Relation
from solvers.chain import Chain
from solvers.exact import evaluate
from solvers.found import Found, Lacking
from solvers.number import Undefined

_CONTEXT_ALONE = frozenset(row.gives for row in OF_CONTEXT_ALONE)
# A default that is an equation between unknowns; others give a value or have nothing to give it.
CIRCULAR = frozenset(("batch",))
_STEPS = (sympy.ceiling, sympy.floor)

Sides = Callable[[Chain], tuple[Any, Any, list[Found]]]


@dataclass(frozen=True, slots=True)
class Row:
    """One equation: the unknowns in it, what it is called, and both its sides on a chain.

    One that defines an unknown has it in `defines`; one of a stated quantity has that in `target`.
    """

    names: frozenset[str]
    text: str
    sides: Sides
    relation: Relation | None = None
    defines: str = ""
    target: str = ""
    is_default: bool = False

    @property
    def is_stepped(self) -> bool:
        """Whether a stated result takes whole steps, so that it leaves a range of its inputs."""
        return bool(self.target and self.relation and self.relation.value.has(*_STEPS))


def remaining(chain: Chain, wanted: Iterable[str]) -> Mapping[str, Row]:
    """Every equation that has a part in what is wanted, or in what is stated and not used yet.

    Unknowns without a definition stand as symbols while these are gathered: a lower relation must
    not answer for one that only waits for what is being solved for.
    """
    names = tuple(wanted)
    free = frozenset(names)
    while True:
        rows = _gathered(replace(chain, forwards=True, unknowns=free), names)
        found = undefined(rows)
        if found <= free:
            return rows
        free |= found


def undefined(rows: Mapping[str, Row]) -> frozenset[str]:
    """The unknowns that nothing but a default defines."""
    defined = {row.defines for row in rows.values() if not row.is_default}
    return frozenset[str]().union(*(row.names for row in rows.values())) - defined


def _gathered(chain: Chain, wanted: Iterable[str]) -> dict[str, Row]:
    builder = _Builder(chain)
    for name in wanted:
        builder.need(name)
    for target in chain.equated():
        builder.stated(target)
    for row in equal_sides(chain):
        builder.equal(*row)
    return builder.rows


@dataclass
class _Builder:
    """The system while it grows; it never leaves this module."""

    chain: Chain
    rows: dict[str, Row] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def need(self, name: str) -> None:
        """The quantity's own equation, where it is not known already."""
        if name in self.seen or self._known(name):
            return
        self.seen.add(name)
        relation = self._active(name)
        if relation is not None:
            names = self._unknown(relation.inputs)
            sides = _gives(name, relation)
            default = relation.kind == "assumption" and name in CIRCULAR
            row = Row(names | {name}, name, sides, relation, defines=name, is_default=default)
            self.rows[f"def {name}"] = row

    def stated(self, target: str) -> None:
        """What is stated for a quantity that a relation gives from unknowns."""
        scenario = self.chain.scenario
        without = replace(self.chain, scenario=scenario.without(target))
        relation = next((r for r in without.relations(target) if without.takes_part(r)), None)
        if relation is None or relation.is_truth:
            return
        names = self._unknown(relation.inputs)
        if names:
            sides = _stated(target, scenario.given[target].value)
            text = scenario.given[target].text or target
            self.rows[f"stated {target}"] = Row(names, text, sides, relation, target=target)

    def equal(self, key: str, left: Any, right: Any, text: str) -> None:
        """Two sides that a person states to be equal."""
        names = self._unknown(s.name for s in left.free_symbols | right.free_symbols)
        if names:
            self.rows[key] = Row(names, text, related(left, right))

    def _known(self, name: str) -> bool:
        try:
            value = self.chain.value(name).value
        except Lacking:
            return False
        return not isinstance(value, sympy.Basic)

    def _unknown(self, names: Iterable[str]) -> frozenset[str]:
        found = frozenset(name for name in names if not self._known(name))
        for name in found:
            self.need(name)
        return found

    def _active(self, name: str) -> Relation | None:
        """The relation that stands for the quantity; the default where nothing else can."""
        chain = self.chain
        default = chain.catalogue.defaults.get(name) if name in chain.allowed else None
        if name in _CONTEXT_ALONE and not chain.mentioned & SPEAKS_OF_CONTEXT:
            return default
        relation = next((r for r in chain.relations(name) if chain.takes_part(r)), None)
        return relation or (default if name in CIRCULAR else None)


def _gives(name: str, relation: Relation) -> Sides:
    def sides(chain: Chain) -> tuple[Any, Any, list[Found]]:
        found = chain.apply(relation)
        return chain.value(name).value, found.value, [found]

    return sides


def _stated(target: str, value: Any) -> Sides:
    def sides(chain: Chain) -> tuple[Any, Any, list[Found]]:
        scenario = chain.scenario.without(target)
        without = replace(chain, scenario=scenario, allowed=chain.allowed - {target})
        found = without.by_relation(target)
        if found is None:
            raise Lacking(target)
        return found.value, value, [found, Found(target, value, stated=frozenset((target,)))]

    return sides


def speaks_of_circle(chain: Chain) -> bool:
    """Whether the question speaks of anything that a circular default is made of."""
    known = chain.catalogue
    for name in CIRCULAR & chain.allowed:
        for part in known.defaults[name].inputs:
            rows = known.by_output.get(part, ())
            if chain.mentioned & {part, *(n for row in rows for n in row.inputs)}:
                return True
    return False


def equal_sides(chain: Chain) -> list[tuple[str, Any, Any, str]]:
    """What a person states to be equal: a key, both sides, the text."""
    symbol = chain.catalogue.quantities
    rows = [
        (f"equal {n}", symbol[row.quantity].symbol, symbol[row.other].symbol, row.text)
        for n, row in enumerate(chain.scenario.equations)
    ]
    relates = [row for row in chain.scenario.relates if row.relation == "="]
    return rows + [(f"related {n}", r.left, r.right, r.text) for n, r in enumerate(relates)]


def related(left: Any, right: Any) -> Sides:
    """Both sides of an equation between calculations, on a chain."""

    def sides(chain: Chain) -> tuple[Any, Any, list[Found]]:
        used: dict[str, Found] = {}

        def lookup(name: str) -> Any:
            if name not in used:
                used[name] = side_of(chain, name)
            return used[name].value

        return evaluate(left, lookup), evaluate(right, lookup), list(used.values())

    return sides


def side_of(chain: Chain, name: str) -> Found:
    """The quantity as its relations give it, else as it is known: no equation says it twice."""
    if name not in chain.scenario.given and name not in chain.unknowns:
        try:
            found = chain.by_relation(name)
        except Undefined:
            found = None
        if found is not None:
            return found
    return chain.value(name)
