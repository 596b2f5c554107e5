"""Many points of one scenario at once: its relations in order, each as a numpy kernel.

Floats find the values; a point where one of them falls on a boundary (a step, a condition, the edge
of a limit, a domain, no number at all) is left open, to be answered exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from formulas.catalogue import catalogue
from formulas.deployment.constraints import OF_TP
from formulas.formula import Condition
from formulas.scenario import Scenario
from solvers.answer import Contradiction
from solvers.chain import Chain
from solvers.columns import compared, holds, inside, run, truth, undecided
from solvers.found import Lacking
from solvers.number import Undefined, is_number
from solvers.resting import Calculation, Resting, calculation_of, resting_on


@dataclass(frozen=True, slots=True)
class Block:
    """A column of each value, whether each constraint holds, and which points are left open."""

    values: dict[str, Any]
    holds: dict[str, Any]
    open: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compute, in order. `steps` give quantities, `true` and `false` must be so everywhere
    for the steps to be the right ones.
    """

    asked: tuple[str, ...]
    facts: Mapping[str, float]
    steps: tuple[Calculation, ...]
    true: tuple[Condition, ...]
    false: tuple[Condition, ...]
    constraints: tuple[Condition, ...]
    limits: tuple[tuple[str, str, Fraction], ...]

    def block(self, columns: Mapping[str, Sequence[Any]]) -> Block:
        """The block of the points whose axes have these columns, all of one length."""
        import numpy

        size = len(next(iter(columns.values())))
        known = {name: numpy.full(size, value) for name, value in self.facts.items()}
        known |= {name: numpy.array([float(v) for v in row]) for name, row in columns.items()}
        doubt = numpy.zeros(size, bool)
        with numpy.errstate(all="ignore"):
            for step in self.steps:
                known[step.gives] = run(step.expr, step.inputs, known)
                doubt |= undecided(step.expr, known)
            for condition, wanted in self._conditions():
                doubt |= truth(condition, known) != wanted
                doubt |= undecided(condition.expr, known)
            for name in self.asked:
                doubt |= ~(numpy.isfinite(known[name]) & inside(name, known[name]))
            met: dict[str, Any] = {}
            for condition in self.constraints:
                met[condition.name], unsure = holds(condition, known)
                doubt |= unsure
            for name, sign, limit in self.limits:
                within, unsure = compared(known[name], sign, float(limit))
                met[name] = met[name] & within if name in met else within
                doubt |= unsure

        def columns_of(found: Mapping[str, Any]) -> dict[str, Any]:
            return {name: numpy.broadcast_to(column, size) for name, column in found.items()}

        asked = {name: known[name] for name in self.asked}
        return Block(columns_of(asked), columns_of(met), doubt)

    def _conditions(self) -> list[tuple[Condition, bool]]:
        return [(c, True) for c in self.true] + [(c, False) for c in self.false]


def plan_of(scenario: Scenario, axes: frozenset[str], names: Sequence[str]) -> Plan | None:
    """The plan that holds for every value of the axes; None where there is none.

    `scenario` is that of one of the points.
    """
    if not _plain(scenario) or _shapes_the_question(axes):
        return None
    plans = [_plan(scenario, axes, name) for name in names]
    found = [plan for plan in plans if plan is not None]
    return _merged(found) if len(found) == len(plans) else None


def _plain(scenario: Scenario) -> bool:
    """Only facts and limits: all else may decide otherwise at every point."""
    more = (scenario.equations, scenario.relates, scenario.among, scenario.clashes)
    return not any((*more, scenario.options, scenario.ranges, scenario.spreads))


def _shapes_the_question(axes: frozenset[str]) -> bool:
    """Whether an axis may decide what is assumed: the default of TP, or that a model is dense."""
    names = catalogue()
    deciding = {"expert_params", *(n for row in OF_TP for n in row.inputs if n != "tp")}
    return any({axis, *names.downstream(axis)} & deciding for axis in axes - {"tp"})


def _plan(scenario: Scenario, axes: frozenset[str], name: str) -> Plan | None:
    chain = _settled(scenario, name)
    if chain is None:
        return None
    if _may_clash(chain, axes):
        return None
    constraints = []
    try:
        chain.value(name)
        for limit in scenario.limits:
            chain.value(limit.quantity)
        for constraint in chain.constraints:
            try:
                chain.holds(constraint)
                constraints.append(constraint)
            except Lacking:
                continue
    except (Lacking, Undefined):
        return None
    needed = [name, *(limit.quantity for limit in scenario.limits)]
    needed += [n for constraint in constraints for n in constraint.inputs]
    found = resting_on(chain, needed)
    if any(row.solved_from for row in found.rows):
        return None
    return _planned(chain, found, name, tuple(constraints))


def _may_clash(chain: Chain, axes: frozenset[str]) -> bool:
    """Whether what is stated may contradict a relation at some of the points."""
    moved = axes.union(*(chain.catalogue.downstream(axis) for axis in axes))
    for name in moved & set(chain.equated()):
        without = chain.scenario.without(name)
        try:
            replace(chain, scenario=without, allowed=chain.allowed - {name}).value(name)
        except (Lacking, Undefined):
            continue
        return True
    return False


def _settled(scenario: Scenario, name: str) -> Chain | None:
    """The chain that answers the question; None where a default had to be withdrawn."""
    from solvers.solve import Request, chain_of, known_of

    settled = known_of(chain_of(Request(name, scenario)))
    if isinstance(settled, Contradiction) or settled.withdrawn:
        return None
    return settled.chain


def _planned(
    chain: Chain, found: Resting, name: str, constraints: tuple[Condition, ...]
) -> Plan | None:
    facts: dict[str, float] = {}
    steps: list[Calculation] = []
    by_name = {row.quantity: row for row in found.rows}
    for row in found.rows:
        relation = row.relation
        # What TP is by default depends on no axis here, but is no value of an expression.
        if relation is None or not relation.inputs or relation.id == "assumed.tp":
            if not is_number(row.value):
                return None
            facts[row.quantity] = float(row.value)
        elif relation.is_truth or relation.removable:
            return None
        else:
            steps.append(calculation_of(relation, by_name))
    limits = tuple((row.quantity, row.relation, row.value) for row in chain.scenario.limits)
    return Plan((name,), facts, tuple(steps), found.true, found.false, constraints, limits)


def _merged(plans: list[Plan]) -> Plan | None:
    """One plan of several questions; None where two of them compute a quantity differently."""
    facts: dict[str, float] = {}
    steps: dict[str, Calculation] = {}
    for plan in plans:
        for quantity, value in plan.facts.items():
            if quantity in steps or facts.setdefault(quantity, value) != value:
                return None
        for step in plan.steps:
            if step.gives in facts or steps.setdefault(step.gives, step) != step:
                return None
    first = plans[0]
    true = tuple(dict.fromkeys(c for plan in plans for c in plan.true))
    false = tuple(dict.fromkeys(c for plan in plans for c in plan.false))
    asked = tuple(plan.asked[0] for plan in plans)
    rows = (tuple(steps.values()), true, false)
    return Plan(asked, facts, *rows, first.constraints, first.limits)
