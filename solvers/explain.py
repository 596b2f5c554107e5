"""Why there is no answer, in what was said: the clash, the reason in numbers, the ways out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from formulas.amounts import display
from formulas.errors import Problem
from formulas.scenario import scenario
from formulas.statements import Statement
from solvers.answer import Answer, Contradiction, Infeasible, Unproved
from solvers.clash import Clash, Oracle, smallest_clash
from solvers.compose import composed
from solvers.corrections import Corrections, corrections
from solvers.nearest import nearest
from solvers.relax import ways_out
from solvers.sides import Side
from solvers.solve import Request, chain_of, settled_of, solve
from solvers.system import System

_NOT_SMALLEST = (
    "that no smaller set of statements clashes was not proved in the time that it may take"
)
_NOT_NAMED = "which of the statements clash was not proved in the time that it may take"


def explained(request: Request, answer: Answer) -> Answer:
    """The answer; of a refusal with the statements that clash, each needed, and every way out."""
    if not isinstance(answer, Infeasible | Contradiction):
        return answer
    if request.over or request.scenario.ranges or request.scenario.spreads:
        return answer
    if isinstance(answer, Contradiction):
        return _contradiction(request, answer)
    for system in _systems(request):
        oracle = Oracle(system)
        clash = smallest_clash(oracle)
        if clash is not None:
            return _infeasible(request, answer, system, clash)
    return _noted(answer, _NOT_NAMED)


def _systems(request: Request) -> Iterable[System]:
    """What the question rests on; of a value first without the constraints it need not meet."""
    settled = settled_of(chain_of(request))
    if isinstance(settled, Contradiction):
        return
    for constrained in (True,) if request.sense else (False, True):
        rests_on = composed(settled.chain, settled.withdrawn, constrained, constrained)
        yield System(rests_on, whole=bool(request.sense))


def _infeasible(request: Request, answer: Infeasible, system: System, clash: Clash) -> Infeasible:
    found = answer
    if clash.needed == frozenset(clash.members):
        said = tuple(system.said[index].statement for index in clash.members)
        reason = _reason(system, clash) or answer.reason
        found = replace(answer, conflict=said, reason=reason)
        if not clash.smallest:
            found = _noted(found, _NOT_SMALLEST)
    else:
        found = _noted(found, _NOT_NAMED)

    def again(rows: tuple[Statement, ...]) -> Answer:
        try:
            return solve(replace(request, scenario=scenario(rows)))
        except Problem as problem:
            return Unproved(request.find, str(problem))

    ways = ways_out(system, again, clash.members)
    if ways.undecided:
        names = _listed(list(dict.fromkeys(ways.undecided)))
        found = _noted(found, f"whether another {names} would help was not decided")
    return replace(found, relaxations=tuple(ways.relaxations), cannot_help=tuple(ways.cannot_help))


def _noted(answer: Infeasible, note: str) -> Infeasible:
    evidence = answer.evidence
    return replace(answer, evidence=replace(evidence, notes=(*evidence.notes, note)))


def _reason(system: System, clash: Clash) -> str:
    """What a clashing limit comes to at its best beside the other statements of the clash."""
    for index in clash.members:
        bound = system.said[index].bound
        if bound is None or bound.relation == "=":
            continue
        upwards = bound.relation.startswith("<")
        side = (
            Side(float(bound.value), math.inf) if upwards else Side(-math.inf, float(bound.value))
        )
        name = system.bounds[index]
        best = nearest(system, clash.members, name, bound.value, side, upwards)
        if best.value is None or best.point is None or not best.proved:
            continue
        values = system.known_at(clash.members, best.point, (bound.quantity,))
        quantity = system.composed.chain.catalogue.quantities[bound.quantity]
        shown = display(values.get(bound.quantity, best.value), quantity.unit, quantity.label)
        word = "at least" if upwards else "at most"
        others = [system.said[i].statement.text for i in clash.members if i != index]
        beside = f" with {_listed(others)}" if others else ""
        return f"{bound.quantity} is {word} {shown}{beside}, whatever else is chosen"
    return ""


def _listed(texts: list[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _contradiction(request: Request, answer: Contradiction) -> Contradiction:
    """The smallest set of stated facts that cannot hold together, each needed."""
    if request.scenario.clashes:
        return answer
    system = System(composed(chain_of(request), standing=False, limits=False), whole=False)
    facts = frozenset(i for i, said in enumerate(system.said) if not said.assumed)
    clash = smallest_clash(Oracle(system), facts)
    if clash is None or clash.needed != frozenset(clash.members):
        return answer
    return replace(answer, conflict=tuple(system.said[index].statement for index in clash.members))


def corrections_of(request: Request) -> Corrections | None:
    """The sets of statements to give up; None where it is not proved that anything clashes."""
    if request.over or request.scenario.ranges or request.scenario.spreads:
        return None
    for system in _systems(request):
        oracle = Oracle(system)
        if oracle.feasible(frozenset(range(len(system.said)))) is False:
            return corrections(oracle)
    return None
