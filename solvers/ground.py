"""What an audit stands on: the stated figures, what is read into them, the relations that hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from formulas.catalogue import Catalogue, catalogue
from formulas.deployment.defaults import OF_CONTEXT_ALONE, STRUCTURAL
from formulas.deployment.estimates import ESTIMATES, OF_EXPERTS
from formulas.formula import Relation
from formulas.scenario import Scenario
from solvers.digits import slack_of
from solvers.enclosure import truth
from solvers.known_sides import Side, Sides, sides_of
from solvers.number import is_number

_PARALLEL = ("tp", "pp", "dp", "ep")


@dataclass(frozen=True)
class Ground:
    """What is stated, with the slack of its digits, and what is read into it."""

    scenario: Scenario
    names: Catalogue
    stated: dict[str, Side]
    read: dict[str, Side]
    relations: tuple[Relation, ...] = ()
    background: Mapping[str, Side] = field(default_factory=dict)

    @cached_property
    def fixed(self) -> frozenset[str]:
        """What is not concluded."""
        return frozenset((*self.stated, *self.read))

    @cached_property
    def forwards(self) -> tuple[Relation, ...]:
        """The relations that conclude results; a bound that is an estimate concludes nothing."""
        rows = (r for r in self.relations if not (r.is_bound and r.kind == "model"))
        return tuple(r for r in rows if r.gives not in self.fixed)

    @cached_property
    def backwards(self) -> tuple[Relation, ...]:
        """The equations, and the estimates as what is at least so much."""
        return tuple(r for r in self.relations if not r.is_bound)

    def start(self, hidden: str) -> dict[str, Side]:
        """The sides before anything is concluded; what is hidden is as if nobody had said it.

        `background` is what follows from the readings alone.
        """
        known = {**self.background, **self.read, **self.stated}
        known.pop(hidden, None)
        return known


def ground(scenario: Scenario, exact: bool = False) -> Ground:
    """What an audit stands on: the stated numbers, the readings, the relations that take part.

    With `exact` every figure is taken as if all its further digits were 0.
    """
    names = catalogue()
    stated = {
        name: _stated(scenario, name, exact)
        for name, given in scenario.given.items()
        if is_number(given.value)
    }
    for name, values in scenario.among.items():
        ends = (float(min(values)), float(max(values))) if values else None
        if ends and name not in stated:
            stated[name] = Side(*ends, frozenset((name,)))
    found = Ground(scenario, names, stated, _read(scenario, stated))
    sides = found.start("")
    rows = tuple(r for r in names.relations.values() if _takes_part(scenario, r, sides))
    given = {row.gives for row in rows if not row.is_bound}
    # What is read into the facts as the value of something else: a relation like the others.
    means = [r for r in _left_out(stated) if r.gives not in given | found.read.keys()]
    return replace(found, relations=(*rows, *means))


def _stated(scenario: Scenario, name: str, exact: bool) -> Side:
    facts = frozenset((name,))
    if name in scenario.ranges:
        low, high = scenario.ranges[name]
        return Side(float(low), float(high), facts)
    given = scenario.given[name]
    value = float(given.value)
    if exact:
        return Side(value, value, facts)
    slack = slack_of(given, catalogue().quantities[name])
    if name in scenario.spreads:
        # Two deviations: beyond them is what one would call off.
        slack = max(slack, 2 * float(scenario.spreads[name]))
    return Side(value - slack, value + slack, facts)


def _read(scenario: Scenario, stated: Mapping[str, Side]) -> dict[str, Side]:
    """What facts mean that leave something out: a dense model, one GPU, any of the formats."""
    quantities, read = catalogue().quantities, dict[str, float]()
    for row in _left_out(stated):
        if read.keys() >= set(row.inputs):
            values = {quantities[name].symbol: read[name] for name in row.inputs}
            read[row.gives] = float(row.value.subs(values))
    found = {name: Side(value, value) for name, value in read.items()}
    silent = not any(name in stated for name in _PARALLEL)
    gpus = stated["available_gpus"].high if silent and "available_gpus" in stated else 1.0
    found |= {name: Side(1.0, gpus) for name in _PARALLEL if name not in stated}
    return found


def _left_out(stated: Mapping[str, Side]) -> list[Relation]:
    """What facts mean that leave out what the model is made of and how it is measured."""
    names = STRUCTURAL - {row.gives for row in OF_CONTEXT_ALONE} - stated.keys()
    if OF_EXPERTS & stated.keys():
        names -= {*OF_EXPERTS, "expert_params"}
    return [row for name, row in catalogue().defaults.items() if name in names]


def _is_cut(scenario: Scenario, relation: Relation) -> bool:
    """Whether an override cuts the relation, or the one that is the same equation."""
    twin = catalogue().relations.get(relation.same_as)
    rows = [scenario.given.get(row.gives) for row in (relation, twin) if row is not None]
    return any(row is not None and row.override for row in rows)


def _takes_part(scenario: Scenario, relation: Relation, sides: Sides) -> bool:
    """True for an equation or a bound that holds of what is stated, and an estimate that is one."""
    if relation.is_array or relation.is_truth or _is_cut(scenario, relation):
        return False
    if relation.kind == "model" and not (relation.is_bound or relation.key in ESTIMATES):
        return False
    mentioned = scenario.mentioned
    if mentioned & set(relation.unless) or not mentioned >= set(relation.only_with):
        return False
    if relation.any_with and not mentioned & set(relation.any_with):
        return False
    return all(truth(c.expr, sides_of(c, sides)) is True for c in relation.valid)
